import pytest

from crawler.accounts.models import User
from crawler.accounts.roles import Role, reaches


@pytest.mark.parametrize(
    ("role", "permission", "allowed"),
    [
        ("viewer", "domains.view_domain", True),
        ("viewer", "domains.change_domain", False),
        ("operator", "domains.change_domain", True),
        ("operator", "domains.add_domain", True),
        ("operator", "domains.delete_domain", False),
        ("operator", "accounts.view_user", False),
        ("viewer", "accounts.view_auditentry", False),
        ("admin", "accounts.delete_user", True),
    ],
)
def test_what_a_role_may_do_in_the_admin_pages(role: str, permission: str, allowed: bool) -> None:
    assert User(role=role).has_perm(permission) is allowed
    assert User(role=role, is_active=False).has_perm(permission) is False


def test_roles_are_ordered() -> None:
    order = [Role.VIEWER, Role.OPERATOR, Role.ADMIN]
    assert [[reaches(have, need) for need in order] for have in order] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]
