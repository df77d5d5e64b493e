"""An acceptance: the runs over one inventory that belong to one sign-off, as an append-only log in a separate folder.

`acceptance.jsonl` is the log, one event per line; `profile/` and `waivers/` contain the files by which its runs are
judged. The log determines the state: draft, signed (nothing was added since), superseded (another acceptance replaces
it).
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Any

from rackcheck.base import safe_read, state
from rackcheck.base.user_error import UserError
from rackcheck.model.fact import Plane, clean
from rackcheck.model.profile import FIRST, LAW
from rackcheck.model.regex import regex
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import store
from rackcheck.run import stored_forms as kept
from rackcheck.signoff.removed_run import RemovedRun
from rackcheck.signoff.steps import AgreedSteps, agreed
from rackcheck.signoff.waivers import File
from rackcheck.signoff.waivers import load as load_waivers

FORMAT = 1
LOG = "acceptance.jsonl"
LARGEST = 64 << 20
"""Maximum size of a log, in bytes; a log contains each node once, and each run."""

KINDS = ("audit", "rework", "re-audit", "burn-in")
LONGEST = 81
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,80}")
"""Regular expression for the name of an acceptance."""

FILE = regex(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
"""Regular expression for the name of a profile or a waiver file that is stored beside the log."""

DIGEST = regex(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class AcceptedRun:
    """A run of an acceptance: the id, the folder that contains it, and the SHA-256 of its events when it was added."""

    run: str
    folder: str
    digest: str
    kind: str
    time: str
    note: str = ""


@dataclass(frozen=True)
class Acceptance:
    """An acceptance as read from its log; `head` is the log's first event.

    `bundles` maps each level to the folder of the bundle of the current state, `earlier` maps levels to the folders of
    bundles of earlier states. `serials` contains the serial of each node in each run that was added, also in a run that
    was removed since; `removed` are the removals, the oldest first.
    """

    name: str
    folder: Path
    head: Mapping[str, Any]
    runs: tuple[AcceptedRun, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)
    signed: tuple[Mapping[str, Any], ...] = ()
    bundles: Mapping[str, str] = field(default_factory=dict)
    earlier: Mapping[str, str] = field(default_factory=dict)
    serials: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    removed: tuple[RemovedRun, ...] = ()
    superseded: str = ""
    last: str = "opened"

    @property
    def state(self) -> str:
        """The state: draft, signed or superseded."""
        if self.superseded:
            return "superseded"
        return "signed" if self.signed and self.last == "signed" else "draft"

    @property
    def machines(self) -> Mapping[str, str]:
        """The last known serial of each node, from the runs that are part of the acceptance."""
        return {node: serial for member in self.runs for node, serial in self.serials.get(member.run, {}).items()}

    @property
    def nodes(self) -> tuple[Mapping[str, Any], ...]:
        """The nodes of the acceptance's inventory."""
        return tuple(self.head["nodes"])

    @property
    def planes(self) -> frozenset[Plane]:
        """The planes that were agreed on: facts of these planes that no run collected are unknown."""
        return frozenset(map(Plane, self.head["planes"]))

    @property
    def law(self) -> int:
        """The version of the rules for outcomes (`LAW`) when the acceptance was opened; it applies to all its runs."""
        law: int = self.head.get("law", FIRST)
        return law

    @property
    def steps(self) -> AgreedSteps:
        """The steps that were agreed on when the acceptance was opened."""
        return agreed(self.head.get("steps"))

    @property
    def profile(self) -> Path:
        """The path of the acceptance's stored profile."""
        return self.folder / "profile" / f"{self.head['profile']['name']}.yaml"

    def files(self) -> tuple[File, ...]:
        """Read the acceptance's stored waiver files; raises UserError if one of them was changed."""
        found = []
        for name, digest in self.waivers.items():
            place = self.folder / "waivers" / digest[:16] / name
            file = load_waivers(place)
            if file.digest != digest:
                raise UserError(f"the acceptance's waivers were changed: {place}")
            found.append(file)
        return tuple(found)


def home() -> Path:
    """Return the folder of acceptances on this system, beside the runs."""
    return state.folder("acceptances")


def names() -> list[str]:
    """Return every acceptance's name, sorted."""
    folder = home()
    kept = (p.parent.name for p in folder.glob(f"*/{LOG}")) if folder.is_dir() else ()
    return sorted(name for name in kept if NAME.fullmatch(name))


def is_one(name: str) -> bool:
    """Whether an acceptance of this name is stored here."""
    return NAME.fullmatch(name) is not None and (home() / name / LOG).is_file()


def find(name: str) -> Acceptance:
    """Read an acceptance by its name; raises UserError, which suggests a similar name, if there is none."""
    if not is_one(name):
        known = names()
        hint = did_you_mean(name, known) or ("; rackcheck accept show lists them" if known else "; there are none yet")
        raise UserError(f"no acceptance {clean(name, 80)}{hint}")
    found = read(home() / name)
    if found.name != name:
        raise UserError(f"{found.folder / LOG} is the log of another acceptance: {clean(found.name, 80)}")
    return found


def read(folder: Path) -> Acceptance:
    """Read an acceptance from its folder; raises UserError with the number of a damaged line."""
    found: Acceptance | None = None
    *lines, _ = safe_read.text(folder / LOG, LARGEST).split("\n")  # the write of a partial last line was not confirmed
    for number, line in enumerate(lines, start=1):
        try:
            found = _after(found, json.loads(line), folder)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise UserError(f"{folder / LOG}: line {number} is damaged: {error!r:.200}") from None
    if found is None:
        raise UserError(f"{folder / LOG} contains no complete event")
    return found


def _after(before: Acceptance | None, doc: Mapping[str, Any], folder: Path) -> Acceptance:
    event = doc["event"]
    if before is None:
        if event != "opened" or doc["rackcheck"] != FORMAT:
            raise ValueError(f"the first event does not open an acceptance of format {FORMAT}")
        return Acceptance(_like(NAME, doc, "name"), folder, _head(doc))
    match event:
        case "run added":
            run, place, time = (kept.word(doc, name) for name in ("run", "folder", "time"))
            member = AcceptedRun(run, place, _like(DIGEST, doc, "digest"), _kind(doc), time, kept.word(doc, "note", ""))
            if any(one.run == member.run for one in before.runs):  # two commands added it: the first entry counts
                return before
            serials = {**before.serials, run: {n: kept.word(doc["machines"], n) for n in doc.get("machines", {})}}
            return replace(_moved_on(before), runs=(*before.runs, member), serials=serials, last=event)
        case "run removed":
            gone = RemovedRun(*(kept.word(doc, name) for name in ("run", "time", "by", "found", "reason")))
            if not any(one.run == gone.run for one in before.runs):  # two commands removed it: the first entry counts
                return before
            runs = tuple(one for one in before.runs if one.run != gone.run)
            return replace(_moved_on(before), runs=runs, removed=(*before.removed, gone), last=event)
        case "noted":
            run, text, kind = kept.word(doc, "run"), kept.word(doc, "note"), _kind(doc)
            runs = tuple(replace(m, kind=kind, note=text) if m.run == run else m for m in before.runs)
            return replace(_moved_on(before), runs=runs, last=event)
        case "waivers":
            files = doc["files"]
            given = {_like(FILE, {"file": name}, "file"): _like(DIGEST, files, name) for name in files.keys()}  # noqa: SIM118  a list has none
            return replace(_moved_on(before), waivers=given, last=event)
        case "bundle":
            return replace(before, bundles={**before.bundles, kept.word(doc, "level"): kept.word(doc, "folder")})
        case "signed":
            values = {name: kept.word(doc, name) for name in doc}
            return replace(before, signed=(*before.signed, values), last=event)
        case "superseded":
            return replace(before, superseded=_like(NAME, doc, "by"))
    raise ValueError(f"unknown event {event!r:.40}")


def _moved_on(before: Acceptance) -> Acceptance:
    """Return the acceptance with its bundles moved to `earlier`, because they do not show its new state."""
    return replace(before, bundles={}, earlier={**before.earlier, **before.bundles})


def _head(doc: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first event of a log; raise an error if one of its fields is missing or not valid."""
    profile = doc["profile"]
    _like(FILE, profile, "name")
    for held, name in ((profile, "version"), (profile, "digest"), (doc["inventory"], "digest"), (doc, "time")):
        kept.word(held, name)
    if not isinstance(doc["nodes"], list) or not isinstance(profile["set"], dict):
        raise TypeError("nodes are not a list, or site values are not a table")
    for name in profile["set"]:
        kept.word(profile["set"], name)
    for plane in kept.words_of(doc, "planes"):
        Plane(plane)
    agreed(doc.get("steps"))
    law = doc.get("law", FIRST)
    if type(law) is not int or not FIRST <= law <= LAW:
        raise ValueError(f"unknown law {law!r:.20}")
    for node in doc["nodes"]:
        for word in ("name", "role", "host", "bmc", "rack", "slot"):
            kept.word(node, word)
        if not all(type(node[word]) is int for word in ("u", "height")):
            raise TypeError("`u` or `height` of a node is not a whole number")
    if len({node["name"] for node in doc["nodes"]}) != len(doc["nodes"]):
        raise ValueError("two nodes with the same name")
    return doc


def _like(form: re.Pattern[str], doc: Mapping[str, Any], name: str) -> str:
    text = kept.word(doc, name)
    if not form.fullmatch(text):
        raise ValueError(f"{name} cannot be {clean(text, 60)!r}")
    return text


def _kind(doc: Mapping[str, Any]) -> str:
    if doc["kind"] not in KINDS:
        raise ValueError(f"unknown kind {doc['kind']!r:.40}")
    return kept.word(doc, "kind")


def create(name: str, head: Mapping[str, Any], profile: Mapping[str, str]) -> Acceptance:
    """Begin an acceptance; raises UserError if the name is not valid or already exists.

    The acceptance is created completely or not at all; if the process is killed meanwhile, the name stays free.
    """
    if len(name) > LONGEST:
        raise UserError(f"a name of {len(name)} characters is too long: the maximum is {LONGEST}")
    if NAME.fullmatch(name) is None or name == "last" or re.match(r"[0-9]{8}T[0-9]{6}Z", name):
        form = "letters, digits, dots, hyphens and underscores, a letter or digit first; not `last` or a run's id"
        raise UserError(f"{clean(name, 80)!r} is not a valid name: {form}")
    folder = home() / name
    taken = UserError(f"acceptance {name} already exists: rackcheck accept show {name}")
    if folder.exists():
        raise taken
    made = home() / f".new-{token_hex(8)}"
    try:
        (made / "profile").mkdir(parents=True)
        for file, text in profile.items():
            (made / "profile" / file).write_text(text, encoding="utf-8")
        append(made, {"event": "opened", "rackcheck": FORMAT, "name": name, **head})
        made.rename(folder)
    except OSError as error:
        shutil.rmtree(made, ignore_errors=True)
        if folder.exists():
            raise taken from None
        raise UserError(f"cannot write acceptance {name} to {home()}: {error.strerror}") from None
    return read(folder)


def append(folder: Path, doc: Mapping[str, Any]) -> None:
    """Append one event to the log; when the function returns, the event is on disk. A file lock serializes writers."""
    line = json.dumps(doc, ensure_ascii=True, separators=(",", ":")) + "\n"
    with (folder / LOG).open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        # The write of a line that a power failure cut off was never confirmed.
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def keep(acceptance: Acceptance, files: Iterable[File]) -> Mapping[str, str]:
    """Store waiver files beside the log, each in a folder named by its digest, so that no file is overwritten."""
    digests: dict[str, str] = {}
    for file in files:
        place = acceptance.folder / "waivers" / file.digest[:16]
        place.mkdir(parents=True, exist_ok=True)
        (place / file.name).write_text(file.text, encoding="utf-8")
        digests[file.name] = file.digest
    return digests


def digest_of(run: store.Stored) -> str:
    """Return the SHA-256 of a run's `run.json` and `events.jsonl` together, to detect later changes."""
    found = hashlib.sha256()
    for name in ("run.json", "events.jsonl"):
        with safe_read.opened(run.folder / name) as file:
            while piece := file.read(1 << 20):
                found.update(piece)
    return found.hexdigest()


def places_of(member: AcceptedRun) -> list[str]:
    """Return where a run of an acceptance is stored, as a name for `store.find`; empty if the run is missing."""
    if (Path(member.folder) / "run.json").is_file():
        return [member.folder]
    return [member.run] if member.run in store.ids() else []


def run_of(acceptance: Acceptance, member: AcceptedRun) -> store.Stored:
    """Find a run of an acceptance; raises UserError if the run is missing, or was changed since it was added."""
    places = places_of(member)
    repair = f"restore it, or remove it: rackcheck accept remove {acceptance.name} {member.run} --reason TEXT"
    if not places:
        raise UserError(f"run {member.run} of the acceptance is missing: it was in {member.folder}; {repair}")
    stored = store.find(places[0])
    if digest_of(stored) != member.digest:
        raise UserError(f"run {member.run} was changed since it was added to the acceptance: {stored.folder}; {repair}")
    return stored
