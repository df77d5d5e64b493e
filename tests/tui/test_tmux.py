"""The screens in tmux, on a terminal of 80x24: a simulated rack is audited while they are open, and keys are typed.

The screens are recorded in docs/guide/tui.md; with RACKCHECK_SCREENS=write they are written there again.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from places import ROOT
from tmux import Tmux

PAGE = ROOT / "docs" / "guide" / "tui.md"
BEGIN = "<!-- recorded by RACKCHECK_SCREENS=write pytest tests/tui/test_tmux.py, never by hand -->"
END = "<!-- end of what is recorded -->"
COMMAND = "tui --rack sim:dgx-h100 -p h100-dgx"
ID, MOMENT = "20261101T060000Z-1a2b3", "2026-11-01T06:00:00Z"
"""Placeholders for a run's id and times, of the same length."""


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    """Run one command in a shell, which prints its exit status."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed: the screens were not tried in it")
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environment = {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", "RACKCHECK_HOME": str(tmp_path / "home")}
    with TemporaryDirectory(prefix="rc") as short:  # a socket's path is limited to about a hundred characters
        terminal = Tmux(Path(short) / "s", environment)
        line = f"{shlex.quote(sys.executable)} -m rackcheck {COMMAND}; echo ended with $?; read _"
        terminal.do("new-session", "-d", "-x", "80", "-y", "24", "-c", str(tmp_path), f"sh -c {shlex.quote(line)}")
        try:
            yield terminal
        finally:
            terminal.do("kill-server")


def stable_screen(screen: str) -> str:
    """The text of a screen, with the run's id and times replaced."""
    screen = re.sub(r"\b\d{8}T\d{6}Z-[0-9a-f]{5}\b", ID, screen)
    return re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", MOMENT, screen).rstrip("\n")


def recorded(steps: list[tuple[str, str]]) -> str:
    parts = [f"{words}\n\n```text\n{stable_screen(screen)}\n```" for words, screen in steps]
    return "\n\n".join((BEGIN, *parts, END))


@pytest.mark.slow
def test_faults_on_many_nodes_are_shown_in_tmux_while_they_are_read(tmux: Tmux) -> None:
    tmux.until("h100-dgx", "> running", seconds=60)
    first = tmux.until("✘ FAIL  h100-dgx", "groups: ", seconds=120)
    assert re.search(r"8 nodes, \d,\d{3} verdicts", first), first
    assert "rules not in scope: all 8 nodes of sim:dgx-h100" in first
    assert "2/8 dgx[06-07]" in first, "nodes that fail alike are one row"
    tmux.type("g")
    said = "The groups view of `rackcheck tui --rack sim:dgx-h100 -p h100-dgx` after all nodes were read, with `g`:"
    steps = [(said, tmux.until("1/8 ─"))]

    tmux.type("/", "=rule:bios.turbo state:fail", "Enter")
    narrowed = tmux.until("/rule:bios.turbo state:fail", "groups: 1 of ", "bios.turbo is disabled, must be enabled")
    assert "gpu.count" not in narrowed

    tmux.type("Enter")
    inside = tmux.until("group 2", "2 of 2 nodes")
    assert re.search(r"✘ dgx06 .*bios\.turbo is disabled", inside)
    assert re.search(r"✘ dgx07 .*bios\.turbo is disabled", inside)
    said = "The nodes of group 2, after the keys `/`, `rule:bios.turbo state:fail`, `enter` and `enter`:"
    steps.append((said, inside))

    tmux.type("j", "e")
    why = tmux.until("bios.turbo on dgx07", "TurboMode", "bmc plane", "esc back", seconds=40)
    steps.append(("The evidence of the verdict on dgx07, after the keys `j` and `e`:", why))

    tmux.type("Escape")
    tmux.until("2 of 2 nodes")
    tmux.type("f")
    mend = tmux.until("fix of bios.turbo on dgx07; nothing is applied", "esc back", seconds=40)
    assert """'{"Attributes": {"TurboMode": "Enable"}}'""" in mend  # not recorded: it names where the BMC is simulated

    tmux.type("Escape")
    tmux.until("2 of 2 nodes")
    tmux.type("q")
    tmux.until("ended with 0")

    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    now = before + recorded(steps) + rest.partition(END)[2]
    if os.environ.get("RACKCHECK_SCREENS") == "write":
        PAGE.write_text(now, "utf-8")
    assert PAGE.read_text("utf-8").splitlines() == now.splitlines(), "RACKCHECK_SCREENS=write writes the page again"
