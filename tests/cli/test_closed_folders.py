"""A folder of profiles that may not be read is reported and skipped, and shipped profiles are found."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


def bound(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run rackcheck with this home, subject to file modes as any user is: root without the right to bypass them."""
    plain: list[str] = []
    if os.geteuid() == 0:
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            pytest.skip("NO SETPRIV HERE: install util-linux to run this test as root")
        plain = [setpriv, "--bounding-set", "-dac_override,-dac_read_search"]
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [*plain, sys.executable, "-m", "rackcheck", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(params=[".", ".config/rackcheck", ".config/rackcheck/profiles"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Another user's home, as `sudo -u` without -H leaves it."""
    closed = tmp_path / "home" / request.param
    (tmp_path / "home/.config/rackcheck/profiles").mkdir(parents=True)
    closed.chmod(0)
    yield tmp_path / "home"
    closed.chmod(0o700)


def test_a_shipped_profile_is_found_though_the_users_own_folder_is_closed(home: Path) -> None:
    judged = bound(home, "doctor", "--sudoers", "-p", "linux-server")
    assert judged.returncode == 0, judged.stderr
    assert judged.stderr == (
        f"rackcheck: folder {home}/.config/rackcheck/profiles was not searched for profiles: Permission denied\n"
    )
    shown = bound(home, "profile", "list")
    assert (shown.returncode, "linux-server" in shown.stdout) == (0, True), shown.stderr
    assert shown.stderr == judged.stderr
