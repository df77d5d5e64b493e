"""The kinds of lines that the kernel and its drivers write: which matches first, and what only looks like one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import os_probes

from rackcheck.model.fact import Unreadable
from rackcheck.parse.host.kernel_log.dmesg import LinePattern, tallies
from rackcheck.parse.host.kernel_log.dmesg_filesystem import FILESYSTEMS
from rackcheck.parse.host.kernel_log.dmesg_gpu import AMDGPU, NVIDIA
from rackcheck.parse.host.kernel_log.dmesg_hardware import AER, FIRMWARE_ERRORS, MACHINE_CHECKS, PCIE
from rackcheck.parse.host.kernel_log.dmesg_iommu import IOMMU
from rackcheck.parse.host.kernel_log.dmesg_kernel import CRASHED_PROGRAMS, FAULTS, STALLS
from rackcheck.parse.host.kernel_log.dmesg_network import MLX5, NETDEV
from rackcheck.parse.host.kernel_log.dmesg_storage import DISKS, NVME

TABLES = {
    "log_aer": AER,
    "log_amdgpu": AMDGPU,
    "log_cper": FIRMWARE_ERRORS,
    "log_crash": FAULTS,
    "log_disk": DISKS,
    "log_filesystem": FILESYSTEMS,
    "log_iommu": IOMMU,
    "log_mce": MACHINE_CHECKS,
    "log_mlx5": MLX5,
    "log_netdev": NETDEV,
    "log_nvidia": NVIDIA,
    "log_nvme": NVME,
    "log_pcie": PCIE,
    "log_segfault": CRASHED_PROGRAMS,
    "log_stall": STALLS,
}
BETWEEN = (
    "amdgpu ",
    "mlx5_core ",
    "NVRM: ",
    "0000:c1:00.0",
    ": ",
    "Xid ",
    ", name=",
    "comm ",
    "link is down",
    " failed",
)
# Lines of public threads and of the kernel's own format strings; not from one machine.
KNOWN: list[tuple[tuple[LinePattern, ...], str, str, str]] = [
    (AER, "pcieport 0000:16:01.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer",
     "0000:16:01.0", "nonfatal"),
    (AMDGPU, "amdgpu 0000:c1:00.0: amdgpu: GPU reset(2) failed", "0000:c1:00.0", "reset_failures"),
    (AMDGPU, "amdgpu 0000:c1:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block", "0000:c1:00.0",
     "uncorrected"),
    (CRASHED_PROGRAMS, "python3[77]: segfault at 8 ip 00007f error 4 in libnccl.so.2.18.5[7f0000000000+1000]", "", "nccl"),
    (DISKS, "blk_update_request: critical medium error, dev sda, sector 1953525160", "sda", "medium_errors"),
    (DISKS, "I/O error, dev nvme0n1, sector 0 op 0x0:(READ)", "nvme0n1", "io_errors"),
    (FAULTS, "divide error: 0000 [#1] SMP PTI", "", "oopses"),
    (FAULTS, "kernel BUG at mm/slub.c:305!", "", "bugs"),
    (FILESYSTEMS, "Aborting journal on device sda2-8.", "sda2", "errors"),
    (FILESYSTEMS, "EXT4-fs (md0): Remounting filesystem read-only", "md0", "read_only"),
    (FIRMWARE_ERRORS, "{1}[Hardware Error]: event severity: recoverable", "", "recoverable"),
    (MACHINE_CHECKS, "mce: [Hardware Error]: Machine check events logged", "", "logged"),
    (MLX5, "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature", "0000:5c:00.0",
     "hot"),
    (MLX5, "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, Bus stuck(I2C or data shorted)",
     "0000:5c:00.0", "module_errors"),
    (NETDEV, "igb 0000:03:00.0 enp3s0: igb: enp3s0 NIC Link is Down", "enp3s0", "down"),
    (NETDEV, "bond0: (slave enp2s0): link status definitely down, disabling slave", "enp2s0", "bond_down"),
    (IOMMU, "DMAR: [DMA Write PASID 0x1] Request device [c1:00.0] fault addr 0x0 [fault reason 0x71] SM: Present bit",
     "c1:00.0", "faults"),
    (NVIDIA, "NVRM: RmInitAdapter failed! (0x62:0x55:2130)", "", "init_failures"),
    (NVME, "nvme nvme3: I/O 12 QID 3 timeout, aborting", "nvme3", "timeouts"),
    (PCIE, "pcieport 0000:89:02.0: pciehp: Slot(400): Link Down", "0000:89:02.0", "link_down"),
    (PCIE, "nvme 0000:59:00.0: Unable to change power state from D3cold to D0, device inaccessible", "0000:59:00.0",
     "inaccessible"),
    (STALLS, "INFO: task jbd2/md0-8:1234 blocked for more than 120 seconds.", "", "hung_tasks"),
]  # fmt: skip


def counted(kinds: tuple[LinePattern, ...], *rows: str) -> dict[str, dict[str, int]]:
    """The counts of each device."""
    return {key: tally.counts for key, tally in tallies("".join(f"{row}\n" for row in rows), kinds).items()}


@pytest.mark.parametrize(("kinds", "row", "key", "leaf"), KNOWN)
def test_a_line_counts_once_for_the_device_that_it_names(
    kinds: tuple[LinePattern, ...], row: str, key: str, leaf: str
) -> None:
    assert counted(kinds, f"[    9.100000] {row}", row) == {key: {leaf: 2}}


@pytest.mark.parametrize(("kinds", "row", "key", "leaf"), KNOWN)
def test_a_line_quoted_by_another_program_is_not_the_kernels(
    kinds: tuple[LinePattern, ...], row: str, key: str, leaf: str
) -> None:
    assert counted(kinds, f"[    9.100000] python3[77]: {row}") == {}


@pytest.mark.parametrize(
    ("kinds", "row"),
    [
        (PCIE, "pcieport 0000:a9:10.0: pciehp: Slot(272): Link Down/Up ignored (recovered by DPC)"),
        (PCIE, "mlx5_core 0000:18:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)"),
        (NVIDIA, "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        (NVIDIA, "nvidia-nvlink: Nvlink Core is being initialized, major device number 507"),
        (NVIDIA, "NVRM: GPU at PCI:0000:1b:00: GPU-2b6f61f9-8b00-3b57-d912-b62792120662"),
        (MLX5, "mlx5_core 0000:18:00.0: Port module event: module 0, Cable plugged"),
        (AMDGPU, "amdgpu 0000:c1:00.0: amdgpu: 0 correctable hardware errors detected in umc block"),
        (FILESYSTEMS, "EXT4-fs (md0): mounted filesystem with ordered data mode. Opts: (null). Quota mode: none."),
        (DISKS, "blk_update_request: operation not supported error, dev nvme0n1, sector 0 op 0x9:(WRITE_ZEROES)"),
        (FAULTS, "BUG: soft lockup - CPU#3 stuck for 22s!"),
        (NETDEV, "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready"),
    ],
)
def test_a_line_of_something_that_went_well_or_is_counted_elsewhere_is_no_fault(
    kinds: tuple[LinePattern, ...], row: str
) -> None:
    assert counted(kinds, row) == {}


@pytest.mark.parametrize("digit", "0123456789abcdef")
def test_bit_61_of_a_banks_status_marks_an_uncorrected_machine_check(digit: str) -> None:
    row = f"mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 7: {digit}c00004000010091"
    uncorrected = int(f"{digit}c00004000010091", 16) >> 61 & 1
    assert counted(MACHINE_CHECKS, row) == {"": {"uncorrected" if uncorrected else "corrected": 1}}


@pytest.mark.parametrize("name", TABLES)
def test_a_probe_promises_the_counts_of_its_table_and_no_others(name: str) -> None:
    entries = (str(entry.pattern) for entry in os_probes()[name].entries())
    promised = {path.rpartition(".")[2] for path in entries if re.fullmatch(r"log\.kernel\.\w+(/\*)?\.\w+", path)}
    assert promised - {"last", "longest_outage"} == {kind.leaf for kind in TABLES[name]}


@given(st.sampled_from(sorted(TABLES)), st.data())
def test_nonsense_around_the_words_looked_for_is_counted_or_unreadable(name: str, data: st.DataObject) -> None:
    held = st.sampled_from([kind.holds for kind in TABLES[name]])
    log = "".join(data.draw(st.lists(st.one_of(held, st.sampled_from(BETWEEN), st.just("\n"), st.text(max_size=9)))))
    try:
        found = tallies(log, TABLES[name])
    except Unreadable:
        assert not log.strip() or not log.endswith("\n")
        return
    assert sum(n for tally in found.values() for n in tally.counts.values()) <= log.count("\n")
