"""Edge cases that users meet: full disks, closed outputs, empty values, planes that returned nothing, Ctrl-C."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import depth
import pytest
from command import rackcheck
from edge_racks import ONE, rack
from mockup_server import WatchedRack as Rack
from waiting import PATIENCE, until

from rackcheck.model.resource import MEMBERS
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run import store
from rackcheck.sim import edit, scenario


@pytest.mark.parametrize(("fans", "status"), [(3000, 1), (MEMBERS + 2000, 3)])
def test_a_critical_part_behind_more_parts_than_are_read_is_no_pass(tmp_path: Path, fans: int, status: int) -> None:
    uri = "/redfish/v1/Chassis/DGX/Thermal"
    file = tmp_path / "rack.yaml"
    file.write_text(ONE.format(faults="[]", machine="dgx-h100"))
    healthy = scenario.load(file)
    body = edit.resources(healthy.stations[0], uri)[uri]
    more = [{**body["Fans"][0], "MemberId": f"F{n}", "Name": f"F{n}"} for n in range(fans)]
    more[-1] |= {"Status": {"Health": "Critical", "State": "Enabled"}}
    station = edit.bodies(healthy.stations[0], {uri: {**body, "Fans": more}})
    with Rack(replace(healthy, stations=(station,)), tmp_path) as up:
        words = ("-i", up.inventory, "-p", "h100-dgx", "--planes", "bmc", "--json", "-q", "-o", tmp_path / "run")
        done = rackcheck("audit", *words)
    assert done.status == status, json.loads(done.out)["outcome"]


def test_an_empty_power_supply_slot_is_not_a_power_supply(tmp_path: Path) -> None:
    uri = "/redfish/v1/Chassis/DGX/PowerSubsystem/PowerSupplies/PSU5"
    file = tmp_path / "rack.yaml"
    file.write_text(ONE.format(faults="[]", machine="dgx-h100"))
    healthy = scenario.load(file)
    body = edit.resources(healthy.stations[0], uri)[uri]
    station = edit.bodies(healthy.stations[0], {uri: {**body, "Status": {"State": "Absent"}}})
    with Rack(replace(healthy, stations=(station,)), tmp_path) as up:
        done = rackcheck(
            "audit", "-i", up.inventory, "-p", "h100-dgx", "--planes", "bmc", "--json", "-q", "-o", tmp_path / "run"
        )
    found = {f["rule"]: f for f in json.loads(done.out)["findings"] if f["status"] not in {"pass", "n/a"}}
    minor = {rule.id for rule in library.load("h100-dgx", registry().catalogue).own if rule.unknown_is_minor}
    assert {rule for rule, f in found.items() if f["status"] != "unknown" or rule not in minor} == {"psu.count"}
    assert "is 5, must be 6" in found["psu.count"]["reason"]
    assert done.status == 1


def test_a_count_names_the_few_that_did_not_count(tmp_path: Path) -> None:
    with rack(tmp_path, "[{ nodes: n1, fault: nic-down, nic: mlx5_4 }]") as up:
        words = ("-p", "h100-hgx", "--set", "ports=8", "--planes", "os", "-q", "-o", tmp_path / "run")
        done = rackcheck("audit", "-i", up.inventory, *words)
    assert "nic/mlx5_4.port/1.rate 40 Gb/s" in " ".join(done.out.split())


def test_the_verdict_states_that_only_one_plane_was_judged(tmp_path: Path) -> None:
    with rack(tmp_path) as up:
        done = rackcheck("audit", "-i", up.inventory, "-p", "h100-dgx", "--planes", "os", "-q", "-o", tmp_path / "run")
    assert done.out.rstrip().endswith("Verdict: PASS (os plane only)")


def test_a_fact_of_a_plane_that_refused_us_is_unknown_and_not_nothing(tmp_path: Path) -> None:
    with rack(tmp_path, "[{ nodes: n1, fault: refused-bmc-login }]") as up:
        done = rackcheck("facts", "n1", "bios.smt", "-i", up.inventory)
        every = rackcheck("facts", "n1", "--unknown", "-i", up.inventory)
    assert done.status == 3
    assert "bios.smt" in done.out
    assert "unknown: denied" in done.out
    assert "firmware.bmc" in every.out
    assert ", 0 unknown" not in every.err


def test_facts_of_a_plane_no_node_has_are_unknown_when_requested() -> None:
    done = rackcheck("facts", "localhost", "bios.smt")
    assert done.status == 0
    assert "no BMC in inventory" in done.out


def test_an_empty_param_value_is_a_user_error() -> None:
    done = rackcheck("audit", "localhost", "-p", "h100-dgx", "--set", "bios_version=")
    assert done.status == 2
    assert "--set must be NAME=VALUE" in done.err


def test_a_folder_with_other_things_in_it_gets_no_run(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    done = rackcheck("audit", "localhost", "-p", "linux-server", "-q", "-o", tmp_path)
    assert done.status == 2
    assert "contains other files" in done.err
    assert [f.name for f in tmp_path.iterdir()] == ["mine.txt"]


def shell(line: str, home: Path) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    command = line.replace("rackcheck", f"{sys.executable} -m rackcheck", 1)
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=env)


@pytest.mark.parametrize("words", ["audit localhost -p linux-server", "sim list", "profile list", "doctor localhost"])
def test_a_closed_output_is_an_error_and_no_finding(tmp_path: Path, words: str) -> None:
    done = shell(f"rackcheck {words} >&-", tmp_path)
    assert (done.returncode, done.stderr) == (2, "rackcheck: standard output is closed\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="ONLY ROOT MAY MOUNT A SMALL DISK")
def test_a_disk_that_fills_up_costs_the_record_and_not_the_verdict(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=384k", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("NO MOUNTING HERE")
    try:
        with rack(tmp_path / "rack") as up:
            done = shell(f"rackcheck audit -i {up.inventory} -p h100-dgx -o {small}/run", tmp_path)
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert "Verdict: PASS" in done.stdout
    assert f"cannot store the run in {small}/run: No space left on device" in done.stderr
    assert "Not stored: " in done.stderr
    assert "Next: " not in done.stderr, "there is no run to show"
    assert done.returncode == 74


POINTS = depth.first(4, (150, 25, 175, 215, *range(5, 245, 15)))
"""Free space in KiB; a whole run of this machine takes about 250. The usual run tries four points of twenty."""


@pytest.mark.skipif(os.geteuid() != 0, reason="ONLY ROOT MAY MOUNT A SMALL DISK")
@pytest.mark.parametrize("free", POINTS)
def test_wherever_the_disk_is_full_the_exit_is_not_0_and_what_is_said_to_be_kept_is_there(
    free: int, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={free}k", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("NO MOUNTING HERE")
    try:
        done = shell(f"RACKCHECK_HOME={small} rackcheck audit localhost -p linux-server", tmp_path)
        left = [path for path in small.rglob("*") if path.is_file()]
        if done.returncode == 2:
            assert "cannot write a run to" in done.stderr
            assert left == []
            return
        assert done.returncode == 74, done.stdout + done.stderr
        kept = re.search(r"Not stored: (no answer|\d+ answers? without a verdict)", done.stderr)
        assert kept is not None
        if kept[1] != "no answer":
            again = shell(f"RACKCHECK_HOME={small} RACKCHECK_KEPT_FACTS=0 rackcheck runs show last", tmp_path)
            assert "INCOMPLETE" in again.stdout, "a run without a verdict is no pass"
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="ONLY ROOT MAY MOUNT A SMALL DISK")
def test_tables_that_cannot_be_written_leave_all_older_ones(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    assert "Run:" in shell("rackcheck audit localhost -p linux-server", tmp_path).stderr
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=False)
    if mounted.returncode:
        pytest.skip("NO MOUNTING HERE")
    try:
        tables = small / "tables"
        first = shell(f"rackcheck report last --format csv -o {tables}", tmp_path)
        assert first.returncode == 0, first.stderr
        before = {path.name: path.read_bytes() for path in tables.iterdir()}
        free = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
        (small / "fill").write_bytes(bytes(free - 4096))
        again = shell(f"rackcheck report last --format csv -o {tables}", tmp_path)
        assert {path.name: path.read_bytes() for path in tables.iterdir()} == before
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert again.returncode == 2
    assert f"rackcheck: cannot write {tables}: No space left on device" in again.stderr


def test_a_run_whose_acceptance_is_gone_is_named_and_can_be_added_later(tmp_path: Path) -> None:
    rack_file, home, away = tmp_path / "rack.yaml", tmp_path / "home", tmp_path / "away"
    rack_file.write_text("rackcheck: 1\nnodes:\n  localhost: { host: localhost }\n")
    own = f"RACKCHECK_HOME={home} rackcheck"
    made = shell(f"{own} accept new pod -p linux-server -i {rack_file} --no-burn-in none", tmp_path)
    assert made.returncode == 0, made.stderr
    words = [sys.executable, "-m", "rackcheck", "audit", "--accept", "pod", "-i", str(rack_file)]
    env = {**os.environ, "RACKCHECK_HOME": str(home)}
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: bool([*home.glob("runs/*/events.jsonl")]), "the run did not begin")
        (home / "acceptances" / "pod").rename(away)
        _, err = process.communicate(timeout=PATIENCE)
    (run,) = (home / "runs").iterdir()
    assert "rackcheck: the run was not added to acceptance pod: " in err
    assert f"To add it: rackcheck accept add pod {run.name}" in err
    assert f"Run:  {run}" in err
    done = store.find(str(run)).done()
    assert done is not None
    assert process.returncode == {"PASS": 74, "FAIL": 1, "INCOMPLETE": 3}[done.outcome.value]
    away.rename(home / "acceptances" / "pod")
    added = shell(f"{own} accept add pod {run.name}", tmp_path)
    assert added.returncode == 0, added.stderr


def test_ctrl_c_keeps_what_arrived_and_reports_it(tmp_path: Path) -> None:
    with rack(tmp_path / "rack", "[{ nodes: n1, fault: hanging-bmc }]") as up:
        command = [sys.executable, "-m", "rackcheck", "audit", "-i", str(up.inventory), "-p", "h100-dgx"]
        process = subprocess.Popen(
            [*command, "-o", str(tmp_path / "run")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        events = tmp_path / "run" / "events.jsonl"
        until(lambda: events.exists() and '"answered"' in events.read_text(), "nothing came in")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, out + err
    assert "stopping: collected answers are kept" in err
    assert "rules of the bmc plane: not collected" in out
    assert "of the os plane" not in out
    assert "INCOMPLETE (interrupted" in out
