"""`rackcheck audit --resume`: what it continues, what it refuses, and what it prints."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rackcheck
from edge_racks import rack
from waiting import until

from rackcheck.run import store
from rackcheck.sim.rack import SimRack


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimRack]:
    with rack(tmp_path_factory.mktemp("rack")) as found:
        yield found


@pytest.fixture
def interrupted(up: SimRack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a run that ctrl+c has stopped."""
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    words = [sys.executable, "-m", "rackcheck", "audit", "-i", str(up.inventory), "-p", "h100-dgx"]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: store.ids() or child.poll() is not None, "no run has begun")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate()
    assert child.returncode == 130
    (name,) = store.ids()
    assert f"To continue it: rackcheck audit --resume {name} -i {up.inventory}" in err
    return name


def test_the_printed_command_continues_the_run_and_says_what_it_asks(up: SimRack, interrupted: str) -> None:
    done = rackcheck("audit", "--resume", "last", "-i", str(up.inventory))
    assert done.status == 0
    assert f"continues run {interrupted}" in done.err
    assert "asks 2 of 2 planes, of n1" in done.err
    assert store.ids() == [interrupted], "no other run was made"
    ended = store.find(interrupted).done()
    assert ended is not None
    assert not ended.interrupted
    again = rackcheck("audit", "--resume", "last", "-i", str(up.inventory))
    assert again.status == 2
    assert "no audit that was interrupted or cut off" in again.err
    named = rackcheck("audit", "--resume", interrupted, "-i", str(up.inventory))
    assert named.status == 2
    assert f"{interrupted} is complete: nothing is left to ask" in named.err


def test_a_node_with_another_address_is_not_the_node_of_the_run(up: SimRack, interrupted: str, tmp_path: Path) -> None:
    text = up.inventory.read_text().replace("host: ", "host: other-")
    assert text != up.inventory.read_text()
    (tmp_path / "other.yaml").write_text(text)
    done = rackcheck("audit", "--resume", interrupted, "-i", str(tmp_path / "other.yaml"))
    assert done.status == 2
    assert "of n1 was " in done.err
    assert "is now other-" in done.err.replace("\n", " ")
    assert "so begin anew" in done.err


@pytest.mark.parametrize(
    "words", [("-p", "h100-dgx"), ("n1",), ("--from", "last"), ("--set", "a=1"), ("-o", "x"), ("--planes", "os")]
)
def test_a_run_is_continued_as_it_was_begun(words: tuple[str, ...]) -> None:
    done = rackcheck("audit", "--resume", "last", *words)
    assert done.status == 2
    name = "TARGET" if words == ("n1",) else words[0]
    assert f"--resume continues a run as it was begun: omit {name}" in done.err
