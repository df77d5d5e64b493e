"""From an empty folder to a signed, verified bundle with a burn-in: each command, its output and its seconds.

    python benchmarks/newcomer.py [SCENARIO]

The rack is simulated (default: `clean`, eight nodes) and reached over real SSH and HTTPS; its host keys and
certificates are unknown. The burn-in takes its real time. All times include the simulator, which runs on the same
machine.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from newcomer import walk

from rackcheck.sim import scenario


def main() -> None:
    """Print the way."""
    found = scenario.find(sys.argv[1] if len(sys.argv) > 1 else "clean")
    with tempfile.TemporaryDirectory() as folder:
        typed = []
        for done in walk(found, Path(folder)):
            typed.append(done)
            print(f"\n$ {' '.join(done.words)}\n{done.out}{done.err}\nexit {done.status}, {done.seconds:.1f} s")
        print(f"\n{len(typed)} commands, {sum(done.seconds for done in typed):.0f} s")


if __name__ == "__main__":
    main()
