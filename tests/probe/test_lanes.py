"""Questions that share a shell: none affects the next, and one that hangs costs only those behind it."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from script_runs import CUT, MARK, SHELLS, out, run

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Read, Shell
from rackcheck.probe.answers import split
from rackcheck.probe.collect import _refusal
from rackcheck.probe.plan import Plan
from rackcheck.probe.registry import registry
from rackcheck.probe.script import LANES, compose, lanes


def quick(*commands: str, seconds: float = 10.0) -> tuple[Shell, ...]:
    return tuple(Shell(command, quick=True, seconds=seconds) for command in commands)


def test_quick_questions_share_three_lanes_and_named_lanes_stay_together() -> None:
    asked = (
        *quick(*(f"echo {n}" for n in range(7))),
        Shell("echo a", lane="one"), Shell("echo own"), Shell("echo b", lane="two"), Shell("echo c", lane="one"),
    )  # fmt: skip
    assert LANES == 3
    assert lanes(asked) == ((0, 3, 6), (1, 4), (2, 5), (7, 10), (9,))


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_each_question_of_a_lane_has_its_own_answer_status_and_complaint(shell: list[str]) -> None:
    commands = (
        "printf 'one'",
        "echo two; echo no >&2; exit 3",
        "cd /nowhere",
        "x=1; set -e; false; echo never",
        "echo ${x-none}",
    )
    result = run(*(Shell(command, lane="l") for command in commands), shell=shell)
    assert result.whole
    rows = [result.capture.commands[command] for command in commands]
    assert rows[:2] == [Output(0, "one", ""), Output(3, "two\n", "no")]
    assert [isinstance(one, Output) and one.status != 0 for one in rows[2:4]] == [True, True]
    assert rows[4] == Output(0, "none\n", "")


@pytest.mark.parametrize("lane", ["", "l"])
def test_who_hangs_in_a_lane_costs_those_behind_it_and_no_others(lane: str) -> None:
    kind = {"lane": lane} if lane else {"quick": True}
    commands = ["echo before", *(f": {n}; sleep 60" for n in range(LANES)), *(f"echo behind {n}" for n in range(LANES))]
    asked = [Shell(command, seconds=1, **kind) for command in commands]
    result = run(*asked, Shell("echo beside"))
    assert out(result, "echo before") == "before\n"
    assert out(result, "echo beside") == "beside\n"
    for command in commands[1 + LANES :]:
        assert result.capture.commands[command] == Unknown(
            Reason.TIMEOUT, "no answer within 1 s, shared with other commands"
        )


def test_a_flood_in_a_lane_is_never_a_short_answer() -> None:
    result = run(*(Shell(command, lane="l", cap=5000) for command in ("yes", "echo behind")))
    assert [answer.reason for answer in result.capture.commands.values() if isinstance(answer, Unknown)] == [
        Reason.TOO_LARGE
    ] * 2


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_lane_runs_for_each_device_and_as_root(tmp_path: Path, shell: list[str]) -> None:
    for name in ("eth0", "eth1"):
        (tmp_path / name).touch()
    asked = (
        Shell("echo dev {}", each=f"{tmp_path}/eth*", lane="l"), Shell("id -u", root=True, lane="l"),
        Shell("echo none {}", each="/nowhere/*", lane="l"),
    )  # fmt: skip
    result = run(*asked, shell=shell)
    assert out(result, "id -u").strip().isdigit()
    assert out(result, "echo none {}") == ""
    assert out(result, "echo dev {}") == "==> eth0 <==\ndev eth0\n\n<== 0\n==> eth1 <==\ndev eth1\n\n<== 0\n"


def test_a_program_that_is_missing_in_a_lane_is_a_tool_missing() -> None:
    ask = Shell("nonsuch -j link", lane="l")
    refusal = _refusal(ask, run(ask).capture.commands[ask.command])
    assert refusal is not None
    assert refusal.reason is Reason.TOOL_MISSING


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
@pytest.mark.parametrize(
    ("command", "status", "text"),
    [
        ("if command -v nonsuch >/dev/null; then nonsuch --version; else echo 'no such'; fi", 0, "no such\n"),
        ("if [ -d /nowhere/at/all ]; then echo there; else echo '[]'; fi", 0, "[]\n"),
        ("if [ -d /proc ]; then echo there; else echo '[]'; fi", 0, "there\n"),
        ("if command -v sh >/dev/null; then echo there; else echo none; fi", 0, "there\n"),
        ("command -v nonsuch >/dev/null || { echo 'nonsuch: not found' >&2; exit 127; }\nnonsuch -a\nnonsuch -b", 127, ""),
        ("command -v sh >/dev/null || { echo 'sh: not found' >&2; exit 127; }\necho there", 0, "there\n"),
    ],
)  # fmt: skip
def test_what_looks_for_its_program_is_answered_as_it_would_answer(
    shell: list[str], command: str, status: int, text: str
) -> None:
    own, framed = run(Shell(f":; {command}"), shell=shell), run(Shell(command), shell=shell)
    for answer in (own.capture.commands[f":; {command}"], framed.capture.commands[command]):
        assert isinstance(answer, Output)
        assert (answer.status, answer.out) == (status, text)
    if status:
        refusal = _refusal(Shell(command), framed.capture.commands[command])
        assert refusal is not None
        assert refusal.reason is Reason.TOOL_MISSING


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_folder_of_path_that_hangs_costs_only_its_time(shell: list[str]) -> None:
    asked = (Shell("nonsuch -V"), Shell("uname -s"), Shell("echo lane", quick=True))
    script = compose(asked, MARK).replace("sh -c 'IFS=:;", "sh -c 'sleep 60; IFS=:;").replace("-k 2 5 ", "-k 2 1 ")
    assert "sleep 60" in script
    done = subprocess.run([*shell, "-s"], input=script.encode(), capture_output=True, check=False)
    result = split(done.stdout, asked, MARK, CUT)
    assert (out(result, "uname -s"), out(result, "echo lane")) == ("Linux\n", "lane\n")
    refusal = _refusal(asked[0], result.capture.commands["nonsuch -V"])
    assert refusal is not None
    assert refusal.reason is Reason.TOOL_MISSING


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_files_of_a_folder_that_is_not_there_are_absent_and_cost_no_process(shell: list[str]) -> None:
    gone = Read("/proc/driver/nonsuch/gpus/*/information", "/proc/driver/nonsuch/version")
    script = compose((gone,), MARK).replace("timeout -k 2", "exit 9; timeout -k 2")
    done = subprocess.run([*shell, "-s"], input=script.encode(), capture_output=True, check=False)
    result = split(done.stdout, (gone,), MARK, CUT)
    assert result.whole
    assert result.capture.globs == dict.fromkeys(gone.globs)
    assert not result.capture.files
    assert not result.capture.refused


def test_a_folder_of_the_disk_that_may_not_be_entered_is_never_taken_for_one_that_is_not_there(tmp_path: Path) -> None:
    place = tmp_path / "closed"
    place.mkdir()
    for folder in (tmp_path, *list(tmp_path.parents)[:3]):
        if str(folder).startswith("/tmp/"):
            folder.chmod(0o755)
    place.chmod(0)
    result = run(Read(f"{place}/inner/*.conf"), user=65534)
    assert [why.reason for why in result.capture.refused.values()] == [Reason.DENIED]


def without(place: str, shell: list[str], mode: str, *asked: Shell | Read) -> dict[str, object]:
    """Run as uid 65534 where an empty folder of this mode covers `place`."""
    script = f"mount -t tmpfs -o mode={mode} none {place} && exec setpriv --reuid=65534 --clear-groups {shlex.join(shell)} -s"
    unshare = ["unshare", "-m", "sh", "-c", script]
    done = subprocess.run(unshare, input=compose(asked, MARK).encode(), capture_output=True, check=False)
    if done.returncode or b"mount" in done.stderr:
        pytest.skip(f"NO MOUNTING HERE: {done.stderr[:80]!r}")
    result = split(done.stdout, asked, MARK, CUT)
    assert result.whole
    return {**result.capture.commands, **result.capture.globs, **result.capture.refused}


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
@pytest.mark.parametrize(("mode", "reason"), [("0700", Reason.DENIED), ("0755", Reason.NOT_COLLECTED)])
@pytest.mark.skipif(os.geteuid() != 0, reason="ONLY ROOT CAN LAY A FOLDER OVER /sys")
def test_what_lies_in_a_sys_that_is_closed_or_not_mounted_is_never_absent(
    shell: list[str], mode: str, reason: Reason
) -> None:
    asked = (
        Shell("echo {}", each="/sys/class/net/*"),
        Shell("echo lane {}", each="/sys/class/net/*", lane="l"),
        Shell("if [ -d /sys/class/infiniband ]; then echo there; else echo none; fi"),
        Shell("cd /sys/devices/system/memory 2>/dev/null || { echo none; exit 0; }", quick=True),
        Read("/sys/class/net/*/mtu"), Read("/sys/devices/system/cpu/vulnerabilities/*", "/proc/uptime"),
        Shell("cat /proc/sys/kernel/ostype"),
    )  # fmt: skip
    values = without("/sys", shell, mode, *asked)
    assert values["cat /proc/sys/kernel/ostype"] == Output(0, "Linux\n", "")
    for question in asked[:4]:
        assert isinstance(question, Shell)
        refusal = _refusal(question, values[question.command])  # type: ignore[arg-type]
        assert refusal is not None, question
        assert refusal.reason is reason
    for glob in ("/sys/class/net/*/mtu", "/sys/devices/system/cpu/vulnerabilities/*"):
        why = values[glob]
        assert isinstance(why, Unknown), (glob, values)
        assert why.reason is reason


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_files_of_a_sys_that_does_not_even_exist_are_not_absent(shell: list[str]) -> None:
    files = Read("/nosuch/class/net/*/mtu", "/nosuch/devices/system/cpu/online")
    script = compose((files,), MARK).replace("/sys:/sys/devices", "/nosuch:/nosuch/devices")
    script = script.replace('"/sys "*[!c]/sys/*', '"/nosuch "*[!c]/nosuch/*')
    done = subprocess.run([*shell, "-s"], input=script.encode(), capture_output=True, check=False)
    capture = split(done.stdout, (files,), MARK, CUT).capture
    assert capture.globs == dict.fromkeys(files.globs, Unknown(Reason.NOT_COLLECTED, "/nosuch is not mounted"))


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_program_that_is_there_and_may_not_be_run_is_denied(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "closedtool").write_text("#!/bin/sh\necho run\n")
    (tmp_path / "closedtool").chmod(0o600)
    asked = (
        Shell("closedtool -V"),
        Shell("if command -v closedtool >/dev/null; then closedtool -V; else echo none; fi"),
        Shell("nonsuch -V"),
    )
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:{tmp_path}"}
    done = subprocess.run(
        [*shell, "-s"], input=compose(asked, MARK).encode(), capture_output=True, check=False, env=environment
    )
    commands = split(done.stdout, asked, MARK, CUT).capture.commands
    reasons = [why.reason for question in asked if (why := _refusal(question, commands[question.command])) is not None]
    assert reasons == [Reason.DENIED, Reason.DENIED, Reason.TOOL_MISSING]


def test_sudo_runs_a_program_that_this_login_may_not_run(tmp_path: Path) -> None:
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\nshift\necho "asked sudo for $*"\n')
    sudo.chmod(0o755)
    (tmp_path / "hiddentool").write_text("#!/bin/sh\n")
    (tmp_path / "hiddentool").chmod(0o600)
    script = compose((Shell("hiddentool -t 17", root=True),), MARK).replace('"$(id -u)" = 0', "1 = 0")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=False, env=environment)
    assert b"asked sudo for hiddentool -t 17" in done.stdout


def test_all_questions_of_all_probes_are_less_than_128_kib_with_pynvml_among_them() -> None:
    script = compose(Plan(registry().probes).questions, MARK)
    assert "python3" in script
    assert 30_000 < len(script.encode()) <= 128 << 10


def test_no_question_of_a_lane_leaves_something_running_behind_it() -> None:
    questions = Plan(registry().probes).questions
    shared = [
        question for lane in lanes(questions) for index in lane if isinstance(question := questions[index], Shell)
    ]
    assert len(shared) > 20
    alone = re.compile(r"(?<![&>|])&(?![&>0-9])")
    quoted = re.compile(r"'[^']*'|\"[^\"]*\"")
    assert [question.command for question in shared if alone.search(quoted.sub("", question.command))] == []


def test_a_shell_to_test_with_is_there() -> None:
    assert shutil.which("busybox")
    assert len(SHELLS) == 3
