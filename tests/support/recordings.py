"""Recorded machines: finds them, mounts them as captures, and makes new ones of this machine."""

import json
import os
import secrets
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from places import SHARED, TESTS

import rackcheck_probes
from rackcheck.model.capture import NodeCapture, Output, named
from rackcheck.model.fact import Absent, Reading, Reason, Unknown
from rackcheck.model.path import Path as FactPath
from rackcheck.model.question import Read, Shell
from rackcheck.model.tree import Leaf
from rackcheck.probe.answers import split
from rackcheck.probe.collect import collect
from rackcheck.probe.contract import Probe
from rackcheck.probe.registry import modules
from rackcheck.probe.script import compose
from rackcheck.transport.wire import stamped

OURS = TESTS / "recorded"
OsProbe = Probe[Shell] | Probe[Read]


def os_probes() -> dict[str, OsProbe]:
    """Every probe of the operating system's plane, by name."""
    loaded = map(import_module, modules(rackcheck_probes.__name__, rackcheck_probes.__path__))
    found = (value for module in loaded for value in vars(module).values() if isinstance(value, Probe))
    return {probe.name: probe for probe in found if isinstance(probe.ask, Shell | Read)}


def shared(name: str) -> Path:
    """A recording of the shared collection; without the collection the test is skipped, and fails in CI."""
    home = os.environ.get("RACKCHECK_RECORDINGS") or SHARED
    place = Path(home) / "host-recordings" / name
    if not place.exists():
        message = f"no recording at {place}: set RACKCHECK_RECORDINGS to the folder that holds host-recordings"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return place


def shared_text(name: str) -> str:
    """The text of a shared recording."""
    return shared(name).read_text(encoding="utf-8", errors="surrogateescape")


def answering(probe: OsProbe, text: str, status: int = 0, err: str = "") -> NodeCapture:
    """A node whose command returned this text."""
    assert isinstance(probe.ask, Shell)
    return NodeCapture(commands={named(probe.ask.command): Output(status, text, err)})


def holding(probe: OsProbe, files: Mapping[str, str], refused: Mapping[str, Unknown] | None = None) -> NodeCapture:
    """A node with these files only."""
    assert isinstance(probe.ask, Read)
    return NodeCapture(globs=dict.fromkeys(probe.ask.globs), files=dict(files), refused=dict(refused or {}))


def tree(name: str, at: str) -> dict[str, str]:
    """The files of a shared folder, mounted at a path of the node."""
    root = shared(name)
    return {
        f"{at}/{file.relative_to(root)}": file.read_bytes().decode("utf-8", "surrogateescape")
        for file in sorted(root.rglob("*"))
        if file.is_file() and not file.is_symlink() and file.name != "_links.txt"
    }


def leaves(probe: OsProbe, capture: NodeCapture, wanted: Iterable[FactPath] = ()) -> dict[str, Leaf]:
    """The facts of one probe in a capture, with all their fields."""
    return collect([probe], capture, wanted)


def facts(probe: OsProbe, capture: NodeCapture, wanted: Iterable[FactPath] = ()) -> dict[str, Reading]:
    """The readings of one probe in a capture."""
    return {path: leaf.reading for path, leaf in leaves(probe, capture, wanted).items()}


def ask(probe: OsProbe, environment: Mapping[str, str] | None = None) -> NodeCapture:
    """This machine's own answer, from the script that every node runs."""
    mark = secrets.token_hex(16)
    env = {**os.environ, **(environment or {})}
    done = subprocess.run(
        ["sh", "-s"], input=stamped(compose([probe.ask], mark)).encode(), capture_output=True, env=env, check=False
    )
    answer = split(done.stdout, [probe.ask], mark, Unknown(Reason.UNREACHABLE, "the script ended early"))
    assert answer.whole, done.stderr
    return answer.capture


def as_json(reading: Reading) -> Any:
    """A reading as our recordings write it."""
    match reading:
        case Absent(detail):
            return {"absent": detail}
        case Unknown(reason, detail):
            return {"unknown": reason.value, "detail": detail}
        case tuple():
            return list(reading)
        case float() if reading == float("inf"):
            return "unlimited"
    return reading


def ours() -> list[Path]:
    """Our own recordings, `PROBE/CASE.json`: the answer, and under `facts` what is read from it."""
    return sorted(OURS.glob("*/*.json"))


def by_probe() -> dict[str, list[Path]]:
    """Our own recordings, by the name of the probe."""
    return {name: list(places) for name, places in groupby(ours(), key=lambda place: place.parent.name)}


@contextmanager
def naming(case: str) -> Iterator[None]:
    """Add the case of a loop to every exception."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {case!r}")
        raise


def recorded(place: Path) -> tuple[NodeCapture, dict[str, Any]]:
    """One of our own recordings, and its expected facts."""
    doc = json.loads(place.read_text())
    return NodeCapture.from_json(doc), doc["facts"]
