"""The shared recordings: each is held against what the probes say of it, or is of something that no probe asks."""

import ast
import fnmatch
from functools import cache
from pathlib import Path

from places import TESTS
from recorded_answers import recorded
from recordings import shared

NOT_ASKED = {
    # Another tool, whose facts come from the kernel's own files.
    "amd/rocm-smi-*[!2].json": "amd-smi and sysfs are asked",
    "amd/rocm-smi-table-*": "amd-smi and sysfs are asked",
    "amd/ainic-nicctl_*": "the NIC's own tool; sysfs and ethtool are asked",
    "cpu/cpupower-*": "sysfs is asked",
    "cpu/hwloc-*": "sysfs is asked for the shape of the machine",
    "cpu/turbostat-*": "it watches for seconds and needs a module loaded",
    "ethernet/ainic-ip_link_*": "sysfs is asked",
    "infiniband/ibdev2netdev-*": "sysfs is asked",
    "infiniband/ibstat.*": "sysfs is asked",
    "infiniband/ibstatus.*": "sysfs is asked",
    "infiniband/perfquery-*": "sysfs is asked for the counters",
    "nvidia/nvidia-smi-L-*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-azure-*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-boost-slider-*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-nvlink-status-*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-q-*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-query.*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-table-*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/nvidia-smi.*": "NVML is asked, else nvidia-smi -q -x",
    "nvidia/smi-capture-*": "NVML is asked, else nvidia-smi -q -x, which none of them holds",
    "os/lsmod-*": "/proc/modules and /sys/module are asked",
    "os/mount-*": "/proc/mounts is asked",
    "pcie/lshw-*": "sysfs and lspci are asked",
    "pcie/lspci-mmv-*": "lspci -Dnnvvv is asked",
    "pcie/lspci-nn-a10.txt": "lspci -Dnnvvv is asked",
    "services/sinfo-*": "scontrol is asked, of this node alone",
    "services/slurmrestd-*": "scontrol is asked, of this node alone",
    "storage/findmnt-*": "/proc/mounts is asked",
    "storage/lsblk-*": "sysfs is asked",
    "storage/mdadm-*": "sysfs is asked",
    "storage/ne-proc-mdstat.txt": "sysfs is asked",
    "storage/nvme-id-ctrl*": "sysfs is asked for what identifies a drive",
    "storage/nvme-list-*": "sysfs is asked for what identifies a drive",
    # What tells of more than a node, or acts.
    "amd/rccl-topo*": "what a library found, not what a node answers",
    "infiniband/ibnetdiscover-*": "the whole fabric, not a node",
    "infiniband/ibswinfo-*": "a switch, not a node",
    "logs/superbench-gpu_burn.log": "a benchmark's log",
    "nvidia/nccl-topo-*": "what a library found, not what a node answers",
    "services/sdiag-*": "the scheduler, not a node",
    "storage/mmdf-*": "a file system of many nodes",
    "storage/mmpmon-*": "a file system of many nodes",
    # Not the form that is asked for, though its content is.
    "cpu/proc-cpuinfo-procfs.txt": "the machine of cpu/ne-proc-cpuinfo.txt again",
    "logs/journald-azure.log": "the audit's messages; the kernel's ring is asked",
    "logs/kmsg-nvswitch-boot.log": "dmesg's form is asked, not the device's own",
    "memory/*zoneinfo*": "no row of the checks asks for the zones",
    "pcie/lspci-vvvx-cap-rebar.txt": "bytes alone, which lspci has not told in words",
    # Another plane, and what is not asked of one.
    "ipmi/*": "the BMC is asked over Redfish",
    "memory/dmidecode-t39-*": "power supplies are the BMC's",
    "memory/dmidecode-t43-*": "the TPM is asked of the kernel and of the BMC",
    "services/tuned-adm-list.txt": "what could be active; what is active is asked",
}
"""Recordings that no probe claims to read, by pattern, with what is read instead."""
SERIES = ("memory/dmidecode-", "nvidia/nvidia-smi-qx-", "pcie/lspci-vvvx-cap-")
"""Tests name these by what follows."""
LEAST = 100


def claimed() -> list[str]:
    """Every recording that a probe claims to read."""
    return [name for name in recorded() if not any(fnmatch.fnmatch(name, pattern) for pattern in NOT_ASKED)]


@cache
def asserted() -> frozenset[str]:
    """Every recording that a test of facts names: what profiles are judged on may be read by other means."""
    names = TESTS.rglob("test_*.py")
    tests = [path for path in names if path.name != Path(__file__).name and "_profile" not in path.name]
    texts = {
        node.value
        for path in tests
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    parts = {"/".join(text.split("/")[:2]) for text in texts}
    return frozenset(
        name for name in recorded() if name in parts or {name, name.partition("/")[2], short(name)} & texts
    )


def short(name: str) -> str:
    """The word by which a test names one of a series, or its whole name."""
    start = next((series for series in SERIES if name.startswith(series)), None)
    return name if start is None else name.removeprefix(start).removesuffix(".txt").removesuffix(".xml")


def test_every_recording_that_a_probe_claims_to_read_is_held_against_its_facts() -> None:
    shared("README.md")
    assert sorted(set(claimed()) - asserted()) == []


def test_at_least_a_hundred_recordings_are_held_against_their_facts() -> None:
    shared("README.md")
    assert len(set(claimed()) & asserted()) >= LEAST


def test_every_recording_that_is_not_asked_for_is_there_and_not_read_all_the_same() -> None:
    shared("README.md")
    for pattern in NOT_ASKED:
        found = fnmatch.filter(recorded(), pattern)
        assert found, pattern
        assert not set(found) & asserted(), pattern
