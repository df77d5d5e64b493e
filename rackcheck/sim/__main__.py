"""Keeps one simulated rack up: `python -m rackcheck.sim NAME [FOLDER]`, until its standard input ends.

Says `up` and its folder, as JSON, once every machine answers; a mistake is said instead, with exit 2. The folder goes
with the rack, however whoever started it has ended: that is why it is ours, and not theirs.
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
    """Tells when to end: nobody holds our standard input open any more, or a signal asks us to."""

    def __init__(self) -> None:
        self._asked, wake = os.pipe()
        os.set_blocking(wake, False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, lambda *_: None)  # what counts is the byte that it puts into the pipe
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def taken(self, seconds: float | None = 0) -> bool:
        """Whether it is time to end; waits for it as long as this, None for ever."""
        return bool(select.select([0, self._asked], [], [], seconds)[0])


def main(name: str, folder: str = "") -> int:
    """Bring the rack up and wait."""
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
    """Tell whoever started us, if they are there: written at once, so that nothing is left for a closed pipe."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, text.encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
