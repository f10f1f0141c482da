"""The claim alone: our statement as pgbench runs it, and the bare SQL that everybody writes for a queue."""

from benchmarks.bots.filling import manage
from benchmarks.bots.load import JOBS_A_PULL

COUNT_SECONDS = 0.25
OURS = "from crawler.bots.actions.claim_postgresql import FROM_QUEUE; print(FROM_QUEUE)"

# Ten pending jobs in the queue's order become this client's. No hosts, no bot, no URLs, nobody counted.
BARE = f"""
WITH head AS (
    SELECT id FROM bot_jobs WHERE status = 'pending' ORDER BY priority DESC, created_at LIMIT {JOBS_A_PULL}
    FOR UPDATE SKIP LOCKED
)
UPDATE bot_jobs AS job SET status = 'locked', locked_by = :client_id, locked_at = now() FROM head WHERE job.id = head.id
RETURNING job.id, job.product_url_hash, job.priority, job.locked_until;
"""


def ours(url: str, clients: int, claims_per_second: float) -> str:
    """Each client is the bot of its number. As in the server, a bot that meets many others has their jobs counted every
    quarter of a second, and a claim in between is not."""
    every = max(1, round(claims_per_second * 0.6 * COUNT_SECONDS / clients))
    values = {"digest": ":client_id", "bot_id": ":client_id", "most": ":most", "count_others": ":count_others"}
    statement = manage(url, "shell", "--verbosity", "0", "--command", OURS)
    return f"\\set most {JOBS_A_PULL}\n\\set count_others random(1, {every}) = 1\n{statement % values};"
