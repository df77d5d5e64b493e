"""Shows the raw replies for `facts --raw`: each fact with its command output, or the facts that it is derived from."""

from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.model import path as paths
from rackcheck.model.capture import Capture
from rackcheck.model.fact import Plane, clean
from rackcheck.model.question import Ask
from rackcheck.model.tree import Tree
from rackcheck.probe.contract import AnyProbe
from rackcheck.session.registry_loading import known
from rackcheck.views import commands, reply
from rackcheck.views.evidence import NodeReplies, ProofFact, piece
from rackcheck.views.terminal import Line

SOURCE = 120
"""Maximum number of characters of a source; a command may be a script with many lines."""


def replies_of(tree: Tree, captures: Mapping[Plane, Capture]) -> NodeReplies:
    """Return all replies of a node; each reply is matched with the request of an installed probe."""
    probes = {probe.name: probe for probe in known().probes}
    return NodeReplies(tree, captures, request_of=lambda path: _ask(path, probes))


def probe_of(path: str) -> AnyProbe | None:
    """Return the probe that reads a fact; None for a derived fact."""
    entry = known().catalogue.find(paths.parse(path))
    return None if entry is None else next((probe for probe in known().probes if probe.name == entry.probe), None)


def _ask(path: str, probes: Mapping[str, AnyProbe]) -> Ask | None:
    entry = known().catalogue.find(paths.parse(path))
    found = probes.get(entry.probe) if entry is not None else None
    return found.ask if found is not None else None


def lines(path: str, all_texts: NodeReplies) -> Iterator[Line]:
    """Yield the output lines for a fact: its value, source and time, and its raw replies."""
    whole = piece(path, all_texts)
    yield from _fact(whole, "")
    for one in whole.replies:
        yield from (
            Line(((f"  {text}", "bold" if text.startswith(">") else "dim"),)) for text in reply.reply_lines(one)
        )
    for each in whole.inputs:
        yield from _fact(each, "  ")
    if whole.cut:
        yield Line(((f"  and {whole.cut} more facts that it is derived from", "dim"),))
    yield Line()


def _fact(whole: ProofFact, indent: str) -> Iterator[Line]:
    leaf = whole.leaf
    assert leaf is not None
    yield Line(((f"{indent}{whole.path}", "bold"), (f"  {clean(commands.value(leaf))}", "")))
    yield Line(((f"{indent}  {leaf.plane.value}  {whole.time}  {clean(leaf.source, SOURCE)}", "dim"),))


def documents(path: str, all_texts: NodeReplies) -> dict[str, Any]:
    """Return the raw replies of a fact as a part of the fact's JSON document."""
    whole = piece(path, all_texts)
    doc: dict[str, Any] = {"raw": [reply.document(one) for one in whole.replies]}
    return doc | ({"follows-from": [each.path for each in whole.inputs]} if whole.inputs else {})
