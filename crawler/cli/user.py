import secrets
from typing import Annotated

import typer

from crawler.cli.problems import MISUSED, fail
from crawler.cli.ready import load_django
from crawler.cli.tables import print_table

app = typer.Typer(help="Users: create, list, set a password.", no_args_is_help=True)

ROLES = ("admin", "operator", "viewer")


@app.command()
def create(
    username: str,
    role: Annotated[str, typer.Option(help="admin, operator or viewer.")] = "viewer",
) -> None:
    """Create a user with a random password and print it, once."""
    if role not in ROLES:
        fail(f"--role: {role!r} is unknown; choose one of {', '.join(ROLES)}", MISUSED)
    load_django()
    from crawler.accounts import actions
    from crawler.accounts.actors import actor_of_terminal

    password = secrets.token_urlsafe(12)
    actions.create_user(actor_of_terminal(), username, password=password, role=role)
    print(f"user      {username}\nrole      {role}\npassword  {password}")


@app.command("list")
def list_users() -> None:
    """List users and their roles."""
    load_django()
    from crawler.accounts.models import User

    rows = []
    for user in User.objects.all():
        login = user.last_login.strftime("%Y-%m-%d %H:%M") if user.last_login else "-"
        rows.append((user.username, user.role, "yes" if user.is_active else "no", login))
    print_table(("user", "role", "active", "last login"), rows)


@app.command()
def password(username: str) -> None:
    """Give a user a new random password and print it, once."""
    load_django()
    from crawler.accounts import actions
    from crawler.accounts.actors import actor_of_terminal
    from crawler.accounts.models import User

    user = User.objects.filter(username=username).first() or fail(
        f"there is no user {username!r}; see: crawler user list"
    )
    chosen = secrets.token_urlsafe(12)
    actions.set_password(actor_of_terminal(), user, chosen)
    print(f"password  {chosen}")
