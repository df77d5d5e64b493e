"""Keeps one simulated rack up: `python -m rackcheck.sim NAME FOLDER`, until its standard input ends.

Says `up` once every machine answers; a mistake is one line and exit 2.
"""

import sys
from pathlib import Path

from rackcheck.mistake import Mistake
from rackcheck.sim import scenario
from rackcheck.sim.rack import Rack


def main(name: str, folder: str) -> int:
    """Bring the rack up and wait."""
    try:
        with Rack(scenario.find(name), Path(folder)):
            print("up", flush=True)
            sys.stdin.read()
    except Mistake as error:
        print(error, flush=True)
        return 2
    except KeyboardInterrupt:
        pass  # the parent has it, too
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
