"""Dialogs over the screen: a confirmation, a choice, and a form; escape closes each of them without an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line
from rackcheck_tui.screens.reader import page
from rackcheck_tui.widgets.entries import ListEntries, ListEntry
from rackcheck_tui.widgets.table import TableWidget
from rackcheck_tui.widgets.words import across, keys


class ConfirmDialog(ModalScreen[bool]):
    """Asks the user to confirm an action, and states its effects; only `y` is a yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape,q", "answer(False)", "no"),
    ]

    def __init__(self, title: str, lines: Sequence[str], signs: Signs) -> None:
        super().__init__()
        self.words, self.lines, self.signs = title, lines, signs

    def compose(self) -> ComposeResult:
        """Place the title, the lines and the keys below each other."""
        yield Static(id="title", markup=False)
        with VerticalScroll(id="body"):
            yield Static(page([Line(((self.signs.piece(f" {text}"), ""),)) for text in self.lines]), markup=False)
        yield Static(id="keys", markup=False)

    def on_resize(self) -> None:
        """Write the dialog for the available width."""
        width = self.size.width
        self.query_one("#title", Static).update(page([across(self.words, "", self.signs, width)]))
        self.query_one("#keys", Static).update(page([keys((("y", "yes"), ("n", "no")), self.signs, width)]))

    def action_answer(self, yes: bool) -> None:
        """Return the answer and close."""
        self.dismiss(yes)


class LeaveDialog(ConfirmDialog):
    """Asks the user whether to leave; ctrl+c also means yes, because it is rarely typed twice by mistake."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "answer(True)", "yes", show=False)]


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a choice: its name and its meaning."""

    name: str
    words: str


class Choose(ModalScreen[str | None]):
    """Offers several options; typed words filter them, enter selects one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("down", "move(1)", "down", show=False, priority=True),
        Binding("up", "move(-1)", "up", show=False, priority=True),
    ]

    def __init__(self, title: str, options: Sequence[Option], signs: Signs) -> None:
        super().__init__()
        self.words, self.options, self.signs = title, options, signs

    def compose(self) -> ComposeResult:
        """Place the title, the input line, the options and the keys below each other."""
        yield Static(id="title", markup=False)
        yield Input(id="narrow", placeholder="words that narrow the list", compact=True)
        yield TableWidget(self.signs, id="options")
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Show all options."""
        self._fill("")
        self.query_one("#narrow").focus()

    def on_resize(self) -> None:
        """Write the dialog for the available width."""
        width = self.size.width
        self.query_one("#title", Static).update(page([across(self.words, "", self.signs, width)]))
        shown = (("enter", "take"), ("up down", "move"), ("esc", "back"))
        self.query_one("#keys", Static).update(page([keys(shown, self.signs, width)]))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the options while words are typed."""
        self._fill(event.value)

    def on_input_submitted(self) -> None:
        """Select the option under the cursor."""
        self.dismiss(self.query_one(TableWidget).current)

    def on_table_widget_opened(self) -> None:
        """Select the option that was double-clicked."""
        self.dismiss(self.query_one(TableWidget).current)

    def action_move(self, by: int) -> None:
        """Move the cursor while words are typed."""
        self.query_one(TableWidget).action_move(by)

    def action_leave(self) -> None:
        """Close without a choice."""
        self.dismiss(None)

    def _fill(self, text: str) -> None:
        wanted = text.casefold().split()
        found = [o for o in self.options if all(w in f"{o.name} {o.words}".casefold() for w in wanted)]
        widest = min(max((len(o.name) for o in found), default=0), 24)
        entries = [ListEntry(o.name, self._line(o, widest), lambda _: []) for o in found]
        self.query_one(TableWidget).show(ListEntries(entries), keep=False, empty="no match")

    def _line(self, option: Option, widest: int):  # type: ignore[no-untyped-def]  # noqa: ANN202
        return lambda width: Line((
            (self.signs.fit(option.name, widest) + "  ", "bold"),
            (self.signs.fit(option.words, max(width - widest - 2, 0)), ""),
        ))  # fmt: skip


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form: its name, its meaning, and its initial value."""

    name: str
    words: str
    value: str = ""


class FormDialog(ModalScreen[Mapping[str, str] | None]):
    """Asks the user for several texts; enter goes to the next field, and after the last field submits the form."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back")]

    def __init__(self, title: str, lines: Sequence[str], fields: Sequence[FormField], signs: Signs) -> None:
        super().__init__()
        self.words, self.lines, self.fields, self.signs = title, lines, fields, signs

    def compose(self) -> ComposeResult:
        """Place the title, the subject, the fields and the keys below each other."""
        yield Static(id="title", markup=False)
        with VerticalScroll(id="body"):
            yield Static(page([Line(((self.signs.text(f" {text}"), ""),)) for text in self.lines]), markup=False)
            for each in self.fields:
                with Vertical(classes="field"):
                    yield Static(page([Line(((f" {each.name}", "bold"), (f"  {each.words}", "dim")))]), markup=False)
                    yield Input(each.value, id=f"field-{each.name}", compact=True)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Focus the first field that is empty."""
        first = next((f for f in self.fields if not f.value), self.fields[0])
        self.query_one(f"#field-{first.name}").focus()

    def on_resize(self) -> None:
        """Write the dialog for the available width."""
        width = self.size.width
        self.query_one("#title", Static).update(page([across(self.words, "", self.signs, width)]))
        shown = (("enter", "next field, or submit in the last"), ("esc", "back"))
        self.query_one("#keys", Static).update(page([keys(shown, self.signs, width)]))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next field, or submit the form."""
        inputs = list(self.query(Input))
        at = inputs.index(event.input)
        if at + 1 < len(inputs):
            inputs[at + 1].focus()
        else:
            self.dismiss({f.name: self.query_one(f"#field-{f.name}", Input).value for f in self.fields})

    def action_leave(self) -> None:
        """Close without an answer."""
        self.dismiss(None)
