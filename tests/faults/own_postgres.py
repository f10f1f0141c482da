"""A PostgreSQL of one test's own, as the others' must not be stopped."""

from __future__ import annotations

import signal
import tempfile
from pathlib import Path

from tests.faults.platform import PATIENCE_SECONDS
from tests.services.servers import POSTGRES_OPTIONS, Services, unprivileged_login


class OwnPostgres:
    def __init__(self) -> None:
        # Unlike the other tests' server it must keep what it committed when it crashes.
        self.services = Services(POSTGRES_OPTIONS | {"synchronous_commit": "on"})
        self.services.folder = Path(tempfile.mkdtemp(prefix="crawlspace-restart-"))
        self.services.folder.chmod(0o755)
        self.services.start_postgres(self.services.folder / "postgres")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Sessions are cut off; by SIGQUIT nothing is written any more, as in a crash."""
        process = self.services.processes.pop()
        assert isinstance(process.args, list)
        self.command = process.args
        process.send_signal(how)
        process.wait(PATIENCE_SECONDS)

    def start(self) -> None:
        self.services.spawn("PostgreSQL", self.command, self.services.postgres_port, unprivileged_login())
