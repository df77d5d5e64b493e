"""An acceptance: runs over one inventory that belong to one sign-off, as an append-only log in a folder of its own.

`acceptance.jsonl` says what happened, one event a line; `profile/` and `waivers/` keep the files it is judged by. What
state it is in is read from the log: draft, signed (nothing was added since), superseded (another took its place).
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import platformdirs

from rackcheck import bounded, store
from rackcheck.core.fact import clean
from rackcheck.layers import did_you_mean
from rackcheck.mistake import Mistake
from rackcheck.waivers import File
from rackcheck.waivers import load as load_waivers

FORMAT = 1
LOG = "acceptance.jsonl"
LARGEST = 64 << 20
"""Bytes that a log may have: it names every node once, and every run."""

KINDS = ("audit", "rework", "re-audit", "burn-in")
CONTENT = frozenset({"opened", "run added", "waivers"})
"""Events after which an earlier signature stands for an earlier state."""


@dataclass(frozen=True, slots=True)
class Member:
    """A run of an acceptance: its id, the folder it is kept in, and the SHA-256 of its events when it was added."""

    run: str
    folder: str
    digest: str
    kind: str
    time: str
    note: str = ""


@dataclass(frozen=True)
class Acceptance:
    """An acceptance as its log tells it; `nodes` are those of its inventory, as a run's head has them."""

    name: str
    folder: Path
    head: Mapping[str, Any]
    runs: tuple[Member, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)
    signed: tuple[Mapping[str, Any], ...] = ()
    bundles: Mapping[str, str] = field(default_factory=dict)
    superseded: str = ""
    last: str = "opened"

    @property
    def state(self) -> str:
        """Draft, signed or superseded."""
        if self.superseded:
            return "superseded"
        return "signed" if self.signed and self.last == "signed" else "draft"

    @property
    def nodes(self) -> tuple[Mapping[str, Any], ...]:
        """The nodes of its inventory."""
        return tuple(self.head["nodes"])

    @property
    def profile(self) -> Path:
        """The kept file of its profile."""
        return self.folder / "profile" / f"{self.head['profile']['name']}.yaml"

    def files(self) -> tuple[File, ...]:
        """Read the waivers that hold now; raises Mistake where one was changed."""
        found = []
        for name, digest in self.waivers.items():
            place = self.folder / "waivers" / digest[:16] / name
            file = load_waivers(place)
            if file.digest != digest:
                raise Mistake(f"the acceptance's waivers were changed: {place}")
            found.append(file)
        return tuple(found)


def home() -> Path:
    """Where acceptances live on this system, beside the runs."""
    given = os.environ.get("RACKCHECK_HOME")
    return (Path(given) if given else platformdirs.user_state_path("rackcheck")) / "acceptances"


def names() -> list[str]:
    """Every acceptance's name, sorted."""
    folder = home()
    return sorted(p.parent.name for p in folder.glob(f"*/{LOG}")) if folder.is_dir() else []


def is_one(name: str) -> bool:
    """Whether an acceptance of this name is kept here."""
    return re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,80}", name) is not None and (home() / name / LOG).is_file()


def find(name: str) -> Acceptance:
    """Read an acceptance by its name; raises Mistake with the nearest one."""
    if not is_one(name):
        known = names()
        hint = did_you_mean(name, known) or ("; rackcheck accept show lists them" if known else "; there is none yet")
        raise Mistake(f"no acceptance {clean(name, 80)}{hint}")
    return read(home() / name)


def read(folder: Path) -> Acceptance:
    """Read an acceptance from its folder; raises Mistake with the line that is damaged."""
    found: Acceptance | None = None
    lines = bounded.text(folder / LOG, LARGEST).splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        try:
            found = _after(found, json.loads(line), folder)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if number == len(lines) and not line.endswith(
                "\n"
            ):  # torn while it was written: it was never said to stand
                break
            raise Mistake(f"{folder / LOG}: line {number} is damaged: {error!r:.200}") from None
    if found is None:
        raise Mistake(f"{folder / LOG} does not say how the acceptance began")
    return found


def _after(before: Acceptance | None, doc: Mapping[str, Any], folder: Path) -> Acceptance:
    event = doc["event"]
    if before is None:
        if event != "opened" or doc["rackcheck"] != FORMAT:
            raise ValueError(f"not the beginning of an acceptance of format {FORMAT}")
        profile = doc["profile"]
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", profile["name"]) or not isinstance(doc["nodes"], list):
            raise ValueError("no profile, or no nodes")
        for node in doc["nodes"]:
            if not all(isinstance(node[key], str) for key in ("name", "role", "host", "bmc", "rack")):
                raise TypeError("a node without a name or a role")
        return Acceptance(str(doc["name"]), folder, doc)
    match event:
        case "run added":
            run, folder_, digest, kind, time = (str(doc[k]) for k in ("run", "folder", "digest", "kind", "time"))
            member = Member(run, folder_, digest, kind, time, str(doc.get("note", "")))
            return replace(before, runs=(*before.runs, member), last=event)
        case "waivers":
            if not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name) for name in doc["files"]):
                raise ValueError("waivers that are no files' names")
            return replace(before, waivers={str(k): str(v) for k, v in doc["files"].items()}, last=event)
        case "bundle":
            return replace(before, bundles={**before.bundles, str(doc["level"]): str(doc["folder"])})
        case "signed":
            return replace(before, signed=(*before.signed, doc), last=event)
        case "superseded":
            return replace(before, superseded=str(doc["by"]))
    raise ValueError(f"no event {event!r:.40}")


def create(name: str, head: Mapping[str, Any], profile: Mapping[str, str]) -> Acceptance:
    """Begin an acceptance; raises Mistake where one of this name is there."""
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,80}", name) is None or name == "last":
        raise Mistake(f"{clean(name, 80)!r} is no name: letters, digits, dots, hyphens and underscores, a letter first")
    folder = home() / name
    try:
        (folder / "profile").mkdir(parents=True)
    except FileExistsError:
        raise Mistake(f"an acceptance {name} is there already: rackcheck accept show {name}") from None
    for file, text in profile.items():
        (folder / "profile" / file).write_text(text, encoding="utf-8")
    append(folder, {"event": "opened", "rackcheck": FORMAT, "name": name, **head})
    return read(folder)


def append(folder: Path, doc: Mapping[str, Any]) -> None:
    """Write one event to the log; when this returns it is on the disk."""
    line = json.dumps(doc, ensure_ascii=True, separators=(",", ":")) + "\n"
    path = folder / LOG
    torn = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("r+b" if torn else "ab") as file:
        if torn:  # what a power cut left of a line that was never said to stand
            whole = path.read_bytes().rpartition(b"\n")
            file.seek(len(whole[0]) + len(whole[1]))
            file.truncate()
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def keep(acceptance: Acceptance, files: Iterable[File]) -> Mapping[str, str]:
    """Keep files of waivers beside the log, each under its digest, so that none is written over."""
    kept: dict[str, str] = {}
    for file in files:
        place = acceptance.folder / "waivers" / file.digest[:16]
        place.mkdir(parents=True, exist_ok=True)
        (place / file.name).write_text(file.text, encoding="utf-8")
        kept[file.name] = file.digest
    return kept


def digest_of(run: store.Stored) -> str:
    """Give the SHA-256 of a run's head and events: what a later reading must still find."""
    found = hashlib.sha256()
    for name in ("run.json", "events.jsonl"):
        with bounded.opened(run.folder / name) as file:
            while piece := file.read(1 << 20):
                found.update(piece)
    return found.hexdigest()


def run_of(member: Member) -> store.Stored:
    """Find a run of an acceptance; raises Mistake where it is gone, or was changed since it was added."""
    stored = store.find(member.folder if (Path(member.folder) / "run.json").is_file() else member.run)
    if digest_of(stored) != member.digest:
        raise Mistake(f"run {member.run} was changed since it was added to the acceptance: {stored.folder}")
    return stored
