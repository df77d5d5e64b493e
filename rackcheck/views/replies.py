"""Finds the raw replies of a fact: file contents, command output or a BMC's body, cut to the lines about the fact.

Pure. Secrets are removed from replies before storing, and again here, because a run may come from an untrusted source.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from rackcheck.model import path as paths
from rackcheck.model.capture import BmcCapture, Capture, NodeCapture, Output, named
from rackcheck.model.documents import HANDSHAKE, Missing
from rackcheck.model.fact import Absent, Plane, Unknown, Unreadable
from rackcheck.model.question import Ask, Read, Redfish, Shell
from rackcheck.model.resource import ROOT, same_place
from rackcheck.model.secret import scrub, scrub_text
from rackcheck.model.text import matching
from rackcheck.model.tree import Leaf
from rackcheck.views.matching_lines import SearchTerms, picked
from rackcheck.views.reply import NumberedLine, RawText

LINES = 12
"""Default maximum number of lines shown of one reply."""

REPLIES = 6
"""Maximum number of files or resources shown for one fact."""

ONE_LINE = 100
"""Maximum number of characters of a flat JSON object that is kept on one line."""


def replies(
    path: str, leaf: Leaf, capture: Capture | None, ask: Ask | None = None, most: int = LINES, numbered: str = ""
) -> tuple[RawText, ...]:
    """Find the replies that a fact was read from, with at most `most` lines per reply; `ask` is the probe's request.

    If items have numbers instead of names in the reply, `numbered` is the fact's path with these numbers
    (`Tree.numbered`). For a derived fact, the result is empty: only the inputs of the fact have replies.
    """
    if leaf.plane is Plane.DERIVED:
        return ()
    wanted = SearchTerms.of(paths.parse(numbered or path), leaf.reading)
    if isinstance(capture, NodeCapture) and leaf.plane is not Plane.BMC:
        found = list(_of_node(leaf, capture, ask, wanted, most))
    elif isinstance(capture, BmcCapture) and leaf.plane is Plane.BMC:
        found = list(_of_bmc(leaf.source, capture, ask, wanted, most))
    else:
        return (RawText(leaf.source, leaf.plane, trouble="no answer of this plane is stored"),)
    if not found:
        return (RawText(leaf.source, leaf.plane, trouble="no answer from this source is stored"),)
    shown = found[:REPLIES]
    return (*shown[:-1], replace(shown[-1], more=len(found) - len(shown)))


def _of_node(leaf: Leaf, capture: NodeCapture, ask: Ask | None, wanted: SearchTerms, most: int) -> Iterator[RawText]:
    if leaf.source in capture.commands:
        yield _output(leaf.source, capture.commands[leaf.source], wanted, most)
        return
    found = list(_files(leaf, leaf.source, capture, wanted, most))
    if not found and isinstance(ask, Shell) and named(ask.command) in capture.commands:
        # A reader may give its source another name (NVML) than the command.
        name = named(ask.command)
        found = [_output(name, capture.commands[name], wanted, most)]
    if not found and isinstance(ask, Read):
        found = list(_files(leaf, " ".join(ask.globs), capture, wanted, most))
    yield from found


def _output(command: str, answer: Output | Unknown, wanted: SearchTerms, most: int) -> RawText:
    if isinstance(answer, Unknown):
        return RawText(command, Plane.OS, trouble=str(answer))
    text = answer.out if answer.out.strip() else answer.err
    return replace(_text(command, text, wanted, most), status=answer.status)


def _files(leaf: Leaf, source: str, capture: NodeCapture, wanted: SearchTerms, most: int) -> Iterator[RawText]:
    known = sorted({*capture.files, *capture.refused})
    globs = [source] if source in known else re.split(r",? ", source)
    if not all(glob.startswith("/") for glob in globs):
        return
    names = dict.fromkeys(name for glob in globs for name in (*_matching(known, glob), *_below(known, glob)))
    for name in _nearest(names, wanted):
        if name in capture.files:
            yield _text(name, capture.files[name], wanted, most)
        else:
            yield RawText(name, Plane.OS, trouble=str(capture.refused[name]))
    if not names and isinstance(leaf.reading, Absent) and len(globs) == 1:
        yield RawText(source, Plane.OS, trouble=leaf.reading.detail or f"no {source}")


def _matching(known: Sequence[str], glob: str) -> Iterable[str]:
    try:
        return tuple(matching(known, glob))
    except re.error:
        return ()


def _below(known: Sequence[str], folder: str) -> Iterator[str]:
    return (name for name in known if name.startswith(f"{folder.rstrip('/')}/"))


def _nearest(names: Iterable[str], wanted: SearchTerms) -> list[str]:
    """Sort files; files whose path contains the name of an item of the fact are first."""
    return sorted(names, key=lambda name: -sum(key in name.split("/") for key in wanted.keys))


def _text(name: str, text: str, wanted: SearchTerms, most: int) -> RawText:
    lines = _lines(text)
    rows = tuple(NumberedLine(number, line, hit) for number, line, hit in picked(lines, wanted, most))
    return RawText(name, Plane.OS, rows, len(lines))


@lru_cache(maxsize=32)
def _lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text without secrets.

    The result is cached, because one reply may contain thousands of facts.
    """
    return tuple(line for message in scrub_text(text).rstrip("\n").split("\n") for line in _opened(message))


def _opened(line: str) -> Iterable[str]:
    """If a line is a complete JSON document, format it as several lines; other lines are not changed."""
    if len(line) > ONE_LINE and line[:1] in {"{", "["}:
        try:
            return tuple(_laid(json.loads(line)))
        except (ValueError, RecursionError):
            return (line,)
    return (line,)


def _laid(value: object, indent: str = "", head: str = "", tail: str = "") -> Iterator[str]:
    """Format JSON as lines; a flat object or list is one line if it is short enough."""
    members = (
        [(f"{_json(str(key))}: ", each) for key, each in value.items()] if isinstance(value, Mapping)
        else [("", each) for each in value] if isinstance(value, list) else []
    )  # fmt: skip
    whole = _json(value) if not any(isinstance(each, Mapping | list) for _, each in members) else ""
    if not members or (whole and len(whole) <= ONE_LINE):
        yield f"{indent}{head}{whole or _json(value)}{tail}"
        return
    first, last = "{}" if isinstance(value, Mapping) else "[]"
    yield f"{indent}{head}{first}"
    for at, (name, each) in enumerate(members, start=1):
        yield from _laid(each, f"{indent} ", name, "," if at < len(members) else "")
    yield f"{indent}{last}{tail}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _of_bmc(source: str, capture: BmcCapture, ask: Ask | None, wanted: SearchTerms, most: int) -> Iterator[RawText]:
    place = source.partition("#")[0]
    if place.startswith((ROOT, HANDSHAKE)) or same_place(place) in capture.bodies:
        yield _resource(source, capture, wanted, most)
        return
    links = [link.strip("/") for link in source.split(" ")] if not isinstance(ask, Redfish) else _links(ask)
    uris = dict.fromkeys(uri for link in links for uri in _led(link, capture))
    found = [_resource(uri, capture, wanted, most) for uri in uris]
    # Resources that only link to the resource with the value are not shown.
    yield from [reply for reply in found if _shows_value(reply, wanted)] or found


def _shows_value(reply: RawText, wanted: SearchTerms) -> bool:
    """Whether the selected lines contain the value of the fact."""
    return any(value in row.text for row in reply.rows if row.hit for value in wanted.values)


def _links(ask: Redfish) -> list[str]:
    return [link for link in ask.every if isinstance(link, str)]


def _led(link: str, capture: BmcCapture) -> Iterator[str]:
    try:
        for resource in capture.documents.at(link):
            yield resource.uri
    except (Missing, Unreadable):
        return


def _resource(source: str, capture: BmcCapture, wanted: SearchTerms, most: int) -> RawText:
    """Return the lines about a fact from the JSON object with the property that the fact's source names."""
    place, _, inside = source.partition("#")
    body = capture.bodies.get(same_place(place))
    if body is None or isinstance(body, Unknown):
        return RawText(source, Plane.BMC, trouble="this resource is not stored" if body is None else str(body))
    # A source may contain the value and a second property: `…#/Attributes/A = Enable; B = Enabled`.
    items = [each.partition(" = ")[0] for each in inside.split("; ")]
    *way, last = items[0].strip("/").split("/")
    held: object = scrub(body)
    gone: list[str] = []
    for step in way:
        below = _step(held, step)
        if not isinstance(below, Mapping | list):
            break
        held, gone = below, [*gone, step]
    lines = [line for line in _laid(held) if line.strip() not in {"{", "}", "[", "]"}]
    names = (last, *items[1:]) if inside else ()
    rows = tuple(NumberedLine(*row) for row in picked(lines, replace(wanted, properties=names), most, around=1))
    return RawText(f"{place}#/{'/'.join(gone)}" if gone else place, Plane.BMC, rows, len(lines))


def _step(held: object, step: str) -> object:
    if isinstance(held, list):
        return held[int(step)] if re.fullmatch(r"[0-9]{1,6}", step) and int(step) < len(held) else None
    return held.get(step) if isinstance(held, Mapping) else None
