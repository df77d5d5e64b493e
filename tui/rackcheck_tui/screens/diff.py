"""A node compared with its peers, its past, another node, or a baseline: what differs, and which rules read it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.filter.where import FINDING_KEYS, FilterRow
from rackcheck.model.change import reading
from rackcheck.run.index.words import spelt
from rackcheck.views.terminal import Line
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.entries import ListEntries, ListEntry, ViewContent
from rackcheck_tui.widgets.words import labelled

NO_RULE = "no rule covers this fact"

KINDS = {"changed": "differs", "appeared": "only here", "gone": "only there"}
"""How a fact differs between two readings, in words that do not imply a change over time."""

DiffDoc = Mapping[str, Any]


def shown(ctx: ViewContext, place: ViewState) -> ViewContent:
    """Show a fetched difference: each fact with both values, and the rules that read it."""
    if not place.about:
        return ViewContent(ListEntries(()), "diff", "which node? :diff NODE [peers|before|NODE|RUN], or d on a row")
    node, other = place.about[0], place.about[1] if len(place.about) > 1 else ctx.against
    doc = ctx.fetched.get(ViewState("diff", place.about))
    if isinstance(doc, UserError):
        return ViewContent(ListEntries(()), f"diff {node} against {other}", str(doc))
    if not isinstance(doc, Mapping):
        return ViewContent(ListEntries(()), f"diff {node} against {other}", "comparing the facts ...")
    every: list[DiffDoc] = list(doc.get("differing", doc.get("changes", ())))
    wanted = [each for each in every if _kept(ctx, each)]
    wide = min(max((len(str(each["fact"])) for each in wanted), default=0), 40)
    judged = ctx.board.judged.get(node)
    now = {v.rule: v.status.value for v in judged.verdicts} if judged is not None else {}
    entries = [_entry(ctx, node, _current(each, now), wide, number) for number, each in enumerate(wanted)]
    loose = sum(not each.get("rules") for each in every) if "differing" in doc else 0
    bare = f", {loose} that no rule covers" if loose else ""
    return ViewContent(
        ListEntries(entries, lambda width: _head(ctx, wide, width)),
        f"diff {node}: {len(wanted)} of {len(every)} facts{bare}, against {doc.get('against', other)}",
        _nothing(doc) if not every else "no fact matches; / changes the filter",
        above=tuple(_unsure(doc)),
    )


def _current(each: DiffDoc, now: Mapping[str, str]) -> DiffDoc:
    """Return a difference with the screen's current verdicts, since waivers may have been written meanwhile."""
    return {**each, "verdicts": {rule: now.get(rule, status) for rule, status in each.get("verdicts", {}).items()}}


def _nothing(doc: DiffDoc) -> str:
    value = doc.get("peers")
    if value and value["asked"] < value["needed"]:
        return "too few peers to compare with"
    split = f"; on {value['split']:,} facts the peers do not agree" if value and value["split"] else ""
    return f"no fact differs{split}"


def _kept(ctx: ViewContext, each: DiffDoc) -> bool:
    words = {"fact": (str(each["fact"]), *each.get("facts", ())), "rule": tuple(each.get("rules", ()))}
    words |= {"class": (str(each["class"]),), "state": tuple(each.get("verdicts", {}).values())}
    return bool(ctx.where.about(FINDING_KEYS).holds(FilterRow(words, f"{each['fact']} {_value(each, 'after')}")))


def _unsure(doc: DiffDoc) -> Iterator[Line]:
    if doc.get("silent"):
        planes = ", ".join(str(plane).removeprefix("plane/") for plane in doc["silent"])
        yield Line(((f" {planes}: no answer on either side", "bold magenta"),))
    if doc.get("unknown-in-both"):
        yield Line(((f" {doc['unknown-in-both']} facts are unknown on both sides", "bold magenta"),))
    if doc.get("own"):
        yield Line(((f" {doc['own']} identities differ, as expected of two machines", "dim"),))
    value = doc.get("peers")
    if value:
        yield Line(
            ((f" {value['asked']} other nodes of its role reported facts; {value['needed']} must agree", "dim"),)
        )


def _head(ctx: ViewContext, wide: int, width: int) -> Line:
    side = max((width - wide - 4) * 2 // 5, 8)
    return Line(((ctx.signs.fit(f"{'fact':<{wide}}  {'there':<{side}}  here", width), "dim"),))


def _entry(ctx: ViewContext, node: str, each: DiffDoc, wide: int, number: int) -> ListEntry:
    rules = tuple(each.get("rules", ()))
    fact = next(iter(each.get("facts", ())), str(each["fact"]))
    return ListEntry(
        f"{each['fact']}:{number}",
        lambda width: _line(ctx, each, min(wide, width // 2), width),
        lambda width: list(_details(ctx, each, width)),
        (node,),
        ViewState("reply", (node, fact)),
        rules[0] if rules else "",
        fact,
        {"there": _value(each, "before"), "here": _value(each, "after"), "rules": " ".join(rules)},
    )


def _value(each: DiffDoc, side: str) -> str:
    doc = each.get(side)
    return spelt(reading(doc), str(each.get("unit", ""))) if isinstance(doc, Mapping) else "another value"


def _line(ctx: ViewContext, each: DiffDoc, wide: int, width: int) -> Line:
    side = max((width - wide - 4) * 2 // 5, 8)
    rest = max(width - wide - side - 4, 0)
    value = each.get("verdicts", {})
    bad = next((rule for rule, status in value.items() if status not in {"pass", "n/a"}), "")
    mark = NO_RULE if not each.get("rules") and "rules" in each else f"{bad} {value[bad]}" if bad else ""
    here = _value(each, "after")
    room = min(len(mark) + 2, max(rest - len(here), rest // 2)) if mark else 0
    unsure = "unknown" in str(each.get("kind", "")) or "known again" in str(each.get("kind", ""))
    return Line((
        (ctx.signs.fit(str(each["fact"]), wide) + "  ", "bold"),
        (ctx.signs.fit(_value(each, "before"), side) + "  ", "dim"),
        (ctx.signs.fit(here, max(rest - room, 0)), "magenta" if unsure else "yellow"),
        (f"  {ctx.signs.fit(mark, room - 2)}" if room > 2 else " " * room, "italic" if mark == NO_RULE else "bold red"),
    ))  # fmt: skip


def _details(ctx: ViewContext, each: DiffDoc, width: int) -> Iterator[Line]:
    signs = ctx.signs
    yield Line(
        ((f" {each['fact']}", "bold"), (f"  {KINDS.get(str(each['kind']), each['kind'])}, {each['class']}", "dim"))
    )
    yield from labelled("there", _value(each, "before"), signs, width)
    yield from labelled("here", _value(each, "after"), signs, width)
    yield from labelled("lost", " ".join(each.get("lost", ())), signs, width)
    yield from labelled("got", " ".join(each.get("got", ())), signs, width)
    value = each.get("verdicts", {})
    rules = [f"{rule} {value[rule]}" if rule in value else rule for rule in each.get("rules", ())]
    yield from labelled("rules", ", ".join(rules) or NO_RULE, signs, width)
