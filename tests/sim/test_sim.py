"""The simulated rack: real SSH, real HTTPS, machines that answer as recorded, faults where the scenario puts them."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import rackcheck
from trees import tree
from waiting import until

from rackcheck.inventory import load
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.sim import faults, scenario
from rackcheck.sim.child import running
from rackcheck.sim.rack import SimRack
from rackcheck.sim.shape import scenario as shape
from rackcheck.sim.shell import jobs

ONE = """\
rackcheck: 1
scenario: one
nodes: {{ n1: {{ machine: dgx-h100 }} }}
faults: {faults}
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "rack.yaml"
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimRack]:
    """One healthy node."""
    folder = tmp_path_factory.mktemp("clean")
    with SimRack(scenario.load(written(folder, ONE.format(faults="[]"))), folder) as rack:
        yield rack


def document(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)
    return found


# ---- the wire --------------------------------------------------------------------------------------------------------


def test_a_recorded_machine_gives_the_same_facts_through_the_simulator(tmp_path: Path) -> None:
    assert rackcheck("audit", "localhost", "-p", "linux-server", "-o", str(tmp_path / "first")).status in {0, 1, 3}
    again = rackcheck("audit", "--rack", f"sim:{tmp_path / 'first'}", "-p", "linux-server", "-o", str(tmp_path / "2"))
    assert again.status in {0, 1, 3}, again.err
    rows = [
        document(rackcheck("facts", "localhost", "--from", str(tmp_path / run), "--json").out)["facts"]
        for run in ("first", "2")
    ]
    assert len(rows[0]) > 100
    for facts in rows:
        facts.pop("time.offset", None)  # the one fact that moves
        facts.pop("node.simulator")  # the mark of a simulated node
        for leaf in facts.values():
            leaf.pop("time")
    assert rows[0] == rows[1]


def test_a_stored_run_of_a_rack_is_a_rack_that_is_judged_the_same(clean: SimRack, tmp_path: Path) -> None:
    def judged(*whom: object) -> dict[str, str]:
        words = ("-p", "h100-dgx", "--json", "-q", "-o", tmp_path / f"run{len(list(tmp_path.iterdir()))}")
        done = rackcheck("audit", *whom, *words)
        assert done.status == 0, done.err
        return {v["rule"]: v["status"] for v in document(done.out)["nodes"]["n1"]["verdicts"]}

    first = judged("-i", clean.inventory)
    assert judged("--rack", f"sim:{tmp_path / 'run0'}") == first
    assert "pass" in first.values()


@pytest.mark.skipif(shutil.which("ssh") is None, reason="NO OPENSSH CLIENT HERE")
def test_openssh_logs_in_and_runs_a_command(clean: SimRack) -> None:
    node = load(clean.inventory).nodes["n1"]
    options = ["-o", f"UserKnownHostsFile={node.ssh.known_hosts}", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"]
    command = ["ssh", *options, "-p", str(node.ssh.port), "-i", node.ssh.key, f"{node.ssh.user}@{node.host}"]
    done = subprocess.run([*command, "cat /proc/sys/kernel/hostname"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "n1\n"), done.stderr
    other = subprocess.run([*command, "reboot"], capture_output=True, text=True, check=False)
    assert other.returncode == 127
    assert "no reply" in other.stderr


def test_a_script_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="not the script"):
        jobs("rm -rf /\n")


def request(rack: SimRack, method: str, uri: str, body: object = None, token: str = "") -> tuple[int, Any, Any]:
    """Send HTTPS requests to the first BMC without our own client; returns status, body, headers."""
    bmc = load(rack.inventory).nodes["n1"].bmc
    assert bmc is not None
    context = ssl._create_unverified_context()  # the test compares fingerprints elsewhere
    data = None if body is None else json.dumps(body).encode()
    headers = {"X-Auth-Token": token} if token else {}
    asked = urllib.request.Request(f"{bmc.url}{uri}", data, headers, method=method)
    try:
        with urllib.request.urlopen(asked, context=context, timeout=10) as answer:
            return answer.status, json.loads(answer.read() or b"{}"), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}"), error.headers


def session(rack: SimRack) -> tuple[str, str]:
    password = (rack.folder / "bmc-password").read_text().strip()
    given = {"UserName": "audit", "Password": password}
    status, _, headers = request(rack, "POST", "/redfish/v1/SessionService/Sessions", given)
    assert status == 201
    return headers["X-Auth-Token"], headers["Location"]


def test_the_bmcs_user_may_read_and_nothing_else(clean: SimRack) -> None:
    assert request(clean, "GET", "/redfish/v1/Systems")[0] == 401
    token, place = session(clean)
    assert request(clean, "GET", "/redfish/v1/Systems", token=token)[0] == 200
    for method, uri in (
        ("PATCH", "/redfish/v1/Systems/DGX"),
        ("POST", "/redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset"),
        ("DELETE", "/redfish/v1/AccountService/Accounts/1"),
        ("PUT", "/redfish/v1/Systems/DGX/Bios"),
    ):
        status, value, _ = request(clean, method, uri, {}, token)
        assert (status, "InsufficientPrivilege" in json.dumps(value)) == (403, True), method
    assert request(clean, "DELETE", place, token=token)[0] == 200
    assert request(clean, "GET", "/redfish/v1/Systems", token=token)[0] == 401


def test_an_audit_with_the_readonly_role_has_no_unknowns_and_only_reads(clean: SimRack, tmp_path: Path) -> None:
    done = rackcheck(
        "audit", "-i", str(clean.inventory), "-p", "h100-dgx", "--planes", "bmc", "-o", str(tmp_path / "r")
    )
    assert done.status == 0, done.out
    assert "? UNKNOWN" not in done.out, "only rules that are minor while unknown may be unknown: they share one line"
    bmc = clean.stations[0].bmc
    assert bmc is not None
    changing = {(method, uri) for method, uri in bmc.seen if method not in {"GET", "HEAD"}}
    # Ignore the refused attempts of other tests: only login and logout are from this one.
    ours = {method for method, uri in changing if "/Sessions" in uri}
    assert ours == {"POST", "DELETE"}
    assert bmc.sessions == {}


def test_a_bmcs_clock_runs(clean: SimRack) -> None:
    token, _ = session(clean)
    _, value, _ = request(clean, "GET", "/redfish/v1/Managers/BMC", token=token)
    here = time.strftime("%Y-%m-%dT%H", time.gmtime())
    assert value["DateTime"].startswith(here)


# ---- a separate process ----------------------------------------------------------------------------------------------


def children() -> set[str]:
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def listening(place: tuple[str, int]) -> bool:
    with socket.socket() as line:
        return line.connect_ex(place) == 0


def test_a_rack_ends_with_its_block_and_leaves_no_secret_behind() -> None:
    before = children()
    with running("clean") as inventory:
        node = load(inventory).nodes["dgx01"]
        assert listening((node.host, node.ssh.port))
        assert Path(node.ssh.key).stat().st_mode & 0o077 == 0
        assert children() != before
    assert children() == before
    assert not inventory.parent.exists()


def test_a_rack_ends_when_whoever_started_it_is_killed() -> None:
    code = "import sys, time\nfrom rackcheck.sim.child import running\nwith running('clean') as i:\n print(i, flush=True)\n time.sleep(60)"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    inventory = Path(parent.stdout.readline().strip())
    node = load(inventory).nodes["dgx01"]
    assert listening((node.host, node.ssh.port))
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    until(lambda: not listening((node.host, node.ssh.port)), "the rack outlived its parent")


def test_two_racks_can_be_up_at_once() -> None:
    with running("clean") as one, running("clean") as two:
        hosts = [load(i).nodes["dgx01"].host for i in (one, two)]
        assert hosts[0] != hosts[1]


# ---- scenarios -------------------------------------------------------------------------------------------------------


def test_every_available_fault_is_described_and_takes_the_words_of_the_schema() -> None:
    words = shape()["properties"]["faults"]["items"]["properties"]
    assert set(words["fault"]["enum"]) == set(faults.KINDS)
    for kind in faults.KINDS.values():
        assert kind.about
        assert set(kind.takes) <= set(words)


def test_an_unknown_rack_is_reported_with_the_nearest(tmp_path: Path) -> None:
    done = rackcheck("audit", "--rack", "sim:dgx-h10", "-p", "linux-server")
    assert done.status == 2
    assert "did you mean dgx-h100?" in done.err
    assert rackcheck("audit", "--rack", "dgx-h100", "-p", "linux-server").status == 2
    assert rackcheck("audit", "--rack", "sim:clean", "-i", "x.yaml", "-p", "linux-server").status == 2


def test_racks_and_faults_are_listed() -> None:
    listed = json.loads(rackcheck("sim", "list", "--json").out)
    assert {row["rack"] for row in listed} == {"sim:clean", "sim:dgx-h100", "sim:hall"}
    shown = rackcheck("sim", "show", "dgx-h100")
    assert "gpu-missing" in shown.out
    assert "hanging-bmc" in rackcheck("sim", "show", "--faults").out
    assert rackcheck("sim", "show").status == 2


def test_a_redfish_tree_is_served_as_it_was_recorded(tmp_path: Path) -> None:
    folder = tree("nvidia-dgx-h100")
    done = rackcheck("facts", "n01", "bmc.system", "--rack", f"sim:{folder}", "--json")
    assert done.status == 0, done.err
    facts = document(done.out)["facts"]
    assert (
        facts["bmc.system/DGX.model"]["value"]
        == json.loads((folder / "redfish/v1/Systems/DGX/index.json").read_text())["Model"]
    )


RECORDED = {
    # Both clocks are as recorded: the host's BMC on the day of the recording, the baseboard's in 2020, as if
    # it had never been set.
    "bmc.clock": "warn",
}
"""Rules of h100-dgx that the recorded DGX H100 does not pass, with the reason in its recording."""


def test_the_recorded_dgx_h100_is_judged_through_the_simulator_as_its_recording_shows(tmp_path: Path) -> None:
    rack = f"sim:{tree('nvidia-dgx-h100')}"
    done = rackcheck("audit", "--rack", rack, "-p", "h100-dgx", "--planes", "bmc", "-q", "--json", "-o", tmp_path / "r")
    assert done.status == 0, done.err
    verdicts = document(done.out)["nodes"]["n01"]["verdicts"]
    found = {verdict["rule"]: verdict["status"] for verdict in verdicts}
    # Site values (BIOS, firmware, C-states, Secure Boot) are not set, so their rules do not apply.
    assert {rule for rule, status in found.items() if status == "n/a"} == {
        "firmware.bios", "firmware.bmc", "bios.c_states", "bios.secure_boot", "bmc.log_quiet", "psu.healthy", "psu.in_service",
        "firmware.components_sound", "bmc.cxl_memory_healthy", "bmc.cxl_memory_in_service",
    }  # fmt: skip
    minor = {rule.id for rule in library.load("h100-dgx", registry().catalogue).rules if rule.unknown_is_minor}
    shown = {rule: status for rule, status in found.items() if status not in {"pass", "n/a"}}
    assert {rule: status for rule, status in shown.items() if (rule in minor, status) != (True, "unknown")} == RECORDED
    assert sum(status == "pass" for status in found.values()) >= 19


def test_what_differs_from_the_sites_values_is_found_on_the_recorded_dgx(tmp_path: Path) -> None:
    rack = f"sim:{tree('nvidia-dgx-h100')}"
    words = ("--planes", "bmc", "-q", "--json", "-o", tmp_path / "r", "--set", "bios_version=1.5.3")
    done = rackcheck("audit", "--rack", rack, "-p", "h100-dgx", *words, "--set", "secure_boot=enabled")
    failing = {f["rule"]: f["reason"] for f in document(done.out)["findings"] if f["status"] == "fail"}
    assert set(failing) == {"firmware.bios", "bios.secure_boot"}
    assert "1.1.3" in failing["firmware.bios"]


def test_the_inventory_of_a_rack_is_one_that_our_own_check_accepts(clean: SimRack) -> None:
    yaml.safe_load(clean.inventory.read_text())
    done = rackcheck("inventory", "check", str(clean.inventory))
    assert done.status == 0, done.err
