"""What is read behind the screen: facts, pasts and differences, and what a verdict or a fact rests on."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from rackcheck.base.mistake import Mistake
from rackcheck.filter.where import Where, reader
from rackcheck.model.fact import VOLATILE, Reading
from rackcheck.views.summary import several
from rackcheck_tui.controllers.frame import Frame
from rackcheck_tui.controllers.proving import Rested, evidence
from rackcheck_tui.controllers.trail import Place
from rackcheck_tui.screens.reader import Reader

FETCHED = frozenset({"facts", "history", "diff"})
"""Views whose rows are read in the background."""


def _or_why(work: Callable[[], object]) -> object:
    """Do something, or give the mistake for which there is nothing to show."""
    try:
        return work()
    except Mistake as mistake:
        return mistake


class Fetching(Frame):
    """Reads what a place shows and the run's events do not tell."""

    def fetch(self, place: Place) -> None:
        """Read what a place shows, where it is not read yet."""
        if place.view not in FETCHED or not place.about:
            return
        key = Place(place.view, place.about)
        if key in self.context.fetched and not isinstance(self.context.fetched[key], Mistake) and not self.feed.running:
            return

        def arrived(found: object) -> None:
            self.context.fetched[key] = found
            if (self.trail.here.view, self.trail.here.about) == (place.view, place.about):
                self.refresh_rows()

        work: dict[str, Callable[[], object]] = {
            "facts": lambda: self.desk.tree(place.about[0]),
            "history": lambda: self.desk.past(place.about[0]),
            "diff": lambda: self._diff(place.about),
        }
        self.behind(lambda: _or_why(work[place.view]), arrived, f"reading {place.words}", opens=False)

    def _diff(self, about: Sequence[str]) -> Mapping[str, Any]:
        node, other = about[0], about[1] if len(about) > 1 else self.context.against
        if other in self.desk.nodes:
            judged = self.context.board.judged.get(node)
            verdicts = {v.rule: v.status.value for v in judged.verdicts} if judged is not None else {}
            return self.desk.beside(node, other, verdicts, every=self.context.every)
        every = ("--all",) if self.context.every else ()
        return self.desk.document(("diff", node, other, "--from", self.desk.run_of(node), *every))

    def fetch_compared(self, where: Where) -> None:
        """Read what a filter compares and nobody counts: measurements and counters, from the nodes' answers."""
        wanted = [p for p in where.facts if (kind := self.desk.kind(str(p))) is not None and kind.cls in VOLATILE]
        nodes = [name for name in self.context.board.nodes if name in self.context.board.measured]
        if not wanted or not nodes:
            return

        def read() -> Mapping[str, Mapping[str, Sequence[Reading]]]:
            found = {}
            for name in nodes:
                told = reader(self.desk.tree(name), self.desk.plane)
                found[name] = {str(pattern): tuple(told(pattern)) for pattern in wanted}
            return found

        def arrived(found: Mapping[str, Mapping[str, Sequence[Reading]]]) -> None:
            for name, told in found.items():
                self.context.volatile[name] = {**self.context.volatile.get(name, {}), **told}
            self.refresh_rows()

        self.behind(read, arrived, f"reading what the filter compares, of {several(len(nodes), 'node')}", opens=False)

    # ---- what opens over the view

    def open_over(self, place: Place) -> None:
        """Open what is no view: what a verdict rests on, a rule explained, a file written."""
        match place.view, place.about:
            case "proof", (node, rule):
                self.proof(node, rule)
            case "reply", (node, fact):
                self._evidence(fact, partial(evidence, self.desk, self.context, node, fact=fact), node)
            case "explain", (rule,):
                self.command(("profile", "explain", rule, "-p", self.desk.profile_word), f"rule {rule}")
            case "run", (run,):
                self.command(("runs", "show", run), f"run {run}")
            case "write", (form,):
                self.write_report(form)
            case _:
                self.tell(f"no view {place.words}; : and ctrl+p list them")

    def write_report(self, form: str) -> None:
        """Write the report in one form."""
        raise NotImplementedError

    def proof(self, node: str, rule: str) -> None:
        """Show what a rule's verdict on a node rests on."""
        if node not in self.desk.nodes:
            self.tell(f"{node} was judged as a whole: its members hold the evidence")
            return
        self._evidence(f"{rule} on {node}", partial(evidence, self.desk, self.context, node, rule=rule), node)

    def _evidence(self, title: str, work: Callable[[], Rested], node: str) -> None:
        def found(rested: Rested) -> None:
            self.push_screen(Reader(title, lambda width: rested.lines(self.signs, width), self.signs))

        self.behind(work, found, f"reading what {node} answered")
