"""All views and commands in one table, for the input line (`:`), the palette and the help (`?`)."""

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
    steps,
    waived,
)
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ViewContent

Build = Callable[[ViewContext, ViewState], ViewContent]

ASKING = frozenset({"audit", "doctor", "capture", "facts", "probe", "inventory", "burnin"})
"""Commands that may contact nodes: the user must confirm them when they are typed on the screens."""

LOADING = frozenset({"burnin"})
"""The commands among `ASKING` that put a load on nodes."""


def asks(words: Sequence[str]) -> bool:
    """Return whether a typed command may contact nodes.

    A command whose first option is `--from` reads a stored run and contacts no node.
    """
    first = next((word for word in words[1:] if word.startswith("-")), "")
    return words[0] in ASKING and first != "--from"


FILTERED: Mapping[str, frozenset[str]] = {
    "groups": (NODE_KEYS | FINDING_KEYS) - {"class", "run"}, "rack": NODE_KEYS | {TEXT, "state"},
    "odd": NODE_KEYS | {"fact", "class", TEXT},
    "facts": frozenset({"fact", "class", "plane", COMPARED, TEXT}),
    "diff": frozenset({"node", "rule", "state", "fact", "class", "plane", TEXT}),
}  # fmt: skip
"""Commands that accept a filter, and the filter keys that each of them accepts."""

WAIVED = frozenset({"groups", "rack", "report", "audit"})
"""Commands that accept waiver files."""

ELSEWHERE = frozenset({"tui", "completion", "sim"})
"""Commands that need a terminal for themselves."""


@dataclass(frozen=True, slots=True)
class ViewMode:
    """One view of a run: the function that builds it, its key, its description, and the command that prints the same.

    `takes` is the placeholder for the view's argument, such as `NODE`. `twin` is the command that prints the same as
    the view; its placeholders {run}, {about}, {profile}, {node} and {fact} stand for the run, the view's argument, the
    profile, a node and a burn-in fact. `filters` is false for a view that accepts no filter. `narrows` is the filter
    that limits the output of the command to the content of the view.
    """

    build: Build
    words: str
    twin: str
    key: str = ""
    takes: str = ""
    filters: bool = True
    narrows: str = ""


VIEWS: Mapping[str, ViewMode] = {
    "groups": ViewMode(groups.shown, "equal failures, once for all their nodes", "rackcheck groups {run}", "1"),
    "rack": ViewMode(rack.shown, "the racks, one sign per node", "rackcheck rack {run}", "2"),
    "odd": ViewMode(odd.shown, "nodes unlike their peers, the most different first", "rackcheck odd {run}", "3"),
    "nodes": ViewMode(nodes.shown, "every node, the worst first", "rackcheck audit --from {run}", "4"),
    "live": ViewMode(live.shown, "progress of the run; of a burn-in, the load", "rackcheck audit --from {run}", "5"),
    "history": ViewMode(
        history.shown, "a node or a rule, run by run", "rackcheck history {about}", "6", "NODE|RULE", filters=False
    ),
    "waivers": ViewMode(
        waived.shown, "what is waived, by whom, until when", "rackcheck audit --from {run}", "7", filters=False
    ),
    "profile": ViewMode(rules.shown, "the rules, what they expect and why", "rackcheck profile show {profile}", "8"),
    "report": ViewMode(formats.shown, "write the report of this run", "rackcheck report {run}", "9", filters=False),
    "steps": ViewMode(
        steps.shown,
        "the steps of an acceptance, and what is left to do",
        "rackcheck accept show",
        "0",
        filters=False,
    ),
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
    "facts": ViewMode(facts.shown, "all facts of a node", "rackcheck facts {about} --from {run}", takes="NODE"),
    "diff": ViewMode(
        diff.shown,
        "a node compared with its peers, its past or another",
        "rackcheck diff {about} --from {run}",
        takes="NODE WHAT",
    ),
}


@dataclass(frozen=True, slots=True)
class Verb:
    """A word that can be typed after a colon: the name of a view or of a rackcheck command."""

    name: str
    words: str
    takes: str = ""
    key: str = ""


def verbs() -> Mapping[str, Verb]:
    """Return everything that can be typed after a colon, views first."""
    found = {name: Verb(name, view.words, view.takes, view.key) for name, view in VIEWS.items()}
    rest = {name: Verb(name, line) for name, (_, _, line) in COMMANDS.items() if name not in {*found, *ELSEWHERE}}
    return {**found, **rest}


def twin(ctx: ViewContext, place: ViewState) -> str:
    """Return the command that prints the same as a view."""
    view = VIEWS[place.view]
    # With two nodes, the command line expects the baseline first, as it expects the earlier run first.
    both = place.view == "diff" and len(place.about) > 1 and place.about[1] in ctx.desk.nodes
    about = shlex.join(place.about[::-1] if both else place.about)
    node, part = (*place.about, "", "")[:2]
    fact = f"burnin.{part}" if part.startswith("gpu/") else "burnin"
    # The load view without a node shows all nodes.
    line = (VIEWS["live"] if place.view == "load" and not node else view).twin.format(
        run=shlex.quote(ctx.desk.run_word), about=about, profile=shlex.quote(ctx.desk.profile_word),
        node=shlex.quote(node), fact=shlex.quote(fact),
    )  # fmt: skip
    verb = line.split()[1]
    if verb in WAIVED:
        line = shlex.join([*shlex.split(line), *ctx.desk.waiver_words])
    where = _where(ctx, place, FILTERED.get(verb, frozenset()))
    return f"{line} --where {shlex.quote(where)}" if where else line


def _where(ctx: ViewContext, place: ViewState, keys: frozenset[str]) -> str:
    """Return the filter for the command that prints a view.

    The filter contains `narrows` with the view's argument, and the conditions of the view's own filter on the keys in
    `keys`.
    """
    mine = VIEWS[place.view].narrows.format(about=" ".join(place.about))
    try:
        own = str(parse(place.where, ctx.desk.kind).about(keys))
    except FilterError:
        own = ""
    return " ".join(word for word in (mine, own) if word)
