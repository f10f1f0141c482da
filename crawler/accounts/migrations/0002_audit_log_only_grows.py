"""The database itself refuses to change or delete an audit entry."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

CREATE = {
    "sqlite": [
        """CREATE TRIGGER accounts_audit_no_update BEFORE UPDATE ON accounts_auditentry
           BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END""",
        """CREATE TRIGGER accounts_audit_no_delete BEFORE DELETE ON accounts_auditentry
           BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END""",
    ],
    "postgresql": [
        """CREATE FUNCTION accounts_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'the audit log only grows'; END $$""",
        """CREATE TRIGGER accounts_audit_no_change BEFORE UPDATE OR DELETE ON accounts_auditentry
           FOR EACH ROW EXECUTE FUNCTION accounts_audit_refuse()""",
    ],
}
DROP = {
    "sqlite": ["DROP TRIGGER accounts_audit_no_update", "DROP TRIGGER accounts_audit_no_delete"],
    "postgresql": [
        "DROP TRIGGER accounts_audit_no_change ON accounts_auditentry",
        "DROP FUNCTION accounts_audit_refuse()",
    ],
}


def create(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    for statement in CREATE[editor.connection.vendor]:
        editor.execute(statement)


def drop(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    for statement in DROP[editor.connection.vendor]:
        editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
