"""Time and memory to merge and judge the results of a whole hall, made without servers from the machine's data.

The inventory has racks of 8 nodes and shards of 40 racks. The nodes are those of `fleet_run.py`: DGX H100 with their
own serials, addresses and counters; 62 % share a fault, 30 % have one of their own. `rackcheck merge` runs as a user
runs it. The table then carries the measured seconds for each node to larger halls.

    python benchmarks/hall.py [--nodes 10000] [--keep FOLDER]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random

from fleet_run import SITE, TIME, captures, faulty

from rackcheck.model.fact import Plane
from rackcheck.model.question import Read
from rackcheck.run.event import Answered
from rackcheck.session.shard_asking import job_of
from rackcheck.shard import document
from rackcheck.shard.result import ResultWriter

RACK, SHARD = 8, 320
"""Nodes of a rack, and of a shard."""


def inventory(count: int) -> str:
    """Return an inventory of this many nodes."""
    lines = ["rackcheck: 1", "defaults:", "  bmc: { user: root, password: env:BMC_PASSWORD }", "nodes:"]
    for number in range(count):
        name = f"n{number:05}"
        bmc = f"{{ url: 'https://{name}-bmc.invalid' }}"
        lines.append(f"  {name}: {{ host: {name}.invalid, bmc: {bmc}, rack: r{number // RACK:04} }}")
    return "\n".join(lines) + "\n"


def answer(shard_file: Path, result: Path) -> int:
    """Write the result of one shard; return its size."""
    shard = document.load(shard_file)
    plan = job_of(shard).plan
    globs = {glob: None for probe in plan.probes if isinstance(probe.ask, Read) for glob in probe.ask.globs}
    with ResultWriter(shard, result) as writer:
        writer.begin([])
        for node in shard.nodes:
            number = int(node.name[1:])
            draw = Random(number)  # noqa: S311  a model, no secret
            found = captures(globs, faulty(node.name, number, draw), number, draw)
            for plane, capture in zip((Plane.OS, Plane.BMC), found, strict=True):
                writer.write(Answered(node.name, plane, TIME, None, capture))
        writer.finish()
    return result.stat().st_size


def measured(env: dict[str, str], *words: str) -> tuple[float, float, float, int]:
    """Run a command of rackcheck; return its wall and CPU seconds, its peak of memory in MiB, and its exit status."""
    began = time.monotonic()
    with subprocess.Popen(  # noqa: S603  our own program
        [sys.executable, "-m", "rackcheck", *words], env=env, stdout=subprocess.DEVNULL
    ) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, child.returncode


def main() -> None:
    """Print what the plan, the results and the merge take."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="folder in which the plan and the run stay")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = given.keep or Path(name)
        place.mkdir(exist_ok=True)
        os.environ["BMC_PASSWORD"] = "none"
        env = {**os.environ, "RACKCHECK_HOME": str(place / "home")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        plan = place / "plan"
        if not plan.exists():
            (place / "hall.yaml").write_text(inventory(given.nodes))
            sets = [word for key, value in SITE.items() for word in ("--set", f"{key}={value}")]
            count = str(max(1, given.nodes // SHARD))
            wall, cpu, peak, status = measured(
                env,
                "plan",
                "-p",
                "h100-dgx",
                "-i",
                str(place / "hall.yaml"),
                "--by",
                count,
                *sets,
                "-o",
                str(plan),
                "-q",
            )
            print(
                f"plan of {given.nodes} nodes: {wall:.1f} s, {cpu:.1f} CPU s, {peak:.0f} MiB, exit {status}", flush=True
            )
        began = time.monotonic()
        with ProcessPoolExecutor() as pool:
            files = sorted((plan / "shards").glob("*.json"))
            todo = [(file, plan / "results" / file.stem) for file in files]
            todo = [(file, result) for file, result in todo if not result.exists()]
            list(pool.map(answer, [file for file, _ in todo], [result for _, result in todo]))
        size = sum(path.stat().st_size for path in (plan / "results").iterdir())
        print(f"results made in {time.monotonic() - began:.0f} s: {len(files)} files, {size >> 20} MiB", flush=True)
        wall, cpu, peak, status = measured(env, "merge", str(plan), "-o", str(place / "run"), "-q")
        print(
            f"merge: {wall:.0f} s, {cpu:.0f} CPU s, {1000 * cpu / given.nodes:.0f} ms of CPU for a node, "
            f"{peak:.0f} MiB, exit {status}"
        )


if __name__ == "__main__":
    main()
