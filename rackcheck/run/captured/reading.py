"""Reads a capture.

A capture may come from a third party: sizes are limited, contents are validated, links are rejected.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rackcheck.base import safe_read
from rackcheck.base.user_error import UserError
from rackcheck.inventory import BmcAccess, Node
from rackcheck.inventory.nodeset import is_name
from rackcheck.model.fact import Plane, clean
from rackcheck.profile.layers import did_you_mean
from rackcheck.run import stored_forms
from rackcheck.run.captured import places
from rackcheck.run.captured.writing import FORMAT
from rackcheck.run.event import Answered

T = TypeVar("T")

LARGEST = 256 << 20
"""Maximum size of the replies of one node, in bytes.

Transports return replies of up to 32 MiB, and a reply in JSON form may be six times as large.
"""

RESOURCES = 60_000
"""Maximum number of files and folders of a BMC's mockup: up to 2000 GETs, each with three files and 24 folders."""

HEAD = 64 << 20
"""Maximum size of capture.json, in bytes: 100 000 nodes of 500 bytes."""

TOP = 100
"""The highest rack unit that is accepted."""

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
_PLANES = {Plane.OS.value: Plane.OS, Plane.BMC.value: Plane.BMC}


@dataclass(frozen=True)
class Captured:
    """A stored capture: the values of `capture.json`, and the captured nodes."""

    folder: Path
    id: str
    time: str
    version: str
    planes: tuple[str, ...]
    anonymised: bool
    interrupted: bool
    nodes: tuple[Node, ...]
    _answers: Mapping[str, Mapping[str, Any]]

    def node(self, name: str) -> Node:
        """Return the node with this name; raises UserError with the most similar name if there is none."""
        found = next((node for node in self.nodes if node.name == name), None)
        if found is None:
            names = [node.name for node in self.nodes]
            there = did_you_mean(name, names) or f"; it has {', '.join(names[:8])}"
            raise UserError(f"no node {clean(name, 60)} in the capture {self.folder}{there}")
        return found

    def answers(self, name: str | None = None) -> Iterator[Answered]:
        """Yield the captured replies of all nodes, or of the node `name`; raises UserError if a reply is damaged."""
        for node in self.nodes:
            if name is None or node.name == name:
                for plane, value in sorted(self._answers[node.name]["planes"].items()):
                    if value:
                        yield self._answer(node.name, _PLANES[plane], value)

    def beside(self, name: str) -> tuple[dict[str, dict[str, str]], dict[str, float]]:
        """Return the HTTP headers of a BMC's responses, and the duration of each GET in seconds, both by URI."""
        headers: dict[str, dict[str, str]] = {}
        seconds: dict[str, float] = {}
        for way, file in _mockup(self._room(name)):
            uri, folder = places.uri(way), file.parent
            if (folder / places.HEADERS).is_file():
                headers[uri] = _held(folder, partial(_headers, folder))
            if (folder / places.TIME).is_file():
                seconds[uri] = _held(folder, partial(_seconds, folder))
        return headers, seconds

    def _room(self, name: str) -> Path:
        return self.folder / str(self._answers[name].get("folder", name))

    def _answer(self, name: str, plane: Plane, values: Mapping[str, Any]) -> Answered:
        room = self._room(name)

        def build() -> Answered:
            trouble = values.get("trouble", {})
            trouble = {word: stored_forms.word(trouble, word) for word in ("unknown", "detail") if word in trouble}
            doc = {"node": name, "plane": plane.value, "time": values["time"], **trouble}
            file = room / (places.BMC if plane is Plane.BMC else places.HOST)
            if not file.is_file() and "unknown" not in trouble:
                raise ValueError(f"{file.name} is missing")
            raw = None
            if file.is_file():
                raw = _bmc(room) if plane is Plane.BMC else _json(file)
            return stored_forms.answered(doc, None if raw is None else stored_forms.capture(raw, plane))

        return _held(room, build)


def is_one(folder: Path) -> bool:
    """Whether a folder contains a capture."""
    try:
        return (folder / places.HEAD).is_file()
    except (OSError, ValueError):
        return False


def load(folder: Path) -> Captured:
    """Read the `capture.json` of a capture; raises UserError if the file is missing or damaged."""
    if not is_one(folder):
        raise UserError(f"{folder} is not a capture: it has no {places.HEAD}")
    return _held(folder / places.HEAD, lambda: _head(folder, _json(folder / places.HEAD, HEAD)))


def _head(folder: Path, doc: Mapping[str, Any]) -> Captured:
    if doc.get("rackcheck") != FORMAT:
        raise ValueError(f"not of format {FORMAT}")
    name = stored_forms.word(doc, "capture")
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,100}", name) is None:
        raise ValueError("`capture` is not a valid name")
    time = stored_forms.word(doc, "time")
    datetime.fromisoformat(time)
    nodes = tuple(_node(name, value) for name, value in doc["nodes"].items())
    rooms = [value.get("folder", name) for name, value in doc["nodes"].items()]
    if not all(isinstance(room, str) and places.is_room(room) for room in rooms) or len({*rooms}) < len(rooms):
        raise ValueError("a node's folder is invalid, or used twice")
    planes = tuple(stored_forms.words_of(doc, "planes"))
    if not nodes or not {*planes} <= {*_PLANES}:
        raise ValueError("no nodes, or unknown planes")
    return Captured(
        folder, name, time, stored_forms.word(doc, "version"), planes, doc.get("anonymised") is True,
        doc.get("interrupted") is True, nodes, doc["nodes"],
    )  # fmt: skip


def _node(name: str, values: Mapping[str, Any]) -> Node:
    """Return a node from its entry in `capture.json`; the entry lists the planes of the node, but no addresses."""
    if not is_name(name):
        raise ValueError(f"{clean(name, 60)!r} is not a node's name")
    role, rack, slot = (
        stored_forms.word(values, "role"),
        stored_forms.word(values, "rack", ""),
        stored_forms.word(values, "slot", ""),
    )
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}", role) is None:
        raise ValueError(f"{clean(role, 60)!r} is not a role")
    if any(len(word) > 100 or not word.isprintable() for word in (rack, slot)):
        raise ValueError(f"{name}: its rack or slot is not a valid name")
    u, height = values.get("u", 0), values.get("height", 1)
    if not all(isinstance(n, int) and 0 <= n <= TOP for n in (u, height)):
        raise ValueError(f"{name} is not at a valid rack unit")
    for plane, answer in values["planes"].items():
        if plane not in _PLANES or not isinstance(answer, dict):
            raise ValueError(f"{name}: {clean(plane, 20)!r} is not a plane")
        if answer:
            datetime.fromisoformat(stored_forms.word(answer, "time"))
            if "trouble" in answer:
                stored_forms.word(answer["trouble"], "unknown")
    planes = values["planes"]
    bmc = BmcAccess("https://captured.invalid") if Plane.BMC.value in planes else None
    host = "captured.invalid" if Plane.OS.value in planes else ""
    return Node(name, role, host, bmc=bmc, rack=rack, u=u, height=height, slot=slot)


def _bmc(room: Path) -> dict[str, Any]:
    """Return the bodies of a BMC's resources, in the form in which runs store them."""
    doc = _json(room / places.BMC)
    bodies: dict[str, Any] = {uri: {"body": body} for uri, body in doc["apart"].items()}
    left = LARGEST
    for way, file in _mockup(room):
        uri = places.uri(way)
        if uri in bodies:
            raise ValueError(f"{clean(uri, 200)} is stored twice")
        left -= file.stat().st_size
        if left < 0:
            raise ValueError(f"more than {LARGEST >> 20} MiB of one BMC")
        bodies[uri] = {"body": _json(file)}
    for uri, why in doc["unread"].items():
        if uri in bodies:
            raise ValueError(f"{clean(uri, 200)} has a body, but is listed as unread")
        bodies[uri] = {"detail": "", **why}
    return {"bodies": dict(sorted(bodies.items())), "times": doc["times"]}


def _mockup(room: Path) -> Iterator[tuple[str, Path]]:
    """Yield the path of each resource of a mockup, which begins with `redfish`, and the file with its body."""
    top = room / "redfish"
    if room.is_symlink() or top.is_symlink():
        raise UserError(f"{top} is behind a link; a capture has no links")
    seen, level = 0, ["redfish"] if top.is_dir() else []
    while level:
        way = level.pop()
        below = []
        for entry in sorted(os.scandir(room / way), key=lambda e: e.name):
            seen += 1
            if seen > RESOURCES:
                raise UserError(f"{room / 'redfish'} contains more than {RESOURCES} files and folders")
            if entry.is_symlink():
                raise UserError(f"{room / way / entry.name} is a link; a capture has no links")
            if entry.is_dir():
                below.append(f"{way}/{entry.name}")
            elif entry.name == places.BODY:
                yield way, room / way / entry.name
        level += reversed(below)


def _headers(folder: Path) -> dict[str, str]:
    value = _json(folder / places.HEADERS)["GET"]
    return {name: stored_forms.word(value, name) for name in value}


def _seconds(folder: Path) -> float:
    return float(_json(folder / places.TIME)["GET_Time"])


def _json(file: Path, size: int = LARGEST) -> dict[str, Any]:
    if file.is_symlink():
        raise ValueError(f"{file.name} is a link; a capture has no links")
    found = json.loads(safe_read.text(file, size), parse_constant=_refuse)
    if not isinstance(found, dict):
        raise TypeError(f"{file.name} contains no object")
    return found


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _held(place: Path, build: Callable[[], T]) -> T:
    """Return the result of `build`; if the untrusted file is invalid or unreadable, raises UserError with one line."""
    try:
        return build()
    except _DAMAGED as error:
        raise UserError(f"{place} is damaged: {clean(str(error) or repr(error))}") from None
    except OSError as error:
        raise UserError(f"cannot read {place}: {error.strerror}") from None
