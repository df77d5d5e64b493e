"""What a verdict or a fact rests on, as lines: what was seen, the raw reply, the other plane, and since when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rackcheck.base.mistake import Mistake
from rackcheck.model import operator
from rackcheck.model.fact import Absent, Unknown
from rackcheck.model.question import Ask
from rackcheck.model.tree import Leaf
from rackcheck.views.burnt import Told, followed
from rackcheck.views.desk import RawAnswers, Viewed
from rackcheck.views.proof import Piece, Proof, View, piece, proof
from rackcheck.views.reply import Reply, told
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import STYLES, Line, within
from rackcheck_tui.screens.context import Context


@dataclass(frozen=True, slots=True)
class Rested:
    """What was found: a verdict with what it rests on, or one fact; `since` says how long the verdict has been so."""

    found: Proof | Piece
    node: str
    since: str = ""

    def lines(self, signs: Signs, width: int) -> Sequence[Line]:
        """Write it for a width."""
        made = _proof(self, self.found, signs) if isinstance(self.found, Proof) else _piece(self.found, signs)
        return [row for line in made for row in within(line, width, 6)]


def evidence(desk: RawAnswers, ctx: Context, node: str, *, rule: str = "", fact: str = "") -> Rested:
    """Find what a rule's verdict on a node rests on, or one fact; reads the node's answers, raises Mistake."""
    said = Told(desk.tree(node), desk.replies(node), desk.pairs, lambda path: _ask(ctx.desk, path))
    if fact:
        return Rested(piece(fact, said), node)
    rules = {each.id: each for each in ctx.desk.profile.rules}
    judged = ctx.board.judged.get(node)
    verdicts = {v.rule: v for v in judged.verdicts} if judged is not None else {}
    if rule not in rules or rule not in verdicts:
        raise Mistake(f"{rule} was not judged on {node}")
    return Rested(followed(proof(rules[rule], verdicts[rule], said), said), node, desk.since(node, rule))


def _ask(desk: Viewed, path: str) -> Ask | None:
    probe = desk.probe(path)
    return probe.ask if probe is not None else None


def _proof(rested: Rested, found: Proof, signs: Signs) -> Iterator[Line]:
    verdict, rule = found.verdict, found.rule
    sign = f" {signs.status(verdict.status)} {verdict.status.value.upper()}"
    yield Line(((sign, STYLES[verdict.status]), (f"  {rule.id} on {rested.node}", "bold"), (f"  {rule.title}", "")))
    if verdict.reason:
        yield Line(((f"   {signs.text(verdict.reason)}", ""),))
    if rested.since:
        yield Line(((f"   {signs.text(rested.since)}", "dim"),))
    for each in found.pieces:
        yield Line()
        yield from _piece(each, signs)
    if found.cut:
        yield Line()
        yield Line(((f" and {found.cut} more facts that the rule reads", "dim"),))


def _piece(each: Piece, signs: Signs, indent: str = " ") -> Iterator[Line]:
    yield Line(((f"{indent}{signs.text(each.path)}", "bold"), (f"  {signs.text(_value(each.leaf))}", "")))
    if each.evidence is not None:
        status = each.evidence.status
        said = f"{indent}  {signs.status(status)} {status.value}"
        yield Line(((said, STYLES[status]), (f"  {signs.text(each.evidence.expected)}", "")))
    if each.leaf is not None:
        names = {reply.name for reply in each.replies}
        source = "" if each.leaf.source in names else f", {signs.text(_first(each.leaf.source))}"
        yield Line(((f"{indent}  {each.leaf.plane.value} plane, {each.leaf.time}{source}", "dim"),))
    for reply in each.replies:
        yield from _reply(reply, signs, indent)
    for view in each.views:
        yield from _view(view, signs, indent)
    for inner in each.inputs:
        yield from _piece(inner, signs, f"{indent}    ")
    if each.cut:
        yield Line(((f"{indent}    and {each.cut} more that it follows from", "dim"),))


def _first(source: str) -> str:
    """Name a source of many lines by its first one."""
    first, *more = source.split("\n")
    return f"{first} ... and {len(more)} more lines" if more else first


def _reply(reply: Reply, signs: Signs, indent: str) -> Iterator[Line]:
    for number, text in enumerate(told(reply)):
        style = "cyan" if number == 0 else "bold" if text.startswith(">") else ""
        yield Line(((f"{indent}  {signs.piece(text)}", style),))


def _view(view: View, signs: Signs, indent: str) -> Iterator[Line]:
    agrees = {True: "= says the same", False: "! says otherwise", None: "? cannot be compared"}[view.agrees]
    style = {True: "green", False: "bold red", None: "dim"}[view.agrees]
    there = signs.text(f"{view.leaf.plane.value} plane: {view.path}  {_value(view.leaf)}")
    yield Line(((f"{indent}  {there}  ", ""), (agrees, style), (f"  ({signs.text(view.why)})", "dim")))
    for reply in view.replies:
        yield from _reply(reply, signs, f"{indent}  ")


def _value(leaf: Leaf | None) -> str:
    if leaf is None:
        return ""
    if isinstance(leaf.reading, Unknown):
        return f"unknown: {leaf.reading}"
    return "absent" if isinstance(leaf.reading, Absent) else operator.spell(leaf.reading, leaf.kind)
