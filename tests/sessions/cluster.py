"""A temporary PostgreSQL server for tests and measurements, where its programs are installed."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_USERS = ("postgres", "nobody")


def programs() -> Path | None:
    """Return the folder of `initdb` and `postgres`; None when they are not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in folders if (one / "initdb").exists() and (one / "postgres").exists()), None)


MISSING = "PostgreSQL is not installed here (Debian: postgresql); its half of the tests is left out"


@contextmanager
def running(*, durable: bool = False) -> Iterator[str]:
    """Run a server; yield its URL. It listens only on a socket in its folder. Unless `durable`, it does not wait for
    the disk."""
    bin_folder = programs()
    if bin_folder is None:
        raise FileNotFoundError(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    as_user = _as_user(folder)
    data = folder / "data"
    log = (folder / "log").open("wb")
    subprocess.run(
        [*as_user, bin_folder / "initdb", "-D", data, "-A", "trust", "-U", "test", "-E", "UTF8", "--locale=C", "-N"],
        check=True,
        stdout=log,
        stderr=log,
        cwd="/",
    )
    settings = ["-c", f"fsync={'on' if durable else 'off'}", "-c", "shared_buffers=64MB", "-c", "max_connections=60"]
    command = [*as_user, bin_folder / "postgres", "-D", data, "-k", folder, "-h", "", *settings]
    server = subprocess.Popen(command, stdout=log, stderr=log, cwd="/")
    try:
        _wait(bin_folder, folder, server)
        yield f"postgresql://test@/postgres?host={folder}"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        log.close()
        shutil.rmtree(folder, ignore_errors=True)


def _as_user(folder: Path) -> list[str]:
    """Return the command prefix that starts a program as a user that may run the server: root may not."""
    if os.geteuid() != 0:
        return []
    import pwd

    for name in _USERS:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, user.pw_uid, user.pw_gid)
        folder.chmod(0o755)
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    raise FileNotFoundError("no user to run PostgreSQL as")


def _wait(bin_folder: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        ready = [bin_folder / "pg_isready", "-h", folder, "-U", "test", "-d", "postgres", "-q"]
        if subprocess.run(ready, check=False).returncode == 0:
            return
        if server.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError((folder / "log").read_text(errors="replace"))
