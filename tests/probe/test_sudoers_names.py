"""Names that `doctor --sudoers` accepts: those that sudo itself reads as exactly that user."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from command import rackcheck

TOOLS = "visudo", "cvtsudoers"


@pytest.fixture(autouse=True)
def real_sudo() -> None:
    missing = [name for name in TOOLS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"CI has no {missing[0]}: .ci/run must install sudo")
    if missing:
        pytest.skip(f"NO {missing[0].upper()} HERE: install sudo to run this test")


def sudo(name: str, *words: str) -> str:
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    done = subprocess.run([str(shutil.which(name, path=path)), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("audit", "username"), ("user@DOM.LAN", "username"), (r"ad\user", "username"), ("first.last", "username"),
        ("host$", "username"), ("%wheel", "usergroup"), (r"%AD\rack-admins", "usergroup"), ("%audit@dom.lan", "usergroup"),
    ],
)  # fmt: skip
def test_sudo_reads_exactly_the_passed_name(tmp_path: Path, name: str, kind: str) -> None:
    done = rackcheck("doctor", "--sudoers", "--user", name)
    assert done.status == 0, done.err
    file = tmp_path / "list"
    file.write_text(done.out)
    sudo("visudo", "-cf", str(file))
    doc = json.loads(sudo("cvtsudoers", "-f", "json", str(file)))
    assert [spec["User_List"] for spec in doc["User_Specs"]] == [[{kind: name.removeprefix("%")}]]


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a b",
        "%",
        "@dom",
        "a@b@c",
        r"ad\\user",
        "ALL",
        "ADMINS",
        "a,b",
        "!a",
        "+net",
        "#0",
        "a\nb ALL=(ALL) ALL",
    ],
)
def test_a_name_that_sudo_would_read_as_another_user_is_refused(name: str) -> None:
    done = rackcheck("doctor", "--sudoers", "--user", name)
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert "name" in line
