"""Runs the real command line in this process, and returns what a shell would see."""

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from rackcheck.cli import cli, guarded


@dataclass(frozen=True)
class Done:
    """A finished command."""

    status: int
    out: str
    err: str


def rackcheck(*words: object) -> Done:
    """Run `rackcheck WORDS…`."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    args: Sequence[str] = [str(word) for word in words]
    with redirect_stdout(out), redirect_stderr(err):
        status = guarded(lambda: cli.main(list(args), prog_name="rackcheck", standalone_mode=False))
        sys.stdout.flush()
        sys.stderr.flush()
    return Done(status, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode()
