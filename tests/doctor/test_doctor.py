"""Doctor on real servers: each trouble is named, has a line to type, and affects its own plane only."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from command import Done, rackcheck
from hypothesis import given
from hypothesis import strategies as st
from mockup_server import Mockup, ResourceFault, busy, refused_port, silent_port
from recordings import shared
from sshd import Server, free_port, keygen, serving
from waiting import PATIENCE, until

from rackcheck import inventory
from rackcheck.doctor import bmc_plane, file_access, names
from rackcheck.doctor.advice import DAEMONS, MAKERS, PACKAGES, advice, together
from rackcheck.doctor.finding import Controller, Grant, PlaneAddress, PlaneTrouble, PlaneVisit, System, Trouble
from rackcheck.doctor.os_plane import Questions
from rackcheck.doctor.output import document, lines
from rackcheck.doctor.pace import VisitLimits
from rackcheck.doctor.summary import Ward
from rackcheck.doctor.tools import looked_for, needs, tools
from rackcheck.doctor.unknown_rules import blind, of_plane, scope
from rackcheck.doctor.worker_pool import work
from rackcheck.model.capture import NodeCapture, Output, named
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.model.path import parse
from rackcheck.model.question import Shell
from rackcheck.model.resource import Body
from rackcheck.probe import script
from rackcheck.probe.answers import split
from rackcheck.probe.plan import Plan, plan
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.sim import machine
from rackcheck.sim.shell import SimShell as SimulatedShell
from rackcheck.views import machine as report

PASSWORD = "correct-horse-battery"
SHELLS = {p.name: p.ask for p in registry().probes if isinstance(p.ask, Shell)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BMC_PASSWORD", PASSWORD)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("sshd")) as running:
        yield running


def node(name: str, server: Server, host: str = "127.0.0.1", **ssh: str) -> str:
    values = {"port": str(server.port), "key": str(server.key), "known-hosts": str(server.known_hosts)} | ssh
    inner = ", ".join(f'{k}: "{v}"' for k, v in values.items())
    return f'  {name}: {{ host: "{host}", ssh: {{ {inner} }} }}\n'


def bmc(name: str, url: str, fingerprint: str = "", user: str = "root") -> str:
    pin = f', fingerprint: "{fingerprint}"' if fingerprint else ""
    return f'  {name}: {{ bmc: {{ url: "{url}", user: {user}, password: "env:BMC_PASSWORD"{pin} }} }}\n'


def doctor(nodes: str, *words: object) -> Done:
    """Run doctor over an inventory of these nodes."""
    file = Path("inventory.yaml")
    file.write_text(f"rackcheck: 1\nnodes:\n{nodes}")
    done = rackcheck("doctor", "-i", file, "-q", *words)
    assert "Traceback" not in done.err
    assert PASSWORD not in done.out + done.err
    return done


def found(nodes: str, name: str, plane: str = "os") -> dict[str, Any]:
    """What the document contains for one plane."""
    done = doctor(nodes, "--json")
    answer: dict[str, Any] = json.loads(done.out)["nodes"][name]["planes"][plane]
    # Without a profile it is not defined which tools matter.
    hindering = [trouble for trouble in answer["troubles"] if trouble["trouble"] != Trouble.NO_TOOL]
    assert done.status == (3 if hindering else 0)
    return answer


def troubles(nodes: str, name: str, plane: str = "os") -> list[str]:
    return [trouble["trouble"] for trouble in found(nodes, name, plane)["troubles"]]


# --- the operating system ---


def test_a_node_that_answers_is_ready_and_identifies_itself_in_one_connection(tmp_path: Path) -> None:
    with serving(tmp_path / "own") as own:
        answer = found(node("n1", own), "n1")
        assert (own.connections, own.execs) == (1, 1)
    assert {trouble["trouble"] for trouble in answer["troubles"]} <= {Trouble.NO_TOOL}
    who = answer["who"]
    assert who["kernel"].startswith("Linux ")
    assert who["grant"] == ("root itself" if os.geteuid() == 0 else who["grant"])
    assert 0 < who["script"] < 10
    assert 0 < who["login"] < 10


def test_this_machine_is_queried_without_ssh() -> None:
    done = rackcheck("doctor", "-q", "--json", "-p", "linux-server")
    assert json.loads(done.out)["nodes"]["localhost"]["planes"]["os"]["who"]["login"] is None


def test_an_unresolvable_name_a_closed_port_and_a_silent_one_are_three_troubles(server: Server) -> None:
    with silent_port() as url:
        silent = url.rpartition(":")[2]
        nodes = node("n1", server, host="no-such-host.invalid") + node("n2", server, port=str(free_port()))
        nodes += node("n3", server, port=silent)
        document = json.loads(doctor(nodes, "--json").out)
    values = {
        name: [t["trouble"] for t in each["planes"]["os"]["troubles"]] for name, each in document["nodes"].items()
    }
    assert values == {"n1": [Trouble.NO_NAME], "n2": [Trouble.REFUSED], "n3": [Trouble.NO_SSH]}


def test_a_changed_host_key_shows_both_keys_and_how_to_forget_the_old_one(server: Server, tmp_path: Path) -> None:
    other = keygen(tmp_path / "other").with_suffix(".pub").read_text().split()
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{server.port} {other[0]} {other[1]}\n")
    before = server.connections
    (trouble,) = found(node("n1", server, **{"known-hosts": str(known)}), "n1")["troubles"]
    assert trouble["trouble"] == Trouble.KEY_CHANGED
    assert len(set(re.findall(r"SHA256:[\w+/]{43}", trouble["seen"]))) == 2
    assert trouble["type"][0] == f"ssh-keygen -R '[127.0.0.1]:{server.port}' -f {known}"
    assert server.connections == before


def test_the_lines_for_an_unknown_host_key_make_the_node_ready(server: Server, tmp_path: Path) -> None:
    nodes = node("n1", server, **{"known-hosts": str(tmp_path / "none")})
    (trouble,) = found(nodes, "n1")["troubles"]
    assert trouble["trouble"] == Trouble.KEY_UNKNOWN
    assert re.search(r"SHA256:[\w+/]{43}", trouble["seen"])
    for line in trouble["type"]:
        subprocess.run(["sh", "-c", line], check=True, capture_output=True)
    assert {trouble["trouble"] for trouble in found(nodes, "n1")["troubles"]} <= {Trouble.NO_TOOL}


def test_a_revoked_host_key_gets_no_line_that_trusts_it(server: Server, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text("".join(f"@revoked {line}\n" for line in server.known_hosts.read_text().splitlines()))
    (trouble,) = found(node("n1", server, **{"known-hosts": str(known)}), "n1")["troubles"]
    assert (trouble["trouble"], trouble["type"]) == (Trouble.KEY_REVOKED, [])


def test_a_refused_login_names_the_user_and_the_key_to_bring(server: Server, tmp_path: Path) -> None:
    stranger = keygen(tmp_path / "stranger")
    (trouble,) = found(node("n1", server, key=str(stranger), user="audit"), "n1")["troubles"]
    assert trouble["trouble"] == Trouble.LOGIN
    assert f"ssh-copy-id -p {server.port} -i {stranger}.pub audit@127.0.0.1" in trouble["type"]


@pytest.mark.parametrize(
    ("force", "expected"),
    [
        ("exit 3", Trouble.CUT),
        ("cat >/dev/null; head -c 100000 /dev/urandom", Trouble.CUT),
        ("head -c 1073741824 /dev/zero", Trouble.CUT),
        ("while :; do printf x; sleep 0.2; done", Trouble.SLOW),
    ],
    ids=["no shell", "noise", "a flood of 1 GiB", "a slow drip"],
)
def test_a_hostile_shell_is_a_trouble_of_its_node_and_costs_the_other_nothing(
    server: Server, tmp_path: Path, force: str, expected: Trouble
) -> None:
    with serving(tmp_path / "hostile", force=force) as hostile:
        document = json.loads(doctor(node("bad", hostile) + node("good", server), "--json").out)
    assert document["ready"] == ["good"]
    assert [t["trouble"] for t in document["nodes"]["bad"]["planes"]["os"]["troubles"]] == [expected]
    assert set(document["nodes"]["bad"]["unknown"]) >= set(of_plane(Plan(registry().probes), Plane.OS))


def box(folder: Path, *without: str, whole: bool = False) -> str:
    """A PATH with the programs of a small system, without these; if `whole`, a tool that is missing here ends at once."""
    folder.mkdir()
    basic = ("sh", "timeout", "head", "tail", "sed", "id", "uname", "date", "cat", "grep", "python3", *tools_of_all())
    for name in set(basic) - set(without):
        target = sys.executable if name == "python3" else shutil.which(name)
        if target is None and whole and "/" not in name:
            target = shutil.which("true")
        if target is not None:
            (folder / name).symlink_to(target)
    # The script adds the system's own folders to PATH: a shell wrapper removes them again.
    return f"exec env PATH={folder} sh -c 'sed s,PATH=.PATH:[a-z/:]*,:, | sh -s'"


def tools_of_all() -> list[str]:
    return list(Questions(Plan(registry().probes)).tools)


def test_a_missing_tool_is_named_with_its_packages_and_the_rules_it_costs(tmp_path: Path) -> None:
    with serving(tmp_path / "s", force=box(tmp_path / "bin", "lscpu", whole=True)) as small:
        done = doctor(node("n1", small), "-p", "linux-server", "--json")
        answer = json.loads(done.out)["nodes"]["n1"]
    (trouble,) = answer["planes"]["os"]["troubles"]
    assert (trouble["trouble"], trouble["for"]) == (Trouble.NO_TOOL, ["lscpu"])
    assert trouble["type"] == ["apt-get install util-linux", "dnf install /usr/bin/lscpu"]
    assert answer["unknown"] == list(_expected_blind({"cpu"}))


def _expected_blind(lost: set[str]) -> tuple[str, ...]:
    profile = library.load("linux-server", registry().catalogue, {}, ())
    return blind(scope(profile, "compute"), registry().catalogue, lost)


def test_what_doctor_foretells_is_what_an_audit_does_not_know(tmp_path: Path) -> None:
    with serving(tmp_path / "s", force=box(tmp_path / "bin", "lscpu", "systemctl", "df", whole=True)) as small:
        value = json.loads(doctor(node("n1", small), "-p", "linux-server", "--json").out)["nodes"]["n1"]["unknown"]
        whole = json.loads(rackcheck("audit", "-p", "linux-server", "-i", "inventory.yaml", "--json", "-q").out)
    verdicts = {v["rule"]: v["status"] for v in whole["nodes"]["n1"]["verdicts"]}
    told = {v["rule"]: json.dumps(v) for v in whole["nodes"]["n1"]["verdicts"]}
    unforeseen = ("has an EDAC driver", "neither dpkg nor rpm", "lists no CPU sensors")  # what a tool itself returns
    missing = {r for r, t in told.items() if "tool missing" in t and not any(word in t for word in unforeseen)}
    assert value
    assert missing <= set(value)
    assert {verdicts[rule] for rule in value} <= {"unknown", "n/a"}
    assert sum(verdicts[rule] == "unknown" for rule in value) >= 2


def without_tool(answer: dict[str, Any], missing: tuple[str, ...]) -> set[str]:
    """The probes with a fact in a node's document whose reason is that one of these programs was not found."""
    pattern = re.compile(rf"(?:^|[\s:/])(?:{'|'.join(map(re.escape, missing))}): (?:command )?not found")
    entries = {
        registry().catalogue.find(parse(path))
        for path, leaf in answer["facts"].items()
        if isinstance(leaf, dict) and leaf.get("unknown") == "tool missing" and pattern.search(leaf["detail"])
    }
    joins = {join.name for join in registry().joins}  # doctor names probes; a join lacks what its inputs lack
    return {entry.probe for entry in entries if entry is not None} - joins


@pytest.mark.parametrize(
    "hidden",
    [(), ("lscpu", "df", "dmesg", "ip"), ("systemctl", "journalctl", "getconf", "apt-config", "last")],
    ids=["as it is", "tools", "systemd"],
)
def test_the_probes_that_doctor_foretells_as_unknown_are_those_whose_facts_miss_a_tool(
    tmp_path: Path, hidden: tuple[str, ...]
) -> None:
    with serving(tmp_path / "s", force=box(tmp_path / "bin", *hidden)) as small:
        value = json.loads(doctor(node("n1", small), "--json").out)["nodes"]["n1"]
        answer = json.loads(rackcheck("facts", "n1", "-i", "inventory.yaml", "--json").out)
    troubles = value["planes"]["os"]["troubles"]
    missing = next((tuple(t["for"]) for t in troubles if t["trouble"] == Trouble.NO_TOOL), ("none",))
    assert {*hidden} <= {*missing}
    lost = without_tool(answer, missing)
    assert lost <= {*value["unknown"]}
    if [t["trouble"] for t in troubles] == [Trouble.NO_TOOL]:  # else sudo or closed files cost more
        assert lost == {*value["unknown"]}


def test_python3_is_missing_only_where_a_gpu_is_on_the_bus(tmp_path: Path) -> None:
    """On a machine without a GPU the questions answer that without python3; the facts agree."""
    gpus = {probe for probe in QUESTIONS.scripts if probe.startswith("gpu")}
    assert len(gpus) > 5
    without = WHO.replace("Python 3.10.12\n", "")
    with_one, *_ = QUESTIONS.read(capture(without, Output(0, "")))
    with_none, *_ = QUESTIONS.read(capture(without.replace("asked all\n", "idle python\nasked all\n"), Output(0, "")))
    assert gpus <= {*next(f.lost for f in with_one if f.trouble is Trouble.NO_PYTHON)}
    assert not [f for f in with_none if f.trouble is Trouble.NO_PYTHON]
    if any(Path("/sys/bus/pci/devices").glob("*/nvidia")) or Path("/usr/libexec/platform-python").exists():
        return
    with serving(tmp_path / "s", force=box(tmp_path / "bin", "python3")) as small:
        value = json.loads(doctor(node("n1", small), "--json").out)["nodes"]["n1"]
        facts = json.loads(rackcheck("facts", "n1", "gpu", "-i", "inventory.yaml", "--json").out)["facts"]
    blind = "gpu" in value["unknown"]
    assert blind == (Trouble.NO_PYTHON in [t["trouble"] for t in value["planes"]["os"]["troubles"]])
    assert blind == ("unknown" in facts["gpu"])


def test_a_node_without_timeout_gives_no_facts_and_a_reason(tmp_path: Path) -> None:
    with serving(tmp_path / "s", force=box(tmp_path / "bin", "timeout")) as small:
        (trouble,) = found(node("n1", small), "n1")["troubles"]
    assert (trouble["trouble"], trouble["for"]) == (Trouble.NO_FRAME, ["timeout", "head", "tail"])


# --- the BMC ---

ACCOUNTS = "/redfish/v1/AccountService/Accounts"
TREE: dict[str, Any] = {
    "/redfish/v1": {
        "RedfishVersion": "1.15.0", "Vendor": "Example", "Product": "Example Rack BMC",
        "Managers": {"@odata.id": "/redfish/v1/Managers"}, "Systems": {"@odata.id": "/redfish/v1/Systems"},
        "AccountService": {"@odata.id": "/redfish/v1/AccountService"},
        "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}},
    },
    "/redfish/v1/Managers": {"Members": [{"@odata.id": f"/redfish/v1/Managers/{n}"} for n in ("Rot", "BMC")]},
    "/redfish/v1/Managers/Rot": {"Id": "Rot", "ManagerType": "Service", "FirmwareVersion": "9"},
    "/redfish/v1/Managers/BMC": {"Id": "BMC", "ManagerType": "BMC", "Model": "AST2600", "FirmwareVersion": "24.09"},
    "/redfish/v1/Systems": {"Members": []},
    "/redfish/v1/AccountService": {"Accounts": {"@odata.id": ACCOUNTS}},
    ACCOUNTS: {"Members": [{"@odata.id": f"{ACCOUNTS}/{n}"} for n in ("1", "2", "3")]},
    f"{ACCOUNTS}/1": {"UserName": "admin", "RoleId": "Administrator"},
    f"{ACCOUNTS}/2": {"UserName": "root", "RoleId": "ReadOnly"},
    f"{ACCOUNTS}/3": {"UserName": "other", "RoleId": "Operator"},
}  # fmt: skip


def mockup(**more: Any) -> Mockup:
    return Mockup(bodies=TREE, password=PASSWORD, **more)


def test_a_bmc_reports_its_identity_and_our_role_and_gets_its_session_back() -> None:
    with mockup() as answering:
        answer = found(bmc("n1", answering.url, answering.fingerprint), "n1", "bmc")
        assert answering.sessions == {}
        assert answering.methods == {"GET", "POST", "DELETE"}
        assert f"{ACCOUNTS}/3" not in answering.gets
    who = answer["who"]
    assert (who["vendor"], who["model"], who["firmware"], who["redfish"]) == ("Example", "AST2600", "24.09", "1.15.0")
    assert (who["user"], who["role"]) == ("root", "ReadOnly")
    assert 0 <= who["get"] < 5  # rounded to milliseconds


def test_a_session_that_the_bmc_does_not_close_is_a_trouble_that_costs_no_fact() -> None:
    with mockup(faults={"DELETE session": ResourceFault(status=403)}) as keeping:
        done = doctor(bmc("n1", keeping.url, keeping.fingerprint), "--json")
        keeping.sessions.clear()
    answer = json.loads(done.out)["nodes"]["n1"]
    assert [t["trouble"] for t in answer["planes"]["bmc"]["troubles"]] == [Trouble.BMC_SESSION]
    assert "HTTP 403" in json.dumps(answer)
    assert answer["planes"]["bmc"]["who"]["model"] == "AST2600"
    assert "bmc_identity" not in answer["unknown"]


def test_the_seconds_of_a_get_are_those_the_bmc_takes() -> None:
    with mockup(latency=0.2) as slow:
        who = found(bmc("n1", slow.url, slow.fingerprint), "n1", "bmc")["who"]
    assert 0.2 <= who["get"] < 1


@pytest.mark.parametrize(
    "tree", ["nvidia-dgx-h100", "dell-poweredge-r750-idrac9-6.00", "supermicro-sys821ge-hgxh100", "nvidia-gb200-nvl"]
)
def test_a_recorded_bmc_identifies_itself(tree: str) -> None:
    with Mockup(shared("../redfish-mockups") / tree, password=PASSWORD) as recorded:
        answer = found(bmc("n1", recorded.url, recorded.fingerprint), "n1", "bmc")
        assert recorded.sessions == {}
    assert answer["troubles"] == []
    assert answer["who"]["firmware"]
    assert re.fullmatch(r"1\.\d+\.\d+", answer["who"]["redfish"])


def test_the_troubles_of_a_bmc_are_distinguished() -> None:
    limit = busy(message="IDRAC.2.8.RAC0218")
    html = ResourceFault(body=b"<html>a printer</html>")
    with ExitStack() as stack:
        silent = stack.enter_context(silent_port())
        forgets = {uri: ResourceFault(status=401) for uri in TREE if uri != "/redfish/v1"}
        well, full, starting, other, forgetful = (
            stack.enter_context(mockup(faults=faults))
            for faults in ({}, {"POST login": limit}, {"POST login": busy()}, {"/redfish/v1": html}, forgets)
        )
        strict = stack.enter_context(Mockup(bodies=TREE, password="another"))
        nodes = {
            "pin": (well.url, ":".join(["AB"] * 32)), "nopin": (well.url, ""), "wrong": (strict.url, strict.fingerprint),
            "forgetful": (forgetful.url, forgetful.fingerprint),
            "full": (full.url, full.fingerprint), "starting": (starting.url, starting.fingerprint),
            "other": (other.url, other.fingerprint), "closed": (refused_port(), ""), "silent": (silent, ""),
            "nowhere": ("https://no-such-bmc.invalid", ""),
        }  # fmt: skip
        done = doctor("".join(bmc(name, *place) for name, place in nodes.items()), "--json")
        assert {server.sessions == {} for server in (well, full, starting, other, forgetful, strict)} == {True}
        assert well.seen == {}
    values = {
        n: [t["trouble"] for t in e["planes"]["bmc"]["troubles"]] for n, e in json.loads(done.out)["nodes"].items()
    }
    assert values == {
        "pin": [Trouble.CERT_CHANGED], "nopin": [Trouble.CERT_UNKNOWN], "wrong": [Trouble.BMC_LOGIN],
        "forgetful": [Trouble.BMC_REJECTS], "full": [Trouble.BMC_FULL], "starting": [Trouble.BMC_BUSY], "other": [Trouble.BMC_ODD],
        "closed": [Trouble.REFUSED], "silent": [Trouble.HANGS], "nowhere": [Trouble.NO_NAME],
    }  # fmt: skip


def test_the_fingerprint_line_gives_what_the_inventory_needs() -> None:
    with mockup() as answering:
        (trouble,) = found(bmc("n1", answering.url), "n1", "bmc")["troubles"]
        (line,) = trouble["type"]
        shown = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
        fingerprint = shown.strip().rpartition("=")[2]
        assert fingerprint in trouble["seen"]
        assert found(bmc("n1", answering.url, fingerprint), "n1", "bmc")["troubles"] == []


def test_a_role_that_may_not_read_the_managers_costs_the_probes_that_need_them() -> None:
    denied = ResourceFault(status=403, body=b"{}")
    with mockup(faults={"/redfish/v1/Managers": denied}) as closed:
        done = doctor(bmc("n1", closed.url, closed.fingerprint), "--json")
    answer = json.loads(done.out)["nodes"]["n1"]
    assert [t["trouble"] for t in answer["planes"]["bmc"]["troubles"]] == [Trouble.BMC_ROLE]
    assert "bmc_identity" in answer["unknown"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (ResourceFault("drip"), Trouble.SLOW), (ResourceFault("hang"), Trouble.SLOW), (busy(), Trouble.BMC_BUSY),
        (ResourceFault(status=404), Trouble.BMC_GAP), (ResourceFault("flood"), Trouble.BMC_GAP),
    ],
    ids=["drip", "hang", "busy", "not there", "flood"],
)  # fmt: skip
def test_a_bmc_that_does_not_give_its_managers_is_not_ready(fault: ResourceFault, expected: Trouble) -> None:
    with mockup(faults={"/redfish/v1/Managers": fault}) as odd:
        began = time.monotonic()
        done = doctor(bmc("n1", odd.url, odd.fingerprint), "--json")
        assert time.monotonic() - began < 15
        assert odd.sessions == {}
    answer = json.loads(done.out)["nodes"]["n1"]
    assert [t["trouble"] for t in answer["planes"]["bmc"]["troubles"]] == [expected]
    assert "bmc_identity" in answer["unknown"]


def test_a_switch_trays_busybox_answers_the_same_questions(tmp_path: Path) -> None:
    """Busybox's own programs and nothing else: python3, lscpu and systemd are missing, and doctor reports them."""
    found_at = shutil.which("busybox")
    if found_at is None:
        if os.environ.get("CI"):
            pytest.fail("CI has no busybox: .ci/run must install it")
        pytest.skip("NO BUSYBOX HERE: install busybox to run this test")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in subprocess.run([found_at, "--list"], capture_output=True, text=True, check=True).stdout.split():
        if name != "lscpu":
            (folder / name).symlink_to(found_at)
    alone = f"exec env PATH={folder} {folder}/sh -c 'sed s,PATH=.PATH:[a-z/:]*,:, | sh -s'"
    with serving(tmp_path / "s", force=alone) as tray:
        answer = found(node("n1", tray), "n1")
    assert answer["who"]["kernel"].startswith("Linux ")
    assert answer["who"]["script"] > 0
    missing = next(t["for"] for t in answer["troubles"] if t["trouble"] == Trouble.NO_TOOL)
    assert {"lscpu", "systemctl", "timedatectl"} <= set(missing)


# --- many nodes ---


def test_seventy_two_nodes_with_dead_ones_among_them_end_within_fifteen_seconds(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dead nodes are waited for concurrently: ports that never answer, closed ports, names whose look-up hangs."""
    real = socket.getaddrinfo

    def hanging(host: Any, *rest: Any, **more: Any) -> Any:
        if str(host).endswith(".hangs"):
            time.sleep(60)
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    with silent_port() as url:
        nodes = node("dgx[001-004]", server) + node("dgx[005-040]", server, port=url.rpartition(":")[2])
        nodes += node("dgx[041-060]", server, port=str(free_port())) + node("dgx[061-072]", server, host="{node}.hangs")
        began = time.monotonic()
        done = doctor(nodes, "-p", "linux-server")
        assert time.monotonic() - began < 15
    assert done.status == 3
    assert done.out.rstrip().endswith("4 of 72 ready: dgx[001-004]")
    assert "dgx[061-072]" in done.out
    shown = done.out.splitlines()
    assert max(map(len, shown)) <= 80
    assert len(shown) <= 50
    assert "\x1b" not in done.out


def test_ctrl_c_prints_what_is_known_and_exits_130(server: Server, tmp_path: Path) -> None:
    with silent_port() as url:
        nodes = node("dead[1-800]", server, port=url.rpartition(":")[2]) + node("good", server)
        Path("inventory.yaml").write_text(
            f"rackcheck: 1\nnodes:\n{node('good', server)}{nodes.replace(node('good', server), '')}"
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "rackcheck", "doctor", "-p", "linux-server", "-q"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until(lambda: server.execs, "the node that answers was not checked")
        time.sleep(5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "Interrupted: " in out
    assert "1 of 801 ready: good" in out


def test_an_interrupted_visit_gives_the_bmcs_session_back() -> None:
    with mockup(faults={"/redfish/v1/Managers": ResourceFault("hang")}) as hangs:
        Path("inventory.yaml").write_text(f"rackcheck: 1\nnodes:\n{bmc('n1', hangs.url, hangs.fingerprint)}")
        process = subprocess.Popen(
            [sys.executable, "-m", "rackcheck", "doctor", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        until(lambda: hangs.sessions, "no session was opened")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        assert (process.returncode, hangs.sessions) == (130, {})


def test_an_exception_in_a_job_is_reported_as_such_and_not_as_silence() -> None:
    def job(number: int) -> int:
        return 10 // number

    done = dict(work([0, 5], job, threads=2, seconds=5, stop=threading.Event()))
    assert done[5] == 2
    assert isinstance(done[0], ZeroDivisionError)


def test_a_hanging_job_is_abandoned_and_another_thread_takes_its_place() -> None:
    def job(number: int) -> int:
        if number < 2:
            time.sleep(30)
        if number == 5:
            raise ValueError
        return number

    began = time.monotonic()
    done = dict(work(range(10), job, threads=2, seconds=0.5, stop=threading.Event()))
    assert time.monotonic() - began < 20  # of 30
    assert isinstance(done.pop(5), ValueError)
    assert done == {n: None if n < 2 else n for n in range(10) if n != 5}


def test_no_more_jobs_than_a_limit_run_at_the_same_time_and_the_others_go_on() -> None:
    running, most, lock = [0, 0], [0, 0], threading.Lock()

    def job(number: int) -> int:
        kind = number % 2
        with lock:
            running[kind] += 1
            most[kind] = max(most[kind], running[kind])
        time.sleep(0.02)
        with lock:
            running[kind] -= 1
        return number

    def limits(number: int) -> tuple[tuple[int, int], ...]:
        return ((0, 2),) if number % 2 else ()

    done = dict(work(range(40), job, threads=16, seconds=20, stop=threading.Event(), limits=limits))
    assert done == {n: n for n in range(40)}
    assert most[1] == 2
    assert most[0] > 2


def test_an_abandoned_job_gives_its_place_to_the_next_one() -> None:
    def job(number: int) -> int:
        time.sleep(30 if number == 0 else 0)
        return number

    one = work(range(4), job, threads=4, seconds=0.5, stop=threading.Event(), limits=lambda _: ((0, 1),))
    assert dict(one) == {0: None, 1: 1, 2: 2, 3: 3}


def test_names_are_looked_up_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = socket.getaddrinfo

    def noted(host: str, *rest: Any, **more: Any) -> Any:
        asked.append(host)
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    assert names.look_up(["127.0.0.1", "127.0.0.1", "a.invalid"], threading.Event()).keys() == {"a.invalid"}
    assert sorted(asked) == ["127.0.0.1", "a.invalid"]


# --- user errors ---


@pytest.mark.parametrize(
    "words",
    [
        ("-p", "no-such-profile"), ("--set", "a=b"), ("--user", "audit"), ("--sudoers", "n1"), ("--sudoers", "--json"),
        ("-i", "nowhere.yaml"), ("--sudoers", "--user", "a b"),
    ],
)  # fmt: skip
def test_a_user_error_is_one_message_and_exit_2(words: tuple[str, ...]) -> None:
    done = rackcheck("doctor", *words)
    assert (done.status, done.out) == (2, "")
    assert done.err
    assert "Traceback" not in done.err


def test_a_secret_that_cannot_be_had_costs_the_planes_that_need_it_and_no_other(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BMC_PASSWORD")
    with mockup() as answering:
        nodes = node("n1", server) + bmc("b[1-2]", answering.url, answering.fingerprint)
        document = json.loads(doctor(nodes, "--json").out)
        assert answering.connections == 0
    assert document["ready"] == ["n1"]
    (trouble,) = [trouble for trouble in document["troubles"] if trouble["trouble"] != Trouble.NO_TOOL]
    assert (trouble["trouble"], trouble["folded"]) == (Trouble.SECRET, "b[1-2]")
    (value,) = document["nodes"]["b1"]["planes"]["bmc"]["troubles"]
    assert value["seen"].startswith("env:BMC_PASSWORD: the environment has no BMC_PASSWORD")
    assert value["type"] == ["stty -echo; read -r BMC_PASSWORD; stty echo; export BMC_PASSWORD"]


def test_an_audit_without_its_secrets_names_each_with_its_nodes_and_contacts_none(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BMC_PASSWORD")
    with mockup() as answering:
        nodes = node("n1", server, password="env:NOT_SET") + bmc("b[1-3]", answering.url, answering.fingerprint)
        Path("inventory.yaml").write_text(f"rackcheck: 1\nnodes:\n{nodes}")
        before = server.connections
        done = rackcheck("audit", "-p", "h100-dgx", "-q")
        assert (answering.connections, server.connections) == (0, before)
    assert (done.status, done.out) == (2, "")
    assert "env:BMC_PASSWORD, for b[1-3]: the environment has no BMC_PASSWORD" in done.err
    assert "env:NOT_SET, for n1: the environment has no NOT_SET" in done.err


# --- mistakes in the inventory: reported as such, without contacting the node ---


@pytest.mark.parametrize("missing", ["password", "user"])
def test_a_bmc_without_a_login_in_the_inventory_is_not_knocked_at(missing: str) -> None:
    with mockup() as answering:
        nodes = re.sub(rf", {missing}: [^,}}]*", "", bmc("n1", answering.url, answering.fingerprint))
        assert missing not in nodes
        done = doctor(nodes, "--json")
        audited = rackcheck("audit", "-p", "h100-dgx", "-q", "--json") if missing == "password" else None
        assert answering.connections == 0
    answer = json.loads(done.out)["nodes"]["n1"]
    (trouble,) = answer["planes"]["bmc"]["troubles"]
    assert trouble["trouble"] == Trouble.NO_PASSWORD
    user = ["  user: audit"] if missing == "user" else []
    assert trouble["write"] == ["bmc:", *user, "  password: env:RACKCHECK_BMC_PASSWORD"]
    assert set(answer["unknown"]) == set(of_plane(PLAN, Plane.BMC))
    if audited is not None:
        assert "no password in the inventory" in audited.out


def test_a_ca_file_that_vouches_for_no_bmc_is_its_own_trouble(tmp_path: Path) -> None:
    (tmp_path / "junk.pem").write_text("no certificate\n")
    with mockup() as answering:
        for name, output in (("junk.pem", "contains no certificate in PEM form"), ("none.pem", "does not exist")):
            nodes = bmc("n1", answering.url).replace(" } }", f", ca: {name} }} }}")
            (trouble,) = found(nodes, "n1", "bmc")["troubles"]
            assert (trouble["trouble"], trouble["seen"]) == (Trouble.CA_FILE, f"{name} {output}")
            assert not any("ping" in line for line in trouble["type"])
        assert answering.connections == 0


def test_an_unusable_key_file_is_distinguished_from_a_refused_login(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    junk, locked = tmp_path / "junk", tmp_path / "locked"
    junk.write_text("no key\n")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "open-sesame", "-f", locked], check=True)
    monkeypatch.setenv("WRONG", "not-it")
    nodes = node("n1", server, key=str(junk)) + node("n2", server, key=str(locked))
    nodes += node("n3", server, key=str(locked), passphrase="env:WRONG")
    done = doctor(nodes, "--json")
    values = {n: e["planes"]["os"]["troubles"][0] for n, e in json.loads(done.out)["nodes"].items()}
    assert {trouble["trouble"] for trouble in values.values()} == {Trouble.KEY_FILE}
    assert values["n1"]["seen"] == f"{junk} contains no readable private key"
    assert values["n1"]["type"] == [f"ssh-keygen -y -f {junk}"]
    assert values["n2"]["seen"] == f"{locked} encrypted, and no `passphrase` is set"
    assert (values["n2"]["type"], values["n2"]["write"][0]) == ([f"ssh-add {locked}"], "ssh:")
    assert values["n3"]["seen"] == f"{locked} cannot be decrypted with its passphrase"
    assert "http" not in done.out
    assert "not-it" not in done.out


def test_the_command_that_installs_a_key_makes_a_missing_public_half(server: Server, tmp_path: Path) -> None:
    stranger = keygen(tmp_path / "stranger")
    stranger.with_suffix(".pub").unlink()
    (trouble,) = found(node("n1", server, key=str(stranger), user="audit"), "n1")["troubles"]
    first, copy, _ = trouble["type"]
    assert copy == f"ssh-copy-id -p {server.port} -i {stranger}.pub audit@127.0.0.1"
    subprocess.run(["sh", "-c", first], check=True)
    assert stranger.with_suffix(".pub").read_text().startswith("ssh-")


# --- files ---


def test_a_plain_shell_names_of_each_glob_the_first_file_it_may_not_read_and_none_that_is_not_there() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for place, mode in (("open", 0o644), ("closed", 0), ("many/f0", 0o644), ("many/f1", 0), ("many/f2", 0)):
            (folder / place).parent.mkdir(exist_ok=True)
            (folder / place).write_text("x\n")
            (folder / place).chmod(mode)
        (folder / "locked").mkdir(0o600)
        globs = tuple(
            f"{name}/{place}" for place in ("open", "closed", "absent", "many/f*", "locked/in", "no/*/at/all")
        )
        ((text, some),) = file_access.questions(globs)
        plain = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True, **plain)  # type: ignore[call-overload]
    assert done.stderr == ""
    assert file_access.refused(Output(0, done.stdout), some) == {
        f"{name}/{file}": f"{name}/{glob}"
        for file, glob in (("closed", "closed"), ("many/f1", "many/f*"), ("locked/in", "locked/in"))
    }


def test_a_simulated_node_with_an_unreadable_file_reports_the_probes_lost() -> None:
    held = machine.load(machine.shipped()["dgx-h100"], "n1", 1).host
    place = "/proc/meminfo"
    files = {path: text for path, text in held.files.items() if path != place}
    shell = SimulatedShell(replace(held, files=files, refused={**held.refused, place: Unknown(Reason.DENIED)}))
    mark = "0" * 32
    raw = shell.run(script.compose(QUESTIONS.asked, mark))
    answered = split(raw, QUESTIONS.asked, mark, Unknown(Reason.TIMEOUT))
    findings, system, _ = QUESTIONS.read(answered.capture)
    assert system is not None
    (closed,) = [finding for finding in findings if finding.trouble is Trouble.NO_READ]
    assert closed.things == (place,)
    assert closed.lost == QUESTIONS.files[place]


@given(st.text(max_size=200), st.integers(0, 255))
def test_no_answer_about_files_is_ready_unless_it_came_whole(out: str, status: int) -> None:
    reading = file_access.refused(Output(status, out), ("/a", "/b/*"))
    assert isinstance(reading, Unknown) == (f"\n{file_access.END}\n" not in f"\n{out}")


def test_a_thousand_files_are_checked_in_commands_short_enough_for_a_shell() -> None:
    globs = [f"/sys/devices/virtual/some/where/{n}/*" for n in range(1200)]
    asked = list(file_access.questions(globs))
    assert [glob for _, some in asked for glob in some] == globs
    assert max(len(text) for text, _ in asked) < 1 << 17


# --- planes and patience ---


def test_only_the_named_planes_are_read_and_counted(server: Server) -> None:
    with mockup() as answering:
        both = node("n1", server).replace(
            " } }", f" }}, {bmc('', answering.url, answering.fingerprint).partition('{ ')[2]}"
        )
        document = json.loads(doctor(both, "--json", "--planes", "os", "-p", "h100-dgx").out)
        assert answering.connections == 0
        before = server.connections
        only = json.loads(doctor(both, "--json", "--planes", "bmc").out)
        assert server.connections == before
    assert list(document["nodes"]["n1"]["planes"]) == ["os"]
    assert list(only["nodes"]["n1"]["planes"]) == ["bmc"]
    assert rackcheck("doctor", "--planes", "moon").status == 2


def test_whoever_gives_more_time_hears_the_slow_one() -> None:
    with mockup(latency=1.2) as slow:
        nodes = bmc("n1", slow.url, slow.fingerprint)
        hasty = json.loads(doctor(nodes, "--json", "--timeout", "1").out)
        patient = json.loads(doctor(nodes, "--json", "--timeout", "30").out)
    assert (hasty["ready"], patient["ready"]) == ([], ["n1"])


@given(st.floats(1, 600))
def test_a_plane_is_never_abandoned_before_its_own_deadline(seconds: float) -> None:
    pace = VisitLimits(seconds)
    system, card = pace.system, pace.bmc
    assert system.deadline == card.deadline == seconds
    assert 0 < pace.question < system.deadline
    assert pace.patience > system.connect + system.deadline
    assert pace.patience > card.deadline + card.goodbye
    assert VisitLimits().patience > VisitLimits().system.connect + VisitLimits().system.deadline


# --- wording ---


def test_a_node_without_a_bmc_is_ready_on_its_planes_and_doctor_states_it(server: Server) -> None:
    done = doctor(node("n1", server))
    assert done.status == 0
    assert "no BMC in the inventory, so this plane is not read: n1" in done.out
    assert json.loads(doctor(node("n1", server), "--json").out)["nodes"]["n1"]["without"] == ["bmc"]
    needed = doctor(node("n1", server), "-p", "h100-dgx")
    assert "bmc: no BMC in the inventory" in needed.out
    assert "so not read" not in needed.out


def test_what_doctor_gives_to_write_can_be_pasted_into_an_inventory(server: Server, tmp_path: Path) -> None:
    done = doctor(node("n1", server), "-p", "h100-dgx")
    block = re.search(r"^( +)bmc:\n(?:\1  .*\n)+", done.out, re.MULTILINE)
    assert block is not None
    assert "\\" not in block[0]
    entry = textwrap.indent(textwrap.dedent(block[0]), "    ")
    (tmp_path / "new.yaml").write_text(f"rackcheck: 1\nnodes:\n  n1:\n    host: a\n{entry}")
    taken = inventory.load(tmp_path / "new.yaml").nodes["n1"].bmc
    assert taken is not None
    assert (taken.url, taken.password) == ("https://n1-bmc", "env:RACKCHECK_BMC_PASSWORD")


def test_without_any_inventory_doctor_states_how_to_create_one() -> None:
    shown = " ".join(rackcheck("doctor", "-q", "-p", "h100-dgx").out.split())
    assert "no inventory: nodes were given by name only" in shown
    assert "rackcheck inventory import" in shown
    assert "bmc: url" not in shown


def test_one_is_one_and_a_fast_bmc_needs_no_reckoning() -> None:
    who = Controller("Example", "", "", "1", "1.15", "root", "", 0.004)
    visit = PlaneVisit("n1", Plane.BMC, PlaneAddress("n1", "n1-bmc", "443", "root"), (), who)
    shown = "\n".join(map(str, lines(Ward({"n1": "x"}, {"n1": frozenset({Plane.BMC})}, (visit,), PLAN), 80)))
    assert "bmc 1 answers: n1" in " ".join(shown.split())
    assert "0 s" not in shown.replace("0.00 s", "")


# --- pure: tools ---


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (Shell("lspci -n"), {"lspci": ""}),
        (Shell("nvme log {}", each="/dev/nvme[0-9] /x/*"), {"nvme": "some /dev/nvme[0-9] /x/*"}),
        (Shell("if command -v dcgmi >/dev/null; then dcgmi -v; else echo none; fi"), {}),
        (Shell("command -v slurmd >/dev/null && slurmd -V || echo none"), {}),
        (Shell("command -v nvidia-smi >/dev/null || { echo 'no' >&2; exit 127; }\nnvidia-smi -q"), {"nvidia-smi": ""}),
        (Shell("if rpm -q x; then a; elif dpkg y; then b; fi"), {}),
        (
            Shell("if grep -q zfs /x; then zpool status; else uname; fi && echo end"),
            {"grep": "", "zpool": "grep -q zfs /x", "uname": "! { grep -q zfs /x; }"},
        ),
        (Shell("[ -e /a ] || { echo 'no file'; exit 0; }\ncat /a | tr a b"), {"cat": "[ -e /a ]", "tr": "[ -e /a ]"}),
        (Shell("[ -e /a ] || { echo 'no file' >&2; exit 1; }\ncat /a"), {"cat": ""}),
        (
            Shell('f() {\n[ -e "$1" ]\n}\nf /a || { echo none; exit 0; }\nzed /a; f x'),
            {"zed": 'f() {\n[ -e "$1" ]\n}\nf /a'},
        ),
        (Shell("if a; then if b; then c; fi; fi"), {"a": "", "b": "", "c": ""}),
    ],
)
def test_a_question_needs_a_program_only_where_it_would_call_it(ask: Shell, expected: dict[str, str]) -> None:
    assert {need.tool: need.where for need in needs(ask)} == expected


def test_the_devices_of_a_node_decide_whether_their_tools_are_missing() -> None:
    def lost(*wheres: str) -> tuple[str, ...]:
        idle = "".join(f"idle {n}\n" for n, where in enumerate(QUESTIONS._wheres) if where in wheres)
        gone = "".join(f"missing {tool}\n" for tool in ("nvme", "lspci", "zpool"))
        found, *_ = QUESTIONS.read(capture(WHO.replace("asked all\n", f"{gone}{idle}asked all\n"), Output(0, "")))
        return next(finding.things for finding in found if finding.trouble is Trouble.NO_TOOL)

    none = [where for where in QUESTIONS._wheres if "nvme" in where or "zfs" in where]
    assert len(none) == 2
    assert lost() == ("lspci", "nvme", "zpool")
    assert lost(*none) == ("lspci",)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a | b && c; d & (e; f) || g", "a b c d e f g"),
        ("x=1 y=2 foo bar >z 2>&1 | baz", "foo baz"),
        ('echo "$(date +%s) $(uname)"', "date uname"),
        ("for i in a b c; do lscpu; done", "lscpu"),
        ("case $x in a|b) foo;; *) bar;; esac; baz", "foo bar baz"),
        ("case $x in a) foo;;\nb) bar;; esac; baz", "foo bar baz"),
        ("case $x in\na) foo;; esac; baz", "foo baz"),
        ("if ! grep x; then awk y; else sed z; fi", "grep awk sed"),
        ("echo $((1+2)) `id`", "id"),
        ("# c d\nfoo # bar\n'my' x", "foo my"),
        ("2>/dev/null foo 3>x", "foo"),
        ('"$p" -', ""),
        ('ls $(cat "a b" | sort) z', "ls cat sort"),
        ("command -v x || command -v y", ""),
        ("v=$(lspci -n) && w", "lspci w"),
        ("while read -r l; do cut -f1; done <x", "cut"),
        ("sed 's/;rm/|x/' \"a;b\" a\\;c", "sed"),
    ],
)
def test_words_in_command_position_are_found(command: str, expected: str) -> None:
    assert tools(command) == tuple(expected.split())


@pytest.mark.parametrize("name", SHELLS)
def test_a_real_shell_misses_no_program_that_is_not_among_a_probes_tools(name: str, tmp_path: Path) -> None:
    """A shell that finds no program at all complains about each one that it calls."""
    sh = shutil.which("dash") or shutil.which("sh")
    assert sh is not None
    done = subprocess.run(
        [sh, "-c", named(SHELLS[name].command)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    missed = set(re.findall(r": ([^:\s]+): (?:command )?not found", done.stderr))
    assert missed <= set(tools(SHELLS[name].command))


def test_every_probe_that_calls_a_program_is_known_to_call_one() -> None:
    """Only probes that use shell built-ins alone call none."""
    own = {name for name, ask in SHELLS.items() if not tools(ask.command)}
    by_itself = r"(?:[a-z]+\(\) \{\n(?:[^}\n].*\n)*\}\n)*(echo |if |for |there |n\(\) |n=0; for |\[ )"
    assert {name for name in own if not re.match(by_itself, SHELLS[name].command)} == set()
    assert tools(SHELLS["cpu"].command) == ("lscpu",)
    assert "python3" in looked_for(SHELLS["gpu"].command)


@given(st.text(alphabet="ab '\"$(){}`;|&<>\\\n#=-!", max_size=60))
def test_no_text_stops_the_search_for_tools(text: str) -> None:
    assert all(re.fullmatch(r"[\w./+-]+", tool) for tool in tools(text))


def test_a_debian_package_of_the_table_holds_its_program() -> None:
    if shutil.which("dpkg") is None:
        pytest.skip("no Debian here to ask")
    for tool in tools_of_all():
        name = tool.rpartition("/")[2]
        output = subprocess.run(["dpkg", "-S", f"*bin/{name}"], capture_output=True, text=True, check=False).stdout
        owners = {
            row.partition(":")[0]
            for row in output.splitlines()
            if row.endswith(f"bin/{name}") and "diversion" not in row
        }
        assert not owners or name not in PACKAGES or PACKAGES[name] in owners, owners


def test_doctor_has_a_source_for_every_program_that_a_probe_runs() -> None:
    names = {tool.rpartition("/")[2] for tool in tools_of_all()}
    assert names - PACKAGES.keys() - MAKERS.keys() - DAEMONS.keys() == set()
    assert len({*PACKAGES, *MAKERS, *DAEMONS}) == len(PACKAGES) + len(MAKERS) + len(DAEMONS)


# --- pure: what answers mean ---

PLAN = Plan(registry().probes)
QUESTIONS = Questions(PLAN)


def capture(first: str, second: Output | None = None, *, root: Output | None = None) -> NodeCapture:
    """A node with these answers to the first question, to sudo's, and to each of root's."""
    looks, *rest = QUESTIONS.asked
    answers = {looks.command: Output(0, first)}
    for question in rest:
        if question in QUESTIONS._files:
            answers[question.command] = Output(0, f"{file_access.END}\n")
            continue
        answer = root if question.root else second
        answers[question.command] = answer or Output(0, "")
    return NodeCapture(commands=answers)


WHO = 'uid 1000\nuser audit\nkernel Linux 6.8\nsent 12.34\nname "Ubuntu 22.04"\nasked all\nPython 3.10.12\n'
REFUSED = Output(1, "", "sudo: a password is required\n")


def test_the_sudo_grant_is_reported_in_one_word() -> None:
    everything = Output(0, "User audit may run the following commands on n1:\n    (ALL : ALL) NOPASSWD: ALL\n")
    values = {
        Grant.ALL: capture(WHO, everything),
        Grant.LIST: capture(WHO, Output(0, "    (root) NOPASSWD: /usr/bin/dmesg\n")),
        Grant.NONE: capture(WHO, REFUSED, root=REFUSED),
        Grant.NO_PROGRAM: capture(WHO, Output(0, "no sudo\n"), root=Output(127, "", "sh: 1: sudo: not found\n")),
        Grant.ROOT: capture(WHO.replace("1000", "0")),
    }
    for grant, answers in values.items():
        findings, system, sent = QUESTIONS.read(answers)
        assert system is not None
        assert (system.grant, system.name, sent) == (grant, "Ubuntu 22.04", 12.34)
        assert [f.trouble for f in findings] == ([Trouble.NO_ROOT] if grant in {Grant.NONE, Grant.NO_PROGRAM} else [])


def test_a_sudo_rule_that_needs_a_password_is_no_grant() -> None:
    """`(ALL) ALL` without NOPASSWD: sudo lists it, but refuses without a password."""
    listed = Output(0, "User audit may run the following commands on n1:\n    (ALL : ALL) ALL\n")
    findings, system, _ = QUESTIONS.read(capture(WHO, listed, root=REFUSED))
    assert system is not None
    assert (system.grant, [f.trouble for f in findings]) == (Grant.NONE, [Trouble.NO_ROOT])


def test_a_command_that_needs_longer_than_a_visit_is_refused_only_where_sudo_itself_hangs() -> None:
    late, listed = Output(124, ""), Output(0, "    (root) NOPASSWD: /usr/sbin/smartctl\n")
    findings, system, _ = QUESTIONS.read(capture(WHO, listed, root=late))
    assert system is not None
    assert (system.grant, findings) == (Grant.LIST, ())
    findings, system, _ = QUESTIONS.read(capture(WHO, late, root=late))
    assert system is not None
    assert (system.grant, [f.trouble for f in findings]) == (Grant.NONE, [Trouble.NO_ROOT])


def test_a_tool_that_is_missing_is_no_sign_that_sudo_grants_anything() -> None:
    answers = dict(capture(WHO, REFUSED, root=REFUSED).commands)
    gone = {name: Output(127, "", "sh: nvme: not found") for name in answers if name.startswith("nvme ")}
    assert gone
    findings, system, _ = QUESTIONS.read(NodeCapture(commands={**answers, **gone}))
    assert system is not None
    assert (system.grant, [f.trouble for f in findings]) == (Grant.NONE, [Trouble.NO_ROOT])
    assert not [command for finding in findings for command in finding.things if command.startswith("nvme ")]


def test_doctor_runs_only_a_handful_of_commands_on_a_node() -> None:
    """Only questions about users, permissions and root: none that the login can answer by itself."""
    assert all(isinstance(question, Shell) for question in QUESTIONS.asked)
    assert sum(not question.root for question in QUESTIONS.asked) <= 4
    assert {question.command for question in QUESTIONS.asked if question.root} == {
        probe.ask.command for probe in PLAN.probes if isinstance(probe.ask, Shell) and probe.ask.root
    }


@given(st.text(max_size=200), st.text(max_size=80), st.integers(0, 255))
def test_nothing_that_a_node_prints_stops_doctor_or_moves_a_terminal(out: str, err: str, status: int) -> None:
    for first in (out, f"{WHO}{out}", f"name {out}\n{WHO}"):
        answer = Output(status, out, err)
        found, system, _ = QUESTIONS.read(capture(first, answer, root=answer))
        visit = PlaneVisit("n1", Plane.OS, PlaneAddress("n1", "n1", "22", "audit"), found, system)
        ward = Ward({"n1": "compute"}, {"n1": frozenset({Plane.OS})}, (visit,), PLAN)
        text = "\n".join(map(str, lines(ward, 80)))
        assert all(c == "\n" or c.isprintable() for c in text)
        assert all(c == "\n" or c.isprintable() for c in report.text(document(ward, "")))


bodies = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.just({"@odata.id": "/redfish/v1/Managers"}),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["Members", "Vendor", "@odata.id", "UserName", "RoleId", "Accounts", "AccountService", "Managers"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["/redfish/v1", "/redfish/v1/Managers", ACCOUNTS]), bodies, max_size=3))
def test_no_bmc_response_stops_doctor(text: dict[str, Any]) -> None:
    held: dict[str, Body | Unknown] = {u: b if isinstance(b, dict) else Unknown(Reason.DENIED) for u, b in text.items()}
    who = bmc_plane.read(held, "root", [0.1])
    assert all(str(getattr(who, name)).isprintable() for name in who.__dataclass_fields__)
    bmc_plane.next_account(held, "root")
    list(bmc_plane.unread(held, PLAN))


@pytest.mark.parametrize("members", [{}, {"Members": None}, {"Members": "x"}, {"Members": [{"@odata.id": 7}]}])
def test_a_collection_without_a_list_of_members_is_not_read(members: dict[str, Any]) -> None:
    held = {uri: body for uri, body in TREE.items() if uri.count("/") < 4} | {"/redfish/v1/Systems": members}
    (trouble,) = bmc_plane.unread(held, PLAN)
    assert trouble.trouble is Trouble.BMC_GAP
    assert trouble.seen.startswith("/redfish/v1/Systems: ")
    assert not list(bmc_plane.unread(TREE, PLAN))


# --- pure: advice and folding ---

PLACES = (
    PlaneAddress("dgx01", "dgx01.mgmt", "2222", "audit", "~/.ssh/id_ed25519", "~/.ssh/known_hosts"),
    PlaneAddress("dgx01", "dgx01-bmc", "443", "root"),
    PlaneAddress("localhost", "localhost", user="audit"),
    PlaneAddress("x", "a host; rm -rf /", "22", "$(id)", "/tmp/a key", "/tmp/k'n", "alias"),
)


@pytest.mark.parametrize("trouble", list(Trouble))
def test_every_trouble_has_words_and_lines_that_a_shell_takes(trouble: Trouble) -> None:
    for place in PLACES:
        value = advice(PlaneTrouble(trouble, "", ("lscpu", "no-such-tool")), place)
        assert value.words.endswith((".", "?", ":"))
        for line in value.lines:
            assert subprocess.run(["sh", "-n", "-c", line], check=False).returncode == 0, line
            assert "rm" not in [word for word in shlex.split(line, comments=True) if word == "rm"]


def test_what_a_maker_ships_is_not_looked_for_in_a_distribution() -> None:
    place = PlaneAddress("n1", "n1", "22", "audit")
    both = advice(
        PlaneTrouble(Trouble.NO_TOOL, "", ("apt-config", "nvidia-smi", "/usr/lpp/mmfs/bin/mmgetstate")), place
    )
    assert "NVIDIA's driver, IBM Storage Scale." in both.words
    assert both.lines == ("apt-get install apt",)
    theirs = advice(PlaneTrouble(Trouble.NO_TOOL, "", ("mlxlink", "mlxconfig")), place)
    assert theirs.words.count("MFT") == 1
    assert theirs.lines == ()
    ours = advice(PlaneTrouble(Trouble.NO_TOOL, "", ("dmidecode",)), place)
    assert ours.lines == ("apt-get install dmidecode", "dnf install /usr/sbin/dmidecode")


def test_no_line_to_type_starts_a_daemon_or_changes_who_keeps_the_time() -> None:
    """Packages whose own units run a daemon (Debian 12), and packages that conflict with each other."""
    daemons = {"chrony", "lldpd", "munge", "ntpsec", "ntp", "openntpd", "slurm-client", "slurmd", "smartmontools"}
    value = advice(PlaneTrouble(Trouble.NO_TOOL, "", QUESTIONS.tools), PlaneAddress("n1", "n1", "22", "audit"))
    apt, dnf = (line.split() for line in value.lines)
    assert "ethtool" in apt
    assert not daemons & {*apt}
    assert not {"smartctl", "lldpctl", "scontrol", "chronyc", "ntpq", "slurmd"} & {w.rpartition("/")[2] for w in dnf}
    assert (
        "Do not install these just for an audit, as a daemon comes with each: lldpctl (lldpd), scontrol (munged), smartctl (smartd)."
        in value.words
    )
    alone = advice(PlaneTrouble(Trouble.NO_TOOL, "", ("lldpctl",)), PlaneAddress("n1", "n1", "22", "audit"))
    assert (alone.lines, alone.words.endswith("Without it, these facts stay unknown.")) == ((), True)


def test_lines_for_several_nodes_print_node_where_they_differ() -> None:
    several = [PlaneAddress(f"dgx{n}", f"dgx{n}.mgmt", "22", "audit", "k", "known") for n in (1, 2)]
    assert together(several).host == "NODE.mgmt"
    assert together(several).user == "audit"
    assert together([PlaneAddress("a", "10.0.0.1", "22"), PlaneAddress("b", "10.0.0.2", "23")]).host == "HOST"
    (line, *_) = advice(PlaneTrouble(Trouble.KEY_UNKNOWN), together(several)).lines
    assert line == "ssh-keyscan NODE.mgmt > NODE.hostkey"


def test_advised_commands_use_the_jump_hosts_of_the_node() -> None:
    behind = PlaneAddress("n1", "n1", "2222", "audit", jump="a@b1,b2:22")
    (scan, *_) = advice(PlaneTrouble(Trouble.KEY_UNKNOWN), behind).lines
    assert scan == "ssh -J a@b1 ssh://b2:22 ssh-keyscan -p 2222 n1 > n1.hostkey"
    (line, *_) = advice(PlaneTrouble(Trouble.CUT), behind).lines
    assert line.startswith("ssh -J a@b1,b2:22 -p 2222 audit@n1 ")


def hall(count: int) -> Ward:
    """A hall with many faults, each on some nodes."""
    visits = []
    for n in range(1, count + 1):
        name = f"dgx{n:03}"
        place = PlaneAddress(name, f"{name}.mgmt", "22", "audit", "~/.ssh/id", "~/.ssh/known_hosts")
        who = System("Ubuntu 22.04", f"Linux 5.{n % 3}", "audit", Grant.LIST, "3.10", 0.1 * (n % 7), 0.2)
        kinds = {7: Trouble.KEY_CHANGED, 11: Trouble.SILENT, 13: Trouble.LOGIN}
        trouble = next((t for k, t in kinds.items() if n % k == 0), None)
        finding = PlaneTrouble(trouble, f"seen only on {name}", (), of_plane(PLAN, Plane.OS)) if trouble else None
        visits.append(PlaneVisit(name, Plane.OS, place, (finding,) if finding else (), None if finding else who))
        visits.append(PlaneVisit(name, Plane.BMC, PlaneAddress(name, f"{name}-bmc", "443", "root")))
    planes = frozenset({Plane.OS, Plane.BMC})
    return Ward({v.node: "compute" for v in visits}, {v.node: planes for v in visits}, tuple(visits), PLAN)


def test_seventy_two_nodes_fit_a_screen_of_eighty_columns() -> None:
    shown = [str(line) for line in lines(hall(72), 80)]
    assert len(shown) <= 64
    assert max(map(len, shown)) <= 80
    assert sum("seen only on" in line for line in shown) <= 9


def test_a_node_that_was_not_reached_is_not_ready() -> None:
    whole = hall(3)
    cut = Ward(whole.roles, whole.planes, whole.visits[:3], PLAN, interrupted=True)
    assert whole.ready == ("dgx001", "dgx002", "dgx003")
    assert cut.ready == ("dgx001",)
    assert "Interrupted: 2 of 3 not read completely: dgx[002-003]" in [str(line) for line in lines(cut, 80)]


# --- pure: what will be unknown ---

RULES = """\
rackcheck: 1
profile: p
version: 1
params: { site: { default: unset } }
rules:
  cpu: { fact: cpu.threads, present: true }
  after: { fact: kernel.release, present: true, needs: [cpu] }
  later: { fact: kernel.release, present: true, needs: [after] }
  free: { fact: kernel.release, present: true }
  both: { fact: kernel.release, present: true, when: { fact: cpu.threads, at-least: 1 } }
  other: { fact: kernel.release, present: true, role: nvswitch-tray }
"""


def test_a_rule_is_blind_by_its_facts_by_its_condition_and_by_what_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(RULES)
    profile = library.load(str(file), registry().catalogue, {}, ())
    catalogue = registry().catalogue
    giver = next(e.probe for e in catalogue.entries.values() if e.pattern == "cpu.threads")
    rules = scope(profile, "compute")
    assert blind(rules, catalogue, {giver}) == ("cpu", "after", "later", "both")
    assert blind(rules, catalogue, set()) == ()
    everything = of_plane(plan(profile.facts(), registry().probes, catalogue), Plane.OS)
    assert blind(rules, catalogue, everything) == ("cpu", "after", "later", "free", "both")


def test_many_rules_are_counted_by_their_first_word_and_the_document_has_each() -> None:
    profile = library.load("linux-server", registry().catalogue, {}, ())
    silent = [probe.name for probe in registry().probes if probe.plane is Plane.OS and probe.name != "mounts"]
    finding = PlaneTrouble(Trouble.CUT, "", (), tuple(silent))
    visit = PlaneVisit("n1", Plane.OS, PlaneAddress("n1", "n1", "22"), (finding,))
    planes = {"n1": frozenset({Plane.OS})}
    ward = Ward({"n1": "compute"}, planes, (visit,), PLAN, profile, registry().catalogue)
    shown = " ".join(" ".join(str(line) for line in lines(ward, 80)).split())
    rules = ward.gap("n1")
    counts = {word: int(count) for word, count in re.findall(r"(\w+)\.\* \(([0-9]+)\)", shown)}
    assert len(rules) > 30
    assert counts == {
        w: n for w in {r.partition(".")[0] for r in rules} if (n := sum(r.startswith(f"{w}.") for r in rules)) > 1
    }
    assert document(ward, "")["nodes"]["n1"]["unknown"] == list(rules)


def test_a_bmc_that_no_inventory_names_is_a_trouble_only_where_a_profile_needs_it(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(
        "rackcheck: 1\nprofile: b\nversion: 1\nrules:\n  v: { fact: bmc.vendor, present: true }\n"
        "  k: { fact: kernel.release, present: true }\n"
    )
    without = rackcheck("doctor", "localhost", "-q", "--json")
    needed = rackcheck("doctor", "localhost", "-q", "--json", "-p", tmp_path / "b.yaml")
    planes = json.loads(needed.out)["nodes"]["localhost"]
    assert "bmc" not in json.loads(without.out)["nodes"]["localhost"]["planes"]
    assert needed.status == 3
    assert [t["trouble"] for t in planes["planes"]["bmc"]["troubles"]] == [Trouble.NO_BMC]
    assert planes["unknown"] == ["v"]


def test_doctor_stores_nothing_and_names_itself_in_the_help(tmp_path: Path) -> None:
    rackcheck("doctor", "-q")
    assert not list((tmp_path / "home").glob("**/*"))
    assert "rackcheck doctor --sudoers" in rackcheck("doctor", "--help").out
    assert "doctor" in rackcheck("--help").out
