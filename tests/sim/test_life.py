"""A simulated rack's life: it starts beside others, answers commands, and leaves nothing behind, however it ends."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from waiting import PATIENCE, until

from rackcheck.base.user_error import UserError
from rackcheck.inventory import load
from rackcheck.model.capture import NodeCapture, Output
from rackcheck.sim import machine
from rackcheck.sim.child import running
from rackcheck.sim.rack_folder import FILES
from rackcheck.sim.shell import SimShell

SILENT = "faults: [{ nodes: n1, fault: silent-node }, { nodes: n1, fault: silent-bmc }]\n"
"""So that an audit lasts until the test ends it."""


def scenario(folder: Path, *, nodes: str = "n[1-2]", faults: str = "") -> Path:
    file = folder / "rack.yaml"
    file.write_text(f"rackcheck: 1\nscenario: one\nnodes: {{ '{nodes}': {{ machine: dgx-h100 }} }}\n{faults}")
    return file


@contextmanager
def started(temporary: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """Start `rackcheck WORDS…` as a shell would, with a separate temporary folder."""
    temporary.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "rackcheck", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(temporary), "RACKCHECK_HOME": str(temporary.parent / "home")},
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def heard(process: subprocess.Popen[str], word: str) -> list[str]:
    """Return what a command prints on stdout, up to the line with a word in it."""
    assert process.stdout is not None
    found: list[str] = []
    for line in process.stdout:
        found.append(line.rstrip("\n"))
        if word in line:
            return found
    raise AssertionError(found)


# ---- nothing left behind ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("sim up", signal.SIGTERM),
        ("sim up", signal.SIGHUP),
        ("sim up", signal.SIGKILL),
        ("audit -p h100-dgx -q --timeout 60 --rack", signal.SIGTERM),
        ("doctor -q --rack", signal.SIGHUP),
    ],
)
def test_a_command_that_is_ended_leaves_no_secret_of_its_rack(
    tmp_path: Path, command: str, number: signal.Signals
) -> None:
    file, temporary = scenario(tmp_path, faults=SILENT), tmp_path / "temporary"
    rack = file if command == "sim up" else f"sim:{file}"
    with started(temporary, *command.split(), rack) as process:
        until(lambda: list(temporary.glob("*/inventory.yaml")), "the rack did not come up")
        process.send_signal(number)
        process.wait(PATIENCE)
        until(lambda: not list(temporary.iterdir()), f"{list(temporary.rglob('*'))} was left behind")


def test_a_rack_whose_starter_leaves_while_it_starts_prints_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "rackcheck.sim", str(scenario(tmp_path, nodes="n[1-300]"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    until(lambda: list(temporary.iterdir()), "it never began")
    process.stdin.close()
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    assert list(temporary.iterdir()) == []


def test_a_rack_that_is_killed_is_cleared_up_by_whoever_started_it() -> None:
    with running("clean") as inventory:
        listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        for pid in {int(pid) for task in listed for pid in task.read_text().split()}:
            if b"rackcheck.sim" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
    assert not inventory.parent.exists()


# ---- sim up ----------------------------------------------------------------------------------------------------------


def test_ctrl_c_is_the_normal_end_of_sim_up(tmp_path: Path) -> None:
    with started(tmp_path / "temporary", "sim", "up", scenario(tmp_path)) as process:
        heard(process, "Ctrl-C")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, "down\n", "")


def test_sim_up_takes_its_files_along_so_that_the_same_command_works_again(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "rack"
    for _ in range(2):
        with started(tmp_path / "temporary", "sim", "up", scenario(tmp_path), "-o", place) as process:
            heard(process, "Ctrl-C")
            assert {path.name for path in place.iterdir()} == set(FILES)
            assert place.stat().st_mode & 0o077 == 0
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        assert not (tmp_path / "deep").exists()


def test_what_our_user_has_in_the_folder_stays_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "notes").write_text("mine")
    with running(str(scenario(tmp_path)), place) as inventory:
        assert inventory == place / "inventory.yaml"
    assert [path.name for path in place.iterdir()] == ["notes"]


@pytest.mark.parametrize("name", FILES)
def test_no_file_of_our_users_is_ever_written_over_or_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / name).write_text("mine")
    with (
        pytest.raises(UserError, match=f"{name} already exists"),
        running(str(scenario(tmp_path)), tmp_path / "mine"),
    ):
        pass
    assert [(path.name, path.read_text()) for path in (tmp_path / "mine").iterdir()] == [(name, "mine")]


def test_an_empty_name_is_no_folder(tmp_path: Path) -> None:
    with started(tmp_path / "temporary", "sim", "up", "clean", "-o", "") as process:
        _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 2
        assert "the folder's name is empty" in err


@pytest.mark.skipif(shutil.which("ssh") is None, reason="NO OPENSSH CLIENT HERE")
def test_the_ssh_line_that_sim_up_prints_works_as_typed(tmp_path: Path) -> None:
    temporary = tmp_path / "a place"  # with a blank, which the line must quote
    with started(temporary, "sim", "up", scenario(tmp_path, nodes="n[7-8]")) as process:
        (line,) = [line.strip() for line in heard(process, "Ctrl-C") if line.strip().startswith("ssh ")]
        done = typed(line, tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, "n7\n", "")
        done = typed(shlex.join(shlex.split(line)[:-1]), tmp_path)
        assert (done.returncode, "has no shell" in done.stdout) == (0, True), done.stderr


def typed(line: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, as a user without known hosts."""
    return subprocess.run(
        line, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        env={**os.environ, "HOME": str(home)},
    )  # fmt: skip


# ---- what is typed on a node -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "status", "out"),
    [
        ("hostname", 0, "n7\n"),
        ("uname", 0, "Linux\n"),
        ("uname -n", 0, "n7\n"),
        ("uname -r", 0, "5.15.0-1053-nvidia\n"),
        ("uname -mr", 0, "5.15.0-1053-nvidia x86_64\n"),
        ("uname -x", 1, ""),
        ("exit", 0, ""),
        ("exit 3", 3, ""),
        ("cat /proc/sys/kernel/hostname", 0, "n7\n"),
        ("cat /nowhere", 1, ""),
        ("hostname; reboot", 127, ""),
        ("uname -r && reboot", 1, ""),
        ("", 127, ""),
    ],
)
def test_any_typed_command_is_answered_from_the_machine_and_nothing_is_run(command: str, status: int, out: str) -> None:
    shell = SimShell(machine.load(machine.shipped()["dgx-h100"], "n7", 7).host, "n7")
    found = shell.command(command)
    assert (found.status, found.out) == (status, out)


def test_uname_a_is_what_linux_prints() -> None:
    shell = SimShell(machine.load(machine.shipped()["dgx-h100"], "n7", 7).host, "n7")
    output = shell.command("uname -a").out
    assert output == "Linux n7 5.15.0-1053-nvidia #54-Ubuntu SMP Wed May 8 14:41:53 UTC 2024 x86_64 GNU/Linux\n"


def test_a_machine_without_a_name_has_its_stations_and_no_kernel_of_its_own() -> None:
    shell = SimShell(NodeCapture(commands={"id": Output(0, "")}), "n7")
    assert shell.command("hostname").out == "n7\n"
    assert shell.command("uname -r").status == 127


# ---- beside others ---------------------------------------------------------------------------------------------------


def test_racks_that_come_up_at_the_same_moment_never_share_a_network(tmp_path: Path) -> None:
    file = str(scenario(tmp_path))
    with ExitStack() as kept, ThreadPoolExecutor(4) as threads:
        racks = [running(file) for _ in range(4)]
        found = list(threads.map(lambda rack: rack.__enter__(), racks))
        for rack in racks:
            kept.push(rack)
        hosts = [node.host for inventory in found for node in load(inventory).nodes.values()]
        assert len({host.rsplit(".", 2)[0] for host in hosts}) == 4
        assert len(set(hosts)) == 8
