"""Every fault alone on a node: its own finding or unknown, no other, and no change on a node without a fault.

A usual run audits racks in which each fault has a node of its own; `make full` audits each fault in a rack of its own.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import depth
import pytest
from command import rackcheck
from mockup_server import WatchedRack

from rackcheck.model.question import Shell
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.sim import load_faults, scenario
from rackcheck.sim.faults import KINDS

SITE = ("bios_version=1.5.3", "bmc_firmware=24.09.17")
"""Params that the profile leaves to the site, with the healthy machine's values."""

Verdicts = Mapping[str, str]


def audited(faults: Mapping[str, str], *words: str, nodes: str, seconds: int) -> dict[str, Any]:
    """Audit a small rack with these faults, by node, by h100-dgx, and return the document."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        file = folder / "rack.yaml"
        rows = "".join(f"  - {{ nodes: {node}, fault: {fault} }}\n" for node, fault in faults.items())
        laid = f"faults:\n{rows}" if faults else ""
        file.write_text(f"rackcheck: 1\nscenario: one\nnodes: {{ '{nodes}': {{ machine: dgx-h100 }} }}\n{laid}")
        site = [word for value in SITE for word in ("--set", value)]
        with WatchedRack(scenario.load(file), folder) as rack:
            done = rackcheck(
                "audit", "-i", rack.inventory, "-p", "h100-dgx", "--timeout", seconds, "--json", "-q",
                "-o", folder / "run", *site, *words,
            )  # fmt: skip
    assert done.status in {0, 1, 3}, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found | {"exit": done.status}


CLEAN = "n1"
"""The node without a fault in every rack."""


@cache
def clean_rack(*words: str) -> dict[str, Any]:
    return audited({}, *words, nodes=CLEAN, seconds=30)


@dataclass(frozen=True)
class Laid:
    """The document of an audit, and the node that has the fault."""

    document: Mapping[str, Any]
    node: str


RACK = 8
"""Faults in one rack of a usual run: one process simulates and reads all of its nodes, and a BMC must answer in time."""


def laid(fault: str, among: Iterable[str], seconds: int) -> Laid:
    """The audit of a fault, alone in its rack, or in a usual run in one rack with others, each on a node of its own."""
    every = tuple(among)
    first = every.index(fault) // RACK * RACK
    faults = (fault,) if depth.DEEP else every[first : first + RACK]
    return Laid(_laid(faults, seconds), f"n{faults.index(fault) + 2}")


@cache
def _laid(faults: tuple[str, ...], seconds: int) -> dict[str, Any]:
    nodes = f"n[1-{len(faults) + 1}]"
    return audited({f"n{n}": fault for n, fault in enumerate(faults, start=2)}, nodes=nodes, seconds=seconds)


def statuses(document: Mapping[str, Any], node: str) -> Verdicts:
    """The status of every verdict of a node by the profile's own rules.

    Rules that compare nodes are left out where the other nodes have faults of their own.
    """
    own = (v for v in document["nodes"][node]["verdicts"] if not v["rule"].startswith("identity."))
    return {v["rule"]: v["status"] for v in own if depth.DEEP or v["rule"] not in comparing()}


@cache
def comparing() -> frozenset[str]:
    """The rules that compare a node with the others."""
    return frozenset(rule.id for rule in library.load("h100-dgx", registry().catalogue).own if rule.across is not None)


@cache
def healthy() -> Verdicts:
    return statuses(clean_rack(), CLEAN)


@cache
def of_plane(plane: str) -> frozenset[str]:
    """The rules that need only this plane."""
    return frozenset(statuses(clean_rack("--planes", plane), CLEAN))


def changed(found: Laid) -> Verdicts:
    """What differs on the faulty node; the node without a fault beside it must be unchanged."""
    clean = healthy()
    assert statuses(found.document, CLEAN) == clean
    return {rule: status for rule, status in statuses(found.document, found.node).items() if status != clean[rule]}


def test_the_clean_machine_passes_with_nothing_unknown_but_what_its_bmc_does_not_serve() -> None:
    document = clean_rack()
    assert (document["exit"], document["outcome"]) == (0, "PASS")
    assert "fail" not in healthy().values()
    minor = {rule.id for rule in library.load("h100-dgx", registry().catalogue).own if rule.unknown_is_minor}
    unknown = {rule for rule, status in healthy().items() if status == "unknown"}
    assert unknown >= {"planes.cpu_model", "planes.nic_mac", "bmc.nics_sound"}  # its BMC lists no such parts
    assert unknown <= minor
    assert sum(status == "pass" for status in healthy().values()) >= 60


UNREACHABLE = {
    "silent-node": ("os", "timeout"),
    "closed-node": ("os", "Connection refused"),
    "unknown-name": ("os", "no address for "),
    "refused-login": ("os", "login as audit refused"),
    "changed-host-key": ("os", "host key changed"),
    "silent-bmc": ("bmc", "timeout"),
    "closed-bmc": ("bmc", "unreachable"),
    "hanging-bmc": ("bmc", "timeout"),
    "refused-bmc-login": ("bmc", "denied"),
    "bmc-sessions": ("bmc", "not ready"),
    "changed-certificate": ("bmc", "certificate changed"),
    "bad-answers, how: html": ("bmc", "not JSON"),
    "bad-answers, how: busy-later": ("bmc", "not ready"),
}
"""Faults that hide a plane, and a text of the reason."""

WAITING = ("silent-node", "silent-bmc", "hanging-bmc", "bmc-sessions", "bad-answers, how: busy-later")
"""Those of which an audit waits for an answer until its deadline."""


@pytest.mark.parametrize("fault", UNREACHABLE)
def test_an_unreachable_plane_is_unknown_and_the_other_one_is_judged(fault: str) -> None:
    plane, text = UNREACHABLE[fault]
    if fault in WAITING:
        found = laid(fault, WAITING, 8 if depth.DEEP else 25)
    else:
        found = laid(fault, (each for each in UNREACHABLE if each not in WAITING), 120)
    difference, clean = changed(found), healthy()
    names = {rule for rule in of_plane(plane) if clean[rule] in {"pass", "warn"}}
    assert names <= {rule for rule, status in difference.items() if status == "unknown"}
    other = of_plane("os" if plane == "bmc" else "bmc")
    assert not other & set(difference)
    assert set(difference.values()) == {"unknown"}
    assert (found.document["exit"], found.document["outcome"]) == (3, "INCOMPLETE")
    assert found.document["nodes"][found.node]["outcome"] == "INCOMPLETE"
    findings = (each for each in found.document["findings"] if each["status"] == "unknown")
    reasons = {finding["reason"] for finding in findings if found.node in finding["nodes"]}
    expected = f"{text}{found.node}.invalid" if fault == "unknown-name" else text
    assert any(expected in reason for reason in reasons), reasons


FINDINGS: Mapping[str, Verdicts] = {
    "gpu-missing, gpu: 5": {
        "gpu.count": "fail",
        "gpu.on_bus": "fail",
        "planes.gpus": "fail",
        **dict.fromkeys(
            (f"planes.gpu_{fact}" for fact in ("vbios", "power", "temperature", "width", "ecc", "mig")), "unknown"
        ),
    },
    "gpu-width, gpu: 2": {
        "gpu.width": "fail",
        "gpu.path_width": "fail",
        "pcie.full_width": "warn",
        "planes.gpu_width": "fail",
    },
    "nic-missing, nic: mlx5_4": {"nic.count": "fail", "nic.in_place": "fail", "gpu.near_nic": "warn"},
    "drive-missing, drive: nvme3": {"nvme.on_bus": "fail"},
    "nic-down, nic: mlx5_4": {"nic.rate": "fail"},
    "xid": {"log.no_fatal_xid": "fail", "log.no_xid": "warn"},
    "node-clock, seconds: 90": {"time.near": "fail", "planes.clock": "warn"},
    "node-clock, seconds: -90": {"time.near": "fail", "planes.clock": "warn"},
    "bmc-clock": {
        "bmc.clock": "warn",
        "planes.clock": "warn",
        "planes.clock_synchronized": "fail",
        "planes.clock_usable": "fail",
    },
    "bios-setting, attribute: SRIOVEnable, value: Disable": {"bios.sr_iov": "fail"},
    "bios-version, version: 1.0.1": {"firmware.bios": "fail"},
    "old-firmware, version: 23.01.01": {"firmware.bmc": "fail"},
    "file, path: /proc/sys/vm/swappiness, text: '60'": {"memory.swappiness": "warn"},
    "resource-missing, uri: /redfish/v1/Systems/DGX/Memory/DevType2_DIMM5": {
        "planes.dimm_count": "fail",
        "planes.dimm_serials": "fail",
    },
    "slow-bmc, milliseconds: 10": {},
    "few-connections, most: 2": {},
    "whole-collections": {},
    "bad-answers, how: unset-clock": {
        "bmc.clock": "warn",
        "planes.clock": "warn",
        "planes.clock_synchronized": "fail",
        "planes.clock_usable": "fail",
    },
    "bad-answers, how: forget, uri: /redfish/v1/Managers/BMC, times: 1": {},
}


@pytest.mark.parametrize("fault", FINDINGS)
def test_a_fault_is_found_where_it_was_laid_and_nothing_else_is(fault: str) -> None:
    assert changed(laid(fault, TOGETHER, 180)) == FINDINGS[fault]


BLINDING: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "sudo-denied": (
        frozenset(probe.name for probe in registry().probes if isinstance(probe.ask, Shell) and probe.ask.root),
        frozenset({"planes.dimm_serials", "planes.serial", "log.no_fatal_xid_since_boot", "nic.outstanding_reads"})
        | {
            "gpu.nic_path_direct",
            "gpu.settings_alike",
            "nvme.drives_alike",
            "pcie.functions_alike",
            "pcie.not_limited",
            "links.lanes_alike",
            "links.interface_lanes_alike",
        },
    ),
    # What a part lacks, like the bit error rate of NVLink 4, is skipped where only the driver can report that.
    "tool-missing, tool: python3": (
        frozenset({"gpu", "gpu_nvlink", "gpu_missing"}),
        frozenset({"fabric.configured", "fabric.healthy_summary", "gpu.no_page_waits", "nvlink.ber"})
        | {"nvlink.few_errors", "nvlink.recovered", "planes.gpus", "gpu.settings_alike", "gpu.libraries_match"}
        | {"slurm.counts_gpus"}
        | {f"planes.gpu_{fact}" for fact in ("vbios", "power", "temperature", "width", "ecc", "mig")},
    ),
    # Settings of the NIC that only AMD's processors need.
    "tool-missing, tool: lscpu": (frozenset({"cpu"}), frozenset({"nic.advanced_settings", "nic.write_ordering"})),
    "tool-missing, tool: timedatectl": (frozenset({"timesync"}), frozenset()),
    "tool-missing, tool: systemctl": (
        frozenset({"service_limits", "services", "systemd"}),
        frozenset({"fabric.manager_version"}),
    ),
    "unreadable-file, path: /proc/sys/kernel/tainted": (frozenset({"tainted"}), frozenset()),
}
"""Faults that hide an answer: the probes that read it, and the rules that need one of their facts."""

TOGETHER = (*FINDINGS, *BLINDING)
"""Faults of which each is audited on a node of its own in a usual run."""


def test_a_fault_on_one_of_four_nodes_changes_no_verdict_of_another_not_even_of_a_comparison() -> None:
    document = audited({"n2": "gpu-width, gpu: 2"}, nodes="n[1-4]", seconds=90)
    clean = {verdict["rule"]: verdict["status"] for verdict in clean_rack()["nodes"][CLEAN]["verdicts"]}
    found = {verdict["rule"]: verdict["status"] for verdict in document["nodes"][CLEAN]["verdicts"]}
    assert comparing() & found.keys()
    # The parts of one node alone are compared by a rule of the node, those of several by a rule of the fleet.
    assert {rule: found.get(rule) for rule in clean if rule != "identity.parts"} == {
        rule: status for rule, status in clean.items() if rule != "identity.parts"
    }
    assert not {"fail", "unknown"} & {status for rule, status in found.items() if rule not in clean}


def of_probes(names: frozenset[str]) -> frozenset[str]:
    """The rules that read a fact of these probes."""
    known = registry()
    given = {entry.pattern: entry.probe for entry in known.catalogue.entries.values()}
    profile = library.load("h100-dgx", known.catalogue, dict(value.split("=") for value in SITE))
    found = set()
    for rule in profile.own:
        entries = (known.catalogue.find(path) for path in rule.facts())
        if any(entry is not None and given[entry.pattern] in names for entry in entries):
            found.add(rule.id)
    return frozenset(found)


@pytest.mark.parametrize("fault", BLINDING)
def test_an_unreadable_value_is_unknown_in_each_rule_that_reads_it_and_in_no_other(fault: str) -> None:
    probes, waiting = BLINDING[fault]
    judged = {rule for rule, status in healthy().items() if status in {"pass", "warn"}}
    expected = (of_probes(probes) & judged) | waiting
    assert len(expected) > 0
    assert changed(laid(fault, TOGETHER, 180)) == dict.fromkeys(expected, "unknown")


def test_every_kind_of_fault_is_tried_here() -> None:
    tried = {fault.partition(",")[0] for fault in (*FINDINGS, *BLINDING)}
    planes = {fault for fault in UNREACHABLE if "," not in fault}
    # How much is read before a flapping certificate is chance: tests/transport/test_redfish_faults.py tests it.
    # Faults under load alone are tested in tests/burnin/test_grid.py.
    assert set(KINDS) - tried - planes - set(load_faults.KINDS) == {"resource", "flapping-certificate"}


def test_a_bios_that_differs_on_half_the_nodes_is_one_finding_that_names_them() -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        file = folder / "rack.yaml"
        file.write_text(
            "rackcheck: 1\nscenario: mixed\nnodes: { 'n[1-6]': { machine: dgx-h100 } }\n"
            "faults: [{ nodes: 'n[4-6]', fault: bios-version, version: 1.0.1 }]\n"
        )
        with WatchedRack(scenario.load(file), folder) as rack:
            done = rackcheck(
                "audit", "-i", rack.inventory, "-p", "h100-dgx", "--planes", "bmc", "--json", "-q", "-o", folder / "run",
                "--set", SITE[0],
            )  # fmt: skip
    failing = [finding for finding in json.loads(done.out)["findings"] if finding["status"] == "fail"]
    assert [(finding["rule"], finding["folded"]) for finding in failing] == [("firmware.bios", "n[4-6]")]
