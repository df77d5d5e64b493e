"""CPU time of judging new replies, and of judging stored runs again, in two checkouts side by side.

    python benchmarks/rejudge.py OLD NEW [--nodes 64] [--rounds 3]

OLD and NEW are folders of checkouts, each with its `.venv`. Each judges the replies by its own profile h100-dgx, and
then shows the run that it has stored itself, so that OLD may be a version that cannot read the runs of NEW. The replies
are made by `fleet_run.py` in NEW: simulated DGX H100, 62 % of which share a fault, and 30 % have one of their own. The
rows are

    new replies  judging and storing replies as an audit does, in one process, and keeping the facts, without
                 asking nodes; no facts are kept before
    again        `runs show` in both, in NEW with the facts that are kept
    first        `runs show` in NEW when no facts are kept

with the medians of the CPU seconds (user and system) and of the ratios, and the peak of memory of NEW. `different` is a
fleet in which every reply of each node differs from those of the other nodes. Rows are marked if the standard output of
`runs show` is not the same in both, as it is not if the profiles differ.
"""

import argparse
import os
import re
import shutil
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
from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.profile import Phase
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.run.engine import replay
from rackcheck.run.event import RunDone
from rackcheck.run.job import Job
from rackcheck.session.audit_setup import Prepared, head
from rackcheck.session.stored import stored_nodes
source, target, time = Path(sys.argv[1]), Path(sys.argv[2]), "2026-11-21T08:00:00Z"
site = {"bios_version": "1.5.3", "bmc_firmware": "24.09.17"}
shutil.rmtree(target, ignore_errors=True)
found = store.find(str(source))
profile = library.load("h100-dgx", registry().catalogue, site)
plan = registry().planned(profile, {Phase.CONFIG})
job = Job(plan, stored_nodes(found), profile, targets="all", time=time)
def here(name, place):
    try:
        return getattr(import_module(place), name, None)
    except ImportError:
        return None
kept_facts, FactsRead = here("kept_facts", "rackcheck.run.kept_facts"), here("FactsRead", "rackcheck.run.event")
RunWriter = here("RunWriter", "rackcheck.run.run_writer") or store.RunWriter
kept, nodes, came = kept_facts and kept_facts(), {node.name: node for node in job.nodes}, {}
def new_answers():
    for answer in found.answers():
        came.setdefault(answer.node, []).append(answer)
        yield replace(answer, digest="")
with RunWriter(target, head(Prepared(job, target, site, (), (), {})), profile.files) as writer:
    for event in replay(job, new_answers(), RunDone(time, Outcome.PASS)):
        writer.write(event)
        if kept and isinstance(event, FactsRead) and event.node in came:
            kept.add(job.asked, nodes[event.node], came.pop(event.node), event.tree)
(here("leave", "rackcheck.cli") or sys.exit)(0)
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


def row(
    name: str, old: list[str], new: list[str], rounds: int, homes: tuple[Path, Path], *, empty: bool = False
) -> None:  # fmt: skip
    """Run a command in both checkouts alternately, and print one line of the table; `empty`: nothing is kept before."""
    pairs = []
    for _ in range(rounds):
        for home in homes if empty else ():
            shutil.rmtree(home / "cache" / "facts", ignore_errors=True)
        pairs.append((spent(old, homes[0]), spent(new, homes[1])))
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
        for name, more in (("alike", []), ("different", ["--different"])):
            print(name)
            fleet, runs = str(Path(place, name)), [str(Path(place, f"{name}-{each}")) for each in ("old", "new")]
            words = [str(new / "python"), str(make), fleet, "--nodes", str(given.nodes), *more]
            subprocess.run(words, check=True)  # noqa: S603  our own program
            # With `-P`, the program is that of the checkout, and not the one in the working directory.
            pairs = tuple(zip((old, new), runs, strict=True))
            judge = [[str(each / "python"), "-P", "-c", JUDGE, fleet, run] for each, run in pairs]
            row("new replies", *judge, given.rounds, homes, empty=True)
            show = [[str(each / "rackcheck"), "runs", "show", run] for each, run in pairs]
            row("again", *show, given.rounds, homes)
            shutil.rmtree(homes[1])
            first, peak, _ = spent(show[1], homes[1])
            print(f"{'first':14}{'':9}{first:9.2f}{'':8}{peak:9.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
