"""CPU time of judging stored runs again, and of judging new replies, in two checkouts side by side.

    python benchmarks/rejudge.py OLD NEW [--nodes 64] [--rounds 3]

OLD and NEW are folders of checkouts, each with its `.venv`. The run is made by `fleet_run.py` in NEW: simulated DGX
H100, 62 % of which share a fault, and 30 % have one of their own. The rows are

    again        `runs show` in both, in NEW with the facts that the command before has kept
    first        `runs show` in NEW when no facts are kept yet
    different    as `again`, for a run in which every reply of each node differs from those of the other nodes
    new replies  judging and storing the run's replies as an audit does, without asking nodes, and without kept facts

with the medians of the CPU seconds (user and system) and of the ratios, and the peak of memory of NEW. The standard
output of `runs show` must be the same in both checkouts; where it differs, the row is marked.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

JUDGE = """\
import gc, shutil, sys
gc.set_threshold(50_000, 20, 50)  # as the command line of both
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from time import process_time
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.session.stored import stored_job
source, target = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(target, ignore_errors=True)
found = store.find(str(source))
job = stored_job(found)
job = replace(job, kept=None) if hasattr(job, "kept") else job
RunWriter = getattr(store, "RunWriter", None) or import_module("rackcheck.run.run_writer").RunWriter
with RunWriter(target, head(Prepared(job, target, {}, (), (), {})), job.profile.files) as writer:
    for event in replay(job, (replace(answer, digest="") for answer in found.answers()), found.done()):
        writer.write(event)
getattr(import_module("rackcheck.cli"), "leave", sys.exit)(0)
"""


def spent(words: list[str], home: Path) -> tuple[float, float, str]:
    """Run one command; return its CPU seconds, its peak of memory in MiB, and its output without paths."""
    with subprocess.Popen(  # noqa: S603  our own program
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "RACKCHECK_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "120"},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        out = process.stdout.read()
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", out)


def row(name: str, old: list[str], new: list[str], rounds: int, homes: tuple[Path, Path]) -> None:
    """Run a command in both checkouts alternately, and print one line of the table."""
    pairs = [(spent(old, homes[0]), spent(new, homes[1])) for _ in range(rounds)]
    olds, news = [one[0] for one, _ in pairs], [other[0] for _, other in pairs]
    ratio = statistics.median(a / b for a, b in zip(olds, news, strict=True))
    mark = "" if pairs[-1][0][2] == pairs[-1][1][2] else "  output differs"
    peak = max(other[1] for _, other in pairs)
    print(
        f"{name:14}{statistics.median(olds):9.2f}{statistics.median(news):9.2f}{ratio:8.1f}{peak:9.0f} MiB{mark}",
        flush=True,
    )


def main() -> None:
    """Make the runs, and print the table."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users' programs keep their compiled modules
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    old, new = given.old.resolve() / ".venv" / "bin", given.new.resolve() / ".venv" / "bin"
    make = Path(__file__).with_name("fleet_run.py")
    with tempfile.TemporaryDirectory() as place:
        homes = Path(place, "old"), Path(place, "new")
        print(f"{given.nodes} nodes, {given.rounds} rounds")
        print(f"{'':14}{'old':>9}{'new':>9}{'ratio':>8}{'memory':>9}")
        for name, more in (("again", []), ("different", ["--different"])):
            run = str(Path(place, name))
            words = [str(new / "python"), str(make), run, "--nodes", str(given.nodes), *more]
            subprocess.run(words, check=True)  # noqa: S603  our own program
            first, peak, _ = spent([str(new / "rackcheck"), "runs", "show", run], homes[1])
            print(f"{'first':14}{'':9}{first:9.2f}{'':8}{peak:9.0f} MiB", flush=True)
            show = ["rackcheck", "runs", "show", run]
            row(name, [str(old / show[0]), *show[1:]], [str(new / show[0]), *show[1:]], given.rounds, homes)
        judge = ["-c", JUDGE, str(Path(place, "again")), str(Path(place, "out"))]
        row("new replies", [str(old / "python"), *judge], [str(new / "python"), *judge], given.rounds, homes)


if __name__ == "__main__":
    main()
