import pytest
from django.db import DatabaseError, connection, transaction

from crawler.accounts import actions
from crawler.accounts.actors import SYSTEM
from crawler.accounts.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry() -> AuditEntry:
    actions.create_user(SYSTEM, "eva")
    return AuditEntry.objects.get()


def test_entries_cannot_be_changed_in_python(entry: AuditEntry) -> None:
    entry.reason = "another story"
    with pytest.raises(TypeError, match="only grows"):
        entry.save()
    with pytest.raises(TypeError, match="only grows"):
        entry.delete()


@pytest.mark.parametrize(
    "statement", ["UPDATE accounts_auditentry SET reason = 'x'", "DELETE FROM accounts_auditentry"]
)
def test_entries_cannot_be_changed_in_sql(entry: AuditEntry, statement: str) -> None:
    with pytest.raises(DatabaseError, match="only grows"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert AuditEntry.objects.get().reason == ""


def test_an_entry_is_gone_with_the_change_that_was_undone() -> None:
    with transaction.atomic():
        actions.create_user(SYSTEM, "eva")
        transaction.set_rollback(True)
    assert not AuditEntry.objects.exists()
