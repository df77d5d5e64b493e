"""The serial number of a missing part comes from an earlier run of the same machine, and of no other."""

import json
from pathlib import Path

import pytest
from command import rackcheck

RACK = "rackcheck: 1\nscenario: made\nnodes: {{ {nodes}: {{ machine: dgx-h100 }} }}\n{faults}"
GONE = "faults:\n  - { nodes: dgx3, fault: drive-missing, drive: nvme4 }\n"
PROFILE = """
rackcheck: 1
profile: drives
version: 1
rules:
  nvme.ten: { title: Ten drives, severity: major, count: nvme, is: 10, why: w, fix: f }
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    (tmp_path / "drives.yaml").write_text(PROFILE)
    return tmp_path


def audited(folder: Path, nodes: str, faults: str = "") -> str:
    rack = folder / "rack.yaml"
    rack.write_text(RACK.format(nodes=nodes, faults=faults))
    done = rackcheck("audit", "--rack", f"sim:{rack}", "-p", str(folder / "drives.yaml"))
    assert done.status in {0, 1}, done.err
    return " ".join(done.out.split())


def test_a_missing_drive_has_the_serial_number_of_an_earlier_run(home: Path) -> None:
    assert "is missing" not in audited(home, "'dgx[1-4]'")
    now = audited(home, "'dgx[1-4]'", GONE)
    assert "dgx3: drive nvme4 (PCI 0000:2e:00.0) is missing; its serial number was S794NC0W00304 in run 20" in now
    again = rackcheck("groups", "last")
    assert "its serial number was S794NC0W00304 in run 20" in " ".join(again.out.split())
    (case,) = json.loads(rackcheck("remedy", "last", "--json").out)["cases"]
    assert (case["node"], case["part"]["serial"]) == ("dgx3", "S794NC0W00304")
    assert case["part"]["serial_from_run"].startswith("20")
    document = rackcheck("runs", "show", "last", "--json")
    assert "S794NC0W00304" not in document.out, "the document of a run depends on this run alone"


def test_another_machine_that_had_the_name_gives_no_serial_number(home: Path) -> None:
    audited(home, "dgx3")  # the first machine of the rack, with the serial numbers of another one
    now = audited(home, "'dgx[1-4]'", GONE)
    assert "dgx3: drive nvme4 (PCI 0000:2e:00.0) is missing nvme.ten" in now


def test_without_an_earlier_run_no_serial_number_is_shown(home: Path) -> None:
    assert "dgx3: drive nvme4 (PCI 0000:2e:00.0) is missing nvme.ten" in audited(home, "'dgx[1-4]'", GONE)


def test_a_damaged_earlier_run_is_passed_over(home: Path) -> None:
    audited(home, "'dgx[1-4]'")
    (run,) = (home / "home" / "runs").iterdir()
    (run / "run.json").write_text("{")
    assert "dgx3: drive nvme4 (PCI 0000:2e:00.0) is missing nvme.ten" in audited(home, "'dgx[1-4]'", GONE)
