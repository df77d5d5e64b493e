"""Formats changes as text and JSON; nodes with the same change share one line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rackcheck.model import unit as units
from rackcheck.model.change import Change, ChangeKind, Folded, Turn, moved_by
from rackcheck.model.fact import Absent, Class, Reading, Unknown, clean
from rackcheck.model.fold import fold
from rackcheck.run.event import reading_json

LETTERS = 120
"""Maximum number of characters of one reading in a line."""


def spelt(value: Reading, unit: str) -> str:
    """Format a value for output, with its unit."""
    match value:
        case Unknown():
            text = f"unknown ({value})"
        case Absent():
            text = "absent"
        case bool():
            text = "true" if value else "false"
        case tuple():
            text = ", ".join(value) or "none"
        case int() | float() if unit in units.UNITS:
            text = units.spell(float(value), unit)
        case float():
            text = f"{value:g}"
        case _:
            text = str(value) or '""'
    return clean(text, LETTERS)


def where(nodes: Sequence[str], of: int) -> str:
    """Format nodes with their number and the total number: `on 2 of 8: dgx[01-02]`."""
    return f"on {len(nodes)} of {of}: {fold(nodes)}"


def change_text(change: Change, *, alike: bool = True) -> str:
    """Format one change without its nodes: `sysctl.vm.swappiness 10 -> 60`."""
    before, after = spelt(change.before, change.unit), spelt(change.after, change.unit)
    also = f", with {', '.join(change.also)}" if change.also else ""
    match change.kind:
        case ChangeKind.GONE | ChangeKind.APPEARED:
            known = before if change.kind is ChangeKind.GONE else after
            extra = "" if known == "there" or not alike else f" ({known})"
            return f"{change.path} {change.kind}{extra}{also}"
        case ChangeKind.UNKNOWN_NOW:
            was = f" (was {before})" if _is_shown(before, alike) else ""
            count = len(change.also)
            more = (
                f", and so are {count} facts that follow from it"
                if count > 1
                else ", and so is 1 fact"
                if count
                else ""
            )
            return f"{change.path} unknown now: {_why(change.after)}{was}{more}"
        case ChangeKind.KNOWN_AGAIN:
            return f"{change.path} known again, was {_why(change.before)}" + (
                f": {after}" if _is_shown(after, alike) else ""
            )
        case ChangeKind.NEW:
            return f"{change.path} new" + (f": {after}" if alike else "") + also
        case ChangeKind.CAME:
            return f"{change.path} now{f' {after}' if alike else ' another'} (which may have been elsewhere){also}"
        case ChangeKind.LEFT:
            return f"{change.path} no longer{f' {before}' if alike else ' the same'} (which may be elsewhere now){also}"
    verb = " swapped" if change.kind is ChangeKind.SWAPPED else ""
    if not alike:
        word = ("rose" if _rose(change) else "fell") if change.cls is Class.MEASUREMENT else "changed"
        return f"{change.path}{verb or f' {word}'}{also}"
    share = moved_by(change) if change.cls is Class.MEASUREMENT else None
    by = f" ({share:+.1f} %)" if share is not None else ""
    return f"{change.path}{verb} {before} -> {after}{by}{also}"


def _is_shown(value: str, alike: bool) -> bool:
    return alike and value not in {"there", "answered"}


def _rose(change: Change) -> bool:
    return (moved_by(change) or 0.0) > 0


def _why(value: Reading) -> str:
    return clean(str(value), LETTERS)


def turn(one: Turn) -> str:
    """Format a changed verdict."""
    return f"{one.rule} {one.before or 'not judged'} -> {one.after or 'not judged'}"


def turns(found: Mapping[str, Iterable[Turn]]) -> Iterator[tuple[Turn, list[str]]]:
    """Yield each changed verdict with the nodes that it applies to, sorted by rule."""
    gathered: dict[Turn, list[str]] = {}
    for node, some in found.items():
        for one in some:
            gathered.setdefault(one, []).append(node)
    yield from sorted(gathered.items(), key=lambda g: (g[0].rule, g[0].before, g[0].after))


def one_doc(change: Change, *, alike: bool = True) -> dict[str, Any]:
    """Return a change without its nodes as a JSON document; if `alike` is false, `before` and `after` are left out."""
    doc: dict[str, Any] = {"fact": change.path, "class": change.cls.value, "kind": change.kind.value}
    if alike:
        doc |= {"before": reading_json(change.before), "after": reading_json(change.after)}
    also = {"also": list(change.also)} if change.also else {}
    return doc | ({"unit": change.unit} if change.unit else {}) | also


def change_doc(one: Folded) -> dict[str, Any]:
    """Return a change and its nodes as a JSON document."""
    return one_doc(one.change, alike=one.alike) | nodes_doc(one.nodes)


def turn_doc(one: Turn, nodes: Sequence[str]) -> dict[str, Any]:
    """Return a changed verdict and its nodes as a JSON document."""
    return {"rule": one.rule, "before": one.before or None, "after": one.after or None} | nodes_doc(nodes)


def nodes_doc(nodes: Sequence[str]) -> dict[str, Any]:
    """Return nodes as a list, and as a node set."""
    return {"nodes": list(nodes), "folded": fold(nodes)}
