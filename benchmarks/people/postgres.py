"""A PostgreSQL server on loopback, for as long as it is needed, in a temporary folder."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PASSWORD = "not%a:real@secret"
ENCODED = "not%25a%3Areal%40secret"
"""The password as an address has to spell it."""


class NoPostgres(RuntimeError):
    """PostgreSQL is not installed here, or cannot be started."""


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server; yields its address without the name of a database."""
    programs, user = _programs(), _user()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        (folder / "password").write_text(PASSWORD)
        if user:
            shutil.chown(folder, user)
            shutil.chown(folder / "password", user)
        data = folder / "data"
        made = subprocess.run(
            [
                *(programs / "initdb", "-D", data, "-U", "me", "-E", "UTF8", "--no-sync"),
                *("--auth=scram-sha-256", f"--pwfile={folder / 'password'}"),
            ],
            user=user,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if made.returncode:
            raise NoPostgres(f"PostgreSQL could not be set up here: {made.stderr.strip()[-200:]}")
        control = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c shared_buffers=16MB"
        started = subprocess.run([*control, "-o", options, "start"], user=user, cwd=folder)
        if started.returncode:
            raise NoPostgres(f"PostgreSQL did not start: {(folder / 'log').read_text()[-200:]}")
        try:
            yield f"postgresql://me:{ENCODED}@127.0.0.1:{port}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], user=user, cwd=folder)


def new_database(server: str) -> str:
    """Make an empty database; returns its address."""
    import sqlalchemy as sa

    admin = sa.create_engine(
        server.replace("postgresql:", "postgresql+psycopg:") + "/postgres",
        isolation_level="AUTOCOMMIT",
        poolclass=sa.pool.NullPool,
    )
    with admin.connect() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM pg_database").scalar()
        connection.exec_driver_sql(f"CREATE DATABASE ledger{count}")
    return f"{server}/ledger{count}"


def _programs() -> Path:
    """The folder of initdb and postgres; Debian keeps them out of the search path."""
    on_path = shutil.which("initdb")
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: int(p.parts[-3])
    )
    found = Path(on_path) if on_path else next(reversed(versions), None)
    if found is None:
        raise NoPostgres("PostgreSQL is not installed here (initdb was not found)")
    return found.parent


def _user() -> str | None:
    """PostgreSQL refuses to run as root, so root runs it as somebody else."""
    import pwd

    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return str(pwd.getpwnam(name).pw_name)
        except KeyError:
            continue
    raise NoPostgres("PostgreSQL does not run as root, and there is no other user here")


def crash(address: str) -> None:
    """Kill the server as a power cut of the program would (SIGKILL), and start it again."""
    import sqlalchemy as sa

    engine = sa.create_engine(
        address.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.pool.NullPool
    )
    with engine.connect() as connection:
        data = Path(str(connection.exec_driver_sql("SHOW data_directory").scalar()))
    lines = (data / "postmaster.pid").read_text().splitlines()
    started = (data / "postmaster.opts").read_text()
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", lines[0]], capture_output=True)
    for process in (lines[0], *children.stdout.decode().split()):
        with suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)
    (data / "postmaster.pid").unlink(missing_ok=True)
    options = " ".join(shlex.split(started)[1:])
    control = [_programs() / "pg_ctl", "-D", data, "-w", "-l", data.parent / "log"]
    start = [*control, "-o", options.replace(f"-D {data}", ""), "start"]
    for _ in range(60):  # until the last process of the killed server has let go of its memory
        done = subprocess.run(start, user=_user(), cwd=data.parent, capture_output=True, text=True)
        if done.returncode == 0:
            return
        time.sleep(0.5)
    raise NoPostgres(f"PostgreSQL did not start again: {done.stderr[-200:]}")
