"""A burn-in in the screens: what is under load, one GPU of it, how to end it, and that a stored one looks the same."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
import pytest
from burn_desks import FLIPPED, SEED, Records, burnt, events, job, records, three
from burn_racks import ills
from command import rackcheck
from desks import ASCII, HOSTILE, UNICODE, MadeDesk, context, rows, screen, screens, settled, shown, until, until_true
from places import TESTS

from rackcheck.base.user_error import UserError
from rackcheck.burnin import fleet
from rackcheck.evaluate.verdict import Outcome
from rackcheck.model.fact import Plane
from rackcheck.model.profile import Phase
from rackcheck.parse.burnin.plan import Tier
from rackcheck.run import store
from rackcheck.run.event import Burning, Event
from rackcheck.run.job import Job
from rackcheck.run.run_writer import RunWriter
from rackcheck.session import cli_choices, subject
from rackcheck.session.audit_setup import Prepared, Request, head, prepare
from rackcheck.session.run_session import RunSession
from rackcheck.views.signs import Signs
from rackcheck_tui.controllers.commands import VIEWS, asks, twin
from rackcheck_tui.controllers.view_history import ViewState
from rackcheck_tui.screens import burning
from rackcheck_tui.screens.reader import ReaderScreen
from rackcheck_tui.widgets.charts import bar, chart, limits, scaled, spark
from rackcheck_tui.widgets.dialogs import ConfirmDialog

FOLDER = TESTS / "screens_burnin"
AGAIN = f"rackcheck burnin n02 --tier smoke --seed {SEED}"
NODE, GPU = FLIPPED


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def live() -> MadeDesk:
    """Three nodes nine seconds into their load, one of which has flipped a bit."""
    return burnt(three(), until=9.0)


def ended() -> MadeDesk:
    return burnt(three())


def processors() -> MadeDesk:
    return burnt({f"n{n:02}": records(n, 3, gpus=0) for n in (1, 2, 3)})


def untested() -> MadeDesk:
    return burnt({**three(), "n01": records(1, 3, ills("fabric-manager-down"))})


async def under_load(pilot: object) -> None:
    """Wait until all that was received is shown, while the load continues."""
    app = screens(pilot)  # type: ignore[arg-type]
    await until(pilot, "SIMULATION", "1 finding")  # type: ignore[arg-type]
    while not app.context.burns.t > 8.5 or app.reading.seen != app.context.board.version:
        await pilot.pause(0.02)  # type: ignore[attr-defined]


# ---- what is under load


async def test_80x24_shows_how_far_it_is_what_it_draws_and_the_finding_first() -> None:
    made = live()
    async with shown(made, view="live", settle=False) as pilot:
        await under_load(pilot)
        output = await until(
            pilot, " SIMULATION  smoke 9 s of 18, "
        )  # records are taken before the next frame is drawn
        lines = output.splitlines()
        made.stop()
    assert len(lines) == 24
    assert "burn-in of 3 nodes: under load" in output
    assert "kW in 24 GPUs, hottest" in output
    table = lines[lines.index(next(line for line in lines if "part   stage" in line)) + 1 :]
    assert f"! {NODE}" in table[0]
    assert GPU in table[0]
    assert table[0].rstrip().endswith("mismatch")


async def test_a_run_of_another_kind_has_its_own_live_view() -> None:
    from desks import desk  # noqa: PLC0415

    async with shown(desk({"n1": {}}), view="live") as pilot:
        assert "1 of 1 judged" in screen(pilot.app)


async def test_what_is_fine_folds_where_there_are_many_and_z_unfolds_it() -> None:
    values = {f"n{n:02}": records(n, 5) for n in range(1, 6)}
    async with shown(burnt(values), view="live") as pilot:
        app = screens(pilot)
        assert len(rows(app)) == 5
        assert all("8 GPUs" in row for row in rows(app))
        await pilot.press("z")
        await settled(pilot)
        assert len(rows(app)) == 45


async def test_enter_on_a_folded_row_opens_its_node() -> None:
    values = {f"n{n:02}": records(n, 5) for n in range(1, 6)}
    async with shown(burnt(values), view="live") as pilot:
        await pilot.press("enter")
        await settled(pilot)
        assert screens(pilot).trail.here == ViewState("load", ("n01",), row=screens(pilot).trail.here.row)
        assert len(rows(screens(pilot))) == 9


def test_of_1024_gpus_only_the_rows_in_sight_are_written() -> None:
    every = records(1, 3)
    ctx = context(ended())
    for number in range(128):
        ctx.burns.take(Burning(f"n{number:03}", every))
    ctx.every = True
    began = time.perf_counter()
    found = burning.shown(ctx, ViewState("live"))
    [found.entries.line(row, 77) for row in range(10)]
    assert len(found.entries) == 1152
    assert time.perf_counter() - began < 10, "four pictures a second leave no more than a part of this"


async def test_a_node_without_gpus_shows_its_processors() -> None:
    async with shown(processors(), view="live") as pilot:
        output = screen(pilot.app)
        assert "n01 host" in output
        assert "GB/s" in output
        assert "kW" not in output


async def test_an_untested_part_states_why_and_is_no_pass() -> None:
    async with shown(untested(), view="live") as pilot:
        mine = [row for row in rows(screens(pilot)) if "n01" in row and "gpu/" in row]
        assert len(mine) == 8
        assert not any("pass" in row for row in mine)


async def test_the_filter_narrows_to_nodes() -> None:
    async with shown(ended(), view="live", where="node:n02") as pilot:
        assert {row.split()[1] for row in rows(screens(pilot))} == {"n02"}


# ---- one GPU


async def test_enter_opens_the_gpu_with_its_finding_its_charts_and_the_line_that_does_it_again() -> None:
    made = live()
    async with shown(made, view="live", settle=False) as pilot:
        await under_load(pilot)
        await pilot.press("enter")
        output = await until(pilot, f"{NODE} {GPU}: mismatch", "again", AGAIN)
        assert "! gpu/5 mismatch, in memory, at 0x3f2a41c00" in output
        names = [entry.name for entry in screens(pilot).readout.shown.entries.every]
        assert names[:5] == ["finding 0", "power", "temp", "clock", "memory"]
        await pilot.press("j")
        output = await until(pilot, "power in W")
        made.stop()
    assert any("⠀" < sign <= "⣿" for sign in output), "drawn in braille"


async def test_a_load_that_ended_early_and_unreadable_records_are_reported() -> None:
    stopped = {"k": "verdict", "t": 9.0, "status": "stopped", "why": "the connection was closed"}
    items = (*(r for r in three()["n01"] if r["t"] < 8.0), {"k": "noise", "said": "motd"}, stopped)
    async with shown(burnt({**three(), "n01": items}), view="load", about=("n01", "gpu/0")) as pilot:
        assert "the load ended early: the connection was closed; 1 record could not be read" in screen(pilot.app)
        assert "n01 gpu/0: pass" not in screen(pilot.app)


async def test_y_copies_the_line_that_does_the_same_work_again() -> None:
    async with shown(ended(), view="live") as pilot:
        await pilot.press("enter", "y")
        await until(pilot, "again", AGAIN)
        await pilot.press(*"again", "enter")
        await until(pilot, "copied: again")
        assert pilot.app.clipboard == AGAIN


async def test_a_missing_gpu_is_reported_with_the_right_word() -> None:
    async with shown(ended()) as pilot:
        for line, output in (
            ("load n02 gpu/9", "n02 reports no gpu/9"), ("load n77 gpu/1", "n77 was not put under load"),
            ("load", "was not put under load"),
        ):  # fmt: skip
            await pilot.press("colon")
            screens(pilot).panes.line.value = line
            await pilot.press("enter")
            await until(pilot, output)


@pytest.mark.parametrize(
    ("about", "line"),
    [
        (("n02", "gpu/5"), "rackcheck facts n02 --from RUN burnin.gpu/5"), (("n02", "host"), "rackcheck facts n02 --from RUN burnin"),
        ((), "rackcheck audit --from RUN"),
    ],
)  # fmt: skip
def test_the_command_line_has_the_same_of_a_gpu(about: tuple[str, ...], line: str) -> None:
    ctx = context(replace(ended(), name="RUN"))
    assert twin(ctx, ViewState("load", about)) == line


async def test_ascii_terminals_get_ascii_alone_and_no_word_needs_its_colour() -> None:
    async with shown(ended(), ASCII, view="live") as pilot:
        assert screen(pilot.app).isascii()
        await pilot.press("enter", "j", "j")
        await settled(pilot)
        assert screen(pilot.app).isascii()
        assert "*" in await until(pilot, "power in W")


@pytest.mark.parametrize("size", [(20, 6), (40, 12), (80, 24), (100, 30), (200, 60)])
async def test_every_size_of_terminal_shows_it(size: tuple[int, int]) -> None:
    async with shown(ended(), view="live", size=size) as pilot:
        assert "FAIL" in screen(pilot.app)
        await pilot.press("enter", "j", "j")
        await settled(pilot)
        assert len(screen(pilot.app).splitlines()) == size[1]


HOSTILE_RECORDS: Records = (
    {"k": "hello", "t": 0.0, "wire": 1, "tier": "smoke", "seed": 7, "cpu": HOSTILE, "gpus": {HOSTILE: {"model": HOSTILE}}},
    {"k": "sample", "t": 1.0, "of": f"gpu/{HOSTILE}", "power": 500.0, "temp": 50.0, "clock": 1e9},
    {"k": "stage", "t": 2.0, "of": f"gpu/{HOSTILE}", "stage": HOSTILE, "test": HOSTILE, "status": "done", "unit": HOSTILE,
     "rate": 5.0},
    {"k": "stage", "t": 2.0, "of": "gpu/1", "stage": "tensor", "test": "mma", "status": "done"},
    {"k": "stage", "t": 2.0, "of": "gpu/1", "stage": "memory", "test": "ü", "status": "not tested", "why": HOSTILE},
    {"k": "error", "t": 3.0, "of": f"gpu/{HOSTILE}", "stage": "memory", "name": HOSTILE, "said": HOSTILE},
    {"k": "error", "t": 3.0, "of": "nic/é", "stage": "", "name": "crash", "said": "\x1b]0;x\x07"},
)  # fmt: skip


@pytest.mark.parametrize("signs", [UNICODE, ASCII])
async def test_nothing_that_a_node_prints_reaches_the_terminal_as_it_is(signs: Signs) -> None:
    async with shown(burnt({"n01": HOSTILE_RECORDS}), signs, view="live") as pilot:
        app = screens(pilot)
        for place in [
            ViewState("live"),
            *(ViewState("load", ("n01", part.of)) for part in app.context.burns.benches["n01"].parts),
        ]:
            app.navigator.go(place)
            await settled(pilot)
            for entry in app.readout.shown.entries.every:
                text = "".join([str(entry.line(77)), *map(str, entry.details(77)), screen(app)])
                assert "\x1b" not in text
                assert "\x07" not in text
                assert text.isascii() or not signs.plain, text


# ---- its end


@pytest.mark.parametrize("keys", [("q", "y"), ("ctrl+c", "ctrl+c")])
async def test_leaving_while_a_load_runs_needs_one_yes_and_then_ends_it(keys: tuple[str, str]) -> None:
    made = live()
    async with shown(made, view="live", settle=False) as pilot:
        await under_load(pilot)
        await pilot.press(keys[0])
        assert "3 nodes under load" in await until(pilot, "quit?")
        assert not made.stopped
        await pilot.press(keys[1])
        await pilot.pause()
        assert made.stopped


async def test_a_no_leaves_the_load_on_and_the_next_attempt_confirms_again() -> None:
    made = live()
    async with shown(made, view="live", settle=False) as pilot:
        await under_load(pilot)
        for _ in range(2):
            await pilot.press("ctrl+c")
            assert isinstance(pilot.app.screen, ConfirmDialog)
            await pilot.press("n")
            assert not made.stopped
            assert pilot.app.is_running
        made.stop()


async def test_typing_a_burn_in_needs_a_yes_before_it_puts_a_load_on() -> None:
    made = ended()
    async with shown(made) as pilot:
        await pilot.press("colon")
        screens(pilot).panes.line.value = "burnin n01"
        await pilot.press("enter")
        assert "puts a load on nodes" in await until(pilot, "load nodes?")
        await pilot.press("n")
        assert made.commands == []
    assert asks(["burnin", "n01"])


def test_a_simulated_rack_behind_the_screens_stops_within_a_second_and_is_stored_as_interrupted() -> None:
    """The driver, the store and the rack are real; the test plays the screens."""
    with click.Context(click.Command("burnin")):
        request = Request("burn-in", frozenset({Plane.BURNIN}), phases=frozenset({Phase.BURN_IN}))
        ready = prepare(lambda: cli_choices.chosen((), None, "sim:dgx-h100"), request)
        what = fleet.Burnin(Tier.SMOKE, SEED)

        def driven(job: Job, stop: threading.Event) -> Iterator[Event]:
            return fleet.burn(job, what, stop)

        desk = RunSession(ready=ready, drive=driven)
        assert "rackcheck burnin" in desk.mute
        with pytest.raises(UserError, match="rackcheck burnin"):
            list(desk.again(["dgx01"]))
        worked, stopped, ends = False, 0.0, dict[str, float]()
        for event in desk.events():
            if isinstance(event, Burning):
                busy = any(record.get("busy") for record in event.records)
                if busy and not worked:
                    worked, stopped = True, time.monotonic()
                    desk.stop()
                if any(record.get("k") == "verdict" for record in event.records):
                    ends[event.node] = time.monotonic() - stopped
    assert worked
    assert ends
    assert max(ends.values()) < 3.0, "a second by the design, on a machine that is busy three"
    (done,) = desk.ends()
    assert done is not None
    assert done.interrupted
    assert done.outcome is Outcome.INCOMPLETE


def test_screens_and_json_exclude_each_other_and_without_a_terminal_the_command_is_named() -> None:
    both = rackcheck("burnin", "--screens", "--json")
    assert both.status == 2
    assert "--screens and --json cannot be combined" in both.err
    inventory = Path("inventory.yaml")
    inventory.write_text("rackcheck: 1\nnodes:\n  n1: { host: n1.invalid }\n")
    bare = rackcheck("burnin", "n1", "-i", str(inventory), "--screens")
    assert bare.status == 2
    assert "`rackcheck burnin` prints the same" in bare.err
    assert not store.ids(), "nothing was started"


# ---- a stored one


@pytest.fixture
def kept() -> Path:
    """A real run of three nodes, stored while it is in progress."""
    of = job(3)
    assert of.profile is not None
    ready = Prepared(of, store.runs_folder() / of.id, {}, (), (), {})
    with RunWriter(ready.folder, head(ready), of.profile.files) as writer:
        for event in events(three()):
            writer.write(event)
    return ready.folder


async def test_a_stored_burn_in_shows_the_rows_that_the_live_one_ended_with(kept: Path) -> None:
    async with shown(ended(), view="live") as pilot:
        was = rows(screens(pilot))
    async with shown(RunSession(found=subject.find(kept.name)), view="live") as pilot:
        assert rows(screens(pilot)) == was
        assert "as it was" in screen(pilot.app)


async def test_a_stored_burn_in_that_is_read_again_shows_the_same(kept: Path) -> None:
    async with shown(RunSession(found=subject.find(kept.name)), view="live") as pilot:
        app = screens(pilot)
        was, before = rows(app), app.context.burns
        app.reading.reload()
        await settled(pilot)
        assert rows(app) == was
        assert app.context.burns is not before


async def test_evidence_of_a_burn_in_shows_the_records_about_its_gpu(kept: Path) -> None:
    async with shown(RunSession(found=subject.find(kept.name)), view="live", size=(100, 40)) as pilot:
        await pilot.press("e")
        output = await until(pilot, "burnin.gpu_correct on n02", "records of gpu/5", '"name": "mismatch"')
        assert isinstance(pilot.app.screen, ReaderScreen)
        assert '"of": "gpu/4"' not in output


@pytest.mark.parametrize("view", ["groups", "odd", "nodes", "rack", "profile"])
async def test_the_other_views_show_a_burn_in_as_any_run(view: str, kept: Path) -> None:
    async with shown(RunSession(found=subject.find(kept.name)), view=view) as pilot:
        assert "FAIL" in screen(pilot.app)
        if view == "groups":
            assert "burnin.gpu_correct" in screen(pilot.app)


async def test_help_and_palette_know_the_view() -> None:
    async with shown(ended(), view="live") as pilot:
        await pilot.press("question_mark")
        await until(pilot, ":load NODE GPU")
        await pilot.press("escape", "ctrl+p", *"load")
        await until(pilot, "one GPU or host under load")
    assert "load" in VIEWS


# ---- what is drawn


def test_a_line_of_eight_heights_goes_from_lowest_to_highest() -> None:
    points = [(float(n), float(n)) for n in range(8)]
    assert spark(points, 8, 0.0, 7.0, plain=False) == "▁▂▃▄▅▆▇█"
    assert spark(points, 8, 0.0, 7.0, plain=True) == "_.-~=+*#"
    assert spark(points, 4, 0.0, 7.0, plain=False) == "▁▃▆█"
    assert spark([], 4, 0.0, 7.0, plain=False) == "    "
    assert spark([(0.0, 1e300), (1.0, -1e300)], 2, 0.0, 1.0, plain=False) == "█▁"


def test_a_chart_fills_its_lines_and_a_step_is_joined() -> None:
    points = [(float(n), 0.0 if n < 50 else 100.0) for n in range(100)]
    drawn = chart(points, 20, 4, 0.0, 100.0, plain=True)
    assert drawn == [
        "          **********",
        "          *         ",
        "          *         ",
        "**********          ",
    ] or (drawn[0].strip() and drawn[-1].strip() and all(len(row) == 20 for row in drawn))
    assert all(len(row) == 20 for row in chart(points, 20, 4, 0.0, 100.0, plain=False))
    assert chart([], 5, 2, 0.0, 1.0, plain=True) == ["     ", "     "]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(5.195e14, "FLOP/s", "520 TFLOP/s"), (5.369e10, "B/s", "53.7 GB/s"), (999.9, "B/s", "1.00 kB/s"), (0.0, "B/s", "0.00 B/s"),
     (float("inf"), "B/s", "? B/s")],
)  # fmt: skip
def test_numbers_have_three_digits(value: float, unit: str, text: str) -> None:
    assert scaled(value, unit) == text


def test_a_bar_is_never_wider_than_its_room() -> None:
    assert bar(0.5, 4, plain=False) == "██░░"
    assert bar(7.0, 4, plain=True) == "####"
    assert bar(float("nan"), 4, plain=True) == "...."
    assert limits([(0.0, 61.0), (1.0, 68.0)]) == (60.0, 70.0)


# ---- whole screens, as reviewed


@dataclass(frozen=True)
class Shot:
    """A screen of a burn-in, after which keys; `words` are on it when all is shown."""

    of: object
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    signs: Signs = field(default=UNICODE)
    size: tuple[int, int] = (80, 24)


SHOTS: Mapping[str, Shot] = {
    "ended": Shot(ended), "ended-ascii": Shot(ended, signs=ASCII), "ended-wide": Shot(ended, size=(160, 30)),
    "gpu": Shot(ended, ("enter",)), "gpu-power": Shot(ended, ("enter", "j", "j")),
    "gpu-ascii": Shot(ended, ("enter", "j", "j"), signs=ASCII), "processors": Shot(processors), "untested": Shot(untested),
}  # fmt: skip


def compared(name: str, output: str) -> None:
    """Compare a screen with the stored one, or store it."""
    file = FOLDER / f"{name}.txt"
    if os.environ.get("RACKCHECK_SCREENS") == "write":
        FOLDER.mkdir(exist_ok=True)
        file.write_text(output + "\n")
    assert output + "\n" == file.read_text(), f"{file} shows another screen; RACKCHECK_SCREENS=write keeps this one"


@pytest.mark.parametrize("name", SHOTS)
async def test_a_screen_of_a_burn_in_is_as_it_was_looked_at(name: str) -> None:
    shot = SHOTS[name]
    async with shown(shot.of(), shot.signs, view="live", size=shot.size) as pilot:  # type: ignore[operator]
        await pilot.press(*shot.keys)
        await settled(pilot)
        compared(name, screen(pilot.app))


async def test_a_load_under_way_is_as_it_was_looked_at() -> None:
    made = live()
    async with shown(made, view="live", settle=False) as pilot:
        await under_load(pilot)
        if os.environ.get("RACKCHECK_SCREENS") != "write":
            await until_true(pilot, lambda: f"{screen(pilot.app)}\n" == (FOLDER / "live.txt").read_text())
        output = screen(pilot.app)
        made.stop()
    compared("live", output)


def test_every_kept_screen_of_a_burn_in_has_its_test() -> None:
    assert {file.stem for file in FOLDER.glob("*")} == {*SHOTS, "live"}
