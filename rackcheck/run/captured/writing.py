"""Writes a capture while replies arrive; a temporary folder ensures that a partial capture never looks complete.

A capture contains raw replies that identify nodes, so only the owner of its files may read them.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.capture import BmcCapture, NodeCapture
from rackcheck.model.fact import Plane, Unknown
from rackcheck.run.captured import places
from rackcheck.run.event import Answered, reading_json

FORMAT = 1

NOTHING: Mapping[str, Any] = {}

OWN, ROOM = 0o600, 0o700
"""Modes of files and folders that only their owner may read."""


@dataclass(frozen=True)
class CaptureHead:
    """The values of `capture.json`; `planes` are the planes that were read."""

    id: str
    time: str
    version: str
    planes: tuple[str, ...]
    anonymised: bool = False
    interrupted: bool = False


class CaptureWriter:
    """Writes the replies of nodes to a folder; `finish` makes the folder a capture. Raises OSError if writing fails."""

    def __init__(self, folder: Path, nodes: Sequence[Node]) -> None:
        self._folder, self._nodes = folder, nodes
        self._rooms = places.rooms(node.name for node in nodes)
        self._entries: dict[str, dict[str, Any]] = {}

    def write(
        self, answer: Answered, headers: Mapping[str, Mapping[str, str]] = NOTHING,
        seconds: Mapping[str, float] = NOTHING,
    ) -> None:  # fmt: skip
        """Write the reply of one plane; `headers` and `seconds` map URIs to response headers and durations."""
        place = self._folder / self._rooms[answer.node]
        place.mkdir(mode=ROOM, exist_ok=True)
        match answer.capture:
            case NodeCapture() as host:
                _dump(place / places.HOST, host.to_json(), ordered=True)
            case BmcCapture() as bmc:
                _bmc(place, bmc, headers, seconds)
        entry: dict[str, Any] = {"time": answer.time}
        if answer.trouble is not None:
            entry["trouble"] = reading_json(answer.trouble)
        self._entries.setdefault(answer.node, {})[answer.plane.value] = entry

    def finish(self, head: CaptureHead) -> dict[str, Any]:
        """Write `capture.json`, and return its content."""
        doc: dict[str, Any] = {
            "rackcheck": FORMAT, "capture": head.id, "time": head.time, "version": head.version,
            "planes": list(head.planes), "anonymised": head.anonymised,
        }  # fmt: skip
        doc |= {"interrupted": True} if head.interrupted else {}
        doc["nodes"] = {n.name: _entry(n, self._entries.get(n.name, {}), self._rooms[n.name]) for n in self._nodes}
        for room in self._rooms.values():
            (self._folder / room).mkdir(mode=ROOM, exist_ok=True)
        _dump(self._folder / places.HEAD, doc)
        return doc


def _entry(node: Node, values: Mapping[str, Any], room: str) -> dict[str, Any]:
    """Return the entry of one node: its role, its rack position, and the result of each plane that it has."""
    doc: dict[str, Any] = {"role": node.role}
    if node.rack:
        doc |= {"rack": node.rack, "u": node.u, "height": node.height}
    doc |= {"slot": node.slot} if node.slot else {}
    doc |= {"folder": room} if room != node.name else {}
    has = [(Plane.BMC, node.bmc is not None), (Plane.OS, bool(node.host))]
    return doc | {"planes": {plane.value: values.get(plane.value, {}) for plane, there in has if there}}


def _bmc(
    place: Path, capture: BmcCapture, headers: Mapping[str, Mapping[str, str]], seconds: Mapping[str, float]
) -> None:
    """Write a BMC's resources as a mockup; `bmc.json` gets everything that a mockup cannot contain."""
    bodies = {uri: body for uri, body in capture.bodies.items() if not isinstance(body, Unknown)}
    ways = places.ways(bodies)
    for uri, way in ways.items():
        folder = place / way
        _made(folder)
        _dump(folder / places.BODY, bodies[uri])
        if uri in headers:
            _dump(folder / places.HEADERS, {"GET": dict(headers[uri])})
        if uri in seconds:
            _dump(folder / places.TIME, {"GET_Time": f"{seconds[uri]:.2f}"})
    unread = {uri: reading_json(why) for uri, why in capture.bodies.items() if isinstance(why, Unknown)}
    apart = {uri: body for uri, body in bodies.items() if uri not in ways}
    _dump(place / places.BMC, {"apart": apart, "times": dict(capture.times), "unread": unread}, ordered=True)


def _made(folder: Path) -> None:
    """Make a folder and its missing parents with the mode ROOM; `mkdir(parents=True)` sets no mode on the parents."""
    if not folder.is_dir():
        _made(folder.parent)
        folder.mkdir(mode=ROOM)


def _dump(file: Path, doc: object, *, ordered: bool = False) -> None:
    """Write a JSON file of a capture; its keys are sorted if `ordered` is true, else they keep the order of `doc`."""
    text = json.dumps(doc, indent=1, sort_keys=ordered, ensure_ascii=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWN), "w", encoding="ascii") as opened:
        opened.write(text + "\n")


def free(target: Path) -> None:
    """Check that a capture can be written to this folder; raises UserError if the folder has other contents."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UserError(f"{target} exists and is not a folder")
    try:
        inside = {path.name for path in target.iterdir()} if target.exists() else set()
    except OSError as error:
        raise UserError(f"cannot read {target}: {error.strerror}") from None
    if places.HEAD in inside:
        raise UserError(f"{target} already exists; a capture is never overwritten")
    if inside:
        raise UserError(f"{target} contains other files; choose a new or empty folder")


@contextmanager
def writing(target: Path) -> Iterator[Path]:
    """Yield a temporary folder for a capture; it is moved to the target at the end of the block, or removed on error.

    The temporary folder has the subfolders `plain` and `made`; `made` becomes the capture. Raises UserError if writing
    fails.
    """
    free(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UserError(f"cannot write a capture to {target}: {error.strerror}") from None
    try:
        for name in ("plain", "made"):
            (scratch / name).mkdir(mode=ROOM)
        yield scratch
        (scratch / "made").replace(target)
    except OSError as error:
        raise UserError(f"cannot write a capture to {target}: {error.strerror}; no part of it was kept") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
