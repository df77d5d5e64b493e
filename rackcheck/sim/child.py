"""A simulated rack in a process of its own, so that it shares nothing with who asks it."""

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rackcheck.mistake import Mistake

GOODBYE = 5.0
"""Seconds that a rack may take to end."""


@contextmanager
def running(name: str, folder: Path | None = None) -> Iterator[Path]:
    """Keep a rack up and give its inventory file, in this folder or one of its own; raises Mistake where it cannot.

    The rack ends with the block, or with this process: it reads a pipe that only we hold open.
    """
    with contextlib.ExitStack() as kept:
        place = folder or Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="rackcheck-sim-")))
        process = subprocess.Popen(  # noqa: S603  our own interpreter and module
            [sys.executable, "-m", "rackcheck.sim", name, str(place)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=_prepare,  # noqa: PLW1509
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018
        try:
            said = process.stdout.readline().strip()
            if said != "up":
                rest = process.stdout.read()
                raise Mistake(
                    "\n".join(filter(None, (said, rest.strip()))) or f"the simulated rack {name} did not start"
                )
            yield place / "inventory.yaml"
        finally:
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GOODBYE)
            process.kill()
            process.wait()
            process.stdout.close()


def _prepare() -> None:
    """Leave the terminal's Ctrl-C to us, and allow a socket for every machine."""
    os.setsid()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard != resource.RLIM_INFINITY else 65536, hard))
