"""Cost and regularity of sampling 8 GPUs ten times a second: on the fake driver, or a real one.

Runs the sampler of a burn-in with its records discarded, as on a node. Prints the share of one core that the whole
process took, the time of one round, and the deviation of the first GPU's samples from the schedule. The fake answers
at once and looks each answer up in a text, so the share is that of Python and of the fake; a real driver's time is not
in it. With `--real` the machine's driver is used. Goal: less than 5 % of a core, jitter p99 below 20 ms.
"""

import argparse
import ctypes
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from burn_nvml import numbered, travelling  # noqa: E402  the path to it is made above
from joined import TELEMETRY, joined  # noqa: E402

from rackcheck.burnin.node.wire import RecordStream  # noqa: E402

telemetry = joined(*TELEMETRY)


class Timed(telemetry.Sampler):  # type: ignore[misc]  the payload's files are joined as they run
    """A sampler that records the start and the duration of each round."""

    def round(self, number: int, last: bool = False) -> None:
        """Sample each GPU once."""
        began = time.monotonic()
        super().round(number, last)
        self.noted.append((began, time.monotonic() - began))

    noted: list[tuple[float, float]]


def bound(folder: Path, count: int, real: bool) -> tuple[ModuleType, str]:
    """Return pynvml as shipped, bound to the fake or to the machine's driver, and the root of the files to read."""
    nvml = travelling()
    if real:
        return nvml, ""
    target = folder / "libnvidia-ml.so.1"
    built = ["gcc", "-O2", "-shared", "-fPIC", "-o", str(target), str(ROOT / "tests/fake_nvml/nvml.c")]
    subprocess.run(built, check=True)  # noqa: S603
    vars(nvml)["nvmlLib"] = ctypes.CDLL(str(target))
    (folder / "state").write_text(numbered(count))
    os.environ["FAKE_NVML_STATE"] = str(folder / "state")
    for mark in ("proc/driver/nvidia/version", "dev/nvidiactl"):
        (folder / mark).parent.mkdir(parents=True, exist_ok=True)
        (folder / mark).touch()
    (folder / "sys").symlink_to("/sys")
    for file in ("interrupts", "loadavg"):
        (folder / "proc" / file).symlink_to(f"/proc/{file}")
    return nvml, str(folder)


def quantile(values: Iterable[float], part: float) -> float:
    """Return a quantile of values."""
    found = sorted(values)
    return found[min(len(found) - 1, int(part * len(found)))]


def measured(nvml: Any, root: str, seconds: float) -> str:
    """Sample for this long; return the cost."""
    line, stop = RecordStream(os.open(os.devnull, os.O_WRONLY), time.monotonic()), threading.Event()
    gpus = telemetry.Gpus(nvml, line.emit, time.monotonic, root)
    found = gpus.hello()
    sampler = Timed(gpus, line.emit, time.monotonic, stop)
    sampler.noted = []
    began, used = time.monotonic(), time.process_time()
    sampler.start()
    time.sleep(seconds)
    stop.set()
    sampler.join(5)
    wall, cpu = time.monotonic() - began, time.process_time() - used
    rounds = sampler.noted[1:-1]  # the first and the last round read all counters, before and after the load
    period = telemetry.SAMPLE_PERIOD
    off = [(at - sampler.begun) % period for at, _ in rounds]
    took = [each for _, each in rounds]
    return (
        f"{len(found)} GPUs, {wall:.1f} s: {100 * cpu / wall:.2f} % of a core; a round takes "
        f"{1e3 * quantile(took, 0.5):.2f} ms (p99 {1e3 * quantile(took, 0.99):.2f}); off the schedule p50 "
        f"{1e3 * quantile(off, 0.5):.2f} ms, p99 {1e3 * quantile(off, 0.99):.2f} ms; {sampler.skipped} skipped; "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs, Python {platform.python_version()}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="how long to sample")
    parser.add_argument("--gpus", type=int, default=8, help="number of GPUs of the fake")
    parser.add_argument("--real", action="store_true", help="use the machine's own driver")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        nvml, root = bound(Path(folder), given.gpus, given.real)
        print(measured(nvml, root, given.seconds))


if __name__ == "__main__":
    main()
