"""The one script: real shells, answers that never mix, cut streams that never lie, nothing left behind."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rackcheck.core.capture import NodeCapture, Output
from rackcheck.core.fact import Reason, Unknown
from rackcheck.core.path import parse
from rackcheck.core.probe import Read, Shell
from rackcheck.core.script import Split, compose, split

MARK = "0123456789abcdef" * 2
CUT = Unknown(Reason.UNREACHABLE, "the line was cut")
SHELLS = [shell for shell in (["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]


def raw(questions: Sequence[Shell | Read], shell: Sequence[str] = ("sh",), user: int | None = None) -> bytes:
    script = compose(questions, MARK).encode()
    done = subprocess.run([*shell, "-s"], input=script, capture_output=True, check=False, user=user, cwd="/")
    return done.stdout


def run(*questions: Shell | Read, shell: Sequence[str] = ("sh",), user: int | None = None) -> Split:
    return split(raw(questions, shell, user), questions, MARK, CUT)


def out(result: Split, command: str) -> str:
    answer = result.capture.commands[command]
    assert isinstance(answer, Output), answer
    return answer.out


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


def test_a_flood_is_cut_at_the_cap_and_told() -> None:
    flood, noise = Shell("yes", cap=10_000, seconds=5), Shell("yes >&2; echo done", seconds=1)
    result = run(flood, noise)
    assert result.capture.commands["yes"] == Unknown(Reason.TOO_LARGE, "more than 10000 bytes")
    answer = result.capture.commands["yes >&2; echo done"]
    assert isinstance(answer, Output)
    assert answer.status == 124
    assert len(answer.err) <= 4096


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


def test_a_node_without_timeout_says_so_for_every_question(tmp_path: Path) -> None:
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


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody who may not read")
def test_present_empty_absent_and_denied_are_told_apart(folder: Path) -> None:
    ask = Read(f"{folder}/seen", f"{folder}/locked", f"{folder}/empty", f"{folder}/none", f"{folder}/hidden/*")
    capture = run(ask, user=65534).capture
    files, trouble = capture.files_of(ask)
    assert trouble is None
    assert files.contents == {f"{folder}/seen": "hello\n", f"{folder}/empty": ""}
    assert {path: why.reason for path, why in files.refused.items()} == {
        f"{folder}/locked": Reason.DENIED,
        f"{folder}/hidden/*": Reason.DENIED,
    }


def test_a_file_larger_than_the_cap_is_left_out_and_told(folder: Path) -> None:
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
