"""Waivers from the screen: a form, a preview of the change, a confirmation; then the run is judged again with them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Protocol

from rackcheck.base.user_error import UserError
from rackcheck.model.fold import fold
from rackcheck.views.open_run import CommandResult, Commands, WaiverFiles
from rackcheck.views.summary import several
from rackcheck_tui.controllers.background import Background, Dialogs
from rackcheck_tui.controllers.reading import ReaderTask
from rackcheck_tui.controllers.run_screen import Readout
from rackcheck_tui.controllers.selection import SelectedRows
from rackcheck_tui.screens.context import ViewContext
from rackcheck_tui.widgets.dialogs import FormField

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_CHANGE = ("+", "-", "@", " ")
"""First characters of the lines of a diff; other lines of a dry run's output are not shown."""

PinsByRule = Mapping[str, Sequence[str]]
"""The findings to waive: the nodes of each rule."""

FormValues = Mapping[str, str]
"""The texts typed into the form, by field."""


def until(text: str, today: date) -> str:
    """Return the date of a weekday: `friday` is the next Friday after today; any other text is returned unchanged."""
    word = text.strip().casefold()
    found = [number for number, name in enumerate(DAYS) if len(word) >= 3 and name.startswith(word)]
    if not found:
        return text.strip()
    ahead = (found[0] - today.weekday() - 1) % 7 + 1
    return (today + timedelta(days=ahead)).isoformat()


class WaiverDesk(Commands, WaiverFiles, Protocol):
    """The part of the session that waiving needs: the command that writes waivers, and judging with waivers."""


class Waiving:
    """Writes waivers for findings to a file, and judges the run with that file."""

    def __init__(
        self, context: ViewContext, selection: SelectedRows, readout: Readout, background: Background, dialogs: Dialogs,
        reading: ReaderTask, desk: WaiverDesk,
    ) -> None:  # fmt: skip
        self._context, self._selection, self._readout = context, selection, readout
        self._background, self._dialogs, self._reading, self._desk = background, dialogs, reading, desk

    def waive(self) -> None:
        """Waive the marked findings, or the finding under the cursor, until a date."""
        findings = {rule: nodes for rule, nodes in self._selection.findings().items() if rule}
        if not findings:
            self._readout.message("no finding in this row; w needs a rule that fails or warns")
            return
        self._fill_in(findings, {"file": "waivers.yaml"})

    def _fill_in(self, findings: PinsByRule, given: FormValues, trouble: str = "") -> None:
        today = datetime.now(UTC).date()
        words = {
            "until": f"the last day it applies: YYYY-MM-DD, or friday (today is {today})", "by": "who is responsible",
            "ticket": "where it is tracked", "reason": "why it is acceptable", "file": "the file that it is added to",
        }  # fmt: skip
        about = [f"waive {rule} on {fold(nodes)}" for rule, nodes in findings.items()]
        fields = [FormField(name, message, given.get(name, "")) for name, message in words.items()]
        lines = [*about, *(["", trouble] if trouble else [])]
        self._dialogs.fill_in("waive a finding", lines, fields, partial(self._preview, findings))

    def _preview(self, findings: PinsByRule, given: FormValues) -> None:
        """Show what would be written; if a command fails, open the form again with the typed texts and the error."""
        given = {**given, "until": until(given["until"], datetime.now(UTC).date())}
        calls = [self._words(rule, nodes, given) for rule, nodes in findings.items()]

        def shown(answers: Sequence[CommandResult]) -> None:
            wrong = next((each for each in answers if each.status != 0), None)
            if wrong is not None:
                self._fill_in(findings, given, " ".join(wrong.text.split()))
                return
            lines = [row for each in answers for row in each.text.rstrip().split("\n") if row[:1] in _CHANGE]
            title = f"write {several(len(calls), 'waiver')} to {given['file']}?"
            self._dialogs.confirm(title, lines, partial(self._write, calls, given["file"]))

        self._background.run(
            lambda: [self._desk.run_command([*words, "--dry-run"]) for words in calls], shown, "preparing the waiver"
        )

    def _words(self, rule: str, nodes: Sequence[str], given: FormValues) -> Sequence[str]:
        options = [f"--{name}={value}" for name, value in given.items()]
        return ["waive", rule, "--from", self._context.desk.run_of(*nodes), "--nodes", fold(nodes), *options]

    def _write(self, calls: Sequence[Sequence[str]], file: str) -> None:
        def written(wrong: str) -> None:
            if wrong:
                self._readout.message("")
                self._dialogs.show("not all waivers were written", wrong)
                return
            self._reading.reload()
            self._readout.message(f"written to {file}; the run is judged again with it")

        self._background.run(lambda: self._written(calls, file), written, "writing the waiver", opens=False)

    def _written(self, calls: Sequence[Sequence[str]], file: str) -> str:
        """Run the commands one by one, then use the waiver file; return the first error as text, else an empty text."""
        for words in calls:
            result = self._desk.run_command(words)
            if result.status != 0:
                return result.text
        try:
            self._desk.waived(file)
        except UserError as mistake:
            return str(mistake)
        return ""
