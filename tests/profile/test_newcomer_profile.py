"""A newcomer's way to a profile of their own, in five commands over the real command line: audit, learn, edit, check, audit."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FILE = "ours.yaml"


class Shell:
    """A folder in which a user types commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "RACKCHECK_HOME": str(folder / "state"), "NO_COLOR": "1"}

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rackcheck", *words], cwd=self.folder, env=self.environment, capture_output=True,
            text=True, encoding="utf-8", check=False, timeout=300,
        )  # fmt: skip


Way = tuple[Shell, dict[str, subprocess.CompletedProcess[str]]]
"""The folder, and each command's result."""


@pytest.fixture(scope="module")
def way(
    tmp_path_factory: pytest.TempPathFactory,
) -> Way:
    """All commands as typed; the edit changes one rule's severity, drops one line and names the responsible person."""
    shell = Shell(tmp_path_factory.mktemp("newcomer"))
    steps = {"audit": shell("audit", "-p", "linux-server")}
    steps["learn"] = shell("profile", "learn", "--from", "last", "-o", FILE)
    place = shell.folder / FILE
    learned = place.read_text(encoding="utf-8")
    (shell.folder / "as-learned.yaml").write_text(learned.replace("profile: ours", "profile: as-learned"))
    place.write_text(learned.replace("reviewed: false", "reviewed-by: Jo Doe"), encoding="utf-8")
    steps["check"] = shell("profile", "check", FILE)
    steps["again"] = shell("audit", "-p", FILE, "--json")
    return shell, steps


def test_every_command_of_the_way_ends_well(way: Way) -> None:
    _, steps = way
    assert steps["audit"].returncode in {0, 1, 3}, steps["audit"].stderr
    assert {name: steps[name].returncode for name in ("learn", "check", "again")} == {
        "learn": 0, "check": 0, "again": 0,
    }, {name: done.stderr for name, done in steps.items()}  # fmt: skip


def test_what_was_learned_passes_on_a_new_reading_of_the_machine(
    way: Way,
) -> None:
    _, steps = way
    doc = json.loads(steps["again"].stdout)
    verdicts = [verdict["status"] for node in doc["nodes"].values() for verdict in node["verdicts"]]
    assert len(verdicts) > 5
    assert set(verdicts) == {"pass"}


def test_each_command_states_the_next_one(way: Way) -> None:
    _, steps = way
    assert re.search(
        rf"Next: review {FILE}, and replace `reviewed: false` with `reviewed-by: NAME`", steps["learn"].stderr
    )
    assert f"rackcheck profile check {FILE}" in steps["learn"].stderr


def test_an_edit_that_the_machine_does_not_meet_fails_it(
    way: Way,
) -> None:
    shell, _ = way
    text = (shell.folder / FILE).read_text(encoding="utf-8")
    wrong, count = re.subn(r"(fact: sysctl\.vm\.swappiness, is: )\w+", r"\g<1>123", text)
    assert count == 1
    (shell.folder / "wrong.yaml").write_text(wrong.replace("profile: ours", "profile: wrong"), encoding="utf-8")
    done = shell("audit", "--from", "last", "-p", "wrong.yaml")
    assert done.returncode == 1
    assert "must be 123" in done.stdout


def test_signing_is_refused_before_a_reviewer_is_named(
    way: Way,
) -> None:
    shell, _ = way
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", shell.folder / "key"], check=True)
    ends = {}
    for profile in ("as-learned.yaml", FILE):
        assert shell("audit", "-p", profile, "-q").returncode == 0
        assert shell("report", "last", "--bundle", "-q", "-o", f"bundle-{profile}").returncode == 0
        ends[profile] = shell("sign", f"./bundle-{profile}", "--key", "key")
    assert ends["as-learned.yaml"].returncode == 2
    assert "not reviewed yet: as-learned" in ends["as-learned.yaml"].stderr
    assert ends[FILE].returncode == 0, ends[FILE].stderr
