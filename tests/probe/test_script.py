"""The one script: real shells, answers that never mix, cut streams that give no wrong value, nothing left behind."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from script_runs import CUT, MARK, SHELLS, out, raw, run

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import Absent, Reason, Unknown, Unreadable
from rackcheck.model.path import parse
from rackcheck.model.question import Read, Shell
from rackcheck.model.refusal import LATE
from rackcheck.model.text import each
from rackcheck.probe.answers import Split, split
from rackcheck.probe.collect import _refusal
from rackcheck.probe.script import compose


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_answers_of_commands_that_run_at_once_never_mix(shell: list[str]) -> None:
    commands = [
        f"for i in 1 2 3 4; do head -c 50000 /dev/zero | tr '\\0' {letter}; sleep 0.01; done" for letter in "abcdefgh"
    ]
    result = run(*map(Shell, commands), shell=shell)
    assert result.whole
    for letter, command in zip("abcdefgh", commands, strict=True):
        assert out(result, command) == letter * 200_000


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_ends_blanks_quotes_and_bytes_survive(shell: list[str]) -> None:
    commands = [
        "printf 'a\\n\\n\\n'",
        "printf '  x'",
        "printf ''",
        'printf \'%s\' "it\'s \\"so\\""',
        "printf '\\377\\201'",
    ]
    result = run(*map(Shell, commands), shell=shell)
    assert [out(result, c) for c in commands] == ["a\n\n\n", "  x", "", 'it\'s "so"', "\udcff\udc81"]


def test_a_command_that_eats_its_input_gets_nothing_of_the_script() -> None:
    result = run(Shell("cat"), Shell("echo still here"))
    assert (out(result, "cat"), out(result, "echo still here")) == ("", "still here\n")


def test_status_and_complaint_come_with_the_answer() -> None:
    result = run(Shell("echo out; echo err >&2; exit 3"))
    assert result.capture.commands["echo out; echo err >&2; exit 3"] == Output(3, "out\n", "err")


def test_a_slow_command_ends_at_its_own_time_and_costs_no_other() -> None:
    result = run(Shell("sleep 30", seconds=0.5), Shell("echo quick"))
    slow = result.capture.commands["sleep 30"]
    assert isinstance(slow, Output)
    assert slow.status == 124
    assert out(result, "echo quick") == "quick\n"


def test_a_flood_is_cut_at_the_cap_and_reported() -> None:
    flood, noise = Shell("yes", cap=10_000, seconds=5), Shell("yes >&2; echo done", seconds=1)
    result = run(flood, noise)
    assert result.capture.commands["yes"] == Unknown(Reason.TOO_LARGE, "more than 10000 bytes")
    answer = result.capture.commands["yes >&2; echo done"]
    assert isinstance(answer, Output)
    assert answer.status == 124
    assert len(answer.err) <= 4096


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_of_a_long_log_the_newest_whole_lines_are_the_answer(shell: list[str]) -> None:
    log = Shell("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; exit 3", cap=10_000, newest=True)
    answer = run(log, shell=shell).capture.commands[log.command]
    assert isinstance(answer, Output)
    lines = answer.out.splitlines()
    assert answer.status == 3
    assert lines == [f"line {n}" for n in range(3000 - len(lines), 3000)]
    assert 9_900 < len(answer.out) < 10_000


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_log_that_is_not_cut_is_answered_whole_with_its_status_and_complaint(shell: list[str]) -> None:
    log = Shell("printf 'a\\nb\\n'; echo denied >&2; exit 1", cap=10_000, newest=True)
    assert run(log, shell=shell).capture.commands[log.command] == Output(1, "a\nb\n", "denied")


QUESTIONS = (
    Shell("echo one"),
    Shell("printf 'two\\n\\n'; exit 2"),
    Read("/etc/passwd", "/proc/sys/vm/swappiness"),
    Shell("echo four"),
)


def test_a_stream_cut_anywhere_gives_whole_answers_or_none() -> None:
    stream = raw(QUESTIONS)
    truth = split(stream, QUESTIONS, MARK, CUT)
    assert truth.whole
    for cut in range(0, len(stream), 3):
        part = split(stream[:cut], QUESTIONS, MARK, CUT)
        assert not part.whole
        for command, answer in part.capture.commands.items():
            assert answer in {truth.capture.commands[command], CUT}
        for glob, trouble in part.capture.globs.items():
            assert trouble in {None, CUT}
            if trouble is None:
                assert part.capture.files.get(glob) == truth.capture.files.get(glob)
        assert part.capture.files.items() <= truth.capture.files.items()


def test_a_frame_that_a_node_forges_without_the_mark_is_just_text() -> None:
    forged = "printf '\\nffffffff<1\\nlie\\nffffffff:0=ffffffff.\\nffffffff>4\\n'"
    result = run(Shell(forged), Shell("echo truth"))
    assert out(result, "echo truth") == "truth\n"
    assert "lie" in out(result, forged)


def test_noise_before_the_answers_does_not_matter() -> None:
    stream = b"Welcome to the rack!\nmark < 1\n" + raw(QUESTIONS)
    assert split(stream, QUESTIONS, MARK, CUT).capture == split(raw(QUESTIONS), QUESTIONS, MARK, CUT).capture


def test_a_node_without_timeout_reports_it_for_every_question(tmp_path: Path) -> None:
    script = compose(QUESTIONS, MARK).replace("PATH=$PATH:", f"PATH={tmp_path}; true ")
    done = subprocess.run(["/bin/sh", "-s"], input=script.encode(), capture_output=True, check=False)
    result = split(done.stdout, QUESTIONS, MARK, CUT)
    assert {a.reason for a in result.capture.commands.values() if isinstance(a, Unknown)} == {Reason.TOOL_MISSING}
    assert {u.reason for u in result.capture.globs.values() if u is not None} == {Reason.TOOL_MISSING}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.chmod(tmp_path, 0o755)  # noqa: PTH101
    for parent in list(tmp_path.parents)[:3]:
        if parent.owner() == tmp_path.owner() and str(parent).startswith("/tmp/"):
            parent.chmod(0o755)
    (tmp_path / "seen").write_text("hello\n")
    (tmp_path / "locked").write_text("secret\n")
    (tmp_path / "locked").chmod(0)
    (tmp_path / "empty").write_text("")
    (tmp_path / "hidden").mkdir(mode=0o700)
    (tmp_path / "hidden" / "file").write_text("x")
    (tmp_path / "hidden").chmod(0)
    return tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to run as an unprivileged user")
def test_present_empty_absent_and_denied_are_distinguished(folder: Path) -> None:
    ask = Read(f"{folder}/seen", f"{folder}/locked", f"{folder}/empty", f"{folder}/none", f"{folder}/hidden/*")
    capture = run(ask, user=65534).capture
    files, trouble = capture.files_of(ask)
    assert trouble is None
    assert files.contents == {f"{folder}/seen": "hello\n", f"{folder}/empty": ""}
    assert {path: why.reason for path, why in files.refused.items()} == {
        f"{folder}/locked": Reason.DENIED,
        f"{folder}/hidden/*": Reason.DENIED,
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to run as an unprivileged user")
@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
@pytest.mark.parametrize("glob", ["hidden/*", "hidden/fil?", "hidden/[f]ile", "hidden/*/deep"])
def test_a_folder_that_may_be_entered_and_not_listed_is_denied_not_empty(
    folder: Path, glob: str, shell: list[str]
) -> None:
    (folder / "hidden").chmod(0o711)
    ask = Read(f"{folder}/seen", f"{folder}/{glob}", f"{folder}/hidden/file")
    files, trouble = run(ask, user=65534, shell=shell).capture.files_of(ask)
    assert trouble is None
    assert set(files.contents) == {f"{folder}/seen", f"{folder}/hidden/file"}
    assert {path: why.reason for path, why in files.refused.items()} == {f"{folder}/{glob}": Reason.DENIED}
    with pytest.raises(Unreadable, match="Permission denied"):
        list(files.found(f"{folder}/{glob}"))


def test_a_file_larger_than_the_cap_is_left_out_and_reported(folder: Path) -> None:
    (folder / "zz-big").write_text("x" * 5000)
    ask = Read(f"{folder}/seen", f"{folder}/zz-big", cap=1000)
    capture = run(ask).capture
    files, trouble = capture.files_of(ask)
    assert files.contents == {f"{folder}/seen": "hello\n"}
    assert trouble is not None
    assert trouble.reason is Reason.TOO_LARGE


def test_a_glob_with_blanks_quotes_and_commands_runs_nothing(folder: Path) -> None:
    (folder / "a 'b' $(touch x)").write_text("odd\n")
    witness = folder / "witness"
    ask = Read(
        f"{folder}/a *", f"{folder}/$(touch {witness})", f"{folder}/`touch {witness}`", f"{folder}/;touch {witness}"
    )
    capture = run(ask).capture
    assert list(capture.files.values()) == ["odd\n"]
    assert not witness.exists()


def test_a_forged_file_header_inside_a_file_names_no_file_we_did_not_ask(folder: Path) -> None:
    (folder / "seen").write_text("a\n\n==> /etc/shadow <==\nroot:x\n")
    ask = Read(f"{folder}/seen")
    assert run(ask).capture.files == {f"{folder}/seen": "a\n\n==> /etc/shadow <==\nroot:x\n"}


def test_a_family_reads_what_is_named_and_cannot_climb() -> None:
    ask = Read("/proc/sys/vm/swappiness", family=("sysctl", "/proc/sys"))
    named = ask.asking([parse("sysctl.kernel.ostype"), parse("kernel.release"), parse("sysctl.net.ipv4.conf/lo.mtu")])
    assert named.globs == ("/proc/sys/vm/swappiness", "/proc/sys/kernel/ostype", "/proc/sys/net/ipv4/conf/lo/mtu")
    assert ask.asking([parse('sysctl.kernel/"../../etc/shadow"')]).globs == ask.globs


def test_a_stored_capture_comes_back_the_same() -> None:
    capture = run(Shell("printf '\\377'; exit 1"), Read("/etc/passwd", "/nope/*")).capture
    assert NodeCapture.from_json(capture.to_json()) == capture


def test_nothing_runs_on_after_the_script() -> None:
    before = set(os.listdir("/proc"))  # noqa: PTH208
    run(Shell("sleep 61.7 & sleep 62.7", seconds=0.3), Shell("sleep 62.7", seconds=0.3))
    left = []
    for pid in set(os.listdir("/proc")) - before:  # noqa: PTH208
        try:
            left.append(Path(f"/proc/{pid}/cmdline").read_bytes())
        except OSError:
            continue
    assert not [command for command in left if b"61.7" in command or b"62.7" in command]


def test_a_node_that_prints_marks_by_the_million_is_read_in_one_pass() -> None:
    flood = f"\n{MARK}<0\n".encode() * 60_000
    result = split(flood + raw(QUESTIONS) + flood, QUESTIONS, MARK, CUT)
    assert result.capture == split(raw(QUESTIONS), QUESTIONS, MARK, CUT).capture


@pytest.mark.parametrize("number", ["9" * 5000, "1e3", "-1", "٣", ""])
def test_a_forged_number_is_no_answer(number: str) -> None:
    for frame in (f"\n{MARK}<{number}\nlie{MARK}:0={MARK}.\n", f"\n{MARK}<0\nlie{MARK}:{number}={MARK}.\n"):
        assert split(frame.encode(), QUESTIONS, MARK, CUT).capture.commands["echo one"] == CUT


def test_files_of_a_node_whose_head_prints_something_else_are_unknown() -> None:
    ask = Read("/etc/passwd", cap=10)
    frame = f"\n{MARK}<0\n{'x' * 10}{MARK}:0={MARK}.\n\n{MARK}>1\n"
    files, trouble = split(frame.encode(), [ask], MARK, CUT).capture.files_of(ask)
    assert (files.contents, trouble) == ({}, Unknown(Reason.TOO_LARGE, "more than 10 bytes"))


def test_an_answer_cut_at_the_cap_is_reported_though_the_shell_dropped_its_zeros() -> None:
    command = "head -c 3000000 /dev/zero"
    assert run(Shell(command, cap=1000)).capture.commands[command] == Unknown(Reason.TOO_LARGE, "more than 1000 bytes")


def denied(folder: Path, count: int) -> Read:
    """A folder of files that only root may read."""
    for number in range(count):
        (folder / f"denied-{number:04}").write_text("x")
        (folder / f"denied-{number:04}").chmod(0)
    return Read(f"{folder}/denied-*")


UNPRIVILEGED = 65534 if os.geteuid() == 0 else None


def test_every_unreadable_file_is_reported_however_many_there_are(folder: Path) -> None:
    ask = denied(folder, 200)
    files, trouble = run(ask, user=UNPRIVILEGED).capture.files_of(ask)
    assert trouble is None
    assert len(files.refused) == 200


def test_more_complaints_than_are_kept_leave_nothing_that_looks_absent(folder: Path) -> None:
    ask = Read(*denied(folder, 6000).globs, f"{folder}/none")
    files, trouble = run(ask, user=UNPRIVILEGED).capture.files_of(ask)
    assert trouble == Unknown(Reason.TOO_LARGE, "not all error messages were kept")
    first = files.read(f"{folder}/denied-0000").reading
    assert isinstance(first, Unknown)


@pytest.mark.parametrize("trouble", [Unknown(Reason.TIMEOUT), Unknown(Reason.TOO_LARGE)])
def test_a_file_that_a_cut_answer_does_not_hold_is_unknown_not_absent(trouble: Unknown) -> None:
    ask = Read("/sys/a", "/sys/b", "/sys/*/c")
    capture = NodeCapture(globs=dict.fromkeys(ask.globs, trouble), files={"/sys/a": "1\n"})
    files, _ = capture.files_of(ask)
    assert files.read("/sys/a").reading == "1"
    assert files.read("/sys/b").reading == trouble
    for ask_for in (files.text, files.has):
        with pytest.raises(Unreadable) as caught:
            ask_for("/sys/b")
        assert caught.value.reason is trouble.reason
    assert files.has("/sys/a")


@pytest.mark.skipif(shutil.which("busybox") is None, reason="busybox is not installed")
def test_a_node_that_has_only_busybox_answers_the_same(tmp_path: Path) -> None:
    subprocess.run(["busybox", "--install", "-s", str(tmp_path)], check=True)
    asks = (*QUESTIONS, Shell("sleep 9", seconds=1), Read("/nope/*"))
    script = compose(asks, MARK).encode()
    done = subprocess.run(
        [f"{tmp_path}/sh", "-s"], input=script, capture_output=True, check=False, env={"PATH": str(tmp_path)}
    )
    small, usual = split(done.stdout, asks, MARK, CUT), run(*asks)
    assert small.whole
    late = {c: a.status in LATE for c, a in small.capture.commands.items() if isinstance(a, Output)}
    assert late == {c: a.status in LATE for c, a in usual.capture.commands.items() if isinstance(a, Output)}
    assert (small.capture.files, small.capture.globs) == (usual.capture.files, usual.capture.globs)


def as_stranger(tmp_path: Path, sudo: str) -> Split:
    """Run one of root's questions as an ordinary user, on a machine whose `sudo` is this script."""
    tool = tmp_path / "sudo"
    tool.write_text(f"#!/bin/sh\n{sudo}\n")
    tool.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == tmp_path.owner() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    script = f"PATH={tmp_path}:$PATH\n" + compose([ROOTS], MARK)
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=False, user=65534, cwd="/")
    return split(done.stdout, [ROOTS], MARK, CUT)


ROOTS = Shell("id -u", root=True)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="ONLY ROOT CAN BECOME ANOTHER USER")


@needs_root
def test_what_needs_root_goes_through_sudo_without_a_question(tmp_path: Path) -> None:
    result = as_stranger(tmp_path, 'echo "sudo was given: $*"')
    assert out(result, "id -u") == "sudo was given: -n id -u\n"


@needs_root
@pytest.mark.parametrize(
    "refusal",
    [
        "echo 'sudo: a password is required' >&2; exit 1",
        'echo "Sorry, user audit is not allowed to execute /usr/bin/id -u as root on n1." >&2; exit 1',
        "echo 'sudo: sorry, you must have a tty to run sudo' >&2; exit 1",
        "echo 'sh: 1: sudo: not found' >&2; exit 127",
    ],
)
def test_a_refusal_of_sudo_is_denied_and_names_root(tmp_path: Path, refusal: str) -> None:
    answer = as_stranger(tmp_path, refusal).capture.commands["id -u"]
    reading = _refusal(ROOTS, answer)
    assert reading is not None
    assert reading.reason is Reason.DENIED
    assert reading.detail.startswith("needs root: ")


@needs_root
def test_a_complaint_of_sudo_beside_a_failing_tool_is_not_a_refusal(tmp_path: Path) -> None:
    beside = "echo 'sudo: unable to resolve host n1' >&2; echo 'id: no such thing' >&2; exit 1"
    reading = _refusal(ROOTS, as_stranger(tmp_path, beside).capture.commands["id -u"])
    assert reading == Unknown(Reason.NOT_COLLECTED, "id: no such thing")


@needs_root
def test_without_sudo_roots_questions_run_as_the_login_user() -> None:
    script = compose([ROOTS], MARK, sudo=False)
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, check=False, user=65534, cwd="/")
    assert out(split(done.stdout, [ROOTS], MARK, CUT), "id -u") == "65534\n"


@pytest.mark.parametrize("command", ["dmesg | tail", "cat $HOME/x", "dmesg; id", "sh -c 'id'", "cat /sys/*/x", "../x"])
def test_only_a_plain_command_can_be_declared_as_roots(command: str) -> None:
    with pytest.raises(ValueError, match="only a plain command"):
        Shell(command, root=True)


def capture_of(ask: Read, out: str, err: str, status: int = 0) -> NodeCapture:
    """The capture of a node whose `head` prints this."""
    frame = f"\n{MARK}<0\n{out}{MARK}:{status}={err}{MARK}.\n\n{MARK}>1\n"
    return split(frame.encode(), [ask], MARK, CUT).capture


SILENCE = Unknown(Reason.NOT_COLLECTED, "head returned neither the file's contents nor an error")


@pytest.mark.parametrize("status", [0, 1])
def test_a_file_or_glob_missing_from_heads_output_is_unknown_not_absent(status: int) -> None:
    ask = Read("/proc/x", "/sys/*/y", "/etc/z")
    files, trouble = capture_of(ask, "==> /etc/z <==\nz\n", "", status).files_of(ask)
    assert trouble is None
    assert files.refused == {"/proc/x": SILENCE, "/sys/*/y": SILENCE}
    assert (files.read("/proc/x").reading, files.read("/etc/z").reading) == (SILENCE, "z")
    for ask_for in (files.has, lambda glob: list(files.found("/sys/*/y"))):
        with pytest.raises(Unreadable, match="head returned neither the file's contents nor an error"):
            ask_for("/proc/x")


@pytest.mark.parametrize(
    "complaint",
    [
        "head: cannot open '{}' for reading: No such file or directory\n",
        "head: cannot open '{}' for reading: Not a directory\n",
        "head: {}: No such file or directory\n",
        "head: {}: Not a directory\n",
    ],
)
def test_a_file_that_any_head_reports_missing_is_absent(complaint: str) -> None:
    ask = Read("/proc/x", "/sys/*/y")
    files, trouble = capture_of(ask, "", "".join(map(complaint.format, ask.globs)), 1).files_of(ask)
    assert (files.refused, trouble, list(files.found("/sys/*/y"))) == ({}, None, [])
    assert isinstance(files.read("/proc/x").reading, Absent)


# Once for each device


def devices(tmp_path: Path, *names: str) -> str:
    for name in names:
        (tmp_path / name).mkdir()
    return f"{tmp_path}/nvme[0-9] {tmp_path}/nvme[0-9][0-9] {tmp_path}/-*"


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_command_runs_once_per_device_and_a_failure_costs_only_its_own_answer(
    tmp_path: Path, shell: list[str]
) -> None:
    globs = devices(tmp_path, "nvme0", "nvme7", "nvme12", "nvme0n1")
    question = Shell("echo {}; test {} != nvme7 || { echo 'open failed: Permission denied' >&2; exit 1; }", each=globs)
    values = each(out(run(question, shell=shell), question.command))
    assert values == {
        "nvme0": "nvme0\n",
        "nvme7": Unknown(Reason.DENIED, "open failed: Permission denied"),
        "nvme12": "nvme12\n",
    }


def test_a_machine_without_the_device_runs_no_command(tmp_path: Path) -> None:
    question = Shell("echo {}", each=devices(tmp_path))
    assert each(out(run(question), question.command)) == {}


def test_where_there_is_no_device_the_tool_is_not_missing(tmp_path: Path) -> None:
    question = Shell("no-such-tool query {}", each=devices(tmp_path))
    assert each(out(run(question), question.command)) == {}


@pytest.mark.parametrize("shell", SHELLS, ids=lambda s: s[0])
def test_a_tool_that_is_not_there_is_missing_for_every_question_of_it(tmp_path: Path, shell: list[str]) -> None:
    plain, once = Shell("no-such-tool -V"), Shell("no-such-tool query {}", each=devices(tmp_path, "nvme0", "nvme1"))
    result = run(plain, once, Shell("echo here"), shell=shell)
    assert out(result, "echo here") == "here\n"
    for question in (plain, once):
        reading = result.capture.commands[question.command]
        assert isinstance(reading, Output)
        why = _refusal(question, reading)
        assert why is not None
        assert (why.reason, why.detail) == (Reason.TOOL_MISSING, "sh: no-such-tool: not found")


def test_a_device_whose_name_would_be_an_option_is_skipped(tmp_path: Path) -> None:
    question = Shell("echo {}", each=devices(tmp_path, "-rf"))
    (reading,) = each(out(run(question), question.command)).values()
    assert reading == Unknown(Reason.NOT_COLLECTED, "not run: the device's name begins with a dash")


@pytest.mark.parametrize("cut", [1, 4, 12, 20])
def test_an_answer_of_devices_that_was_cut_is_unreadable(tmp_path: Path, cut: int) -> None:
    question = Shell("echo {}", each=devices(tmp_path, "nvme0"))
    whole = out(run(question), question.command)
    assert len(whole) > 20
    with pytest.raises(Unreadable):
        each(whole[:-cut])


def test_roots_command_takes_device_names_of_fixed_length_only() -> None:
    with pytest.raises(ValueError, match="fixed length"):
        Shell("nvme smart-log /dev/{}", each="/sys/class/nvme/nvme*", root=True)
    with pytest.raises(ValueError, match="runs once for each"):
        Shell("nvme smart-log /dev/nvme0", each="/sys/class/nvme/nvme[0-9]", root=True)
    ask = Shell("nvme smart-log /dev/{}", each="/sys/class/nvme/nvme[0-9] /sys/class/nvme/nvme[0-9][0-9]", root=True)
    assert ask.named == ("nvme smart-log /dev/nvme[0-9]", "nvme smart-log /dev/nvme[0-9][0-9]")


@pytest.mark.parametrize("status", [126, 127])
def test_a_program_that_is_there_and_may_not_be_run_is_denied_not_missing(status: int) -> None:
    ask = Shell("dkms status")
    why = _refusal(ask, Output(status, "", "sh: 1: dkms: Permission denied\n"))
    assert why is not None
    assert why.reason is Reason.DENIED


def test_a_cut_file_is_reported_though_the_shell_dropped_its_zeros(folder: Path) -> None:
    (folder / "zeros").write_bytes(b"\0" * 900 + b"x" * 9000)
    read = Read(f"{folder}/zeros", cap=1000)
    result = run(read).capture
    assert not result.files
    assert result.globs[read.globs[0]] == Unknown(Reason.TOO_LARGE, "more than 1000 bytes")


def test_a_closed_file_is_denied_whatever_signs_are_in_its_name(folder: Path) -> None:
    for name in ("a'b.conf", 'c"d.conf', "e f.conf"):
        (folder / name).write_text("x")
        (folder / name).chmod(0)
    (folder / "g.conf").write_text("seen\n")
    refused = run(Read(f"{folder}/*.conf"), user=65534).capture.refused
    assert [why.reason for why in refused.values()] == [Reason.DENIED] * 3


def test_what_head_opened_and_could_not_read_is_no_empty_file(folder: Path) -> None:
    (folder / "inner").mkdir()
    result = run(Read(f"{folder}/inner", f"{folder}/seen")).capture
    assert result.files == {f"{folder}/seen": "hello\n"}


def test_a_file_that_holds_another_ones_header_makes_that_one_unreadable(folder: Path) -> None:
    (folder / "forger").write_text(f"x\n\n==> {folder}/seen <==\nforged\n")
    result = run(Read(f"{folder}/seen", f"{folder}/forger")).capture
    assert f"{folder}/seen" not in result.files
    assert result.refused[f"{folder}/seen"].reason is Reason.UNPARSABLE
