"""The table over listings that count their calls: cursor, marks, and how little is written."""

from collections.abc import Iterable, Sequence

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot

from rackcheck.views.signs import Signs
from rackcheck.views.terminal import Line
from rackcheck_tui.widgets.styled_lines import strip
from rackcheck_tui.widgets.table import TableWidget

ASCII = Signs(plain=True)


class Names:
    """Rows that contain their names; counts how many were requested and which were written."""

    def __init__(self, names: Sequence[str], heading: str = "NAME") -> None:
        self.names, self.heading = names, heading
        self.named = 0
        self.wrote: list[int] = []

    def __len__(self) -> int:
        return len(self.names)

    def name(self, row: int) -> str:
        self.named += 1
        return self.names[row]

    def nodes(self, row: int) -> tuple[str, ...]:
        return (self.names[row], "shared")

    def head(self, width: int) -> Line | None:
        return Line(((self.heading.ljust(width), "bold"),)) if self.heading else None

    def line(self, row: int, width: int) -> Line:
        self.wrote.append(row)
        return Line(((self.names[row].ljust(width), ""),))

    def details(self, row: int, width: int) -> Sequence[Line]:
        return ()


class Shown(App[None]):
    """One table, and its messages."""

    def __init__(self, listing: Names) -> None:
        super().__init__()
        self.first, self.messages = listing, list[Message]()

    def compose(self) -> ComposeResult:
        yield TableWidget(ASCII)

    def on_mount(self) -> None:
        self.table.show(self.first, empty="none of them")
        self.table.focus()

    @property
    def table(self) -> TableWidget:
        return self.query_one(TableWidget)

    def on_table_widget_moved(self, message: TableWidget.Moved) -> None:
        self.messages.append(message)

    def on_table_widget_opened(self, message: TableWidget.Opened) -> None:
        self.messages.append(message)

    def on_table_widget_marked(self, message: TableWidget.Marked) -> None:
        self.messages.append(message)


def named(count: int, of: str = "row") -> Names:
    return Names([f"{of}{number}" for number in range(count)])


def screen(pilot: Pilot[None]) -> list[str]:
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip)[:20].rstrip() for strip in strips]


def spied(monkeypatch: pytest.MonkeyPatch, table: TableWidget) -> list[Region]:
    """The regions that the table redraws from now on; a call without a region is the whole table."""
    asked: list[Region] = []
    kept = table.refresh

    def refresh(*regions: Region, **more: bool) -> TableWidget:
        asked.extend(regions or [Region(0, 0, table.size.width, table.size.height)])
        return kept(*regions, **more)

    monkeypatch.setattr(table, "refresh", refresh)
    return asked


async def test_only_the_rows_in_sight_are_ever_written() -> None:
    rows = named(100_000)
    app = Shown(rows)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert screen(pilot)[:3] == ["  NAME", " >row0", "  row1"]
        assert set(rows.wrote) == set(range(9))
        await pilot.press("G")
        assert screen(pilot)[0] == "  NAME"
        assert screen(pilot)[-1] == " >row99999"
        assert len(set(rows.wrote)) == 18


async def test_no_row_but_the_cursors_is_named_while_nothing_is_marked() -> None:
    rows = named(100_000)
    app = Shown(rows)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("down", "pagedown", "G")
        assert rows.named < 20
        again = named(100_000)
        app.table.show(again)
        await pilot.pause()
        assert again.named < 5, "the row under the cursor is where it was"
        assert app.table.current == "row99999"


async def test_a_step_of_the_cursor_draws_two_rows_again(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown(named(100))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        asked = spied(monkeypatch, app.table)
        await pilot.press("j")
        assert sorted(region.y for region in asked) == [1, 2]
        assert {region.height for region in asked} == {1}


async def test_a_row_that_changed_is_drawn_again_alone_and_only_where_it_is_in_sight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = named(100)
    app = Shown(rows)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        asked = spied(monkeypatch, app.table)
        rows.wrote.clear()
        rows.names = [f"{name}!" if name in {"row3", "row50"} else name for name in rows.names]
        app.table.refresh_rows({"row3!", "row50!"})
        await pilot.pause()
        assert [region.y for region in asked] == [4]
        assert rows.wrote == [3]
        assert screen(pilot)[4] == "  row3!"


async def test_the_cursor_stays_on_its_row_when_others_come_and_go() -> None:
    app = Shown(named(100))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press(*["down"] * 30)
        at = screen(pilot).index(" >row30")
        app.table.show(Names([f"new{n}" for n in range(7)] + [f"row{n}" for n in range(100)]))
        await pilot.pause()
        assert (app.table.cursor, app.table.current) == (37, "row30")
        assert screen(pilot).index(" >row30") == at, "it does not jump on the screen either"


async def test_a_cursor_whose_row_is_gone_stays_among_the_rows_that_are_left() -> None:
    app = Shown(named(100))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("G")
        app.table.show(named(3, "other"))
        await pilot.pause()
        assert app.table.current == "other2"
        assert screen(pilot)[:4] == ["  NAME", "  other0", "  other1", " >other2"]


async def test_marks_go_with_their_rows_and_go_when_these_go() -> None:
    app = Shown(named(10))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("space", "space")
        assert (app.table.marks, app.table.current) == ({"row0", "row1"}, "row2")
        app.table.show(Names(["row5", "row2", "row1"]))
        await pilot.pause()
        assert (app.table.marks, app.table.current) == ({"row1"}, "row2")
        assert screen(pilot)[1:4] == ["  row5", " >row2", "* row1"]
        assert isinstance(app.messages[-1], TableWidget.Marked)


async def test_other_rows_that_are_not_to_keep_anything_start_at_the_first_and_unmarked() -> None:
    app = Shown(named(50))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("space", "G")
        app.table.show(named(50), keep=False)
        await pilot.pause()
        assert (app.table.marks, app.table.current, app.table.scroll_offset.y) == (set(), "row0", 0)


async def test_a_range_is_marked_from_the_last_mark_to_the_cursor() -> None:
    app = Shown(named(100))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("j", "j", "space", "j", "j", "V")
        assert app.table.marks == {"row2", "row3", "row4", "row5"}
        assert app.table.marked_rows() == (2, 3, 4, 5)


async def test_star_marks_every_row_and_then_none() -> None:
    app = Shown(named(100))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("space", "asterisk")
        assert len(app.table.marks) == 100
        assert screen(pilot)[9] == "* row8"
        await pilot.press("asterisk")
        assert app.table.marks == set()
        assert screen(pilot)[9] == "  row8"


async def test_what_is_acted_on_are_the_nodes_of_the_marked_rows_else_of_the_cursors() -> None:
    app = Shown(named(5))
    async with app.run_test(size=(40, 10)) as pilot:
        assert app.table.acted_on() == ("row0", "shared")
        await pilot.press("G", "space", "g", "space")
        assert app.table.acted_on() == ("row0", "shared", "row4")


async def test_a_click_moves_a_click_in_the_first_cells_marks_and_a_double_click_opens() -> None:
    app = Shown(named(50))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.click(TableWidget, offset=(10, 4))
        assert app.table.current == "row3"
        await pilot.click(TableWidget, offset=(0, 6))
        assert (app.table.current, app.table.marks) == ("row5", {"row5"})
        await pilot.click(TableWidget, offset=(10, 0))
        assert app.table.current == "row5", "the heading is no row"
        assert not any(isinstance(message, TableWidget.Opened) for message in app.messages)
        await pilot.click(TableWidget, offset=(10, 2), times=2)
        assert isinstance(app.messages[-1], TableWidget.Opened)
        assert app.table.current == "row1"


async def test_a_listing_without_a_heading_starts_in_the_first_line() -> None:
    app = Shown(Names(["a", "b"], heading=""))
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        assert screen(pilot)[:2] == [" >a", "  b"]


async def test_an_empty_table_states_why_and_its_keys_do_no_harm() -> None:
    app = Shown(Names([]))
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.press("j", "G", "space", "V", "asterisk", "enter", "pagedown")
        assert screen(pilot)[:2] == ["  NAME", "  none of them"]
        assert (app.table.current, app.table.acted_on(), app.table.cursor) == (None, (), 0)
        assert not any(isinstance(message, TableWidget.Opened) for message in app.messages)


async def test_a_smaller_window_keeps_the_cursor_in_sight_and_the_rows_in_their_width() -> None:
    rows = named(100)
    app = Shown(rows)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.press(*["down"] * 18)
        await pilot.resize_terminal(30, 6)
        await pilot.pause()
        assert " >row18" in screen(pilot)
        assert _widths(pilot) == {30}


async def test_the_cursor_has_a_sign_also_where_the_keys_go_elsewhere() -> None:
    app = Shown(named(5))
    async with app.run_test(size=(40, 6)) as pilot:
        app.screen.set_focus(None)
        await pilot.pause()
        assert screen(pilot)[1] == " >row0"


def _widths(pilot: Pilot[None]) -> set[int]:
    strips: Iterable[Iterable[object]] = pilot.app.screen._compositor.render_strips()
    return {sum(cell_len(getattr(segment, "text", "")) for segment in strip) for strip in strips}


def test_a_text_that_was_not_cleaned_does_not_reach_the_terminal_as_it_is() -> None:
    made = strip(Line((("a\x1b]0;owned\x07b", "bold"),)), 40)
    assert made.text.rstrip() == "a\\x1b]0;owned\\x07b"
    assert made.cell_length == 40
