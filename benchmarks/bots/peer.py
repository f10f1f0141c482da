"""Procrastinate on the same PostgreSQL: fetch and finish, in processes of its own.

    python -m benchmarks.bots.peer '{"url": …, "way": "worker" or "manager", "concurrency": …, "seconds": …}'

`worker` is its real worker with tasks that do nothing; `manager` calls what the worker calls, fetch and finish of its
job manager, and nothing else, in so many loops. Prints how many jobs it finished and in how many seconds.
"""

import asyncio
import json
import logging
import subprocess
import sys
import time
from typing import Any

import procrastinate
import uvloop
from procrastinate.jobs import Status

from benchmarks.bots.postgres import Postgres

TASK = "nothing"
# Until its connections are open and its statements prepared.
WARM_UP_SECONDS = 1.5
# What it does, how many at once in a process, in how many processes.
WAYS = (
    ("worker", 1, 1),
    ("worker", 10, 1),
    ("worker", 50, 1),
    ("worker", 1, 4),
    ("manager", 10, 1),
    ("manager", 10, 2),
)
FILL = """
INSERT INTO procrastinate_jobs (queue_name, task_name, args)
SELECT 'default', '{task}', jsonb_build_object('url', 'https://shop' || n % 1000 || '.example/product/' || n)
FROM generate_series(1, {jobs}) AS n"""


def fill(postgres: Postgres, database: str, jobs: int) -> None:
    """By SQL, without the notifications and events that each job would bring: they are not what is measured."""
    postgres.create(database)
    with procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=postgres.url(database))).open() as app:
        app.schema_manager.apply_schema()
    postgres.execute(
        database,
        "ALTER TABLE procrastinate_jobs DISABLE TRIGGER USER",
        FILL.format(task=TASK, jobs=jobs),
        "ALTER TABLE procrastinate_jobs ENABLE TRIGGER USER",
        "VACUUM ANALYZE",
    )


def drive(url: str, way: str, concurrency: int, processes: int, seconds: float) -> float:
    """Jobs a second of all of them."""
    asked = json.dumps({"url": url, "way": way, "concurrency": concurrency, "seconds": seconds})
    command = [sys.executable, "-m", "benchmarks.bots.peer", asked]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    told = [json.loads(one.communicate()[0]) for one in running]
    return sum(float(one["done"]) / float(one["seconds"]) for one in told)


async def work(app: procrastinate.App, done: list[int], concurrency: int, seconds: float) -> float:
    """Its worker, as `procrastinate worker --concurrency N` would run."""
    worker = asyncio.create_task(
        app.run_worker_async(concurrency=concurrency, install_signal_handlers=False, listen_notify=False)
    )
    await asyncio.sleep(WARM_UP_SECONDS)
    began, before = time.perf_counter(), done[0]
    await asyncio.sleep(seconds)
    took = time.perf_counter() - began
    done[1] = done[0] - before
    worker.cancel()
    await asyncio.wait([worker])
    return took


async def manage(app: procrastinate.App, done: list[int], concurrency: int, seconds: float) -> float:
    manager = app.job_manager
    worker_id = await manager.register_worker()
    began = time.perf_counter() + WARM_UP_SECONDS
    ends_at = began + seconds

    async def loop() -> None:
        while time.perf_counter() < ends_at:
            job = await manager.fetch_job(queues=None, worker_id=worker_id)
            if job is None:
                return
            await manager.finish_job(job, Status.SUCCEEDED, delete_job=False)
            done[1] += time.perf_counter() >= began

    await asyncio.gather(*(loop() for _ in range(concurrency)))
    return time.perf_counter() - began


async def run(url: str, way: str, concurrency: int, seconds: float) -> dict[str, Any]:
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=concurrency, max_size=concurrency + 4)
    app = procrastinate.App(connector=connector)
    done = [0, 0]

    @app.task(name=TASK)
    async def nothing(url: str) -> None:
        done[0] += 1

    async with app.open_async():
        took = await {"worker": work, "manager": manage}[way](app, done, concurrency, seconds)
    return {"done": done[1], "seconds": took}


def main() -> None:
    logging.disable(logging.CRITICAL)
    print(json.dumps(uvloop.run(run(**json.loads(sys.argv[1])))))


if __name__ == "__main__":
    main()
