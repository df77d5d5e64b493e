"""A login with only the rights of the shipped list collects what root would: real sudo, sshd and user."""

import json
import os
import pwd
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from places import ROOT
from sshd import Server, needed, serving

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import Output
from rackcheck.model.path import parse
from rackcheck.model.question import Shell
from rackcheck.probe import sudoers
from rackcheck.probe.answers import split
from rackcheck.probe.registry import registry
from rackcheck.probe.script import compose
from rackcheck.transport import local
from rackcheck.transport.wire import ShellLimits

LISTS = Path("/etc/sudoers.d")
USERS_AND_SUDO = "useradd", "userdel", "sudo", "visudo"


def program(name: str) -> str:
    """A program's path; without it, or without root, skip loudly, or fail where CI must have it."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is not None and os.geteuid() == 0:
        return found
    why = f"{name} is needed, and root to run it"
    if os.environ.get("CI"):
        pytest.fail(f"CI cannot test least privilege: {why}")
    pytest.skip(f"NO REAL SUDO HERE: {why}")


def visudo(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program("visudo"), "-cf", "-"], input=text, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Login:
    """A user without rights, and a server that accepts its login."""

    user: str
    server: Server
    folder: Path

    def granted(self, commands: tuple[str, ...]) -> "Granted":
        return Granted(LISTS / self.user, sudoers.text(commands, self.user))

    def inventory(self, user: str = "", **ssh: str) -> Path:
        path = self.folder / "inventory.yaml"
        path.write_text(self.server.inventory("n1", user=user or self.user, **ssh))
        return path

    def runs(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as this user, on this machine."""
        words = ["setpriv", f"--reuid={self.user}", "--clear-groups", f"--regid={self.user}", "sh", "-c", command]
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")


@dataclass(frozen=True)
class Granted:
    """A sudoers list that is active inside the block, and always removed after it."""

    path: Path
    text: str

    def __enter__(self) -> None:
        assert visudo(self.text).returncode == 0
        self.path.write_text(self.text)
        self.path.chmod(0o440)

    def __exit__(self, *_: object) -> None:
        self.path.unlink(missing_ok=True)


@contextmanager
def unprivileged() -> Iterator[str]:
    name = f"rc{secrets.token_hex(4)}"
    # `*` is no password and no lock: sshd accepts a key, and no password matches.
    subprocess.run([program("useradd"), "-M", "-d", "/", "-s", "/bin/sh", "-p", "*", name], check=True)
    try:
        yield name
    finally:
        (LISTS / name).unlink(missing_ok=True)
        subprocess.run([program("userdel"), "-f", name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def login() -> Iterator[Login]:
    for name in USERS_AND_SUDO:
        program(name)
    needed()
    with ExitStack() as stack:
        # Not below pytest's own folder: sshd reads the keys as the user, who has no access there.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rackcheck-")))
        folder.chmod(0o755)
        user = stack.enter_context(unprivileged())
        yield Login(user, stack.enter_context(serving(folder)), folder)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def facts(inventory: Path) -> dict[str, Any]:
    done = rackcheck("facts", "n1", "-i", inventory, "--json")
    assert done.out, done.err
    found: dict[str, Any] = json.loads(done.out)["facts"]
    return found


def roots(values: dict[str, Any]) -> dict[str, Any]:
    """The facts that only root can read, without time; of values that change by themselves, whether they are known."""
    names = {probe.name for probe in sudoers.root_probes(registry().probes)}
    steady = {"config", "identity", "version"}
    return {
        path: {
            k: v
            for k, v in fact.items()
            if k in ({"value", "absent", "unknown", "detail"} if fact["class"] in steady else {"unknown"})
        }
        for path, fact in values.items()
        if (entry := registry().catalogue.find(parse(path))) is not None and entry.probe in names
    }


def commands() -> tuple[str, ...]:
    return sudoers.commands(registry().probes)


def collected(question: Shell, *, sudo: bool = True, user: str = "") -> Output:
    """Run one of root's questions through the real script, as a user of this machine."""
    mark = secrets.token_hex(16)
    text = compose([question], mark, sudo=sudo)
    if user:
        text = f"exec setpriv --reuid={user} --regid={user} --clear-groups sh -s <<'{mark}'\n{text}\n{mark}\n"
    reply = local.run(text, ShellLimits(deadline=20))
    answer = split(reply.raw, [question], mark, reply.cut).capture.output(question)
    assert isinstance(answer, Output), answer
    return answer


def test_the_list_holds_what_probes_declare_as_roots_and_nothing_else() -> None:
    asks = [p.ask for p in registry().probes if isinstance(p.ask, Shell) and p.ask.root]
    declared = {name for ask in asks for name in ask.named}
    assert declared
    text = rackcheck("doctor", "--sudoers").out
    entries = re.findall(r"^    (/\S+) (.*?)(?:, \\)?$", text, re.MULTILINE)
    rows = [f"{Path(place).name} {words}".removesuffix(' ""').replace("\\", "") for place, words in entries]
    assert set(rows) == declared
    assert len(entries) == len(declared) * len(sudoers.PLACES)
    assert [line for line in text.splitlines() if "NOPASSWD" in line] == ["rackcheck ALL=(root) NOPASSWD: RACKCHECK"]
    assert "ALL: ALL" not in text


def test_the_list_is_the_same_every_time_and_visudo_takes_it() -> None:
    first, second = (rackcheck("doctor", "--sudoers", "--user", "audit") for _ in range(2))
    assert (first.status, first.out) == (0, second.out)
    checked = visudo(first.out)
    assert checked.returncode == 0, checked.stderr


def test_a_profile_that_needs_no_root_gets_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "rackcheck: 1\nprofile: p\nversion: 1\nrules:\n  r: { fact: kernel.release, present: true }\n"
    )
    done = rackcheck("doctor", "--sudoers", "-p", tmp_path / "p.yaml")
    assert "NOPASSWD" not in done.out
    assert visudo(done.out).returncode == 0


@pytest.mark.parametrize("user", ["", "root ALL=(ALL) ALL", "a,b", "x\ny", "ALL", "#0", "%"])
def test_a_user_that_could_be_more_than_a_name_is_refused(user: str) -> None:
    with pytest.raises(UserError):
        sudoers.text(["dmesg"], user)


def test_every_letter_that_a_command_may_have_is_taken_as_itself(login: Login, tmp_path: Path) -> None:
    command = "printf %s,a:b=c+d-e/f.g"
    with login.granted((command,)):
        assert login.runs(f"sudo -n {command}").stdout == ",a:b=c+d-e/f.g"
        assert login.runs("sudo -n printf %s,a:b=c+d-e/f.h").returncode != 0


def test_a_class_of_letters_stands_for_one_letter_of_it_and_for_nothing_else(login: Login) -> None:
    """A command for each device: `nvme[0-9]` matches no other word, no longer one and no second one."""
    with login.granted(("printf %s,nvme[0-9][a-f]",)):
        assert login.runs("sudo -n printf %s,nvme0a").stdout == ",nvme0a"
        other = ("nvme0", "nvme0g", "nvme0aa", "nvmexa", "nvme0a /etc/shadow", "nvme[0-9][a-f]", "nvme0/a")
        assert [word for word in other if login.runs(f"sudo -n printf %s,{word}").returncode == 0] == []


def test_the_list_of_the_page_is_the_list_of_the_command() -> None:
    page = (ROOT / "docs" / "guide" / "least-privilege.md").read_text(encoding="utf-8")
    block = re.search(r"^```sudoers\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert block[1] == sudoers.text(commands(), "rackcheck")


def test_the_page_states_for_every_listed_program_what_it_reports() -> None:
    page = (ROOT / "docs" / "guide" / "least-privilege.md").read_text(encoding="utf-8")
    first = re.findall(r"^\| (`[^|]*)\| (\w[^|]*)\|$", page.partition("## On a BMC")[0], re.MULTILINE)
    names = {quoted.split()[0] for cell, _ in first for quoted in re.findall(r"`([a-z][^`]*)`", cell)}
    assert names == {command.split()[0] for command in commands()}


def test_with_only_the_list_roots_facts_equal_those_of_root(login: Login) -> None:
    with login.granted(commands()):
        theirs = roots(facts(login.inventory()))
    assert theirs == roots(facts(login.inventory("root")))
    assert theirs
    assert "denied" not in {fact.get("unknown") for fact in theirs.values()}


def test_without_the_list_roots_facts_are_denied_and_nothing_else_changes(login: Login) -> None:
    with login.granted(commands()):
        granted = facts(login.inventory())
    bare = facts(login.inventory())
    known = {path for path, fact in roots(granted).items() if "unknown" not in fact}
    assert known
    # A fact from root may belong to an item (an Xid): without an answer there is no item either.
    refused = known & bare.keys()
    assert refused
    assert {bare[path].get("unknown") for path in refused} == {"denied"}
    assert all(bare[path]["detail"].startswith("needs root: ") for path in refused)
    others = bare.keys() - roots(bare).keys()
    assert others == granted.keys() - roots(granted).keys()
    steady = [p for p in others if bare[p]["class"] in {"config", "identity", "version"}]
    assert len(steady) > 100
    assert [p for p in steady if _comparable(bare[p]) != _comparable(granted[p])] == []


def _comparable(fact: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(fact.get(word) for word in ("value", "absent", "unknown"))


def test_a_root_only_file_is_read_with_the_list_and_denied_without(login: Login) -> None:
    """The same on every machine, whatever its firmware and kernel let root read."""
    secret = login.folder / "only-root"
    secret.write_text("for root\n")
    secret.chmod(0o400)
    question = Shell(f"cat {secret}", root=True)
    with login.granted((question.command,)):
        assert collected(question, user=login.user).out == "for root\n"
        assert collected(question, user=login.user, sudo=False).status != 0
    refused = collected(question, user=login.user)
    assert (refused.status, refused.out) == (1, "")
    assert "password is required" in refused.err or "may not run sudo" in refused.err


PSTORE = "find /sys/fs /proc/version -maxdepth 2 -path /sys/fs/cgroup -prune -o -printf %F -print"


@pytest.mark.parametrize(
    "command",
    [
        *("cat /etc/shadow", "cat /sys/class/dmi/id/product_serial /etc/shadow", "dmesg --clear", "dmesg -C"),
        *("find /root", f"{PSTORE} -delete", "sh -c id", "id", "-i"),
        *("journalctl --vacuum-size=1", "journalctl -k -b -p 4 -n 5000 -o short-monotonic --no-hostname"),
    ],
)
def test_sudo_refuses_what_is_not_on_the_list(login: Login, command: str) -> None:
    with login.granted(commands()):
        listed = login.runs("sudo -n dmesg >/dev/null; sudo -n -l dmesg")
        assert listed.returncode == 0, listed.stderr
        done = login.runs(f"sudo -n {command}")
    assert (done.returncode, done.stdout) == (1, "")


def test_doctor_distinguishes_a_login_with_the_list_from_one_without(login: Login) -> None:
    without = rackcheck("doctor", "-i", login.inventory(), "-q")
    assert without.status == 3
    assert "commands that need root are refused" in without.out
    assert f"rackcheck doctor --sudoers --user {login.user} | ssh" in " ".join(without.out.split())
    with login.granted(commands()):
        done = rackcheck("doctor", "-i", login.inventory(), "-q", "--json")
    who = json.loads(done.out)["nodes"]["n1"]["planes"]["os"]["who"]
    assert (who["user"], who["grant"]) == (login.user, "sudo: all needed commands")
    assert "root" not in json.dumps(json.loads(done.out)["troubles"])


def test_half_a_list_names_the_half_that_is_missing(login: Login) -> None:
    missing = "dmesg"  # of facts that this machine certainly has
    some = [command for command in commands() if command != missing]
    assert len(some) == len(commands()) - 1
    with login.granted(tuple(some)):
        done = rackcheck("doctor", "-i", login.inventory(), "-q", "--json")
    plane = json.loads(done.out)["nodes"]["n1"]["planes"]["os"]
    assert plane["who"]["grant"] == "sudo: not all needed commands"
    assert [t["for"] for t in plane["troubles"] if "root" in t["trouble"]] == [[missing]]


def test_the_line_that_installs_the_list_installs_it_and_refuses_a_broken_one(login: Login, tmp_path: Path) -> None:
    """The exact line that doctor prints, run by a shell; only the path differs."""
    out = rackcheck("doctor", "-i", login.inventory(), "-q").out
    match = re.search(r"'(f=/etc/sudoers\.d/rackcheck; [^']*)'", out)
    assert match is not None
    words = match[1].replace("/etc/sudoers.d/rackcheck", str(tmp_path / "rackcheck"))
    good = sudoers.text(commands(), login.user)
    subprocess.run(["sh", "-c", words], input=good, text=True, check=True, capture_output=True)
    assert (tmp_path / "rackcheck").read_text() == good
    assert (tmp_path / "rackcheck").stat().st_mode & 0o777 == 0o440
    broken = subprocess.run(["sh", "-c", words], input="nonsense here\n", text=True, check=False, capture_output=True)
    assert broken.returncode != 0
    assert (tmp_path / "rackcheck").read_text() == good


def test_sudo_false_in_the_inventory_never_calls_sudo(login: Login) -> None:
    path = login.inventory()
    path.write_text(path.read_text().replace("ssh: {", "ssh: { sudo: false,"))
    with login.granted(commands()):
        values = roots(facts(path))
        done = rackcheck("doctor", "-i", path, "-q", "--json")
    assert json.loads(done.out)["nodes"]["n1"]["planes"]["os"]["who"]["grant"] == "sudo: off in the inventory"
    assert not [fact for fact in values.values() if "sudo" in fact.get("detail", "")]


def test_the_user_of_these_tests_is_gone_afterwards() -> None:
    with unprivileged() as name:
        assert pwd.getpwnam(name).pw_uid != 0
    with pytest.raises(KeyError):
        pwd.getpwnam(name)
    assert not (LISTS / name).exists()
