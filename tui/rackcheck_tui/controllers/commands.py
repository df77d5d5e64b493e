"""What can be done here, in one table: views, and the command line's own verbs; `:`, the palette and `?` read it."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.cli import COMMANDS
from rackcheck.filter.where import COMPARED, FINDING_KEYS, NODE_KEYS, TEXT, FilterError, parse
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens import (
    diff,
    facts,
    formats,
    group,
    groups,
    history,
    live,
    load,
    node,
    nodes,
    odd,
    rack,
    rules,
    waived,
)
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ViewContent

Build = Callable[[ViewContext, ViewState], ViewContent]

ASKING = frozenset({"audit", "doctor", "capture", "facts", "probe", "inventory", "burnin"})
"""Commands that may ask nodes: typed here, they ask their reader first."""

LOADING = frozenset({"burnin"})
"""Those of them that put a load on nodes."""


def asks(words: Sequence[str]) -> bool:
    """Whether a command that was typed may ask nodes; one that reads a run says so before all of its other options."""
    first = next((word for word in words[1:] if word.startswith("-")), "")
    return words[0] in ASKING and first != "--from"


FILTERED: Mapping[str, frozenset[str]] = {
    "groups": (NODE_KEYS | FINDING_KEYS) - {"class", "run"}, "rack": NODE_KEYS | {TEXT, "state"},
    "odd": NODE_KEYS | {"fact", "class", TEXT},
    "facts": frozenset({"fact", "class", "plane", COMPARED, TEXT}),
    "diff": frozenset({"node", "rule", "state", "fact", "class", "plane", TEXT}),
}  # fmt: skip
"""Commands that take the filter, and what each can be asked for."""

WAIVED = frozenset({"groups", "rack", "report", "audit"})
"""Commands that take files of waivers."""

ELSEWHERE = frozenset({"tui", "completion", "sim"})
"""Commands that want a terminal of their own."""


@dataclass(frozen=True, slots=True)
class ViewMode:
    """One way to look at a run: what makes it, its key, what it is, and what prints the same on the command line.

    `takes` is what it is about, as it is typed; in `twin`, {run} and {about} stand for the run and what it is about,
    or {node} and {fact} for a node and a part of its burn-in.
    Without `filters` it shows all there is. `narrows` is the filter by which the twin prints just this.
    """

    build: Build
    words: str
    twin: str
    key: str = ""
    takes: str = ""
    filters: bool = True
    narrows: str = ""


VIEWS: Mapping[str, ViewMode] = {
    "groups": ViewMode(groups.shown, "equal failures, said once for all their nodes", "rackcheck groups {run}", "1"),
    "rack": ViewMode(rack.shown, "the racks as they stand, a sign a node", "rackcheck rack {run}", "2"),
    "odd": ViewMode(odd.shown, "who differs from its peers, the oddest first", "rackcheck odd {run}", "3"),
    "nodes": ViewMode(nodes.shown, "every node, the worst first", "rackcheck audit --from {run}", "4"),
    "live": ViewMode(live.shown, "how far a reading is; of a burn-in, the load", "rackcheck audit --from {run}", "5"),
    "history": ViewMode(
        history.shown, "a node or a rule, run by run", "rackcheck history {about}", "6", "NODE|RULE", filters=False
    ),
    "waivers": ViewMode(
        waived.shown, "who answers for what, until when", "rackcheck audit --from {run}", "7", filters=False
    ),
    "profile": ViewMode(rules.shown, "the rules, what they want and why", "rackcheck profile show {profile}", "8"),
    "report": ViewMode(formats.shown, "write the document of this run", "rackcheck report {run}", "9", filters=False),
    "node": ViewMode(node.shown, "one node's rules", "rackcheck groups {run}", takes="NODE", narrows="node:{about}"),
    "group": ViewMode(
        group.shown, "one group's nodes", "rackcheck groups {run}", takes="NUMBER", narrows="group:{about}"
    ),
    "load": ViewMode(
        load.shown,
        "one GPU or host under load",
        "rackcheck facts {node} --from {run} {fact}",
        takes="NODE GPU",
        filters=False,
    ),
    "facts": ViewMode(facts.shown, "everything a node told", "rackcheck facts {about} --from {run}", takes="NODE"),
    "diff": ViewMode(
        diff.shown,
        "a node held against something",
        "rackcheck diff {about} --from {run}",
        takes="NODE WHAT",
    ),
}


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that can be typed: a view, or a command of the command line."""

    name: str
    words: str
    takes: str = ""
    key: str = ""


def verbs() -> Mapping[str, Verb]:
    """Give everything that can be typed behind a colon, views first."""
    found = {name: Verb(name, view.words, view.takes, view.key) for name, view in VIEWS.items()}
    rest = {name: Verb(name, line) for name, (_, _, line) in COMMANDS.items() if name not in {*found, *ELSEWHERE}}
    return {**found, **rest}


def twin(ctx: ViewContext, place: ViewState) -> str:
    """Give the command that prints what a place shows."""
    view = VIEWS[place.view]
    # Of two nodes the command line has the one that is held against first, as it has what was before.
    both = place.view == "diff" and len(place.about) > 1 and place.about[1] in ctx.desk.nodes
    about = shlex.join(place.about[::-1] if both else place.about)
    node, part = (*place.about, "", "")[:2]
    fact = f"burnin.{part}" if part.startswith("gpu/") else "burnin"
    # A load of no node is all of them.
    line = (VIEWS["live"] if place.view == "load" and not node else view).twin.format(
        run=shlex.quote(ctx.desk.name), about=about, profile=shlex.quote(ctx.desk.profile_word),
        node=shlex.quote(node), fact=shlex.quote(fact),
    )  # fmt: skip
    verb = line.split()[1]
    if verb in WAIVED:
        line = shlex.join([*shlex.split(line), *ctx.desk.waiver_words])
    where = _where(ctx, place, FILTERED.get(verb, frozenset()))
    return f"{line} --where {shlex.quote(where)}" if where else line


def _where(ctx: ViewContext, place: ViewState, keys: frozenset[str]) -> str:
    """Give the filter that prints what a place shows: what it is about, and of its own filter what can be asked for."""
    mine = VIEWS[place.view].narrows.format(about=" ".join(place.about))
    try:
        own = str(parse(place.where, ctx.desk.kind).about(keys))
    except FilterError:
        own = ""
    return " ".join(word for word in (mine, own) if word)
