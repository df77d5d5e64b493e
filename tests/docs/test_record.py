"""A new probe as in CONTRIBUTING.md: its example, and `tests/support/record.py`, whose errors are one line."""

import re
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from places import ROOT, SUPPORT
from recordings import facts

from rackcheck.model.capture import NodeCapture
from rackcheck.probe.contract import Probe
from rackcheck.probe.registry import registry

HERE = SUPPORT


def record(*words: str, python: tuple[str, ...] = (sys.executable,)) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*python, str(HERE / "record.py"), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "usage: python tests/support/record.py PROBE CASE [OLD=NEW ...]; `rackcheck probe list` shows the probes"),
        (("hostname",), "usage: python tests/support/record.py PROBE CASE"),
        (("hostnam", "x"), "no probe 'hostnam' asks an operating system; did you mean hostname?"),
        (("hostname", "x", "secret"), "'secret' is not OLD=NEW"),
        (("hostname", "../x"), "'../x' is no name of a case"),
    ],
)
def test_an_error_is_one_line_and_records_nothing(words: tuple[str, ...], text: str) -> None:
    done = record(*words)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(text)


def test_a_python_without_test_dependencies_states_how_to_install_them() -> None:
    done = record("hostname", "x", python=(sys.executable, "-I", "-S"))
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("no module ")
    assert "`make .venv/.dev`, then `. .venv/bin/activate`" in line


def test_the_example_of_the_page_is_a_probe_of_a_fact_that_no_other_gives() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    (block,) = re.findall(r"^   ```python\n(.*?)^   ```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"__name__": "entropy"}
    exec(compile(textwrap.dedent(block), "entropy.py", "exec"), names)
    (probe,) = (value for value in names.values() if isinstance(value, Probe))
    others = {path for path, entry in registry().catalogue.entries.items() if entry.probe != probe.name}
    assert not set(probe.gives) & others, "a clone in which the steps were followed has the probe itself"
    capture = NodeCapture(files={names["PLACE"]: "256\n"}, globs={names["PLACE"]: None})
    assert facts(probe, capture) == {"os.entropy": 256}
    for step in (
        "make .venv/.dev\n    . .venv/bin/activate\n", f"rackcheck probe show {probe.name}\n",
        f"python tests/support/record.py {probe.name} my-machine\n", f'`{names["PLACE"]}: "256\\n"`',
    ):  # fmt: skip
        assert step in page, step
    assert "`CONTRIBUTING.md` has the steps" in (ROOT / "probes/README.md").read_text("utf-8")
