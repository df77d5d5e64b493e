"""Runs a simulated rack in a separate process, which shares no state with the caller."""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.sim import rack_folder

GOODBYE = 5.0
"""Seconds that a simulated rack has to stop before it is killed."""


@contextmanager
def running(name: str, folder: Path | None = None) -> Iterator[Path]:
    """Run a rack in `folder` or a new folder, and yield its inventory file; raises UserError if it does not start.

    The rack stops, and its folder is removed, when the `with` block ends. The rack also stops when this process ends,
    because this closes the pipe from which the rack reads.
    """
    process = subprocess.Popen(  # noqa: S603  our own interpreter and module
        [sys.executable, "-m", "rackcheck.sim", name, *([str(folder)] if folder is not None else [])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=_prepare,  # noqa: PLW1509
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None  # noqa: PT018
    place: Path | None = None
    try:
        message = process.stdout.readline().decode("utf-8", "surrogateescape").strip()
        place = _place(message)
        if place is None:
            rest = process.stdout.read().decode("utf-8", "surrogateescape").strip()
            raise UserError("\n".join(filter(None, (message, rest))) or f"the simulated rack {name} did not start")
        yield place / rack_folder.INVENTORY
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GOODBYE)
        process.kill()
        process.wait()
        process.stdout.close()
        if place is not None and process.returncode != 0:  # the process was killed before it could clean up
            rack_folder.remove(place / name for name in rack_folder.FILES)
            if folder is None:
                shutil.rmtree(place, ignore_errors=True)


def _place(message: str) -> Path | None:
    """Return the folder in the line `up FOLDER`; None if the rack printed anything else."""
    word, _, rest = message.partition(" ")
    try:
        found = json.loads(rest) if word == "up" else None
    except ValueError:
        return None
    return Path(found) if isinstance(found, str) else None


def _prepare() -> None:
    """Start a new process session, so that only the caller receives Ctrl-C, and raise the limit on open files."""
    os.setsid()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65536, hard))
