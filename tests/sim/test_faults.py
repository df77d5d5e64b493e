"""Every fault alone on a clean rack: its own finding or unknown, no other, and no change on the node beside it."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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


def audited(fault: str, *words: str, nodes: str = "n[1-2]", seconds: str = "8") -> dict[str, Any]:
    """Audit a small rack by h100-dgx and return the document."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        file = folder / "rack.yaml"
        laid = f"faults: [{{ nodes: n1, fault: {fault} }}]\n" if fault else ""
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


def statuses(document: Mapping[str, Any], node: str) -> Verdicts:
    """The status of every verdict of a node by the profile's own rules."""
    own = (v for v in document["nodes"][node]["verdicts"] if not v["rule"].startswith("identity."))
    return {verdict["rule"]: verdict["status"] for verdict in own}


@cache
def healthy() -> Verdicts:
    return statuses(audited("", nodes="n1"), "n1")


@cache
def of_plane(plane: str) -> frozenset[str]:
    """The rules that need only this plane."""
    return frozenset(statuses(audited("", "--planes", plane, nodes="n1"), "n1"))


def changed(document: Mapping[str, Any]) -> Verdicts:
    """What differs on the faulty node; the node beside it must be unchanged."""
    assert statuses(document, "n2") == healthy()
    clean = healthy()
    return {rule: status for rule, status in statuses(document, "n1").items() if status != clean[rule]}


def test_the_clean_machine_passes_with_nothing_unknown_but_what_its_bmc_does_not_serve() -> None:
    document = audited("", nodes="n1")
    assert (document["exit"], document["outcome"]) == (0, "PASS")
    assert "fail" not in healthy().values()
    minor = {rule.id for rule in library.load("h100-dgx", registry().catalogue).own if rule.unknown_is_minor}
    unknown = {rule for rule, status in healthy().items() if status == "unknown"}
    assert unknown >= {"planes.cpu_model", "planes.nic_mac", "bmc.nics_sound"}  # its BMC lists no such parts
    assert unknown <= minor
    assert sum(status == "pass" for status in healthy().values()) >= 60


@pytest.mark.parametrize(
    ("fault", "plane", "text"),
    [
        ("silent-node", "os", "timeout"),
        ("closed-node", "os", "Connection refused"),
        ("unknown-name", "os", "no address for n1.invalid"),
        ("refused-login", "os", "login as audit refused"),
        ("changed-host-key", "os", "host key changed"),
        ("silent-bmc", "bmc", "timeout"),
        ("closed-bmc", "bmc", "unreachable"),
        ("hanging-bmc", "bmc", "timeout"),
        ("refused-bmc-login", "bmc", "denied"),
        ("bmc-sessions", "bmc", "not ready"),
        ("changed-certificate", "bmc", "certificate changed"),
        ("bad-answers, how: html", "bmc", "not JSON"),
        ("bad-answers, how: busy-later", "bmc", "not ready"),
    ],
)
def test_an_unreachable_plane_is_unknown_and_the_other_one_is_judged(fault: str, plane: str, text: str) -> None:
    document = audited(fault)
    found = changed(document)
    clean = healthy()
    names = {rule for rule in of_plane(plane) if clean[rule] in {"pass", "warn"}}
    assert names <= {rule for rule, status in found.items() if status == "unknown"}
    other = of_plane("os" if plane == "bmc" else "bmc")
    assert not other & set(found)
    assert set(found.values()) == {"unknown"}
    assert (document["exit"], document["outcome"]) == (3, "INCOMPLETE")
    reasons = {finding["reason"] for finding in document["findings"] if finding["status"] == "unknown"}
    assert any(text in reason for reason in reasons), reasons


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
    assert changed(audited(fault, seconds="30")) == FINDINGS[fault]


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
    assert changed(audited(fault)) == dict.fromkeys(expected, "unknown")


def test_every_kind_of_fault_is_tried_here() -> None:
    tried = {fault.partition(",")[0] for fault in (*FINDINGS, *BLINDING)}
    planes = {"silent-node", "closed-node", "unknown-name", "refused-login", "changed-host-key", "silent-bmc"}
    planes |= {"closed-bmc", "hanging-bmc", "refused-bmc-login", "bmc-sessions", "changed-certificate"}
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
