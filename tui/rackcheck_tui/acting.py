"""What keys do with the row under the cursor, or those that are marked: compare, explain, mend, ask again, waive."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from rackcheck.board.desk import Said
from rackcheck.core.fold import fold
from rackcheck.report.summary import several
from rackcheck_tui.dialogs import Ask, Choose, Field, Form, Option
from rackcheck_tui.fetching import Fetching
from rackcheck_tui.trail import Place


class Acting(Fetching):
    """Acts on nodes and rules; only `r`, after a yes, asks a node."""

    def action_diff(self) -> None:
        """Hold the first node against what was chosen."""
        nodes = self.targets()
        if len(nodes) == 2 and len(self.table.marks) == 2:
            self.go(Place("diff", nodes))
        elif nodes:
            self.go(Place("diff", (nodes[0], self.context.against)))
        else:
            self.tell("no node here to compare")

    def action_baseline(self) -> None:
        """Choose what a node is held against."""
        known = [
            Option("peers", "what most nodes of its role say"), Option("before", "its own reading before this run"),
            *(Option(name, "another node") for name in self.desk.nodes),
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
        entry, nodes = self.entry, self.targets()
        if entry is not None and entry.rule and nodes:
            self.proof(nodes[0], entry.rule)
        elif entry is not None and entry.fact and nodes:
            self.open_over(Place("reply", (nodes[0], entry.fact)))
        else:
            self.tell("no verdict here; enter goes to a node's")

    def action_fix(self) -> None:
        """Show what would mend it; nothing is applied."""
        rule, nodes = self.rule, self.targets()
        if not nodes:
            self.tell("nothing here to mend")
            return
        words = ["remedy", self.desk.run_of(*nodes), "--nodes", fold(nodes), *(["--rule", rule] if rule else [])]
        self.command(words, f"what would mend {rule or 'this'} on {fold(nodes)}; nothing is applied")

    def action_facts(self) -> None:
        """Show everything the node told."""
        nodes = self.targets()
        if nodes:
            self.go(Place("facts", nodes[:1]))
        else:
            self.tell("no node here")

    def action_history(self) -> None:
        """Show how the rule, or the node, went run by run."""
        rule, nodes = self.rule, self.targets()
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
                self.tell(f"asking {fold(nodes)} again")

        self.push_screen(Ask("ask these nodes again?", lines, self.signs), answered)

    def action_waive(self) -> None:
        """Answer for a finding until a day."""
        rule, nodes = self.rule, self.targets()
        if not rule or not nodes:
            self.tell("no finding here; w stands on a rule that fails")
            return
        today = datetime.now(UTC).date()
        fields = [
            Field("until", f"the last day it holds, YYYY-MM-DD (today is {today})"),
            Field("by", "who answers for it"), Field("ticket", "where it is tracked"),
            Field("reason", "why it may be so"), Field("file", "the file that it is added to", "waivers.yaml"),
        ]  # fmt: skip
        about = [f"waive {rule} on {fold(nodes)}"]
        self.push_screen(Form("waive a finding", about, fields, self.signs), partial(self._waive, rule, nodes))

    def _waive(self, rule: str, nodes: Sequence[str], given: Mapping[str, str] | None) -> None:
        if given is None:
            return
        words = ["waive", rule, "--from", self.desk.run_of(*nodes), "--nodes", fold(nodes)]
        words += [f"--{name}={value}" for name, value in given.items()]

        def shown(said: Said) -> None:
            if said.status != 0:
                self.read("not waived", said.text)
                return
            self.push_screen(Ask("write this waiver?", said.text.rstrip().split("\n"), self.signs), write)

        def write(yes: bool | None) -> None:
            if yes:
                self.behind(lambda: self.desk.say(words), written, "writing the waiver")

        def written(said: Said) -> None:
            if said.status != 0:
                self.tell(said.text.strip())
                return
            self.desk.waived(given["file"])
            self.reload()
            self.tell(f"written to {given['file']}; the run is judged again with it")

        self.behind(lambda: self.desk.say([*words, "--dry-run"]), shown, "making the waiver")

    def action_leave(self) -> None:
        """Quit; a reading under way is stopped only by a yes."""
        if not self.feed.running or self.desk.replays:
            self._leave(yes=True)
            return
        lines = ["a reading is under way: what came in is kept, and the rest is unknown"]
        self.push_screen(Ask("quit?", lines, self.signs), lambda yes: self._leave(yes=bool(yes)))

    def _leave(self, *, yes: bool) -> None:
        if yes:
            self.desk.stop()
            self.exit()
