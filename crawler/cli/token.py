from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.cli.problems import MISUSED, fail
from crawler.cli.ready import load_django
from crawler.cli.tables import print_table

if TYPE_CHECKING:
    from crawler.accounts.models import ApiToken

app = typer.Typer(help="API tokens: create, list, revoke.", no_args_is_help=True)

UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def expiry(text: str) -> datetime:
    """`90d`, `12h`, `30m`, or a date."""
    if form := re.fullmatch(r"([1-9][0-9]{0,4})([mhd])", text):
        return datetime.now(UTC) + timedelta(**{UNITS[form[2]]: int(form[1])})
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--expires: {text!r} is neither 90d, 12h, 30m nor a date such as 2027-01-31", MISUSED)
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    if when <= datetime.now(UTC):
        fail(f"--expires: {text} is in the past", MISUSED)
    return when


@app.command()
def create(
    user: Annotated[str, typer.Option(help="Whose token; it has that user's role.")] = "admin",
    name: Annotated[str, typer.Option(help="What will use it.")] = "command line",
    expires: Annotated[str | None, typer.Option(help="90d, 12h, 30m or a date; default: never.")] = None,
) -> None:
    """Create a token and print it, once."""
    until = expiry(expires) if expires else None
    load_django()
    from crawler.accounts import actions
    from crawler.accounts.actors import actor_of_terminal
    from crawler.accounts.models import User

    owner = User.objects.filter(username=user).first() or fail(f"there is no user {user!r}; see: crawler user list")
    _, text = actions.issue_token(actor_of_terminal(), owner, name, expires_at=until)
    print(text)


@app.command("list")
def list_tokens() -> None:
    """List tokens by their prefix; the secrets are not kept."""
    load_django()
    from crawler.accounts.models import ApiToken

    titles = ("prefix", "user", "role", "name", "created", "last used", "expires", "state")
    print_table(titles, [token_row(token) for token in ApiToken.objects.select_related("user")])


def token_row(token: ApiToken) -> list[str]:
    times = (token.created_at, token.last_used_at, token.expires_at)
    expired = token.expires_at is not None and token.expires_at <= datetime.now(UTC)
    state = "revoked" if token.revoked_at else "expired" if expired else "live"
    shown = [when.strftime("%Y-%m-%d %H:%M") if when else "-" for when in times]
    return [token.prefix, token.user.username, token.user.role, token.name, *shown, state]


@app.command()
def revoke(
    prefix: Annotated[str, typer.Argument(help="The token's prefix (cs_…), as `crawler token list` shows it.")],
    reason: Annotated[str, typer.Option(help="Kept in the audit log.")] = "",
) -> None:
    """Refuse a token from now on."""
    load_django()
    from crawler.accounts import actions
    from crawler.accounts.actors import actor_of_terminal
    from crawler.accounts.models import ApiToken

    # A whole token works too: that is what people have at hand when one leaked.
    short = "_".join(prefix.split("_")[:2])
    token = ApiToken.objects.filter(prefix=short).first() or fail(
        f"there is no token {short!r}; see: crawler token list"
    )
    revoked = actions.revoke_token(actor_of_terminal(), token, reason=reason)
    print(f"{token.prefix} is revoked" if revoked else f"{token.prefix} was revoked before")
