"""CPU time of commands on a stored run, in two checkouts side by side.

    python benchmarks/commands.py OLD NEW [--nodes 8 | --run FOLDER] [--rounds 5] [--only COMMAND]

OLD and NEW are folders of checkouts, each with its `.venv/bin/rackcheck`. OLD audits a simulated rack of DGX H100 nodes
once; with `--run`, the run is one that `fleet_run.py` has made, since there are more nodes than can be simulated. Each
checkout has a copy of this run in a state folder of its own. Each round runs each command in OLD and in NEW, one after
the other. The table has the medians of the CPU seconds (user and system, with child processes), the median of the
ratios of the rounds, and the first time of each command in NEW, when nothing is kept yet. The standard output of both
checkouts must be the same, except for folders and times; where it differs, the row is marked.
"""

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

RACK = """\
rackcheck: 1
scenario: many
load: {{ pace: 8, seed: 5 }}
nodes: {{ 'n[1-{nodes}]': {{ machine: dgx-h100 }} }}
faults:
  - {{ nodes: 'n[1-{most}]', fault: nic-down, nic: mlx5_4 }}
"""

COMMANDS = {
    "--help": ["--help"],
    "runs list": ["runs", "list"],
    "profile list": ["profile", "list"],
    "probe list": ["probe", "list"],
    "profile check h100-dgx": ["profile", "check", "h100-dgx"],
    "runs show": ["runs", "show", "RUN"],
    "report --format json": ["report", "RUN", "--format", "json", "-o", "-"],
    "report --format html": ["report", "RUN", "--format", "html", "-o", "-"],
    "groups": ["groups", "RUN"],
    "odd": ["odd", "RUN"],
    "diff of two nodes": ["diff", "FIRST", "SECOND", "--from", "RUN"],
    "facts of a node": ["facts", "FIRST", "--from", "RUN"],
    "history of a rule": ["history", "gpu.count"],
    "history of a node": ["history", "FIRST"],
    "accept show": ["accept", "show", "one"],
    "waive --dry-run": ["waive", "nic.rate", "--from", "RUN", "--nodes", "FIRST", "--until", "2027-01-31", "--by", "Jo",
                        "--ticket", "T-1", "--reason", "cables ordered", "--dry-run"],
}  # fmt: skip


def run(checkout: Path, home: Path, words: list[str]) -> tuple[float, str, int]:
    """Run one command; return its CPU seconds, its output, and its exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(  # noqa: S603  our own program
        [checkout / ".venv" / "bin" / "rackcheck", *words], capture_output=True, text=True, check=False, cwd=home,
        env={**os.environ, "RACKCHECK_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "120"},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, re.sub(f"{re.escape(str(home.parent))}/(old|new)", "HOME", done.stdout), done.returncode


def audited(old: Path, home: Path, nodes: int) -> Path:
    """Audit a simulated rack; return the folder of the run."""
    (home / "rack.yaml").write_text(RACK.format(nodes=nodes, most=max(1, nodes * 62 // 100)))
    run(old, home, ["audit", "--rack", f"sim:{home / 'rack.yaml'}", "-p", "h100-dgx", "-q"])
    (made,) = (home / "runs").iterdir()
    return made


def copied(source: Path, home: Path) -> Path:
    """Copy a run to where the program finds it by its name; return the folder of the copy."""
    name = json.loads((source / "run.json").read_text())["run"]
    return Path(shutil.copytree(source, home / "runs" / name))


def main() -> None:
    """Make the run, and print the table."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users' programs keep their compiled modules
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", action="append", choices=COMMANDS, metavar="COMMAND", default=[])
    given = parser.parse_args()
    old, new = given.old.resolve(), given.new.resolve()
    with tempfile.TemporaryDirectory() as place:
        first, second = Path(place, "old"), Path(place, "new")
        first.mkdir()
        made = audited(old, first, given.nodes) if given.run is None else copied(given.run, first)
        names = [node["name"] for node in json.loads((made / "run.json").read_text())["nodes"]]
        print(f"{len(names)} nodes, {given.rounds} rounds")
        listed = "".join(f"  {name}: {{ host: n.invalid }}\n" for name in names)
        (first / "rack-list.yaml").write_text(f"rackcheck: 1\nnodes:\n{listed}")
        if "accept show" in (given.only or COMMANDS):  # this reads all replies once more
            run(old, first, ["accept", "new", "one", "-p", "h100-dgx", "-i", "rack-list.yaml"])
            run(old, first, ["accept", "add", "one", made.name])
        shutil.copytree(first, second)
        print(f"{'command':26}{'old':>8}{'new':>8}{'old/new':>9}{'first':>8}")
        filled = {"RUN": made.name, "FIRST": names[0], "SECOND": names[1]}
        for name in given.only or COMMANDS:
            named = [filled.get(word, word) for word in COMMANDS[name]]
            shutil.rmtree(second / "cache", ignore_errors=True)
            cold, _, _ = run(new, second, named)
            rounds = [(run(old, first, named), run(new, second, named)) for _ in range(given.rounds)]
            (_, before, was), (_, after, now) = rounds[-1]
            same = (plain(before), was) == (plain(after), now)
            pairs = [(one[0], other[0]) for one, other in rounds]
            olds, news = zip(*pairs, strict=True)
            ratio = statistics.median(a / b for a, b in pairs)
            mark = "" if same else f"  output differs (exit {was}, {now})"
            print(f"{name:26}{statistics.median(olds):8.2f}{statistics.median(news):8.2f}{ratio:9.2f}{cold:8.2f}{mark}")


def plain(text: str) -> str:
    """Return an output without what differs between two checkouts: times of writing, and the program's own commit."""
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)


if __name__ == "__main__":
    main()
