"""Compares the outputs of two checkouts: every command of the documents, every form of report, every help.

    python benchmarks/same_outputs.py OLD NEW [--work FOLDER] [--only PAGE] [--but-for-words]

OLD and NEW are folders of checkouts, each with its `.venv/bin/rackcheck`. OLD makes the input data: stored runs of
simulated racks and of a recorded BMC, a burn-in, captures, an acceptance, a signed bundle. Both checkouts then run the
same commands, page by page, each page on a fresh copy of this data at the same place, so that paths and times do not
differ. The exit status, both streams, and each file that a command writes are compared byte by byte. Where bytes
differ, they are compared again with run ids, times, durations, fingerprints and the checkouts' own folders replaced;
such outputs are counted separately. The exit status is 1 where anything else differs.

With `--but-for-words`, for a change of wording alone, an output is the same if its exit status, its verdict words and
their order, and, in JSON, every key and every value are the same, except texts that contain a blank.

The commands are those of README and of docs/ in NEW, as they are written there, and the commands of
`same_outputs_commands.py`. Commands that need a terminal, that do not end, or that read this machine, whose facts
change meanwhile, are left out.
"""

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from same_outputs_commands import FEWER, ID, LIVE, MORE, OF_A_RUN, RUNS, SEEDS, TABLES

LIMIT = 300  # seconds of a command

SKIPPED = re.compile(
    r"(tui|sim up|burnin|audit -p|capture --planes|probe run)\b(?!.* (--rack|-i) )|.*--screens|tui|burnin"
)
LIVE_NODES = re.compile(r" (--rack|-i) ")
"""Commands that contact nodes; they run last, so that the commands before them read the stored data that OLD made."""

VARIES = (
    (re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4,6}"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00| UTC)?"), "TIME"),
    (re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"), "TIME"),
    (re.compile(r"\b1[789]\d{8}(\.\d+)?\b"), "TIME"),
    (re.compile(r"-?\b\d+(\.\d+)? (s|ms|seconds)\b"), "DURATION"),
    (re.compile(r'"(login|script|get|GET_Time)": "?[\d.]+'), "DURATION"),
    (re.compile(r'(ahead|offset|days_left)":\s*\{\s*"value":\s*-?[\d.e-]+'), "DURATION"),
    (re.compile(r"\b([0-9A-F]{2}:){31}[0-9A-F]{2}\b"), "FINGERPRINT"),
    (re.compile(r"\b[0-9a-f]{64}\b|(?<=SHA256SUMS )[0-9a-f]{16}"), "DIGEST"),
    (re.compile(r"\b127\.\d+\."), "127.x."),
    (re.compile(r"a GET DURATION, so\s+100 resources one by one take DURATION"), "a GET DURATION"),
)
"""Values that differ between any two runs: names, times, clock offsets, certificates and addresses of a rack."""

UNREAD = re.compile(
    r"(.*/)?(index\.sqlite.*|.*\.sig|\.cache/.*|redfish/.*(headers|time)\.json)$|(?!bundle|home/bundles).*/(raw|profile)/"
)
"""Files that are not compared: databases, signatures with a time, and of a live rack the files named by digest, the
headers and seconds of its answers, and the copies of profiles, which `profile show` prints."""

VERDICT = re.compile(r"\b(PASS|FAIL|WARN|UNKNOWN|WAIVED|INCOMPLETE)\b")
"""The verdicts and outcomes in a text, whose order a change of wording must keep."""

ARRIVED = re.compile(r"\d+ of \d+ \w+ \(")
"""A progress line, in the order in which nodes answered."""


@dataclass(frozen=True)
class Page:
    """Commands that run one after the other on one copy of the seeds."""

    name: str
    lines: Sequence[str]
    files: dict[str, str] = field(default_factory=dict)


class Checkout:
    """A checkout and the folder where its commands run."""

    def __init__(self, folder: Path, place: Path) -> None:
        self.folder, self.place = folder, place
        self._shell: subprocess.Popen[str] | None = None

    def run(self, words: Sequence[str]) -> bytes:
        """Return the exit status and both streams of a command."""
        self._shell = shell = self._shell or self._begun()
        assert shell.stdin is not None
        assert shell.stdout is not None
        print(json.dumps([words, LIMIT]), file=shell.stdin, flush=True)
        status, out, err = json.loads(shell.stdout.readline())
        return f"exit {status}\n{out}\n-- stderr\n{err}".encode("utf-8", "surrogateescape")

    def _begun(self) -> "subprocess.Popen[str]":
        env = {
            "PATH": os.environ["PATH"], "HOME": str(self.place), "RACKCHECK_HOME": str(self.place / "home"),
            "COLUMNS": "100", "LINES": "40", "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
            "RACKCHECK_BMC_PASSWORD": "none",
        }  # fmt: skip
        script = Path(__file__).with_name("same_outputs_shell.py")
        command = [str(self.folder / ".venv/bin/python"), "-P", str(script)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.place, env=env, stdin=pipe, stdout=pipe, text=True)  # noqa: S603

    def begin(self, seeds: Path) -> None:
        """Copy OLD's data to the folder where commands run, and use it from now on."""
        self.end()
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(seeds, self.place, symlinks=True)

    def end(self) -> None:
        """Release the folder."""
        if self._shell is not None:
            self._shell.communicate()
            self._shell = None


def documented(checkout: Path) -> Iterator[Page]:
    """Return the commands of each page of the documents, with the files that the page instructs to save."""
    guide = [checkout / "README.md", *sorted((checkout / "docs").glob("[gr]*/*.md"))]
    for page in guide:
        text = page.read_text(encoding="utf-8")
        lines = re.findall(r"^ {4}rackcheck (.*?)(?: {2,}\S.*| > .*)?$", text, re.MULTILINE)
        saved = re.findall(
            r"(?:Save this as|file) `([\w-]+\.yaml)`:\n+```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
        )
        files = dict(saved)
        if page.name == "inventory.md":
            example = re.search(r"(?:^ {4}.*\n)+", text[text.index("    rackcheck: 1") :], re.MULTILINE)
            files["pod7.yaml"] = re.sub(r"^ {4}", "", example[0], flags=re.MULTILINE) if example else ""
        written = [re.sub(r"accept new pod7\b", "accept new pod9", line).strip() for line in lines]
        chosen = [line for line in dict.fromkeys(written) if not SKIPPED.match(line)]
        yield Page(page.name, sorted(chosen, key=lambda line: bool(LIVE_NODES.search(line))), files)


def lists(helps: Sequence[str], profiles: Sequence[str], probes: Sequence[str], tree: Path) -> Iterator[Page]:
    """Return the pages of the lists above."""
    for run in RUNS:
        node = "dgx03" if run != "bmc" else "n01"
        chosen = [line for line in OF_A_RUN.split("\n") if line and (run == ID or any(few in line for few in FEWER))]
        yield Page(f"run {run}", [line.format(run=run, node=node) for line in chosen])
    yield Page("more", [line for line in MORE.split("\n") if line])
    yield Page("live", [line.format(tree=tree) for line in LIVE.split("\n") if line])
    yield Page("help", [f"{line} --help" for line in helps])
    words = ("show", "check")
    yield Page("profiles", [f"profile {word} {name}" for name in profiles for word in words])
    yield Page("probes", [f"probe show {name}" for name in probes])
    yield Page("screens", ["PICTURES ."])


def commands(checkout: Checkout, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Find all commands by the help texts of their groups."""
    _, _, listed = checkout.run((*words, "--help")).decode().partition("\nCommands:\n")
    for name in re.findall(r"^  (\S+)", listed.partition("\n\n")[0], re.MULTILINE):
        yield shlex.join((*words, name))
        yield from commands(checkout, (*words, name))


def seed(old: Checkout, tree: Path) -> None:
    """Make the input data with OLD."""
    (old.place / ".ssh").mkdir(parents=True)
    (old.place / "home").mkdir()
    for name, public in (("id_ed25519", "integrator.pub"), ("id_customer", "customer.pub")):
        key = old.place / ".ssh" / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(key)], check=True)  # noqa: S603, S607
        shutil.copy(f"{key}.pub", old.place / public)
    made: list[str] = []
    runs = old.place / "home" / "runs"
    for line in filter(None, SEEDS.split("\n")):
        value = old.run(shlex.split(line.format(tree=tree))).decode()
        assert value.startswith(("exit 0", "exit 1", "exit 3")), f"{line}: {value}"
        made += [run.name for run in runs.glob("*Z-*") if run.name not in made]
    keys = "".join(f"{who} {(old.place / f'{who}.pub').read_text()}" for who in ("integrator", "customer"))
    (old.place / "signers").write_text(keys)
    for name, text in TABLES.items():
        (old.place / name).write_text(text)
    shutil.copy(old.place / "rack.csv", old.place / "sheet.csv")
    for name, run in zip(RUNS, made, strict=True):
        target = Path("home/runs") / run
        if name != ID:
            (old.place / name).symlink_to(target)
    (old.place / "names").write_text("\n".join(made))


def pages_of(old: Checkout, new: Path, tree: Path) -> list[Page]:
    """List all pages."""
    names = re.findall(r"^(\S+)", old.run(["profile", "list"]).decode(), re.MULTILINE)
    shipped = [name for name in names if (new / "profiles" / f"{name}.yaml").is_file()]
    probes = re.findall(r'"name": "(\w+)"', old.run(["probe", "list", "--json"]).decode())
    return [*documented(new), *lists(list(commands(old)), shipped, probes, tree)]


def outputs(checkout: Checkout, seeds: Path, page: Page) -> Iterator[tuple[str, bytes]]:
    """Run a page's commands, and return their output and files."""
    checkout.begin(seeds)
    for name, text in page.files.items():
        (checkout.place / name).unlink(missing_ok=True)
        (checkout.place / name).write_text(text)
    ids = (seeds / "names").read_text().split("\n")
    before = _files(checkout.place)
    for line in page.lines:
        named = line.replace("~/", "").replace("/srv/accepted/run", "accepted")
        words = shlex.split(named.replace(ID, ids[RUNS.index(ID)]))
        yield line, checkout.run(words)
        after = _files(checkout.place)
        changed = sorted(str(file.relative_to(checkout.place)) for file in after if after[file] != before.get(file))
        for name in changed:
            if not UNREAD.match(name) and "--anonymise" not in words:  # its stand-ins are random
                yield f"{line}: {VARIES[0][0].sub('RUN', name)}", (checkout.place / name).read_bytes()
        before = after
    checkout.end()


def _files(place: Path) -> dict[Path, tuple[int, int]]:
    """Return the state of each file below a folder."""
    found = [Path(at) / name for at, _, names in os.walk(place) for name in names]
    return {f: (f.stat().st_mtime_ns, f.stat().st_size) for f in found if f.is_file() and not f.is_symlink()}


def written_over(output: bytes, checkouts: Sequence[Path], name: str) -> list[str]:
    """Return the lines of an output without values that vary between two runs, including the order of answers."""
    if b"\0" in output:
        return [f"binary, SHA-256 {sha256(output).hexdigest()}"]
    text = output.decode("utf-8", "replace")
    for checkout in checkouts:
        text = text.replace(str(checkout), "CHECKOUT")
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    printed, stderr, value = text.partition("\n-- stderr\n")
    lines = [*printed.splitlines(), stderr, *sorted(line for line in value.splitlines() if not ARRIVED.match(line))]
    return [part for line in sorted(lines) for part in line.split(',"')] if name.endswith(".jsonl") else lines


def unworded(output: bytes, checkouts: Sequence[Path]) -> list[str]:
    """Return what a change of wording must keep: exit status, JSON without its prose, the verdict words of a text."""
    text = "\n".join(written_over(output, checkouts, ""))
    status, _, rest = text.partition("\n") if text.startswith("exit ") else ("", "", text)
    printed = rest.partition("\n\n")[0] if rest.startswith(("{", "[")) else rest
    try:
        values = [json.loads(line) for line in printed.splitlines()] if printed.startswith('{"') else [json.loads(rest)]
    except ValueError:
        try:
            values = [json.JSONDecoder().raw_decode(rest)[0]] if rest.startswith(("{", "[")) else None
        except ValueError:
            values = None
    if values is None:
        return [status, *VERDICT.findall(rest)]
    rows = [json.dumps(proseless(value), indent=0, sort_keys=True) for value in values]
    return [status, *(line for row in sorted(rows) for line in row.splitlines())]  # answers arrive in any order


def proseless(value: object) -> object:
    """Return a value of JSON with each text that contains a blank replaced.

    An exact duration is left out: an evidence has it only if the duration that is shown was rounded.
    """
    match value:
        case dict():
            kept = {key: each for key, each in value.items() if (key, each) != ("exact", "DURATION")}
            return {key if " " not in key else "…": proseless(each) for key, each in kept.items()}
        case list():
            return [proseless(each) for each in value]
        case str():
            return "…" if " " in value else value
        case _:
            return value


@contextmanager
def rack_up(old: Checkout, at: Path, seeds: Path) -> Iterator[None]:
    """Keep one simulated rack running for both checkouts, at the inventory paths of the documents."""
    shutil.rmtree(at, ignore_errors=True)
    command = [str(old.folder / ".venv/bin/rackcheck"), "sim", "up", "dgx-h100", "-o", str(at)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as rack:  # noqa: S603
        try:
            while not (at / "inventory.yaml").is_file():
                if rack.poll() is not None:
                    sys.exit("the simulated rack does not start")
                time.sleep(0.1)
            for name in ("rack.yaml", "pod7.yaml"):
                (seeds / name).unlink(missing_ok=True)
                (seeds / name).symlink_to(at / "inventory.yaml")
            yield
        finally:
            rack.terminate()


def compared(page: Page, seeds: Path, old: Checkout, new: Checkout, *, words: bool) -> Counter[str]:
    """Run a page in both, print the differences, and count."""
    before, after = (dict(outputs(checkout, seeds, page)) for checkout in (old, new))
    counts = Counter[str]()
    for name in dict.fromkeys((*before, *after)):
        found = before.get(name, b"nothing"), after.get(name, b"nothing")
        theirs, ours = (written_over(output, (old.folder, new.folder), name) for output in found)
        if not words and theirs != ours:
            theirs, ours = (unworded(output, (old.folder, new.folder)) for output in found)
        result = "same" if found[0] == found[1] else "same except ids and times" if theirs == ours else "DIFFERENT"
        counts[result] += 1
        print(f"{page.name}: {name}: {result}", flush=True)
        if theirs != ours:
            lines = list(difflib.unified_diff(theirs, ours, lineterm="", n=0))[2:14]
            print("\n".join(f"    {line[:200]}" for line in lines), flush=True)
    return counts


def main() -> None:
    """Run both, compare, count."""
    parser = argparse.ArgumentParser(description="Compare the outputs of two checkouts.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "same-outputs")
    parser.add_argument("--only", action="append", help="run only this page (repeat for several)")
    parser.add_argument("--but-for-words", action="store_true", help="compare all but the wording")
    given = parser.parse_args()
    work = given.work.resolve()
    seeds = work / "seeds"
    old, new = (Checkout(folder.resolve(), work / "place") for folder in (given.old, given.new))
    tree = new.folder.parent / "shared" / "redfish-mockups" / "nvidia-dgx-h100"
    if not (seeds / "names").is_file():
        shutil.rmtree(seeds, ignore_errors=True)
        shutil.rmtree(old.place, ignore_errors=True)
        seed(old, tree)
        old.end()
        old.place.rename(seeds)
    old.begin(seeds)
    counts = Counter[str]()
    with rack_up(old, work / "rack", seeds):
        for page in pages_of(old, new.folder, tree):
            if not given.only or page.name in given.only:
                counts += compared(page, seeds, old, new, words=not given.but_for_words)
    print(f"{counts.total()} outputs:", ", ".join(f"{count} {result}" for result, count in counts.items()))
    sys.exit(1 if counts["DIFFERENT"] else 0)


if __name__ == "__main__":
    main()
