"""Commands that show the same: lines that a real shell runs, and that no host or file name breaks out of."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.evaluate.verdict import Evidence, Status, Verdict
from rackcheck.inventory import BmcAccess, Node, Ssh
from rackcheck.model import catalogue
from rackcheck.model.catalogue import Kind
from rackcheck.model.fact import Absent, Class, Facts, Plane, Reason, Unknown
from rackcheck.model.question import Shell
from rackcheck.model.tree import Leaf, Tree
from rackcheck.probe.contract import AnyProbe, Probe
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.remedy.words import SettingTable
from rackcheck.views import commands

KIND = catalogue.text("A text.")
RECORDER = """#!/bin/sh
for word; do printf '%s\\0' "$word"; done >>"$RECORD"
"""


def nothing(_: str) -> Facts:
    yield from ()


def shell(command: str, *, root: bool = False, each: str = "") -> AnyProbe:
    return Probe("asks", Shell(command, root=root, each=each), {"x": KIND}, nothing)


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an `ssh`, a `curl` and an `openssl` that record their arguments."""
    place = tmp_path_factory.mktemp("tools")
    for name in ("ssh", "curl", "openssl"):
        (place / name).write_text(RECORDER)
        (place / name).chmod(0o755)
    return place


def run(line: str, tools: Path, **more: str) -> list[str]:
    """Let a real `sh` run a line; return the arguments that the tool was called with."""
    record = tools / "record"
    record.write_bytes(b"")
    env = {"PATH": f"{tools}:{os.environ['PATH']}", "RECORD": str(record), "HOME": "/home/me", "USER": "me", **more}
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), (line, done)
    return record.read_bytes().decode(errors="surrogateescape").split("\0")[:-1]


def test_a_file_is_read_by_cat_on_the_node(tools: Path) -> None:
    node = Node("n1", host="10.0.0.1", ssh=Ssh(user="ops"))
    line = commands.line("/proc/sys/vm/swappiness", Plane.OS, node)
    assert line == "ssh -- ops@10.0.0.1 'cat -- /proc/sys/vm/swappiness'"
    assert run(line, tools) == ["--", "ops@10.0.0.1", "cat -- /proc/sys/vm/swappiness"]


def test_every_question_of_every_probe_reaches_the_node_unchanged(tools: Path) -> None:
    node = Node("n1", host="fe80::1%eth0", ssh=Ssh("o'ps", "/keys/a b", 2222, "/known hosts"))
    asked = [
        probe for probe in registry().probes if isinstance(probe.ask, Shell) and "# payload" not in probe.ask.command
    ]
    assert len(asked) > 50
    for probe in asked[:: max(1, len(asked) // 40)]:
        assert isinstance(probe.ask, Shell)
        line = commands.line(str(probe.ask), Plane.OS, node, probe)
        if "$RACKCHECK_" in probe.ask.command:
            assert line.startswith("#")
            continue
        *way, remote = run(line, tools)
        assert way == [
            "-p",
            "2222",
            "-i",
            "/keys/a b",
            "-o",
            'UserKnownHostsFile="/known hosts"',
            "--",
            "o'ps@fe80::1%eth0",
        ]
        root = "sudo -n " if probe.ask.root else ""
        plain = f"{root}{probe.ask.command}"
        assert remote == plain or (probe.ask.each and plain.replace("{}", '"${f##*/}"') in remote), probe.name


def test_commands_for_root_use_sudo_only_where_the_inventory_allows_it(tools: Path) -> None:
    probe = shell("dmidecode -t memory", root=True)
    node = Node("n1", host="h")
    assert run(commands.line("dmidecode -t memory", Plane.OS, node, probe), tools)[-1] == "sudo -n dmidecode -t memory"
    bare = Node("n1", host="h", ssh=Ssh(sudo=False))
    assert run(commands.line("dmidecode -t memory", Plane.OS, bare, probe), tools)[-1] == "dmidecode -t memory"


def test_a_command_of_each_device_runs_once_for_each(tools: Path, tmp_path: Path) -> None:
    for name in ("a b", "c"):
        (tmp_path / name).touch()
    probe = shell('printf "%s\\n" {}', each=f"{tmp_path}/*")
    question = commands.question(str(probe.ask), probe)
    assert question is not None
    done = subprocess.run(["sh", "-c", question], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["a b", "c"]


def test_files_by_globs_are_read_with_their_names(tmp_path: Path) -> None:
    (tmp_path / "x y").write_text("1\n")
    question = commands.question(f"{tmp_path}/*")
    assert question is not None
    done = subprocess.run(["sh", "-c", question], capture_output=True, text=True, check=True)
    assert done.stdout == f"==> {tmp_path}/x y <==\n1\n"


def test_a_command_that_no_probe_runs_is_shown_and_never_offered() -> None:
    node = Node("n1", host="h")
    for source in ("rm -rf /", "/bin/x && reboot", "$(reboot)", "a\nb"):
        line = commands.line(source, Plane.OS, node)
        assert all(each.startswith("#") for each in line.split("\n")), line
        assert all(each.startswith(("#", "rackcheck probe run asks n1 --raw"))
                   for each in commands.line(source, Plane.OS, node, shell("uname -r\n# payload\nx")).split("\n"))  # fmt: skip


def test_this_machine_is_queried_without_ssh() -> None:
    assert commands.line("/etc/hostname", Plane.OS, Node("localhost", host="localhost")) == "cat -- /etc/hostname"


def test_a_resource_is_fetched_by_curl_which_prompts_for_the_password(tools: Path) -> None:
    node = Node("n1", bmc=BmcAccess("https://[fe80::1]:8443", "admin", "env:SECRET", ca="/ca.pem"))
    line = commands.line("/redfish/v1/Systems/1/Bios#/Attributes/A = B", Plane.BMC, node)
    place = "https://[fe80::1]:8443/redfish/v1/Systems/1/Bios"
    assert run(line, tools) == ["-sS", "-g", "--cacert", "/ca.pem", "-u", "admin", "--", place]
    assert "SECRET" not in line


def test_an_unchecked_certificate_is_noted_on_a_line_of_its_own(tools: Path) -> None:
    line = commands.line("/redfish/v1/Chassis/A B", Plane.BMC, Node("n1", bmc=BmcAccess("https://bmc")))
    assert line.split("\n")[0] == "# this command does not check the certificate"
    words = ["-sS", "-g", "--insecure", "-u", "me", "--", "https://bmc/redfish/v1/Chassis/A%20B"]
    assert run(line, tools) == words


def test_a_user_with_a_colon_would_be_a_password_on_the_line() -> None:
    node = Node("n1", bmc=BmcAccess("https://bmc", "admin:hunter2"))
    assert "hunter2" not in commands.line("/redfish/v1", Plane.BMC, node)


def test_the_handshake_is_seen_by_openssl(tools: Path) -> None:
    line = commands.line("tls:handshake#/Cipher", Plane.BMC, Node("n1", bmc=BmcAccess("https://bmc")))
    assert run(line, tools) == ["s_client", "-connect", "bmc:443"]


HOSTILE = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="'\"`$();|&<>*?[]{}\\ #~!-\n\t\x1b%@:/ab", max_size=20),
    st.sampled_from(["-oProxyCommand=touch x", "$(touch x)", "';touch x;'", "\x1b[2J", "h\nreboot", "\u202ea"]),
)


def words_of(line: str) -> Sequence[str]:
    """Read a line as a shell would, without comments."""
    return shlex.split("\n".join(each for each in line.split("\n") if not each.startswith("#")))


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_nobodys_host_user_or_file_breaks_out_of_its_quotes(host: str, user: str, key: str, name: str) -> None:
    node = Node(name, host=host, ssh=Ssh(user, key, 22, key))
    line = commands.line(f"/etc/{name}", Plane.OS, node)
    assert line.replace("\n", "").isprintable()
    words = words_of(line)
    if words and not node.is_local:
        assert words[0] in {"ssh", "rackcheck"}
        if words[0] == "ssh":
            assert words[-3:] == ["--", f"{user}@{host}" if user else host, words[-1]]
            assert len(words) <= 12
            asked = shlex.split(words[-1])
            assert asked[:2] in (["cat", "--"], ["head", "-v"])
    for each in line.split("\n"):
        assert each.startswith(("#", "ssh ", "cat ", "head ", "rackcheck ")), line


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_nobodys_bmc_or_uri_breaks_out_of_its_quotes(host: str, user: str, ca: str, uri: str) -> None:
    node = Node("n1", bmc=BmcAccess(f"https://{host}", user, ca=ca))
    line = commands.line(f"/redfish/v1/{uri}", Plane.BMC, node)
    assert line.replace("\n", "").isprintable()
    words = words_of(line)
    if words:
        assert words[:3] == ["curl", "-sS", "-g"]
        assert words[-2] == "--"
        assert words[-1].startswith(f"https://{host.rstrip('/')}/redfish/v1/")
        assert len(words) in {8, 9}
    for each in line.split("\n"):
        assert each.startswith(("#", "curl ")), line


def test_a_hostile_line_runs_nothing_but_its_tool(tools: Path, tmp_path: Path) -> None:
    bad = f"';touch {tmp_path}/x;'$(touch {tmp_path}/x)`touch {tmp_path}/x`"
    node = Node("n1", host=bad, ssh=Ssh(bad, bad), bmc=BmcAccess(f"https://h{bad}".replace(" ", "${IFS}"), bad))
    assert run(commands.line(f"/{bad.replace(' ', '${IFS}')}", Plane.OS, node), tools)[-2] == f"{bad}@{bad}"
    run(commands.line(f"/redfish/v1/{bad}", Plane.BMC, node), tools)
    assert not (tmp_path / "x").exists()


def test_nodes_are_one_word_that_a_shell_leaves_alone(tools: Path) -> None:
    assert run(f"ssh {commands.nodes(['dgx01', 'dgx02', 'dgx04'])}", tools) == ["dgx[01-02,04]"]


def test_a_value_is_written_alone_and_an_unknown_one_states_it() -> None:
    def leaf(reading: object) -> Leaf:
        kind = Kind(catalogue.Type.QUANTITY, "", unit="GiB") if isinstance(reading, float) else KIND
        return Leaf(reading, kind, Plane.OS, "/x")  # type: ignore[arg-type]

    assert commands.value(leaf("96.00")) == "96.00"
    assert commands.value(leaf(2.0)) == "2 GiB"
    assert commands.value(leaf(Unknown(Reason.DENIED, "root's"))) == "unknown (denied: root's)"
    assert commands.value(leaf(Absent())) == "absent"
    doc = json.loads(commands.document("n1", "a.b", Tree({"a.b": leaf("x")}, times={Plane.OS: "t"})))
    assert doc["facts"]["a.b"] == {
        "value": "x", "plane": "os", "class": Class.CONFIG.value, "source": "/x", "time": "t",
    }  # fmt: skip
    assert re.fullmatch(r"n1", doc["node"])


def fixed(rule: str, item: str, *nodes: str) -> tuple[str, ...]:
    profile = library.load("h100-dgx", registry().catalogue)
    bad = Verdict(rule, Status.FAIL, "", (Evidence(Status.FAIL, item, "60", ""),))
    verdicts, only = dict.fromkeys(nodes, (bad,)), {node: {rule} for node in nodes}
    return commands.fixes("r", "p", profile.own, verdicts, only, lambda _: None, {}, SettingTable({}, {}))


def test_the_lines_that_mend_one_rule_are_those_of_remedy() -> None:
    rows = fixed("memory.swappiness", "sysctl.vm.swappiness", "n1", "n2")
    assert any(line.startswith("# ---- n[1-2]: on each of them, as root") for line in rows)
    assert any("vm.swappiness" in line and not line.startswith("#") for line in rows)


def test_a_bios_setting_is_left_to_a_person_where_no_answer_of_the_bmc_is_at_hand() -> None:
    text = "\n".join(fixed("bios.sr_iov", "bios.sr_iov", "n1"))
    assert "this run contains no answer of the node's BMC" in text


def test_a_fault_that_no_line_fixes_is_described_with_the_fix_of_its_rule() -> None:
    rows = fixed("nic.rate", "nic/mlx5_4.port/1.rate", "n1")
    (rule,) = (rule for rule in library.load("h100-dgx", registry().catalogue).own if rule.id == "nic.rate")
    assert rows[-1] == f"#     {rule.fix}"
