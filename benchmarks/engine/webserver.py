"""nginx on loopback: one process, on cores of its own, with a folder of its own for everything it writes."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine.processes import cpu_seconds, pinned

CONFIGURATION = """
{user}
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 16384; epoll_events {epoll_events}; }}
http {{
  access_log off;
  types {{ text/html html htm; text/css css; application/javascript js; image/png png; image/svg+xml svg; image/gif gif;
           image/jpeg jpg jpeg; application/zip zip; text/plain txt; }}
  default_type application/octet-stream;
  charset off;
  sendfile on;
  tcp_nodelay on;
  keepalive_requests 1000000;
  keepalive_timeout 300s;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
{servers}
}}
"""
SITE = "  server {{ listen 127.0.0.1:{port} backlog=4096; root {root}; }}"


@dataclass(frozen=True, slots=True)
class Webserver:
    """A running nginx."""

    pid: int

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)


@contextmanager
def serve_sites(roots: Sequence[Path], on: Sequence[int], *, port: int = 0) -> Iterator[tuple[Webserver, list[int]]]:
    """Each folder on a port of its own; the first on `port` where one is given."""
    ports = [port, *free_ports(len(roots) - 1)] if port else free_ports(len(roots))
    servers = [SITE.format(port=number, root=root) for number, root in zip(ports, roots, strict=True)]
    with serve("\n".join(servers), on, ports[0]) as server:
        yield server, ports


@contextmanager
def serve(servers: str, on: Sequence[int], port: int, *, epoll_events: int = 512) -> Iterator[Webserver]:
    """nginx with these server blocks; `port` is one of theirs, at which it is waited for."""
    folder = Path(tempfile.mkdtemp(prefix="crawlspace-nginx-"))
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
    text = CONFIGURATION.format(user=user, folder=folder, servers=servers, epoll_events=epoll_events)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(
            [_program(), "-p", str(folder), "-c", str(folder / "nginx.conf")],
            stdout=output, stderr=output, preexec_fn=pinned(on),
        )  # fmt: skip
    try:
        _wait_for(port, process, folder)
        yield Webserver(process.pid)
    finally:
        process.send_signal(signal.SIGQUIT)  # the access log is flushed
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _program() -> str:
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        sys.exit("nginx is needed and is not on PATH: apt-get install nginx-light")
    return found


def _wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    said = (folder / "output").read_text() + (folder / "error.log").read_text()
    process.kill()
    sys.exit(f"nginx does not answer on port {port}: {said[-2000:]}")


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports
