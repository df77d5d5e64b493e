"""What must never turn a sign-off to PASS: another item, another machine, a plane that was not read, a fast clock."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command import Done, rackcheck
from mockup_server import WatchedRack as Rack

from rackcheck.sim import scenario

UNTIL = (datetime.now(UTC).date() + timedelta(days=90)).isoformat()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def rack(folder: Path, *faults: str) -> Iterator[Path]:
    """Two nodes with faults on the first; returns the inventory."""
    folder.mkdir()
    laid = "".join(f"  - {{ nodes: n1, {fault} }}\n" for fault in faults)
    text = "rackcheck: 1\nscenario: two\nnodes: { 'n[1-2]': { machine: dgx-h100 } }\n" + (
        f"faults:\n{laid}" if laid else ""
    )
    (folder / "rack.yaml").write_text(text)
    with Rack(scenario.load(folder / "rack.yaml"), folder) as up:
        yield Path(up.inventory)


def audit(home: Path, name: str, *faults: str, words: tuple[object, ...] = ()) -> Done:
    with rack(home / name, *faults) as inventory:
        return rackcheck("audit", "-i", inventory, "-q", "--json", *words)


def waived(rule: str) -> None:
    done = rackcheck(
        "waive", rule, "--nodes", "n1", "--until", UNTIL, "--by", "Jo", "--ticket", "T-1", "--reason", "cable ordered"
    )
    assert done.status == 0, done.err


def verdict(done: Done, rule: str) -> str:
    (found,) = (v["status"] for v in json.loads(done.out)["nodes"]["n1"]["verdicts"] if v["rule"] == rule)
    return str(found)


PROFILE = ("-p", "h100-dgx")

OPEN = ("accept", "new", "--no-burn-in", "no load in this test")


@dataclass(frozen=True)
class Waived:
    """Audits after a port that is down and a GPU that is gone were waived: of the same, and of others in their place."""

    same: Done
    other: Done


@pytest.fixture(scope="module")
def waived_parts(tmp_path_factory: pytest.TempPathFactory) -> Waived:
    place = tmp_path_factory.mktemp("waived")
    laid = ("fault: nic-down, nic: mlx5_4", "fault: gpu-missing, gpu: 5")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(place / "home"))
        patch.chdir(place)
        audit(place, "first", *laid, words=PROFILE)
        waived("nic.rate")
        waived("gpu.on_bus")
        same = audit(place, "same", *laid, words=PROFILE)
        return Waived(
            same, audit(place, "other", "fault: nic-down, nic: mlx5_5", "fault: gpu-missing, gpu: 3", words=PROFILE)
        )


def test_a_waiver_of_one_port_that_is_down_does_not_hide_another(waived_parts: Waived) -> None:
    assert verdict(waived_parts.same, "nic.rate") == "waived"
    assert verdict(waived_parts.other, "nic.rate") == "fail"
    assert any(
        "waiver of nic.rate on n1 (T-1" in note and ("lapsed" in note or "unused" in note)
        for note in json.loads(waived_parts.other.out)["notes"]
    )


def test_a_waiver_of_one_gpu_that_is_gone_does_not_hide_another(waived_parts: Waived) -> None:
    assert verdict(waived_parts.same, "gpu.on_bus") == "waived"
    assert verdict(waived_parts.other, "gpu.on_bus") == "fail"


def test_an_agreed_plane_that_was_never_read_is_no_pass(home: Path) -> None:
    with rack(home / "rack") as inventory:
        assert rackcheck(*OPEN, "both", *PROFILE, "-i", inventory).status == 0
        assert rackcheck(*OPEN, "narrow", *PROFILE, "-i", inventory, "--planes", "os").status == 0
        for name in ("both", "narrow"):
            assert rackcheck("audit", "--accept", name, "-i", inventory, "-q", "--planes", "os").status == 0
    shown = rackcheck("accept", "show", "both", "--json")
    doc = json.loads(shown.out)
    assert (shown.status, doc["outcome"]) == (3, "INCOMPLETE")
    assert doc["counts"]["unknown"] >= 40
    assert rackcheck("accept", "show", "narrow", "--json").status == 0
    made = rackcheck("report", "both", "--format", "json", "-q")
    assert made.status == 0, made.err
    report = json.loads(made.out)["report"]
    assert [(u["what"], u["nodes"]) for u in report["unchecked"] if u["kind"] == "plane"] == [("bmc", ["n1", "n2"])]


def test_another_machine_under_the_same_name_is_no_re_audit(home: Path) -> None:
    with rack(home / "one") as inventory:
        rackcheck(*OPEN, "pod", *PROFILE, "-i", inventory, "--planes", "bmc")
        assert rackcheck("audit", "--accept", "pod", "-i", inventory, "-q", "--planes", "bmc").status == 0
    serial = "fault: resource, uri: /redfish/v1/Systems/DGX, name: SerialNumber, value: ANOTHER-1"
    with rack(home / "two", serial) as inventory:
        done = rackcheck("audit", "--accept", "pod", "-i", inventory, "-q", "--planes", "bmc")
    assert done.status == 2
    assert "has read other machines than before: n1 (n1: serial " in done.err
    assert len(json.loads(rackcheck("accept", "show", "pod", "--json").out)["runs"]) == 1
    again = rackcheck("accept", "add", "pod", "last", "--kind", "rework", "--note", "n1 swapped, RMA 4711")
    assert again.status == 0, again.err
    report = json.loads(rackcheck("report", "pod", "--format", "json", "-q").out)["report"]
    assert [(r["kind"], r["note"]) for r in report["subject"]["readings"]][1] == ("rework", "n1 swapped, RMA 4711")
    assert any(r["fact"] in {"bmc.system/DGX.serial", "bmc.host.serial"} for r in report["rework"])


def test_a_run_from_the_future_and_one_of_another_profile_are_not_taken(home: Path) -> None:
    with rack(home / "one") as inventory:
        rackcheck(*OPEN, "pod", *PROFILE, "-i", inventory)
        rackcheck("audit", "-i", inventory, "-q", *PROFILE, "-o", home / "run")
        rackcheck("audit", "-i", inventory, "-q", "-p", "linux-server", "-o", home / "other")
    began = json.loads((home / "run" / "run.json").read_text())["time"]
    shutil.copytree(home / "run", home / "ahead")
    for name in ("run.json", "events.jsonl"):
        text = (home / "ahead" / name).read_text()
        (home / "ahead" / name).write_text(text.replace(f'"{began}"', f'"2099{began[4:]}"', 1))
    ahead = rackcheck("accept", "add", "pod", home / "ahead")
    assert (ahead.status, "began at 2099" in ahead.err) == (2, True)
    other = rackcheck("accept", "add", "pod", home / "other")
    assert (other.status, "was made with linux-server" in other.err) == (2, True)
    assert rackcheck("accept", "add", "pod", home / "run").status == 0


def test_a_bundle_of_an_earlier_state_is_not_signed_for_a_later_one(home: Path) -> None:
    with rack(home / "one") as inventory:
        rackcheck(*OPEN, "pod", *PROFILE, "-i", inventory)
        rackcheck("audit", "--accept", "pod", "-i", inventory, "-q")
    assert rackcheck("report", "pod", "--bundle", "-q").status == 0
    first = (home / "home" / "bundles" / "pod" / "SHA256SUMS").read_bytes()
    assert rackcheck("report", "pod", "--bundle", "-q").status == 0
    assert (home / "home" / "bundles" / "pod" / "SHA256SUMS").read_bytes() == first
    with rack(home / "two", "fault: nic-down, nic: mlx5_4") as inventory:
        assert rackcheck("audit", "--accept", "pod", "-i", inventory, "-q").status == 1
    done = rackcheck("sign", "pod", "--key", home / "key")
    assert (done.status, "has no bundle of its current state" in done.err) == (2, True)
