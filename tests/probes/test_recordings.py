"""The shared recordings: each is compared with the facts of its probes, or is of something that no probe reads."""

import ast
import fnmatch
from functools import cache
from pathlib import Path

from places import TESTS
from recorded_answers import recorded
from recordings import shared

NOT_COLLECTED = {
    # Another tool, whose facts come from the kernel's own files.
    "amd/rocm-smi-*[!2].json": "amd-smi and sysfs are read",
    "amd/rocm-smi-table-*": "amd-smi and sysfs are read",
    "amd/ainic-nicctl_*": "the NIC's own tool; sysfs and ethtool are read",
    "cpu/cpupower-*": "sysfs is read",
    "cpu/hwloc-*": "sysfs is read for the shape of the machine",
    "cpu/turbostat-*": "it watches for seconds and needs a module loaded",
    "ethernet/ainic-ip_link_*": "sysfs is read",
    "infiniband/ibdev2netdev-*": "sysfs is read",
    "infiniband/ibstat.*": "sysfs is read",
    "infiniband/ibstatus.*": "sysfs is read",
    "infiniband/perfquery-*": "sysfs is read for the counters",
    "nvidia/nvidia-smi-L-*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-azure-*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-boost-slider-*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-nvlink-status-*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-q-*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-query.*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi-table-*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/nvidia-smi.*": "NVML is read, else nvidia-smi -q -x",
    "nvidia/smi-capture-*": "NVML is read, else nvidia-smi -q -x, which none of them holds",
    "os/lsmod-*": "/proc/modules and /sys/module are read",
    "os/mount-*": "/proc/mounts is read",
    "pcie/lshw-*": "sysfs and lspci are read",
    "pcie/lspci-mmv-*": "lspci -Dnnvvv is read",
    "pcie/lspci-nn-a10.txt": "lspci -Dnnvvv is read",
    "services/sinfo-*": "scontrol is read, of this node alone",
    "services/slurmrestd-*": "scontrol is read, of this node alone",
    "storage/findmnt-*": "/proc/mounts is read",
    "storage/lsblk-*": "sysfs is read",
    "storage/mdadm-*": "sysfs is read",
    "storage/ne-proc-mdstat.txt": "sysfs is read",
    "storage/nvme-id-ctrl*": "sysfs is read for what identifies a drive",
    "storage/nvme-list-*": "sysfs is read for what identifies a drive",
    # Output about more than one node, or of a tool that acts.
    "amd/rccl-topo*": "what a library found, not what a node answers",
    "infiniband/ibnetdiscover-*": "the whole fabric, not a node",
    "infiniband/ibswinfo-*": "a switch, not a node",
    "logs/superbench-gpu_burn.log": "a benchmark's log",
    "nvidia/nccl-topo-*": "what a library found, not what a node answers",
    "services/sdiag-*": "the scheduler, not a node",
    "storage/mmdf-*": "a file system of many nodes",
    "storage/mmpmon-*": "a file system of many nodes",
    # Content that is read, but in another form.
    "cpu/proc-cpuinfo-procfs.txt": "the machine of cpu/ne-proc-cpuinfo.txt again",
    "logs/journald-azure.log": "the audit's messages; the kernel's ring is read",
    "logs/kmsg-nvswitch-boot.log": "dmesg's form is read, not the device's own",
    "memory/*zoneinfo*": "no row of the checks needs the zones",
    "pcie/lspci-vvvx-cap-rebar.txt": "bytes alone, which lspci has not decoded",
    # Another plane, or not read from this one.
    "ipmi/*": "the BMC is read over Redfish",
    "memory/dmidecode-t39-*": "pasted with blanks in place of tabs, and without its end; whole tables are read",
    "memory/dmidecode-t43-*": "the TPM is read from the kernel and from the BMC",
    "services/tuned-adm-list.txt": "what could be active; what is active is read",
}
"""Recordings that no probe claims to read, by pattern, with what is read instead."""
SERIES = ("memory/dmidecode-", "nvidia/nvidia-smi-qx-", "pcie/lspci-vvvx-cap-")
"""Tests name these without the prefix."""
LEAST = 100


def claimed() -> list[str]:
    """Every recording that a probe claims to read."""
    return [name for name in recorded() if not any(fnmatch.fnmatch(name, pattern) for pattern in NOT_COLLECTED)]


@cache
def asserted() -> frozenset[str]:
    """Every recording that a test of facts names; profile tests may read theirs by other means."""
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
    """The word that names one of a series in a test, or its whole name."""
    start = next((series for series in SERIES if name.startswith(series)), None)
    return name if start is None else name.removeprefix(start).removesuffix(".txt").removesuffix(".xml")


def test_every_recording_that_a_probe_claims_to_read_is_held_against_its_facts() -> None:
    shared("README.md")
    assert sorted(set(claimed()) - asserted()) == []


def test_at_least_a_hundred_recordings_are_held_against_their_facts() -> None:
    shared("README.md")
    assert len(set(claimed()) & asserted()) >= LEAST


def test_every_unused_recording_exists_and_is_read_by_no_test() -> None:
    shared("README.md")
    for pattern in NOT_COLLECTED:
        found = fnmatch.filter(recorded(), pattern)
        assert found, pattern
        assert not set(found) & asserted(), pattern
