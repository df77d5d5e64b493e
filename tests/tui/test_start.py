"""The start page leads from an empty folder to a verified signature, and every command is shown before it runs."""

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from desks import ASCII, UNICODE, screen
from newcomer import commands
from tmux import Tmux

from rackcheck import inventory
from rackcheck.base.user_error import UserError
from rackcheck.sim import scenario
from rackcheck.sim.rack import SimRack
from rackcheck.views.guided_path import PathStep
from rackcheck.views.signs import Signs
from rackcheck_tui.start_page import StartPage

TWO = "rackcheck: 1\nscenario: two\nload: { pace: 12, seed: 5 }\nnodes: { 'dgx[01-02]': { machine: dgx-h100 } }\n"

STEPS = (
    PathStep("Inventory", "pod7.yaml: 8 nodes, 8 BMCs", ("inventory", "show", "-i", "pod7.yaml"), done=True),
    PathStep("Who answers", "which planes answer", ("doctor", "-i", "pod7.yaml")),
    PathStep("Audit", "FAIL: a run", ("tui", "a-run"), done=True, failed=True),
    PathStep("Acceptance", ""),
)


async def drawn(app: StartPage, keys: Sequence[str], size: tuple[int, int]) -> str:
    async with app.run_test(size=size) as pilot:
        end = time.monotonic() + 20
        while not app.steps and time.monotonic() < end and app.is_running:
            await asyncio.sleep(0.01)
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
        return screen(app)


def page(
    *keys: str, signs: Signs = UNICODE, size: tuple[int, int] = (80, 24), ran: dict[str, int] | None = None
) -> str:
    return asyncio.run(drawn(StartPage(lambda: STEPS, signs, ran or {}), keys, size))


def chosen(*keys: str) -> object:
    app = StartPage(lambda: STEPS, UNICODE, {})
    asyncio.run(drawn(app, keys, (80, 24)))
    return app.return_value


@pytest.mark.parametrize("signs", [UNICODE, ASCII])
@pytest.mark.parametrize("size", [(80, 24), (160, 40), (40, 12)])
def test_the_next_step_is_chosen_and_its_command_shown(signs: Signs, size: tuple[int, int]) -> None:
    text = page(signs=signs, size=size)
    lines = text.splitlines()
    assert any(" 2 next" in line and "Who answers" in line for line in lines), text
    assert "$ rackcheck doctor -i pod7.yaml" in text
    assert all(len(line) <= size[0] for line in lines)
    assert signs is UNICODE or text.isascii()


def test_a_failed_step_is_marked_by_a_word() -> None:
    assert any(" 3 FAIL" in line and "Audit" in line for line in page().splitlines())


def test_an_interrupted_inventory_stays_the_next_step() -> None:
    steps = (PathStep("Inventory", "no inventory.yaml yet", ("init",)), PathStep("Who answers", ""))
    lines = asyncio.run(drawn(StartPage(lambda: steps, UNICODE, {"Inventory": 130}), (), (80, 24))).splitlines()
    assert any("1 exit 130" in line and "▸" in line for line in lines)
    assert "$ rackcheck init" in "\n".join(lines)


def test_a_command_that_was_run_is_shown_with_its_exit_code_and_the_next_step_follows() -> None:
    lines = page(ran={"Who answers": 3}).splitlines()
    assert any(" 2 exit 3" in line and "Who answers" in line for line in lines)
    assert any(" 4 next" in line and "Acceptance" in line for line in lines)


def test_enter_returns_the_command_of_the_step() -> None:
    assert chosen("enter") == ("Who answers", ("doctor", "-i", "pod7.yaml"))
    assert chosen("k", "enter") == ("Inventory", ("inventory", "show", "-i", "pod7.yaml"))


def test_an_edited_command_is_returned_as_it_stands() -> None:
    words = ("space", *"--json", "enter")
    assert chosen("colon", *("minus" if key == "-" else key for key in words)) == (
        "Who answers", ("doctor", "-i", "pod7.yaml", "--json"),
    )  # fmt: skip


def test_an_edit_that_is_dropped_changes_nothing() -> None:
    assert chosen("colon", "x", "y", "escape", "enter") == ("Who answers", ("doctor", "-i", "pod7.yaml"))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (("colon", "ctrl+a", "x", "enter"), "only commands of rackcheck run here"),
        (("colon", "quotation_mark", "enter"), "the command is not complete"),
        (("j", "j", "enter"), "an earlier step is missing"),
    ],
)
def test_what_cannot_run_is_a_message_and_the_page_stays(keys: tuple[str, ...], message: str) -> None:
    assert message in page(*keys)
    assert chosen(*keys) is None


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_quitting_runs_nothing(key: str) -> None:
    assert chosen(key) is None


def test_steps_that_cannot_be_read_close_the_page_with_the_reason() -> None:
    def broken() -> Sequence[PathStep]:
        raise UserError("the folder is gone")

    app = StartPage(broken, UNICODE, {})
    asyncio.run(drawn(app, (), (80, 24)))
    assert str(app.trouble) == "the folder is gone"


class Terminal(Tmux):
    """A terminal in which commands of the start page run."""

    def returned(self, seconds: float = 120) -> str:
        """Wait until a command has ended; return its output, and go back to the page."""
        end = time.monotonic() + seconds
        while not (text := self.screen().rstrip()).endswith("enter: back to the steps"):
            assert time.monotonic() < end, text
            time.sleep(0.2)
        self.type("Enter")
        return text[text.rfind("$ rackcheck") :]


@contextmanager
def terminal(pod: Path, home: Path) -> Iterator[Terminal]:
    own = Path(sys.executable).parent
    env = {"PATH": f"{own}:{os.environ['PATH']}", "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with TemporaryDirectory(prefix="rc") as short:  # a socket's path is limited to about a hundred characters
        opened = Terminal(Path(short) / "s", env | {"RACKCHECK_HOME": str(home / "rackcheck")})
        line = "trap : INT; rackcheck tui; echo ended with $?; read _"
        opened.do("new-session", "-d", "-x", "100", "-y", "40", "-c", str(pod), f"sh -c {shlex.quote(line)}")
        try:
            yield opened
        finally:
            opened.do("kill-server")


@pytest.mark.slow
def test_the_whole_path_is_walked_on_the_start_page(tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: the start page was not tried in it")
    home, pod, rack = (tmp_path / name for name in ("home", "pod", "rack"))
    for folder in (home / ".ssh", pod, rack):
        folder.mkdir(parents=True)
    key = home / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "Jo Doe", "-f", str(key)], check=True)
    (tmp_path / "two.yaml").write_text(TWO)
    with SimRack(scenario.load(tmp_path / "two.yaml"), rack) as up, terminal(pod, home) as shown:
        first, *more = inventory.load(Path(up.inventory)).nodes.values()
        init = next(commands(first, 1 + len(more), rack))
        shown.until("no inventory.yaml yet", "$ rackcheck init -o inventory.yaml --only")
        shown.type(":", f"= {shlex.join(init[2:])}", "Enter")
        assert "inventory.yaml: 2 nodes" in shown.returned()

        shown.until("host keys of 0 of 2 nodes", "$ rackcheck inventory trust -i inventory.yaml")
        shown.type("Enter")
        shown.until("Trust 2 host keys and 2 certificates, as shown?")
        shown.type("C-c")  # ends the command, and not the page
        assert "rackcheck: interrupted" in shown.returned()
        shown.until("host keys of 0 of 2 nodes", "exit 130")
        shown.type("k", "k", "j", "Enter")
        shown.until("Trust 2 host keys and 2 certificates, as shown?")
        shown.type("=y", "Enter")
        assert "2 lines added to inventory.certificates" in shown.returned()

        shown.until("host keys of 2 of 2 nodes", "$ rackcheck doctor -i inventory.yaml")
        shown.type("Enter")
        assert "2 of 2 ready" in shown.returned()

        shown.until("no run of these nodes yet", "$ rackcheck tui -i inventory.yaml")
        shown.type("Enter")
        shown.until("Audit with -p h100-dgx?", seconds=60)
        shown.type("=y", "Enter")
        shown.until("✔ PASS", "2 nodes, ", seconds=120)
        shown.type("q")

        shown.until("PASS: 20", "$ rackcheck accept new pod -p h100-dgx -i inventory.yaml")
        shown.type("Enter")
        assert "acceptance pod: 2 nodes" in shown.returned()
        shown.until("$ rackcheck accept add pod 20")
        shown.type("Enter")
        assert "1 run, INCOMPLETE" in shown.returned()
        shown.until("pod: burn-in validate", "$ rackcheck burnin --accept pod --tier validate -i inventory.yaml")
        shown.type("Enter")
        assert "Verdict: PASS" in shown.returned()
        shown.until("no audit after the burn-in", "$ rackcheck audit --accept pod -i inventory.yaml")
        shown.type("Enter")
        assert "added to acceptance pod" in shown.returned()
        shown.until("$ rackcheck report pod --bundle -o pod", seconds=60)
        shown.type("Enter")
        assert "· PASS · SHA256SUMS" in shown.returned()
        shown.until("$ rackcheck sign pod --key ~/.ssh/id_ed25519")
        shown.type("Enter")
        assert "Signed: pod as integrator (Jo Doe)" in shown.returned()
        shown.until("signed by Jo Doe (integrator)", "$ rackcheck verify pod --key ~/.ssh/id_ed25519.pub")
        shown.type("Enter")
        assert "Verified: 1 signature by 1 key" in shown.returned()
        shown.until("Verification", "exit 0")
        shown.type("q")
        assert "ended with 0" in shown.until("ended with")
