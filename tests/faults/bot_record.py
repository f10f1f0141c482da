"""What really happened to bot jobs, as the database saw it: a trigger in the test's database notes every change of a
job in the transaction that makes it. Together with the bots' journals this is what the judge looks at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from crawler.archive import open_reader
from crawler.bots.exact import price_from
from tests.faults.bot_journal import Exchange, read_journals
from tests.faults.database import Database
from tests.faults.platform import Platform


@dataclass(frozen=True)
class Event:
    """A job as it was after a change. `began`: when the statement that changed it did."""

    at: float
    job_id: str
    url_hash: str
    status: str
    fence: int = 0
    retry_count: int = 0
    max_retries: int = 3
    locked_by: str | None = None
    locked_until: float | None = None
    error: str = ""
    began: float = 0.0


@dataclass(frozen=True)
class Result:
    id: str
    job_id: str
    url_hash: str
    bot: str
    price: Decimal
    currency: str
    title: str
    in_stock: bool
    previous_price: Decimal | None = None
    html: str | None = None  # what lies in the archive where the row says


@dataclass(frozen=True)
class Rules:
    """What the policy and the domain of a URL say."""

    host: str = "shop.example"
    requeue_expired: bool = False
    host_limited: bool = False
    delay_seconds: float = 0.0
    lock_seconds: float = 600.0


@dataclass
class Record:
    events: list[Event] = field(default_factory=list)  # in the order of the database
    results: list[Result] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    rules: dict[str, Rules] = field(default_factory=dict)  # by URL hash
    last_prices: dict[str, Decimal | None] = field(default_factory=dict)  # by URL hash
    outages: list[tuple[float, float]] = field(default_factory=list)


NOTED = "id, product_url_hash, status, fence, retry_count, max_retries, locked_by, locked_until, last_error"
NEW = ", ".join(f"NEW.{name}" for name in NOTED.split(", "))
TABLE = f"at, began, {NOTED}"
RECORDER = {
    "postgresql": f"""
        CREATE TABLE flight_recorder (seq bigserial PRIMARY KEY, at timestamptz, began timestamptz, id uuid,
            product_url_hash text, status text, fence int, retry_count int, max_retries int, locked_by text,
            locked_until timestamptz, last_error text);
        CREATE FUNCTION note_flight() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO flight_recorder ({TABLE}) VALUES (clock_timestamp(), statement_timestamp(), {NEW});
            RETURN NULL;
        END $$;
        CREATE TRIGGER note_flight AFTER INSERT OR UPDATE ON bot_jobs FOR EACH ROW EXECUTE FUNCTION note_flight();
    """,
    "sqlite": "CREATE TABLE flight_recorder (seq INTEGER PRIMARY KEY AUTOINCREMENT, at, began, id, product_url_hash,"
    " status, fence, retry_count, max_retries, locked_by, locked_until, last_error);"
    + "".join(
        f"CREATE TRIGGER note_{verb} AFTER {verb} ON bot_jobs BEGIN INSERT INTO flight_recorder ({TABLE})"
        f" VALUES (strftime('%Y-%m-%d %H:%M:%f', 'now'), strftime('%Y-%m-%d %H:%M:%f', 'now'), {NEW}); END;"
        for verb in ("INSERT", "UPDATE")
    ),
}
EVENTS = f"SELECT {TABLE} FROM flight_recorder ORDER BY seq"
RESULTS = (
    "SELECT id, job_id, product_url_hash, bot_id, price, currency, title, in_stock, previous_price, storage_path"
    " FROM crawl_results"
)
URLS = (
    "SELECT url_hash, last_price, domains.domain, requeue_expired, respect_host_limits, crawl_delay_ms, timeout_seconds"
    " FROM product_urls JOIN domains ON domains.id = product_urls.domain_id"
    " JOIN crawl_policies ON crawl_policies.id = policy_id"
)


class BotDatabase(Database):
    """The platform's, and the archive beside it."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform.settings.get("DATABASE_URL"), platform.home / "crawlspace.sqlite3")
        self.archive = platform.home / "archive"

    def record_flights(self) -> None:
        self.run_script(RECORDER[self.vendor])


def read_record(database: BotDatabase, journals: Path, outages: list[tuple[float, float]]) -> Record:
    record = Record(exchanges=read_journals(journals), outages=outages)
    record.events = [_event(*row) for row in database.rows(EVENTS)]
    read = open_reader(database.archive)

    def html(path: str | None) -> str | None:
        return read(path).body.decode() if path else None

    record.results = [_result(database.vendor, html, *row) for row in database.rows(RESULTS)]
    for url_hash, price, host, requeue, limited, delay_ms, seconds in database.rows(URLS):
        record.rules[url_hash] = Rules(host, bool(requeue), bool(limited), delay_ms / 1000, float(seconds))
        record.last_prices[url_hash] = price_from(database.vendor, price)
    return record


def _event(at: Any, began: Any, job_id: Any, url_hash: str, status: str, fence: int, *rest: Any) -> Event:
    retry_count, max_retries, locked_by, until, error = rest
    return Event(
        _seconds(at), _uuid(job_id), url_hash, status, fence, retry_count, max_retries, locked_by,
        None if until is None else _seconds(until), error, _seconds(began),
    )  # fmt: skip


def _result(vendor: str, html: Callable[[str | None], str | None], *row: Any) -> Result:
    result_id, job_id, url_hash, bot, price, currency, title, in_stock, previous, path = row
    found = price_from(vendor, price)
    assert found is not None
    before = price_from(vendor, previous)
    return Result(
        _uuid(result_id), _uuid(job_id), url_hash, bot, found, currency, title, bool(in_stock), before, html(path)
    )


def _seconds(moment: Any) -> float:
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    found: float = moment.timestamp()
    return found


def _uuid(value: Any) -> str:
    return str(value if isinstance(value, UUID) else UUID(value))
