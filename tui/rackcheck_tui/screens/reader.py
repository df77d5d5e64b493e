"""A text in full, over the whole screen: details, help, the page about the run."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Static

from rackcheck.model.fact import visible
from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line
from rackcheck_tui.widgets.words import across, keys


def written(line: Line) -> Text:
    """Convert a line to a Textual text: only our styles apply, and the text is not interpreted as markup.

    Control characters are escaped again here, in case a text was not cleaned where it was read.
    """
    pieces = [(text if text.isprintable() else visible(text), style) for text, style in line.pieces]
    return Text.assemble(*pieces, no_wrap=True, end="")


def page(lines: Sequence[Line]) -> Text:
    """Join lines, one below the other."""
    return Text("\n").join(written(line) for line in lines)


class ReaderScreen(ModalScreen[None]):
    """Shows lines, written for the available width; it can be scrolled, and closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss", "back"),
        Binding("j,down", "scroll(1)", "down", show=False),
        Binding("k,up", "scroll(-1)", "up", show=False),
        Binding("space,pagedown", "page(1)", "a page down", show=False),
        Binding("b,pageup", "page(-1)", "a page up", show=False),
    ]

    def __init__(self, title: str, lines: Callable[[int], Sequence[Line]], signs: Signs) -> None:
        super().__init__()
        self.words, self.lines, self.signs = title, lines, signs

    def compose(self) -> ComposeResult:
        """Place the title, the text and the keys below each other."""
        yield Static(id="title", markup=False)
        with VerticalScroll(id="body"):
            yield Static(id="text", markup=False)
        yield Static(id="keys", markup=False)

    def on_resize(self, event: Resize) -> None:
        """Write the text for the new width."""
        width = event.size.width
        self.query_one("#title", Static).update(page([across(self.words, "", self.signs, width)]))
        self.query_one("#text", Static).update(page(self.lines(width - 2)))
        shown = (("esc", "back"), ("j k", "line"), ("space b", "page"))
        self.query_one("#keys", Static).update(page([keys(shown, self.signs, width)]))

    def action_scroll(self, by: int) -> None:
        """Scroll by this many lines."""
        self.query_one("#body").scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by this many pages."""
        body = self.query_one("#body")
        body.scroll_relative(y=by * max(body.size.height - 1, 1), animate=False)
