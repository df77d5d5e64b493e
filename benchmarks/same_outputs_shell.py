"""Runs commands for `same_outputs.py`, each in a separate process with all modules and probes already loaded.

Loading these is most of the cost of a short command. A line of the input is a command and its time limit in seconds;
a line of the output is its exit status and both streams.
"""

import contextlib
import io
import json
import os
import runpy
import signal
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

from rackcheck.cli import main

PICTURES = "PICTURES"
"""The argument of a command that draws the screens into a folder."""


def run(words: list[str], limit: int, out: BinaryIO, err: BinaryIO) -> int:
    """Run one command, and return its exit status."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        signal.alarm(limit)
        with Path(os.devnull).open("rb") as nothing:
            for number, stream in enumerate((nothing, out, err)):
                os.dup2(stream.fileno(), number)
        if words[0] == PICTURES:
            sys.argv = words
            runpy.run_module("rackcheck_tui.pictures", run_name="__main__")
            sys.exit()
        sys.argv = ["rackcheck", *words]
        main()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def serve() -> None:
    """Load the probes, then run the commands of the input."""
    sys.argv = ["rackcheck", "probe", "list"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    for line in sys.stdin:
        words, limit = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            status = run(words, limit, out, err)
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read().decode("utf-8", "surrogateescape"))
        print(json.dumps([status, *texts]), flush=True)


if __name__ == "__main__":
    serve()
