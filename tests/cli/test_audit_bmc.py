"""The whole audit with a BMC: firmware and BIOS settings against a profile, over real HTTPS, and a BMC's faults."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from command import rackcheck
from mockup_server import Mockup, ResourceFault, refused_port, silent_port
from recordings import shared

PROFILE = """\
rackcheck: 1
profile: bmc
version: 1
rules:
  bios.smt: { fact: bios.smt, is: enabled, severity: blocker }
  bios.aspm: { fact: bios.pcie_aspm, is: disabled }
  bios.pending: { count: bios.pending, is: 0 }
  firmware.read: { each: firmware.component, fact: name, present: true }
  psu.healthy: { each: psu, where: { fact: state, is: Enabled }, fact: health, is: OK }
  os.linux: { fact: kernel.release, present: true }
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BMC_PASSWORD", "calvin")
    (tmp_path / "bmc.yaml").write_text(PROFILE)


def tree(name: str) -> Path:
    return shared("../redfish-mockups") / name


def audit(tmp_path: Path, url: str, fingerprint: str, *more: str) -> tuple[int, dict[str, Any]]:
    (tmp_path / "inventory.yaml").write_text(
        "rackcheck: 1\ndefaults:\n  bmc: { user: root, password: 'env:BMC_PASSWORD' }\n"
        f'nodes:\n  n1: {{ host: localhost, bmc: {{ url: "{url}", fingerprint: "{fingerprint}" }} }}\n'
    )
    words = ("audit", "-p", tmp_path / "bmc.yaml", "-i", tmp_path / "inventory.yaml", "--json", "-q", *more)
    done = rackcheck(*words)
    assert done.out, done.err
    return done.status, json.loads(done.out)


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """The status of every rule of the profile's own."""
    own = (v for v in document["nodes"]["n1"]["verdicts"] if not v["rule"].startswith("identity."))
    return {v["rule"]: v["status"] for v in own}


def test_a_tuned_dell_passes_on_both_planes(tmp_path: Path) -> None:
    with Mockup(tree("dell-poweredge-r750-idrac9-6.00")) as bmc:
        status, document = audit(tmp_path, bmc.url, bmc.fingerprint)
        assert bmc.sessions == {}
        assert bmc.methods <= {"GET", "POST", "DELETE"}
        assert max(bmc.gets.values()) == 1
    assert (status, set(statuses(document).values())) == (0, {"pass"})


def test_a_stored_bmc_is_judged_again_to_the_same_bytes(tmp_path: Path) -> None:
    with Mockup(tree("dell-poweredge-r750-idrac9-6.00")) as bmc:
        _, document = audit(tmp_path, bmc.url, bmc.fingerprint, "-o", str(tmp_path / "run"))
    again = rackcheck("audit", "--from", tmp_path / "run", "--json")
    assert json.loads(again.out) == document
    written = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and p.suffix != ".yaml")
    assert b"calvin" not in written


def test_a_wrong_certificate_leaves_the_bmc_unknown_and_the_os_judged(tmp_path: Path) -> None:
    with Mockup(tree("dell-poweredge-r750-idrac9-6.00")) as bmc:
        status, document = audit(tmp_path, bmc.url, ":".join(["AB"] * 32))
        assert bmc.seen == {}
    found = statuses(document)
    assert status == 3
    assert found.pop("os.linux") == "pass"
    assert set(found.values()) == {"unknown"}
    assert "certificate changed" in json.dumps(document)


@pytest.mark.parametrize(
    ("kind", "reason"), [("flood", "too large"), ("drip", "timeout"), ("hang", "timeout"), ("cut", "un")]
)
def test_a_hostile_bios_resource_costs_its_own_rules_only(tmp_path: Path, kind: str, reason: str) -> None:
    bios = "/redfish/v1/Systems/System.Embedded.1/Bios"
    with Mockup(tree("dell-poweredge-r750-idrac9-6.00"), faults={bios: ResourceFault(kind)}) as bmc:
        status, document = audit(tmp_path, bmc.url, bmc.fingerprint, "--timeout", "8")
    found = statuses(document)
    assert status == 3
    assert found["bios.smt"] == "unknown"
    assert found["os.linux"] == "pass"
    verdict = next(v for v in document["nodes"]["n1"]["verdicts"] if v["rule"] == "bios.smt")
    assert verdict["evidence"][0]["unknown"].startswith(reason)


def test_a_bmc_whose_chassis_share_everything_costs_no_more_than_its_content(tmp_path: Path) -> None:
    root, chassis = "/redfish/v1", "/redfish/v1/Chassis"
    links = {"PowerSubsystem": {"@odata.id": "/PS"}, "Power": {"@odata.id": "/P"}, "Thermal": {"@odata.id": "/T"}}
    bodies: dict[str, object] = {
        root: {"Id": "RootService", "Chassis": {"@odata.id": chassis}},
        chassis: {"Members": [{"@odata.id": f"{chassis}/{n}"} for n in range(300)]},
        "/PS": {"PowerSupplies": {"@odata.id": "/F"}},
        "/F": {"Members": [{"@odata.id": f"/F/{n}"} for n in range(9999)]},
        "/P": {"PowerSupplies": [{"MemberId": str(n)} for n in range(20_000)]},
        "/T": {"Fans": [{"MemberId": str(n)} for n in range(20_000)]},
    }
    bodies |= {f"{chassis}/{n}": {"Id": str(n), **links} for n in range(300)}
    began = time.process_time()
    with Mockup(bodies=bodies) as bmc:
        status, document = audit(tmp_path, bmc.url, bmc.fingerprint, "--timeout", "10", "-o", str(tmp_path / "run"))
    again = rackcheck("audit", "--from", tmp_path / "run", "--json")
    assert status == again.status == 3
    assert statuses(document)["psu.healthy"] == "unknown"
    assert time.process_time() - began < 30


def test_a_refused_and_a_silent_bmc_port_are_distinguished(tmp_path: Path) -> None:
    _, refused = audit(tmp_path, refused_port(), ":".join(["AB"] * 32))
    with silent_port() as url:
        status, silent = audit(tmp_path, url, ":".join(["AB"] * 32), "--timeout", "3")
    assert status == 3
    assert "unreachable" in json.dumps(refused)
    assert "timeout" in json.dumps(silent)


def test_an_invalid_bmc_url_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text(
        'rackcheck: 1\nnodes:\n  n1: { bmc: { url: "http://127.0.0.1", user: root, password: "env:BMC_PASSWORD" } }\n'
    )
    done = rackcheck("audit", "-p", tmp_path / "bmc.yaml", "-i", tmp_path / "inventory.yaml")
    assert (done.status, done.out) == (2, "")
    assert "https://HOST" in done.err


def test_an_expired_run_keeps_its_facts_and_leaves_the_rest_unknown(tmp_path: Path) -> None:
    stuck = "/redfish/v1/UpdateService/FirmwareInventory"
    with Mockup(tree("dell-poweredge-r750-idrac9-6.00"), faults={stuck: ResourceFault("hang")}) as bmc:
        status, document = audit(tmp_path, bmc.url, bmc.fingerprint, "--deadline", "5", "-o", str(tmp_path / "run"))
        assert bmc.sessions == {}
    assert status == 3
    assert document["interrupted"] is False
    found = statuses(document)
    assert (found["os.linux"], found["firmware.read"]) == ("pass", "unknown")
    again = rackcheck("audit", "--from", tmp_path / "run", "--json")
    assert again.status == 3


def test_nothing_is_requested_once_a_run_is_over(tmp_path: Path) -> None:
    with silent_port() as url:
        began = time.monotonic()
        status, document = audit(tmp_path, url, ":".join(["AB"] * 32), "--deadline", "2")
    assert (status, statuses(document)["bios.smt"]) == (3, "unknown")
    assert time.monotonic() - began < 30  # a visit to an unresponsive BMC alone has 180


def test_a_session_that_the_bmc_does_not_close_is_a_warning_and_changes_no_verdict(tmp_path: Path) -> None:
    keeps = {"DELETE session": ResourceFault(status=403)}
    with Mockup(tree("dell-poweredge-r750-idrac9-6.00"), faults=keeps) as bmc:
        status, document = audit(tmp_path, bmc.url, bmc.fingerprint, "-o", str(tmp_path / "run"))
        bmc.sessions.clear()
    assert (status, set(statuses(document).values())) == (0, {"pass"})
    stored = next((tmp_path / "run").rglob("events.jsonl")).read_text("utf-8")
    assert "the session was not closed and will expire: its DELETE failed: HTTP 403" in stored
