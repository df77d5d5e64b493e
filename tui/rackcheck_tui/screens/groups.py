"""Identical failures, one row for all nodes that share them: actual and expected value, and a hint at the cause."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rackcheck.evaluate.verdict import Status
from rackcheck.filter.where import FINDING_KEYS, FilterRow
from rackcheck.views import locations
from rackcheck.views.causes import Cause
from rackcheck.views.filled_fix import filled_fix
from rackcheck.views.finding_groups import FindingGroup, groups
from rackcheck.views.locations import Whole
from rackcheck.views.part_findings import PartFinding
from rackcheck.views.summary import Finding, several
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.filtering import kept_nodes, rule_words
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import folded, labelled

PARTS = 20
"""Maximum number of nodes whose parts are shown for one group."""

CAUSES = 20
"""Maximum number of details that are shown for one cause."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The greatest width of each column, and the total numbers of nodes and racks."""

    of: Whole
    name: int
    seen: int
    where: int
    hint: int


def shown(ctx: ViewContext, _: ViewState) -> ViewContent:
    """Show the groups of findings in the order of their numbers."""
    if ctx.board.started is None:
        return ViewContent(ListEntries(()), "groups", "no facts yet")
    every = numbered(ctx)
    loud = [group for group in every if ctx.every or not group.quiet]
    found, left_out = chosen(ctx, loud)
    of = ctx.board.summary(every=ctx.every).whole
    columns = Columns(
        of,
        min(max((len(group.rule) for group in found), default=0), 30),
        min(max((len(_seen(group)) for group in found), default=0), 40),
        max((len(_where(group.nodes, of)) for group in found), default=0),
        max((len(group.hint.words) for group in found if group.hint is not None), default=0),
    )
    entries = [_entry(ctx, group, columns) for group in found]
    hidden = "" if ctx.every else "; z shows what passes"
    return ViewContent(
        ListEntries(entries, lambda width: _head(ctx, columns, width)),
        f"groups: {len(found):,} of {len(loud):,}",
        f"none of {len(loud):,} groups matches; / changes the filter" if loud else _nothing(ctx) + hidden,
        left_out,
    )


def _nothing(ctx: ViewContext) -> str:
    if ctx.board.running:
        judged = len(ctx.board.judged)
        return f"nothing is wrong on the {several(judged, 'node')} judged so far" if judged else "no node is judged yet"
    return "nothing is wrong" if ctx.board.counts[Status.PASS] else "nothing was judged"


def numbered(ctx: ViewContext) -> tuple[FindingGroup, ...]:
    """Return all groups with their current numbers; none before the run began.

    The groups are cached until the run's state changes.
    """
    if ctx.board.started is None:
        return ()
    held = ctx.fetched.get(ViewState("groups"))
    key = (ctx.board.version, ctx.every)
    if not isinstance(held, tuple) or held[0] != key:
        held = key, groups(ctx.board.summary(every=ctx.every), ctx.board.census)
        ctx.fetched[ViewState("groups")] = held
    made: tuple[FindingGroup, ...] = held[1]
    return made


def chosen(ctx: ViewContext, every: list[FindingGroup]) -> tuple[list[FindingGroup], str]:
    """Return the groups that match the filter, each reduced to its matching nodes."""
    if not ctx.where:
        return every, ""
    kept, left_out = kept_nodes_only(ctx, every)
    where = ctx.where.about(FINDING_KEYS)
    rules = {rule.id: rule for rule in ctx.desk.profile.rules}
    found = []
    for group in every:
        narrowed = group.narrowed(kept)
        if narrowed is None:
            continue
        subjects = [rule_words(ctx, rules[rule], (group.status.value,)) for rule in group.rules if rule in rules]
        if not group.rules:  # nodes that are INCOMPLETE for a reason of their own
            subjects = [FilterRow({"state": (group.status.value,), "severity": (group.severity,)}, "")]
        words = {"group": (str(group.number),), "node": group.nodes}
        text = " ".join((group.rule, group.title, group.got, group.want, *group.nodes))
        if any(where.holds(type(s)({**s.words, **words}, f"{s.text} {text}", s.read)) for s in subjects):
            found.append(narrowed)
    return found, left_out


def kept_nodes_only(ctx: ViewContext, every: list[FindingGroup]) -> tuple[frozenset[str], str]:
    """Return the nodes that match the filter's keys about nodes, and a text that counts omitted nodes."""
    names = dict.fromkeys(name for group in every for name in group.nodes)
    return kept_nodes(ctx, names, verdicts=False)


def _name(group: FindingGroup) -> str:
    return group.rule or group.title


def _seen(group: FindingGroup) -> str:
    """Format the actual and the expected value of a group, after the part if it is about one part of one node."""
    seen = f"{group.got} ({group.want})" if group.want else group.got
    if group.parts is None or group.parts.only is None:
        return seen
    _, part = group.parts.only
    named = f"{part.part.word} {part.part.name}"
    return f"missing: {named}" if part.missing else f"{named}: {seen}"


@lru_cache(maxsize=512)
def _where(nodes: tuple[str, ...], of: Whole) -> str:
    """Format the number and the names of nodes: `3/16 dgx[01-03]`; cached, because it is needed at every key press."""
    if of.nodes <= 1 and nodes and not nodes[0].startswith("@"):
        return ""
    return locations.counted_names(nodes, of, lambda some: f"{len(some):,}/{of.nodes:,} {locations.names_text(some)}")


def _rooms(columns: Columns, width: int) -> tuple[int, int, int, int]:
    """Divide a width between the name, the value, the nodes and the hint; a column of width 0 is omitted."""
    name = min(columns.name, max(width // 3, 8))
    room = max(width - 16 - name, 0)
    hint = columns.hint if columns.hint and room > columns.hint + 40 else 0
    rest = room - (hint + 1 if hint else 0)
    side = min(columns.where, max(rest - min(columns.seen, rest // 2) - 1, 0))
    return name, max(rest - (side + 1 if side else 0), 0), side, hint


def _head(ctx: ViewContext, columns: Columns, width: int) -> Line:
    fit = ctx.signs.fit
    name, seen, side, hint = _rooms(columns, width)
    words = f"  #  {'verdict':<10}{fit('rule', name)} {fit('actual (expected)', seen)}"
    more = "".join(f" {fit(word, room)}" for word, room in (("where", side), ("hint", hint)) if room)
    return Line(((words + more, "dim"),))


def _entry(ctx: ViewContext, group: FindingGroup, columns: Columns) -> ListEntry:
    return ListEntry(
        name_of(group),
        lambda width: _line(ctx, group, columns, width),
        lambda width: list(details(ctx, group, width)),
        tuple(name for name in group.nodes if name in ctx.desk.nodes),
        _into(group),
        group.rule,
        next((e.item for e in group.about.evidence), "") if isinstance(group.about, Finding) else "",
        {
            "number": str(group.number), "verdict": group.status.value, "severity": group.severity,
            "title": group.title, "seen": group.got, "wanted": group.want,
            "hint": group.hint.words if group.hint is not None else "",
        },
    )  # fmt: skip


def name_of(group: FindingGroup) -> str:
    """Return a name for a group from its content: its number may belong to another group later in the run."""
    return f"{group.status.value}:{_name(group)}:{group.got}"


def _into(group: FindingGroup) -> ViewState:
    """Return the view that a group's row opens; for a group of one node, the node's verdict."""
    if len(group.nodes) == 1:
        return ViewState("node", group.nodes, row=group.rule)
    return ViewState("group", (str(group.number),), key=name_of(group))


def _what(ctx: ViewContext, group: FindingGroup, name: int, seen: int) -> tuple[tuple[str, str], ...]:
    """Format the rule and the actual value of a group; if the group has no rule, its title uses both columns."""
    fit = ctx.signs.fit
    if group.rule:
        return (fit(group.rule, name) + " ", "bold"), (fit(_seen(group), seen), "")
    title = min(len(group.title), name + 1 + seen)
    return (fit(group.title, title), "bold"), (fit(f": {group.got}", max(name + 1 + seen - title, 0)), "")


def _line(ctx: ViewContext, group: FindingGroup, columns: Columns, width: int) -> Line:
    signs = ctx.signs
    name, seen, side, hint = _rooms(columns, width)
    word = group.hint.words if group.hint is not None else ""
    mark = signs.mark(group.status, group.severity)
    return Line((
        (f"{group.number:>3}  ", "dim"),
        (f"{mark!s:<10}", mark.style),
        *_what(ctx, group, name, seen),
        (f" {signs.fit(_where(group.nodes, columns.of), side)}" if side else "", "cyan"),
        (f" {signs.fit(word, hint)}" if hint else "", "italic"),
    ))  # fmt: skip


def details(ctx: ViewContext, group: FindingGroup, width: int) -> Iterator[Line]:
    """Yield all details of a group: nodes, actual value, hint, reason and fix."""
    signs, mark = ctx.signs, ctx.signs.mark(group.status, group.severity)
    about = group.about
    truth = f", {about.truth.value} without waivers" if isinstance(about, Finding) and about.truth is not None else ""
    yield Line((
        (f" {mark}", mark.style), (f"  {_name(group)}", "bold"),
        (f"  ({group.severity}{truth})", "dim"),
    ))  # fmt: skip
    if group.rule:
        yield from labelled("", group.title, signs, width, "bold")
    for line in group.parts.lines(PARTS) if group.parts is not None else ():
        yield from labelled("part", line, signs, width, "bold")
    yield from folded("where", _where(group.nodes, ctx.board.summary(every=ctx.every).whole), signs, width, "cyan")
    if group.hint is not None:
        yield from labelled("hint", group.hint.sentence, signs, width, "italic")
    if isinstance(about, Cause):
        yield from _of_cause(ctx, about, width)
        return
    row = group.parts or PartFinding(about)
    yield from labelled("result", row.reason, signs, width)
    for other in row.also:
        yield from labelled("also", f"{other.rule.id} ({other.rule.severity.value}): {other.reason}", signs, width)
    sources = dict.fromkeys(e.source for e in about.evidence if e.source)
    yield from labelled("read", "; ".join(list(sources)[:3]), signs, width, "dim")
    yield from labelled("why", about.rule.why, signs, width)
    yield from labelled("fix", filled_fix(row, ctx.board.summary(every=ctx.every).started.run), signs, width)


def _of_cause(ctx: ViewContext, cause: Cause, width: int) -> Iterator[Line]:
    for message in cause.texts[:CAUSES]:
        yield from labelled("because", message, ctx.signs, width)
    yield from labelled("rules", ", ".join(cause.rules), ctx.signs, width, "dim")
