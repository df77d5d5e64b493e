"""What keys do with the row under the cursor, or those that are marked: compare, explain, mend, ask again."""

from rackcheck.evaluate.verdict import Status
from rackcheck.model.fold import fold
from rackcheck.views.state import QUIET
from rackcheck.views.summary import ORDER, several
from rackcheck_tui.controllers.sharing import Sharing
from rackcheck_tui.controllers.trail import Place
from rackcheck_tui.widgets.dialogs import Ask, Choose, Leave, Option

MENDED = frozenset({Status.FAIL, Status.WARN})
"""Verdicts that something can be done about."""


class Acting(Sharing):
    """Acts on nodes and rules; only `r`, after a yes, asks a node."""

    def action_diff(self) -> None:
        """Hold the first node against what was chosen."""
        nodes = self.targets()
        if len(nodes) == 2 and len(self.racks.marks if self.on_racks else self.table.marks) == 2:
            self.go(Place("diff", nodes))
        elif self.under:
            self.go(Place("diff", (self.under[0], self.context.against)))
        else:
            self.tell("no node here to compare")

    def action_baseline(self) -> None:
        """Choose what a node is held against."""
        known = [
            Option("peers", "what most nodes of its role say"), Option("before", "its own reading before this run"),
            *(Option(name, "another node") for name in self.desk.nodes if name not in self.under[:1]),
            *(Option(name, words) for name, words in self.desk.baselines()),
        ]  # fmt: skip

        def chosen(name: str | None) -> None:
            if name is not None:
                self.context.against = name
                if self.trail.here.view == "diff" and self.trail.here.about:
                    self.go(Place("diff", (self.trail.here.about[0], name)))
                else:
                    self.action_diff()

        self.push_screen(Choose("hold a node against", known, self.signs), chosen)

    def action_evidence(self) -> None:
        """Show what the verdict under the cursor rests on."""
        entry, nodes = self.entry, self.under
        if entry is not None and entry.rule and nodes:
            self.proof(nodes[0], entry.rule)
        elif nodes and not (entry is not None and entry.fact) and (rule := self._worst(nodes[0])):
            self.proof(nodes[0], rule)
        elif entry is not None and entry.fact and nodes:
            self.open_over(Place("reply", (nodes[0], entry.fact)))
        else:
            self.tell("no verdict here; enter goes to a node's")

    def _worst(self, node: str) -> str:
        """The rule that went worst on a node; empty where all is fine, or nothing was judged."""
        judged = self.context.board.judged.get(node)
        loud = [v for v in judged.verdicts if v.status not in QUIET] if judged is not None else []
        return min(loud, key=lambda v: ORDER.index(v.status)).rule if loud else ""

    def action_fix(self) -> None:
        """Show what would mend the row, or what is marked; nothing is applied."""
        judged, only = self.context.board.judged, dict[str, set[str]]()
        for rule, nodes in self.findings().items():
            for node in nodes:
                found = judged.get(node)
                wrong = {v.rule for v in found.verdicts if v.status in MENDED} if found is not None else set()
                if mine := wrong & {rule} if rule else wrong:
                    only.setdefault(node, set()).update(mine)
        if not only:
            self.tell("nothing here fails or warns; what is unknown has to be known first")
            return
        verdicts = {node: judged[node].verdicts for node in only}
        rules = {rule for mine in only.values() for rule in mine}
        name = next(iter(rules)) if len(rules) == 1 else several(len(rules), "rule")
        what = f"what would mend {name} on {fold(only)}; nothing is applied"
        self.behind(lambda: self.desk.fixes(only, verdicts), lambda rows: self.read(what, "\n".join(rows)), what)

    def action_facts(self) -> None:
        """Show everything the node told."""
        nodes = self.under
        if nodes:
            self.go(Place("facts", nodes[:1]))
        else:
            self.tell("no node here")

    def action_history(self) -> None:
        """Show how the rule, or the node, went run by run."""
        rule, nodes = self.rule, self.under
        if rule:
            self.go(Place("history", (rule,)))
        elif nodes:
            self.go(Place("history", nodes[:1]))
        else:
            self.tell("no rule and no node here")

    def action_again(self) -> None:
        """Ask the marked nodes again."""
        nodes = self.targets()
        why = self.desk.mute or ("a reading is under way" if self.feed.running else "")
        if why or not nodes:
            self.tell(why or "no node here to ask")
            return
        lines = [
            f"{several(len(nodes), 'node')}: {fold(nodes)}", "",
            f"by profile {self.desk.profile.name}, as a run of its own; it reads, and changes nothing on them.",
        ]  # fmt: skip

        def answered(yes: bool | None) -> None:
            if yes:
                self.feed.start(lambda: self.desk.again(nodes))
                self.asking(f"asking {fold(nodes)} again ...")

        self.push_screen(Ask("ask these nodes again?", lines, self.signs), answered)

    def action_leave(self) -> None:
        """Quit; a reading under way is stopped only by a yes."""
        if not self.ready or not self.feed.running or self.desk.replays:
            self._leave(yes=True)
            return
        lines = ["a reading is under way: what came in is kept, and the rest is unknown"]
        if self.context.burns.running:
            count = several(len(self.context.burns.benches), "node")
            lines = [f"{count} are under load: it ends within a second; what came in is kept, the rest is not tested"]
        self.push_screen(Leave("quit?", lines, self.signs), lambda yes: self._leave(yes=bool(yes)))

    def _leave(self, *, yes: bool) -> None:
        if yes:
            self.run_worker(self._part())

    async def _part(self) -> None:
        """Go, once the terminal has answered what it was asked: the answer is not for the shell."""
        if self.ready:
            self.desk.stop()
        await self.pace.settle()
        self.exit()
