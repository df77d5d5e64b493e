"""`tests/support/record.py`, as a newcomer types it: each mistake is one clear line."""

import subprocess
import sys

import pytest
from places import ROOT, SUPPORT

HERE = SUPPORT


def record(*words: str, python: tuple[str, ...] = (sys.executable,)) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*python, str(HERE / "record.py"), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "usage: python tests/support/record.py PROBE CASE [OLD=NEW ...]; `rackcheck probe list` shows the probes"),
        (("hostname",), "usage: python tests/support/record.py PROBE CASE"),
        (("hostnam", "x"), "no probe 'hostnam' asks an operating system; did you mean hostname?"),
        (("hostname", "x", "secret"), "'secret' is not OLD=NEW"),
        (("hostname", "../x"), "'../x' is no name of a case"),
    ],
)
def test_a_mistake_is_one_line_and_records_nothing(words: tuple[str, ...], said: str) -> None:
    done = record(*words)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(said)


def test_a_python_without_what_the_tests_need_says_how_to_come_by_it() -> None:
    done = record("hostname", "x", python=(sys.executable, "-I", "-S"))
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("no module ")
    assert "`make .venv/.dev`, then `. .venv/bin/activate`" in line


def test_both_pages_name_the_same_steps() -> None:
    pages = [(ROOT / name).read_text() for name in ("CONTRIBUTING.md", "probes/README.md")]
    for step in (
        "make .venv/.dev\n    . .venv/bin/activate\n", "rackcheck probe show ", "rackcheck probe run ", "python tests/support/record.py ",
        "pytest tests/probes/test_recorded.py tests/probes/test_nonsense.py", "rackcheck/sim/machines/dgx-h100/", "`make check`",
    ):  # fmt: skip
        assert [step in page for page in pages] == [True, True], step
