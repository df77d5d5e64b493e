"""Builds the data for the page's script: nodes, verdict letters and parts; compact, because it is most of the page."""

from collections.abc import Iterable, Sequence
from typing import Any

from rackcheck.model.fit import Match
from rackcheck.report.html.reading import Chapter, Instance
from rackcheck.report.html.text import prose, shown
from rackcheck.report.report_model import LETTERS, Dossier, Hardware, NodeRow

PARTS = 10_000
"""Maximum number of parts in the data; if there are more, the page has none, and only inventory.csv has them."""

TEXT = 400
"""Maximum number of characters of one text in the node table."""


FITS = {
    Match.FITS: "the profile is for this machine", Match.OTHER: "the profile is for another machine",
    Match.UNKNOWN: "unknown whether the profile is for this machine", Match.NOT_STATED: "",
    Match.FRAGMENT: "the profile is a fragment, not for a machine by itself",
}  # fmt: skip
"""How the profile fits a machine, as text."""


def script_data(dossier: Dossier, chapters: Sequence[Chapter], unread: str) -> dict[str, Any]:
    """Return lists with a fixed order of columns (see `report.js`); nodes and rules are referenced by index."""
    places = {node.name: place for place, node in enumerate(dossier.nodes)}
    rules = {gate.id: place for place, gate in enumerate(dossier.gates)}
    vectors = {vector: i for i, vector in enumerate(dict.fromkeys(node.vector for node in dossier.nodes))}
    carried = dossier.parts if len(dossier.parts) <= PARTS else ()
    makes = {make: i for i, make in enumerate(dict.fromkeys(map(_make, carried)))}
    return {
        "unread": unread,
        "rules": [[gate.id, gate.severity.value, shown(prose(gate.title), TEXT)] for gate in dossier.gates],
        "vectors": list(vectors),
        "nodes": [_node(node, vectors[node.vector]) for node in dossier.nodes],
        "findings": [
            [
                rules.get(instance.found.rule, -1),
                LETTERS[instance.found.status],
                instance.anchor,
                _ranges(sorted(places[node] for node in _nodes(chapter, instance) if node in places)),
            ]
            for chapter in chapters
            for instance in chapter.instances
        ],
        "makes": [[shown(text, TEXT) for text in make] for make in makes],
        "parts": _parts(dossier, carried, makes),
        "parts_left_out": len(dossier.parts) - len(carried),
    }


def _nodes(chapter: Chapter, instance: Instance) -> tuple[str, ...]:
    return chapter.shared.nodes if chapter.shared is not None else instance.found.nodes


def _node(node: NodeRow, vector: int) -> list[Any]:
    texts = (node.name, node.role, node.rack, node.slot, node.vendor, node.product, node.serial)
    more = (node.host, node.bmc, node.run, node.note)
    seen = [shown(text, TEXT) for text in (*texts, *more)]
    why = (shown(node.reason, TEXT), FITS[node.fit.match], shown(node.fit.words, TEXT))
    return [*seen[: len(texts)], node.outcome.value, vector, node.u, node.not_in_scope, *seen[len(texts) :], *why]


def _make(part: Hardware) -> tuple[str, str, str]:
    return part.kind, part.model, part.part_number


def _parts(
    dossier: Dossier, parts: Iterable[Hardware], makes: dict[tuple[str, str, str], int]
) -> list[list[list[Any]]]:
    """Return the parts of each node, in the order of the nodes: item, index in `makes`, serial and other identities."""
    found: dict[str, list[list[Any]]] = {node.name: [] for node in dossier.nodes}
    for part in parts:
        why = [] if part.serial or not part.no_serial else [part.no_serial]
        other = "; ".join(
            filter(None, (" ".join(f"{k} {v}" for k, v in sorted(part.other.items())), *why, *part.notes))
        )
        texts = [shown(text, TEXT) for text in (part.serial, other)]
        found.setdefault(part.node, []).append([shown(part.item, TEXT), makes[_make(part)], *texts])
    return [found[node.name] for node in dossier.nodes]


def _ranges(places: Sequence[int]) -> list[int]:
    """Encode sorted indexes as ranges: first, last, first, last, and so on."""
    ends: list[int] = []
    for place in places:
        if ends and place == ends[-1] + 1:
            ends[-1] = place
        else:
            ends += [place, place]
    return ends
