"""Same bytes: what two checkouts print of ten stored runs, with workers and without, with kept facts and without.

    python benchmarks/same_bytes.py OLD NEW [--nodes 4]

OLD and NEW are folders of checkouts, each with its `.venv/bin/rackcheck`. OLD makes ten runs of simulated racks, with
faults and without, of both planes and of one, with a burn-in, and cut off. Then OLD and NEW print each run with
`runs show --json`, and write its report as JSON and as HTML. NEW does so with 0, 1, 2 and 5 worker processes and
nothing kept, then with the facts that were kept, and then with every kept file damaged at one random byte. The exit
status is 1 if an output of NEW differs from that of OLD. The version of the program is the same in both, or replaced.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random

RACK = """\
rackcheck: 1
scenario: ten
load: {{ pace: 8, seed: {seed} }}
nodes: {{ 'n[1-{nodes}]': {{ machine: dgx-h100 }} }}
faults: [{faults}]
"""

RUNS: dict[str, tuple[str, list[str]]] = {
    "clean": ("", ["audit"]),
    "nic": ("{ nodes: n1, fault: nic-down, nic: mlx5_4 }", ["audit"]),
    "gpu": ("{ nodes: n2, fault: gpu-missing, gpu: 3 }, { nodes: n1, fault: xid, gpu: 2 }", ["audit"]),
    "bios": ("{ nodes: n1, fault: bios-version, version: 1.0.9 }", ["audit", "--set", "bios_version=1.5.3"]),
    "no BMC": ("{ nodes: n1, fault: closed-bmc }", ["audit"]),
    "OS alone": ("{ nodes: n2, fault: drive-missing, drive: nvme4 }", ["audit", "--planes", "os"]),
    "BMC alone": ("", ["audit", "--planes", "bmc"]),
    "twice": ("", ["audit", "--again", "1"]),
    "burn-in": ("", ["burnin", "--yes"]),
    "cut off": ("", ["audit"]),
}
"""The runs: the faults of the rack, and the words of the command."""

FORMS = {
    "runs show --json": ["runs", "show", "RUN", "--json"],
    "report.json": ["report", "RUN", "--format", "json", "-q", "-o", "-"],
    "report.html": ["report", "RUN", "--format", "html", "-q", "-o", "-"],
}

WORKERS = (0, 1, 2, 5)


def run(checkout: Path, home: Path, words: list[str], workers: int = 0) -> tuple[int, bytes, str]:
    """Run a command; return its exit status, its output, and its errors."""
    env = {**os.environ, "RACKCHECK_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "120"}
    done = subprocess.run(  # noqa: S603  our own program
        [checkout / ".venv" / "bin" / "rackcheck", *words], capture_output=True, check=False, cwd=home,
        env={**env, "RACKCHECK_WORKERS": str(workers)},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr.decode()


def made(old: Path, home: Path, nodes: int) -> Iterator[tuple[str, str]]:
    """Make the runs; yield the name and the folder of each."""
    for seed, (name, (faults, words)) in enumerate(RUNS.items()):
        rack = home / f"rack{seed}.yaml"
        rack.write_text(RACK.format(seed=seed, nodes=nodes, faults=faults))
        folder = home / "made" / str(seed)
        more = ["--rack", f"sim:{rack}", "-p", "h100-dgx", "-q", "-o", str(folder)]
        status, _, errors = run(old, home, [*words, *more])
        if not (folder / "run.json").is_file():
            sys.exit(f"{name}: exit {status}: {errors}")
        if name == "cut off":
            events = folder / "events.jsonl"
            lines = events.read_bytes().splitlines(keepends=True)
            events.write_bytes(b"".join(lines[: len(lines) * 2 // 3]) + lines[-1][:20])
        yield name, str(folder)


def plain(output: bytes) -> bytes:
    """Return an output without the version of the program, which may name a commit."""
    return re.sub(rb"\b\d+\.\d+\.\d+(\.dev\d+)?(\+g?[0-9a-f.d]+)\b", b"VERSION", output)


def damage(folder: Path, draw: Random) -> int:
    """Change one random byte of every file below a folder; return the number of files."""
    count = 0
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (data := bytearray(path.read_bytes())):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            path.chmod(0o600)
            path.write_bytes(data)
            count += 1
    return count


def main() -> None:
    """Make the runs, compare the outputs, and print a line for each run and form."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--nodes", type=int, default=4)
    given = parser.parse_args()
    old, new = given.old.resolve(), given.new.resolve()
    draw, differ, compared, damaged = Random(1), 0, 0, 0  # noqa: S311  no secret
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        for name, folder in made(old, home, given.nodes):
            shown = dict.fromkeys(FORMS, "same")
            wanted = {form: run(old, home, _words(words, folder))[:2] for form, words in FORMS.items()}
            states = [(f"{workers} workers, nothing kept", workers) for workers in WORKERS]
            states += [("kept", 0), ("every kept file damaged", 0)]
            for state, workers in states:
                for form, words in FORMS.items():
                    if "nothing" in state:
                        shutil.rmtree(home / "cache", ignore_errors=True)
                    elif "damaged" in state:
                        damaged += damage(home / "cache", draw)
                    status, output, errors = run(new, home, _words(words, folder), workers)
                    compared += 1
                    if (status, plain(output)) != (wanted[form][0], plain(wanted[form][1])):
                        differ += 1
                        shown[form] = f"DIFFERS with {state}: exit {wanted[form][0]}, {status} {errors[-200:]}"
            for form, result in shown.items():
                digest = sha256(wanted[form][1]).hexdigest()[:12]
                print(f"{name:10}{form:18}{len(wanted[form][1]):>10} bytes  {digest}  {result}", flush=True)
    print(f"{compared} outputs compared, {differ} differ; {damaged} damaged files were found by their digests")
    sys.exit(1 if differ else 0)


def _words(words: list[str], folder: str) -> list[str]:
    return [folder if word == "RUN" else word for word in words]


if __name__ == "__main__":
    main()
