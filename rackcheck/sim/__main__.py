"""Runs one simulated rack until its standard input ends: `python -m rackcheck.sim NAME [FOLDER]`.

When every machine is up, the process prints `up` and the rack's folder as a JSON string. On an error, the process
prints the error and exits with status 2. The process removes the rack's folder itself, even if the parent process
crashes.
"""

import contextlib
import json
import os
import select
import signal
import sys
from pathlib import Path

from rackcheck.base.user_error import UserError
from rackcheck.sim import scenario
from rackcheck.sim.rack import RackAbandoned, SimRack
from rackcheck.sim.rack_folder import room


class EndSignal:
    """The request to end: standard input is closed, or SIGTERM, SIGHUP or SIGINT is received."""

    def __init__(self) -> None:
        self._asked, wake = os.pipe()
        os.set_blocking(wake, False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: None)  # only the byte written to the pipe matters
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def taken(self, seconds: float | None = 0) -> bool:
        """Wait at most `seconds` (None: no limit) for the request to end; return whether the request was received."""
        return bool(select.select([0, self._asked], [], [], seconds)[0])


def main(name: str, folder: str = "") -> int:
    """Run the rack until the request to end is received; return the exit status."""
    leave = EndSignal()
    try:
        found = scenario.find(name)
        with room(Path(folder) if folder else None) as place, SimRack(found, place, leave.taken):
            _print_ready(f"up {json.dumps(str(place))}\n")
            leave.taken(None)
    except UserError as error:
        _print_ready(f"{error}\n")
        return 2
    except RackAbandoned:
        pass
    return 0


def _print_ready(text: str) -> None:
    """Write to standard output without a buffer; if the pipe is closed, ignore the error."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, text.encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
