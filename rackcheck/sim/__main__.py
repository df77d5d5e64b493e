"""Runs one simulated rack: `python -m rackcheck.sim NAME [FOLDER]`, until its standard input ends.

Prints `up` and its folder, as JSON, once every machine is up; on a mistake it prints the mistake and exits with 2.
This process removes the rack's folder, so that it is removed however the process that started it ends.
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
    """The signal to end: standard input is closed, or SIGTERM, SIGHUP or SIGINT arrives."""

    def __init__(self) -> None:
        self._asked, wake = os.pipe()
        os.set_blocking(wake, False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: None)  # only the byte written to the pipe matters
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def taken(self, seconds: float | None = 0) -> bool:
        """Return whether it is time to end; waits up to `seconds`, without limit for None."""
        return bool(select.select([0, self._asked], [], [], seconds)[0])


def main(name: str, folder: str = "") -> int:
    """Bring the rack up and wait for the end; returns the exit status."""
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
    """Write to standard output unbuffered, so that nothing is left for a closed pipe, which is ignored."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, text.encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
