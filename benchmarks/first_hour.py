"""Time of doctor and audit over a simulated hall, without dead nodes and with six dead ones.

Servers and client share this machine's cores, so the figures are an upper bound for a separate controller; the
ratio matters: dead nodes must cost their time limit once, independent of their number.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
HEALTHY = """\
rackcheck: 1
scenario: healthy
bmc: { milliseconds: 2, workers: 4, sessions: 16 }
nodes: { "n[0001-0072]": { machine: dgx-h100 } }
"""


def seconds(*words: str) -> float:
    """Run one command and return its wall time; its exit status is ignored."""
    began = time.monotonic()
    command = [sys.executable, "-m", "rackcheck", *words]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  our own module
    if done.returncode not in {0, 1, 3}:
        sys.exit(done.stderr.decode())
    return time.monotonic() - began


def main() -> None:
    """Measure, print medians and ratios."""
    with tempfile.TemporaryDirectory() as place:
        healthy = Path(place) / "healthy.yaml"
        healthy.write_text(HEALTHY)
        racks = {"none dead": f"sim:{healthy}", "six dead": "sim:hall"}
        for command in ("doctor", "audit"):
            medians = {}
            for name, rack in racks.items():
                out = ("-o", f"{place}/{command}-{time.time()}") if command == "audit" else ()
                took = []
                for number in range(ROUNDS):
                    words = (f"{out[1]}-{number}",) if out else ()
                    took.append(seconds(command, "--rack", rack, "-p", "h100-dgx", "-q", *out[:1], *words))
                medians[name] = statistics.median(took)
                rounds = ", ".join(f"{t:.1f}" for t in took)
                print(f"{command:<7} 72 nodes, {name:<12} {medians[name]:6.1f} s  ({rounds})")
            print(f"{command:<7} six dead / none dead: {medians['six dead'] / medians['none dead']:.2f}")


if __name__ == "__main__":
    main()
