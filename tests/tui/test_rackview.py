"""Racks from their front: what is drawn, what is drawn again, and where the cursor goes."""

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot

from rackcheck.views.modes import Cell
from rackcheck.views.signs import Signs
from rackcheck_tui.widgets.onerack import RackView
from rackcheck_tui.widgets.panels import Density, plane
from rackcheck_tui.widgets.panels import Plain as Panel
from rackcheck_tui.widgets.rackview import Racks

UNICODE, ASCII = Signs(plain=False), Signs(plain=True)
GOOD, BAD = Cell("+", "green", "pass"), Cell("x", "bold red", "fail")


def rack(name: str, lines: int = 4, side: int = 2) -> Panel:
    """A rack whose nodes are named by their place."""
    return Panel(
        name,
        tuple(tuple(f"{name}-{row}{column}" for column in range(side)) for row in range(lines)),
        tuple(f"U{lines - row}" for row in range(lines)),
    )


HOLED = Panel("r9", (("a", ""), ("", ""), ("b", "c")), ("U3", "U2", "U1"))


class Shown(App[None]):
    """Racks, and their messages."""

    def __init__(self, *panels: Panel, signs: Signs = ASCII, names: bool = False, word: int = 0) -> None:
        super().__init__()
        self.panels, self.signs, self.names, self.word = panels, signs, names, word
        self.messages = list[Message]()

    def compose(self) -> ComposeResult:
        yield Racks(self.signs)

    def on_mount(self) -> None:
        self.racks.show(self.panels, names=self.names, word=self.word)
        self.racks.focus()

    @property
    def racks(self) -> Racks:
        return self.query_one(Racks)

    def on_racks_opened(self, message: Racks.Opened) -> None:
        self.messages.append(message)


def screen(pilot: Pilot[None]) -> list[str]:
    strips = pilot.app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def spied(monkeypatch: pytest.MonkeyPatch, racks: Racks) -> list[tuple[str, Region]]:
    """Which cells of which rack are redrawn from now on; a rack without cells is redrawn completely."""
    asked: list[tuple[str, Region]] = []

    def spy(view: RackView) -> None:
        kept = view.refresh

        def refresh(*regions: Region, **more: bool) -> RackView:
            asked.extend((view.draft.panel.name, region) for region in regions or [Region()])
            return kept(*regions, **more)

        monkeypatch.setattr(view, "refresh", refresh)

    for view in racks.views:
        spy(view)
    return asked


# ---- where things stand: pure


def test_as_many_racks_stand_side_by_side_as_there_is_room_for() -> None:
    racks = [rack(f"r{n}") for n in range(5)]
    widths = [plane(racks, Density(), room).columns for room in (1, 16, 17, 100)]
    assert plane(racks, Density(), 100).pitch == 9
    assert widths == [1, 2, 2, 5]
    assert plane(racks, Density(), 16).tops == (0, 0, 6, 6, 12)


def test_a_step_goes_straight_on_before_it_goes_aside_and_over_empty_places() -> None:
    hall = plane([HOLED, rack("s", lines=3)], Density(), 80)
    assert hall.beside("a", 0, 1) == "b"
    assert hall.beside("a", 1, 0) == "s-00"
    assert hall.beside("c", 1, 0) == "s-20"
    assert hall.beside("s-20", -1, 0) == "c"
    assert hall.beside("a", -1, 0) == "a", "no rack is there"
    assert hall.beside("b", 0, 1) == "b"


def test_a_step_down_from_the_last_line_goes_to_the_rack_below() -> None:
    hall = plane([rack("r"), rack("s")], Density(), 10)
    assert hall.beside("r-30", 0, 1) == "s-00"
    assert hall.beside("s-01", 0, -1) == "r-31"


# ---- what is drawn


async def test_a_dot_is_two_cells_and_an_empty_place_is_blank() -> None:
    app = Shown(HOLED)
    async with app.run_test(size=(40, 8)) as pilot:
        app.racks.put({"a": GOOD, "b": BAD})
        await pilot.pause()
        assert screen(pilot)[:4] == ["r9 ----", "U3 +<", "U2", "U1 x ?"]


async def test_names_stand_one_a_line_with_sign_label_and_word() -> None:
    app = Shown(Panel("r1", (("dgx03",), ("dgx02",)), ("21", "17")), signs=UNICODE, names=True, word=6)
    async with app.run_test(size=(40, 8)) as pilot:
        app.racks.put({"dgx03": Cell("✘", "red", "fail"), "dgx02": Cell("✔", "green", "passes long")})
        app.racks.put_title("r1", Cell("✘", "red", "1/2"))
        await pilot.pause()
        assert screen(pilot)[:3] == ["✘ r1 1/2 ─────────", "21 ✘▸dgx03 fail", "17 ✔ dgx02 passe…"]


async def test_a_plain_terminal_gets_ascii_alone() -> None:
    app = Shown(rack("r"), rack("s"))
    async with app.run_test(size=(40, 12)) as pilot:
        app.racks.put({f"r-{row}0": BAD for row in range(4)})
        app.racks.put_title("s", BAD)
        await pilot.press("space")
        assert "".join(screen(pilot)).isascii()


async def test_a_node_without_any_event_is_shown_as_unknown() -> None:
    app = Shown(rack("r", lines=1, side=3))
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        assert screen(pilot)[1] == "U1 ?<? ?"
        assert app.racks.cell("r-00").sign == "?"


async def test_a_hostile_name_does_not_reach_the_terminal() -> None:
    app = Shown(Panel("r\x1b[31m", (("n\x1b]0;x\x07",),), ("U\x1b1",)), names=True, word=6)
    async with app.run_test(size=(60, 5)) as pilot:
        app.racks.put({"n\x1b]0;x\x07": Cell("\x1b", "", "\x1b[2J")})
        await pilot.pause()
        assert "\x1b" not in "".join(screen(pilot))


# ---- what is drawn again


async def test_a_change_of_one_cell_draws_that_cell_again_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown(rack("r"), rack("s"))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        asked = spied(monkeypatch, app.racks)
        app.racks.put({"s-21": BAD})
        assert asked == [("s", Region(5, 3, 2, 1))]
        app.racks.put({"s-21": BAD})
        assert len(asked) == 1, "a repeated value is no change"


async def test_the_terminal_is_sent_the_cells_that_changed_from_their_racks_edge_on() -> None:
    app = Shown(rack("r", side=8), rack("s", side=8))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        app.racks.put({"s-12": BAD})
        compositor = app.screen._compositor
        compositor.update_widgets(set(app.racks.views))
        sent = compositor.render_partial_update()
        assert sent is not None
        text = sent.render_segments(app.console)
        assert text.count("x") == 1
        assert len(text) < 80


async def test_cells_of_one_line_are_sent_once_and_not_each_from_the_edge_on(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown(rack("r", side=8))
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        asked = spied(monkeypatch, app.racks)
        app.racks.put({"r-16": BAD, "r-12": BAD, "r-20": BAD})
        assert asked == [("r", Region(7, 2, 10, 1)), ("r", Region(3, 3, 2, 1))]


async def test_neighbours_of_one_style_are_one_piece() -> None:
    app = Shown(rack("r", lines=2, side=8))
    async with app.run_test(size=(60, 6)) as pilot:
        app.racks.put({f"r-0{n}": GOOD for n in range(8)} | {f"r-1{n}": GOOD if n % 2 else BAD for n in range(8)})
        await pilot.press("G")
        view = app.racks.views[0]
        assert [len(list(view.render_line(y))) for y in (1, 2)] == [2, 9]


async def test_most_cells_of_a_rack_are_drawn_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown(rack("r"))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        asked = spied(monkeypatch, app.racks)
        app.racks.put({f"r-{row}{column}": BAD for row in range(4) for column in range(2)})
        assert asked == [("r", Region())]


async def test_a_rack_out_of_sight_is_drawn_when_it_comes_into_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown(*(rack(f"r{n}", lines=8) for n in range(4)))
    async with app.run_test(size=(10, 12)) as pilot:
        await pilot.pause()
        asked = spied(monkeypatch, app.racks)
        app.racks.put({"r3-71": BAD})
        assert asked == []
        await pilot.press("G")
        assert ("r3", Region()) in asked
        assert screen(pilot)[-1].startswith("U1 ? x<")


async def test_what_was_put_is_shown_in_pieces_where_there_is_little_room() -> None:
    app = Shown(*(rack(f"r{n}") for n in range(4)))
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.press("G")
        app.racks.put_later(dict.fromkeys(("r0-00", "r1-00", "r2-00", "r3-00"), BAD))
        assert app.racks.flush(40), "some is left"
        await pilot.pause()
        assert [line.count("x") for line in screen(pilot)[1:3]] == [2, 0]
        assert screen(pilot)[1].endswith("U4 x ?"), "the cursor's rack is first"
        assert app.racks.cell("r2-00") == BAD, "what is shown next is computed already"
        assert not app.racks.flush(1000)
        await pilot.pause()
        assert screen(pilot)[1].count("x") == 4


# ---- cursor and marks


async def test_the_cursor_goes_across_racks_by_letters_and_arrows(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Shown(rack("r"), rack("s"))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("j", "l", "right")
        assert app.racks.cursor == "s-10"
        asked = spied(monkeypatch, app.racks)
        await pilot.press("h", "up")
        assert app.racks.cursor == "r-01"
        assert [(name, region.width) for name, region in asked] == [("r", 2), ("s", 2), ("r", 2), ("r", 2)]


async def test_space_marks_star_marks_all_and_then_none() -> None:
    app = Shown(rack("r", lines=2))
    async with app.run_test(size=(40, 12)) as pilot:
        assert app.racks.acted_on() == ("r-00",)
        await pilot.press("space", "j", "space")
        assert app.racks.acted_on() == ("r-00", "r-10")
        assert [line.count("*") for line in screen(pilot)[1:3]] == [1, 1]
        await pilot.press("asterisk")
        assert [line.count("*") for line in screen(pilot)[1:3]] == [2, 2]
        await pilot.press("asterisk")
        assert app.racks.marks == set()
        assert [line.count("*") for line in screen(pilot)[1:3]] == [0, 0]


async def test_enter_and_a_double_click_open_the_node_and_a_click_moves() -> None:
    app = Shown(rack("r"), rack("s"))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press("enter")
        await pilot.click(offset=(9 + 5, 3))
        assert (app.racks.cursor, len(app.messages)) == ("s-21", 1)
        await pilot.click(offset=(9 + 3, 3), times=2)
        assert [message.node for message in app.messages if isinstance(message, Racks.Opened)] == ["r-00", "s-20"]
        await pilot.click(offset=(9, 3))
        assert app.racks.cursor == "s-20", "a label is no node"


async def test_cursor_cells_and_marks_stay_when_the_racks_are_shown_otherwise() -> None:
    app = Shown(rack("r"), rack("s"))
    async with app.run_test(size=(60, 12)) as pilot:
        app.racks.put({"s-10": BAD})
        await pilot.press("j", "l", "l", "space")
        app.racks.show([rack("s"), rack("t")], names=True)
        await pilot.pause()
        assert (app.racks.cursor, app.racks.marks) == ("s-10", {"s-10"})
        assert screen(pilot)[2].startswith("U3 x*s-10")


async def test_another_width_lays_the_racks_out_anew() -> None:
    app = Shown(*(rack(f"r{n}") for n in range(4)))
    async with app.run_test(size=(80, 30)) as pilot:
        await pilot.pause()
        assert screen(pilot)[0] == "r0 ----  r1 ----  r2 ----  r3 ----"
        await pilot.resize_terminal(20, 30)
        await pilot.pause()
        assert [line for line in screen(pilot) if line.startswith("r")] == ["r0 ----  r1 ----", "r2 ----  r3 ----"]


async def test_no_racks_are_no_trouble() -> None:
    app = Shown()
    async with app.run_test(size=(20, 5)) as pilot:
        await pilot.press("j", "G", "space", "asterisk", "enter")
        assert (app.racks.cursor, app.racks.acted_on(), app.messages) == ("", (), [])
