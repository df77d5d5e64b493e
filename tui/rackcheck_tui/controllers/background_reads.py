"""Background reads: facts, histories, differences, and the evidence of a verdict or a fact."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rackcheck.base.user_error import UserError
from rackcheck.filter.where import Where, reader
from rackcheck.model import operator
from rackcheck.model.fact import VOLATILE, Absent, Plane, Reading, Unknown
from rackcheck.model.question import Ask
from rackcheck.model.tree import Leaf
from rackcheck.views.burn_records import BurntNode, followed
from rackcheck.views.evidence import Proof, ProofFact, RelatedFact, piece, proof
from rackcheck.views.open_run import Lookups, RawAnswers, Viewed
from rackcheck.views.reply import RawText, reply_lines
from rackcheck.views.signs import Signs
from rackcheck.views.summary import several
from rackcheck.views.terminal import STYLES, Line, within
from rackcheck_tui.controllers.background import Background, Dialogs, OutputScreen
from rackcheck_tui.controllers.event_feed import Feed
from rackcheck_tui.controllers.export import Exporting
from rackcheck_tui.controllers.run_screen import Readout
from rackcheck_tui.controllers.view_history import Trail, ViewState
from rackcheck_tui.screens.context import ViewContext

FETCHED = frozenset({"facts", "history", "diff"})
"""Views whose rows are read in the background."""


def _or_why(work: Callable[[], object]) -> object:
    """Call a function; if it raises a UserError, return that error."""
    try:
        return work()
    except UserError as mistake:
        return mistake


class Fetching:
    """Reads the data of a view that is not in the run's events, and stores it in the context."""

    def __init__(
        self, context: ViewContext, trail: Trail, feed: Feed, readout: Readout, background: Background, desk: Lookups
    ) -> None:
        self._context, self._trail, self._feed = context, trail, feed
        self._readout, self._background, self._desk = readout, background, desk

    def fetch(self, place: ViewState) -> None:
        """Read the data of a view, unless it was read before.

        Data is read again after an error, and while a reading is in progress.
        """
        if place.view not in FETCHED or not place.about:
            return
        key, fetched = ViewState(place.view, place.about), self._context.fetched
        if key in fetched and not isinstance(fetched[key], UserError) and not self._feed.running:
            return

        def arrived(found: object) -> None:
            self._context.fetched[key] = found
            if self._trail.shows(place):
                self._readout.refresh()

        work: dict[str, Callable[[], object]] = {
            "facts": lambda: self._desk.tree(place.about[0]),
            "history": lambda: self._desk.past(place.about[0]),
            "diff": lambda: self._diff(place.about),
        }
        self._background.run(lambda: _or_why(work[place.view]), arrived, f"reading {place.words}", opens=False)

    def fetch_again(self) -> None:
        """Drop all data read so far, and read the current view's data again: answers or verdicts have changed."""
        self._context.fetched.clear()
        self._context.volatile.clear()
        self.fetch(self._trail.here)

    def refetch_difference(self) -> None:
        """Read the shown difference again, because its measurements and counters are read only if `every` is set."""
        here = self._trail.here
        if here.view == "diff" and self._context.fetched.pop(ViewState("diff", here.about), None) is not None:
            self.fetch(here)

    def _diff(self, about: Sequence[str]) -> Mapping[str, Any]:
        node, other = about[0], about[1] if len(about) > 1 else self._context.against
        run = self._context.desk
        if other in run.nodes:
            judged = self._context.board.judged.get(node)
            verdicts = {v.rule: v.status.value for v in judged.verdicts} if judged is not None else {}
            return self._desk.beside(node, other, verdicts, every=self._context.every)
        every = ("--all",) if self._context.every else ()
        return self._desk.document(("diff", node, other, "--from", run.run_of(node), *every))

    def fetch_compared(self, where: Where) -> None:
        """Read the measurements and counters that a filter compares.

        They are read from the replies of the nodes: the census, which counts the values of all other facts, has none.
        """
        run, board = self._context.desk, self._context.board
        wanted = [p for p in where.facts if (kind := run.kind(str(p))) is not None and kind.cls in VOLATILE]
        nodes = [name for name in board.nodes if name in board.measured]
        if not wanted or not nodes:
            return

        def read() -> Mapping[str, Mapping[str, Sequence[Reading]]]:
            found = {}
            for name in nodes:
                readings = reader(self._desk.tree(name), run.plane)
                found[name] = {str(pattern): tuple(readings(pattern)) for pattern in wanted}
            return found

        def arrived(found: Mapping[str, Mapping[str, Sequence[Reading]]]) -> None:
            for name, readings in found.items():
                self._context.volatile[name] = {**self._context.volatile.get(name, {}), **readings}
            self._readout.refresh()

        words = f"reading the values that the filter compares, of {several(len(nodes), 'node')}"
        self._background.run(read, arrived, words, opens=False)


@dataclass(frozen=True, slots=True)
class Rested:
    """A verdict with its evidence, or one fact; `since` is a text that states since when the verdict is the same."""

    found: Proof | ProofFact
    node: str
    since: str = ""

    def lines(self, signs: Signs, width: int) -> Sequence[Line]:
        """Format the page for a width."""
        made = _proof(self, self.found, signs) if isinstance(self.found, Proof) else _piece(self.found, signs)
        return [row for line in made for row in within(line, width, 6)]


class Overlays:
    """Opens pages over the view: evidence, an explained rule, a run's record, a report's file."""

    def __init__(
        self, context: ViewContext, readout: Readout, background: Background, dialogs: Dialogs, output: OutputScreen,
        exporting: Exporting, desk: RawAnswers,
    ) -> None:  # fmt: skip
        self._context, self._readout, self._background = context, readout, background
        self._dialogs, self._output, self._exporting, self._desk = dialogs, output, exporting, desk

    def open(self, place: ViewState) -> None:
        """Open a page over the view: evidence, an explained rule, or a run's record; or write a report's file."""
        match place.view, place.about:
            case "proof", (node, rule):
                self.proof(node, rule)
            case "reply", (node, fact):
                self._evidence(fact, partial(evidence, self._desk, self._context, node, fact=fact), node)
            case "explain", (rule,):
                words = ("profile", "explain", rule, "-p", self._context.desk.profile_word)
                self._output.call(words, f"rule {rule}")
            case "run", (run,):
                self._output.call(("runs", "show", run), f"run {run}")
            case "write", (form,):
                self._exporting.write_report(form)
            case _:
                self._readout.message(f"no view {place.words}; : and ctrl+p list the views")

    def proof(self, node: str, rule: str) -> None:
        """Show the evidence of a rule's verdict on a node."""
        if node not in self._context.desk.nodes:
            self._readout.message(f"{node} was judged as a whole; see the evidence of its nodes")
            return
        self._evidence(f"{rule} on {node}", partial(evidence, self._desk, self._context, node, rule=rule), node)

    def _evidence(self, title: str, work: Callable[[], Rested], node: str) -> None:
        def found(rested: Rested) -> None:
            self._dialogs.show_lines(title, lambda width: rested.lines(self._context.signs, width))

        self._background.run(work, found, f"reading the answers of {node}")


# Formats the evidence of a verdict or a fact: the value, the raw reply, the other plane, and since when.


def evidence(desk: RawAnswers, ctx: ViewContext, node: str, *, rule: str = "", fact: str = "") -> Rested:
    """Return the evidence of a rule's verdict on a node, or of one fact, from the node's answers; raises UserError."""
    burnt_node = BurntNode(desk.tree(node), desk.replies(node), desk.pairs, lambda path: _ask(ctx.desk, path))
    if fact:
        return Rested(piece(fact, burnt_node), node)
    rules = {each.id: each for each in ctx.desk.profile.rules}
    judged = ctx.board.judged.get(node)
    verdicts = {v.rule: v for v in judged.verdicts} if judged is not None else {}
    if rule not in rules or rule not in verdicts:
        raise UserError(f"{rule} was not judged on {node}")
    return Rested(followed(proof(rules[rule], verdicts[rule], burnt_node), burnt_node), node, desk.since(node, rule))


def _ask(desk: Viewed, path: str) -> Ask | None:
    probe = desk.probe(path)
    return probe.ask if probe is not None else None


def _proof(rested: Rested, found: Proof, signs: Signs) -> Iterator[Line]:
    verdict, rule = found.verdict, found.rule
    mark = signs.mark(verdict.status, rule.severity)
    yield Line(((f" {mark}", mark.style), (f"  {rule.id} on {rested.node}", "bold"), (f"  {rule.title}", "")))
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


def _piece(each: ProofFact, signs: Signs, indent: str = " ") -> Iterator[Line]:
    yield Line(((f"{indent}{signs.text(each.path)}", "bold"), (f"  {signs.text(_value(each.leaf))}", "")))
    if each.evidence is not None:
        status = each.evidence.status
        message = f"{indent}  {signs.status(status)} {status.value}"
        yield Line(((message, STYLES[status]), (f"  {signs.text(each.evidence.expected)}", "")))
    if each.leaf is not None:
        names = {reply.name for reply in each.replies}
        source = "" if each.leaf.source in names else f", {signs.text(_first(each.leaf.source))}"
        yield Line(((f"{indent}  {each.leaf.plane.value} plane, {each.time}{source}", "dim"),))
    for reply in each.replies:
        yield from _reply(reply, signs, indent)
    for view in each.views:
        yield from _view(view, signs, indent)
    for inner in each.inputs:
        yield from _piece(inner, signs, f"{indent}    ")
    if each.cut:
        yield Line(((f"{indent}    and {each.cut} more facts that it is derived from", "dim"),))


def _first(source: str) -> str:
    """Return the first line of a source, and how many lines follow it."""
    first, *more = source.split("\n")
    return f"{first} ... and {len(more)} more lines" if more else first


def _reply(reply: RawText, signs: Signs, indent: str) -> Iterator[Line]:
    for number, text in enumerate(reply_lines(reply)):
        style = "cyan" if number == 0 else "bold" if text.startswith(">") else ""
        yield Line(((f"{indent}  {signs.piece(text)}", style),))


def _view(view: RelatedFact, signs: Signs, indent: str) -> Iterator[Line]:
    # A derived fact states the result of a comparison; it is not compared again.
    unclear = "" if view.leaf.plane is Plane.DERIVED else "? cannot be compared"
    agrees = {True: "= agrees", False: "! differs", None: unclear}[view.agrees]
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
