"""The kernel's log line by line: every kind as in real logs and the kernel's sources, and similar lines of others."""

import csv
import json
import re
import subprocess
from importlib.resources import files

import pytest
from recordings import answering, facts, os_probes, shared, shared_text

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, single
from rackcheck.model.question import Shell
from rackcheck.parse.host.kernel_log import dmesg, journalctl
from rackcheck.parse.host.kernel_log import xid as xids
from rackcheck.parse.host.kernel_log.dmesg import line, message, of_each, seconds, tallies
from rackcheck.parse.host.kernel_log.dmesg_storage import DISKS
from rackcheck_probes.boot import journal_before
from rackcheck_probes.gpu import fabric_manager_log
from rackcheck_probes.kernel_log import xid_table
from rackcheck_probes.kernel_log.kernel_log import DMESG
from rackcheck_probes.os import journal

PROBES = os_probes()
OF_THE_RING = sorted(name for name, probe in PROBES.items() if probe.ask == DMESG)
BOOT = "[    0.000000] Linux version 5.15.0-1053-nvidia (buildd@lcy02) (gcc 11.4.0) #54-Ubuntu SMP\n"


def log(name: str) -> str:
    """A recorded log with the end of its last line, which some recorders left out."""
    return shared_text(f"logs/{name}").rstrip("\n") + "\n"


def readings_of(probe: str, text: str) -> dict[str, Reading]:
    """The facts of a probe whose question has this answer."""
    return facts(PROBES[probe], answering(PROBES[probe], text))


def seen(probe: str, text: str) -> dict[str, Reading]:
    """A probe's findings: counts above zero and lists that are not empty, without last lines and times."""
    given = ((p, v) for p, v in readings_of(probe, text).items() if not p.endswith((".last", ".longest_outage")))
    return {p: v for p, v in given if not isinstance(v, Absent | Unknown) and v not in (0, ())}


# Lines of public threads, of gpud's, node-scraper's and NVSentinel's tests and designs, and of the kernel's own format
# strings, not from one machine.
QUOTED: list[tuple[str, list[str], dict[str, Reading]]] = [
    (
        "log_aer",
        [
            "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:00:1c.0",
            "pcieport 0000:00:1c.0: PCIe Bus Error: severity=Corrected, type=Physical Layer, (Receiver ID)",
            "pcieport 0000:00:1c.0:   device [8086:9d13] error status/mask=00000001/00002000",
            "igb 0000:09:00.0: AER: PCIe Bus Error: severity=Uncorrected (Non-Fatal), type=Transaction Layer, (Requester ID)",
            "pcieport 0000:c0:01.1: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)",
            "pcieport 0000:07:00.0: PCIe Bus Error: severity=Correctable, type=Data Link Layer, (Receiver ID)",
            "pcieport 0000:89:02.0: AER: aer_status: 0x00000001, aer_mask: 0x00002000",
        ],
        {
            'log.kernel.aer/"0000:00:1c.0".corrected': 1,
            'log.kernel.aer/"0000:07:00.0".corrected': 1,
            'log.kernel.aer/"0000:09:00.0".nonfatal': 1,
            'log.kernel.aer/"0000:89:02.0".by_firmware': 1,
            'log.kernel.aer/"0000:c0:01.1".fatal': 1,
            "log.kernel.aer": ("0000:00:1c.0", "0000:07:00.0", "0000:09:00.0", "0000:89:02.0", "0000:c0:01.1"),
        },
    ),
    (
        "log_mce",
        [
            "mce: [Hardware Error]: Machine check events logged",
            "[Hardware Error]: Corrected error, no action required.",
            "[Hardware Error]: Deferred error, no action required.",
            "[Hardware Error]: Uncorrected, software restartable error.",
            "[Hardware Error]: CPU:7 (17:1:1) MC0_STATUS[-|UE|MiscV|AddrV|-|-|-|UECC|-|Poison|-]: 0xbc002800000c0135",
            "mce: [Hardware Error]: CPU 10: Machine Check Exception: 5 Bank 3: be00000000800400",
            "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 7: 8c00004000010091",
            "Memory failure: 0xaf34214: reserved kernel page still referenced by 1 users",
        ],
        {
            "log.kernel.mce.corrected": 2,
            "log.kernel.mce.deferred": 1,
            "log.kernel.mce.uncorrected": 2,
            "log.kernel.mce.logged": 1,
            "log.kernel.mce.memory_failures": 1,
        },
    ),
    (
        "log_edac",
        [
            "EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0: DEV 0000:7e:0c.0 (INTERRUPT)",
            "EDAC MC0: 0 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x30aa905 offset:0xa80 grain:32 syndrome:0x0 )",
            "EDAC MC3: 1 UE memory read error on CPU_SrcID#0_Channel#0_DIMM#0 (channel:0 slot:0 page:0x12345 offset:0x0 grain:32 )",
        ],
        {
            "log.kernel.edac.corrected": 1,
            "log.kernel.edac.uncorrected": 1,
        },
    ),
    (
        "log_cper",
        [
            "{1}[Hardware Error]: It has been corrected by h/w and requires no further action",
            "{1}[Hardware Error]: event severity: corrected",
            "{1}[Hardware Error]:  Error 0, type: corrected",
            "{2}[Hardware Error]: event severity: recoverable",
        ],
        {
            "log.kernel.firmware_error.corrected": 1,
            "log.kernel.firmware_error.recoverable": 1,
        },
    ),
    (
        "log_stall",
        [
            "INFO: task kcompactd1:1177 blocked for more than 120 seconds.",
            "watchdog: BUG: soft lockup - CPU#18 stuck for 27s! [python3:2254956]",
            "NMI watchdog: Watchdog detected hard LOCKUP on cpu 27",
            "watchdog: CPU28: Watchdog detected hard LOCKUP on cpu 28",
            "rcu: INFO: rcu_preempt self-detected stall on CPU",
        ],
        {
            "log.kernel.stall.hung_tasks": 1,
            "log.kernel.stall.soft_lockups": 1,
            "log.kernel.stall.hard_lockups": 2,
            "log.kernel.stall.rcu_stalls": 1,
        },
    ),
    (
        "log_thermal",
        [
            "mce: CPU2: Package temperature above threshold, cpu clock throttled (total events = 252658)",
            "CPU0: Core temperature above threshold, cpu clock throttled (total events = 22034)",
            "mce: CPU2: Package temperature/speed normal",
            "thermal thermal_zone2: gpu1-thermal: critical temperature reached",
        ],
        {
            "log.kernel.thermal.throttled": 2,
            "log.kernel.thermal.critical": 1,
        },
    ),
    (
        "log_disk",
        [
            "print_req_error: I/O error, dev nvme1n1, sector 895222784",
            "blk_update_request: I/O error, dev nvme0n1, sector 32776 op 0x1:(WRITE) flags 0x3000 phys_seg 6 prio class 0",
            "I/O error, dev nvme0n1, sector 16 op 0x0:(READ) flags 0x4080700 phys_seg 4 prio class 2",
            "critical medium error, dev sdd, sector 4 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
            "Buffer I/O error on dev dm-0, logical block 1308098575, lost async page write",
            "block nvme0n1: no available path - failing I/O",
        ],
        {
            "log.kernel.disk/dm-0.buffer_errors": 1,
            "log.kernel.disk/nvme0n1.io_errors": 2,
            "log.kernel.disk/nvme0n1.path_lost": 1,
            "log.kernel.disk/nvme1n1.io_errors": 1,
            "log.kernel.disk/sdd.medium_errors": 1,
            "log.kernel.disk": ("dm-0", "nvme0n1", "nvme1n1", "sdd"),
        },
    ),
    (
        "log_filesystem",
        [
            "EXT4-fs (md0): mounted filesystem with ordered data mode. Opts: (null). Quota mode: none.",
            "EXT4-fs error (device nvme0n1): ext4_find_entry:1436: inode #2: comm cp: reading directory lblock 0",
            "EXT4-fs (md0): Remounting filesystem read-only",
            "EXT4-fs (dm-0): I/O error while writing superblock",
            "Aborting journal on device sda2-8.",
            "XFS (dm-0): log I/O error -5",
            "XFS (dm-0): Filesystem has been shut down due to log error (0x2).",
            "XFS (sda4): Metadata corruption detected at xfs_dinode_verify.part.0+0x739/0x920 [xfs], inode 0x427b2d1",
        ],
        {
            "log.kernel.filesystem/dm-0.shutdowns": 1,
            "log.kernel.filesystem/dm-0.errors": 2,
            "log.kernel.filesystem/md0.read_only": 1,
            "log.kernel.filesystem/nvme0n1.errors": 1,
            "log.kernel.filesystem/sda2.errors": 1,
            "log.kernel.filesystem/sda4.errors": 1,
            "log.kernel.filesystem": ("dm-0", "md0", "nvme0n1", "sda2", "sda4"),
        },
    ),
    (
        "log_nvme",
        [
            "nvme nvme0: pci function 0000:01:00.0",
            "nvme nvme4: I/O tag 22 (2016) opcode 0x2 (Admin Cmd) QID 0 timeout, reset controller",
            "nvme nvme0: I/O 978 QID 3 timeout, completion polled",
            "nvme nvme1: Disabling device after reset failure: -5",
            "nvme nvme2: Device not ready; aborting reset, CSTS=0x1",
        ],
        {
            "log.kernel.nvme/nvme0.timeouts": 1,
            "log.kernel.nvme/nvme1.disabled": 1,
            "log.kernel.nvme/nvme2.not_ready": 1,
            "log.kernel.nvme/nvme4.timeouts": 1,
            "log.kernel.nvme": ("nvme0", "nvme1", "nvme2", "nvme4"),
        },
    ),
    (
        "log_raid",
        [
            "md/raid1:md0: active with 2 out of 2 mirrors",
            "md/raid1:md0: Disk failure on nvme2n1, disabling device.",
            "md/raid:md1: Disk failure on nvme2n1p4, disabling device.",
            "md/raid10:md127: Disk failure on nvme3n1, disabling device.",
        ],
        {
            "log.kernel.raid/md0.failures": 1,
            "log.kernel.raid/md1.failures": 1,
            "log.kernel.raid/md127.failures": 1,
            "log.kernel.raid": ("md0", "md1", "md127"),
        },
    ),
    (
        "log_netdev",
        [
            "mlx5_core 0000:41:00.0 enp65s0f0np0: Link up",
            "mlx5_core 0000:41:00.0 enp65s0f0np0: Link down",
            "mlx5_core 0000:41:00.0 enp65s0f0np0: Link up",
            "igb 0000:03:00.0 enp3s0: igb: enp3s0 NIC Link is Down",
            "bond0: (slave enp2s0): link status definitely down, disabling slave",
            "bond1: link status definitely down for interface ens19, disabling it",
            "NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out",
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
        ],
        {
            "log.kernel.netdev/enp2s0.bond_down": 1,
            "log.kernel.netdev/enp3s0.down": 1,
            "log.kernel.netdev/enp65s0f0np0.down": 1,
            "log.kernel.netdev/enp65s0f0np0.up": 2,
            "log.kernel.netdev/ens19.bond_down": 1,
            "log.kernel.netdev/eth0.tx_timeouts": 1,
            "log.kernel.netdev": ("enp2s0", "enp3s0", "enp65s0f0np0", "ens19", "eth0"),
        },
    ),
    (
        "log_mlx5",
        [
            "mlx5_core 0000:12:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).",
            "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, High Temperature",
            "mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, Bus stuck(I2C or data shorted)",
            "mlx5_core 0000:03:00.0: wait_func:964:(pid 112): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource",
            "mlx5_core 0000:d2:00.0: poll_health:174: device's health compromised - reached miss count.",
            "mlx5_core 0000:d2:00.0: mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) failed, status bad resource(0x5), syndrome (0x305684), err(-22)",
            "mlx5_core 0000:18:00.0: Port module event: module 0, Cable plugged",
            "mlx5_core 0000:18:00.0: Port module event: module 0, Cable unplugged",
        ],
        {
            'log.kernel.mlx5/"0000:03:00.0".command_timeouts': 1,
            'log.kernel.mlx5/"0000:5c:00.0".hot': 1,
            'log.kernel.mlx5/"0000:5c:00.0".module_errors': 1,
            'log.kernel.mlx5/"0000:12:00.0".slot_power': 1,
            'log.kernel.mlx5/"0000:18:00.0".unplugged': 1,
            'log.kernel.mlx5/"0000:d2:00.0".health': 1,
            'log.kernel.mlx5/"0000:d2:00.0".refused_registers': 1,
            "log.kernel.mlx5": ("0000:03:00.0", "0000:5c:00.0", "0000:12:00.0", "0000:18:00.0", "0000:d2:00.0"),
        },
    ),
    (
        "log_pcie",
        [
            "pci 0000:01:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)",
            "mlx5_core 0000:18:00.0: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)",
            "pcieport 0000:89:02.0: pciehp: Slot(400): Link Down",
            "pcieport 0000:89:02.0: pciehp: Slot(400): Card not present",
            "pcieport 0000:a9:10.0: pciehp: Slot(272): Link Down/Up ignored (recovered by DPC)",
            "pcieport 0000:00:1b.0: DPC: containment event, status:0x1f01 source:0x0000",
            "nvme 0000:59:00.0: Unable to change power state from D3cold to D0, device inaccessible",
        ],
        {
            'log.kernel.pcie/"0000:00:1b.0".contained': 1,
            'log.kernel.pcie/"0000:01:00.0".limited': 1,
            'log.kernel.pcie/"0000:59:00.0".inaccessible': 1,
            'log.kernel.pcie/"0000:89:02.0".link_down': 1,
            'log.kernel.pcie/"0000:89:02.0".card_gone': 1,
            "log.kernel.pcie": ("0000:00:1b.0", "0000:01:00.0", "0000:59:00.0", "0000:89:02.0"),
        },
    ),
    (
        "log_nvidia",
        [
            "NVRM: The NVIDIA GPU 0000:b3:00.0",
            "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
            "               NVRM: fallen off the bus and is not responding to commands.",
            "NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
            "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00 (printing 1 of every 30).  The GPU likely needs to be reset.",
            "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ kernel_channel.c:2874",
            "NVRM: nvAssertOkFailedNoLog: Assertion failed: Requested object not found [NV_ERR_OBJECT_NOT_FOUND] (0x00000057)",
            "NVRM: RmInitAdapter failed! (0x62:0x55:2130)",
            "NVRM: API mismatch: the client has the version 535.171.04, but",
            "               NVRM: this kernel module has the version 535.161.07.  Please",
        ],
        {
            "log.kernel.nvidia.fallen_off": 1,
            "log.kernel.nvidia.gsp_timeouts": 2,
            "log.kernel.nvidia.reset_required": 1,
            "log.kernel.nvidia.object_not_found": 1,
            "log.kernel.nvidia.init_failures": 1,
            "log.kernel.nvidia.mismatches": 1,
        },
    ),
    (
        "log_lustre",
        [
            "LustreError: 11-0: scratch2-OST0042-osc-ffff: operation ost_write to node 10.7.42.4@o2ib failed: rc = -19",
            "Lustre: capstor-OST003a-osc-ffff3000ef06c000: Connection to capstor-OST003a (at 172.28.1.43@tcp) was lost; in progress operations using this service will wait for recovery to complete",
            "LNetError: 4526:0:(o2iblnd_cb.c:3442:kiblnd_check_txs_locked()) Timed out tx: active_txs, 1 seconds",
        ],
        {
            "log.kernel.lustre.errors": 1,
            "log.kernel.lustre.network_errors": 1,
            "log.kernel.lustre.connections_lost": 1,
        },
    ),
    (
        "log_nfs",
        [
            "nfs: server 7.247.192.16 not responding, timed out",
            "nfs: server 7.247.192.16 OK",
            "NFS: nfs4_reclaim_open_state: Lock reclaim failed!",
        ],
        {
            "log.kernel.nfs.not_responding": 1,
            "log.kernel.nfs.recovered": 1,
            "log.kernel.nfs.locks_lost": 1,
        },
    ),
    (
        "log_segfault",
        [
            "pt_main_thread[2536443]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in libnccl.so.2[7f7c7ac00000+d3d3000]",
            "python3[77]: segfault at 0 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in libc.so.6[7f7c7ac00000+195000]",
            "traps: job[78] general protection fault ip:7f7c7ac69996 sp:7f7c12fd7c30 error:0 in libtorch.so[7f7c7ac00000+195000]",
        ],
        {
            "log.kernel.segfault.nccl": 1,
            "log.kernel.segfault.libc": 1,
            "log.kernel.segfault.other": 1,
        },
    ),
    (
        "log_crash",
        [
            "Kernel panic - not syncing: Test panic triggered by crash_test module",
            "BUG: unable to handle page fault for address: ffffb24d403e5000",
            "Oops: 0000 [#1] SMP NOPTI",
            "kernel BUG at mm/slub.c:381!",
            "WARNING: CPU: 3 PID: 77 at net/sched/sch_generic.c:473 dev_watchdog+0x264/0x270",
            "WARNING: kernel stack frame pointer at 000000005611dc97 in nvidia-smi:2024380 has bad value 00000000ec717e66",
            "watchdog: BUG: soft lockup - CPU#18 stuck for 27s! [python3:2254956]",
        ],
        {
            "log.kernel.crash.panics": 1,
            "log.kernel.crash.oopses": 1,
            "log.kernel.crash.bugs": 2,
            "log.kernel.crash.warnings": 1,
        },
    ),
    (
        "log_network",
        [
            "nf_conntrack: nf_conntrack: table full, dropping packet",
            "neighbour: arp_cache: neighbor table overflow!",
        ],
        {
            "log.kernel.network.conntrack_full": 1,
            "log.kernel.network.neighbours_full": 1,
        },
    ),
    (
        "log_amdgpu",
        [
            "amdgpu 0000:c1:00.0: amdgpu: socket: 4, die: 0 1 correctable hardware errors detected in total in gfx block, no user action is needed.",
            "amdgpu 0000:c1:00.0: amdgpu: socket: 0, die: 0, 2 uncorrectable hardware errors detected in total in umc block",
            "amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!",
            "amdgpu 0000:c1:00.0: amdgpu: GPU reset(2) failed",
            "amdgpu 0000:05:00.0: amdgpu: [mmhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32771)",
        ],
        {
            'log.kernel.amdgpu/"0000:05:00.0".page_faults': 1,
            'log.kernel.amdgpu/"0000:c1:00.0".uncorrected': 1,
            'log.kernel.amdgpu/"0000:c1:00.0".corrected': 1,
            'log.kernel.amdgpu/"0000:c1:00.0".resets': 1,
            'log.kernel.amdgpu/"0000:c1:00.0".reset_failures': 1,
            "log.kernel.amdgpu": ("0000:05:00.0", "0000:c1:00.0"),
        },
    ),
    (
        "log_interrupts",
        [
            'irq 27: nobody cared (try booting with the "irqpoll" option)',
            "handlers:",
            "Disabling IRQ #27",
            "irq event 5: bogus return value 3",
            "nvme 0000:01:00.0: Disabling IRQ #31",
        ],
        {"log.kernel.interrupt.unhandled": 1, "log.kernel.interrupt.disabled": 1},
    ),
    (
        "log_clock",
        [
            "clocksource: timekeeping watchdog on CPU373: Marking clocksource 'tsc' as unstable because the skew is too large:",
            "clocksource:                       'hpet' wd_nsec: 14523447520 wd_now: 5a749706 wd_last: 45adf1e0 mask: ffffffff",
            "clocksource:                       Clocksource 'tsc' skewed 4687076445 ns (4687 ms) over watchdog 'acpi_pm' interval of 633206175 ns (633 ms)",
            "tsc: Marking TSC unstable due to clocksource watchdog",
            "tsc: Marking TSC unstable due to running on Hyper-V",
            "clocksource: Long readout interval, skipping watchdog check: cs_nsec: 1584036171 wd_nsec: 1584036160",
            "clocksource: Switched to clocksource tsc",
        ],
        {"log.kernel.clock.unstable": 3},
    ),
    (
        "log_iommu",
        [
            "DMAR: DRHD: handling fault status reg 2",
            "DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr 0xfffc0000 [fault reason 0x02] Present bit in context entry is clear",
            "DMAR: [DMA Read NO_PASID] Request device [0x1b:0x00.0] fault addr 0xfffc0000 [fault reason 0x06] PTE Read access is not set",
            "DMAR: [INTR-REMAP] Request device [5d:00.1] fault index 0x1c [fault reason 0x26] Blocked an interrupt request due to source-id verification failure",
            "nvidia 0000:04:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0000 address=0x10b4c0000 flags=0x0070]",
            "AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:04:00.0 domain=0x0000 address=0x10b4a01e0 flags=0x0070]",
            "arm-smmu-v3 arm-smmu-v3.5.auto: event 0x10 received:",
            "arm-smmu-v3 arm-smmu-v3.5.auto:  0x0000020000000000",
            "arm-smmu-v3 arm-smmu-v3.5.auto: event: F_TRANSLATION client: 0001:06:00.0 sid: 0x20600 ssid: 0x0 iova: 0xff9bc000 ipa: 0x0",
            "DMAR: Intel(R) Virtualization Technology for Directed I/O",
        ],
        {
            'log.kernel.iommu/"1b:00.0".faults': 2,
            'log.kernel.iommu/"5d:00.1".interrupts': 1,
            'log.kernel.iommu/"0000:04:00.0".faults': 2,
            'log.kernel.iommu/"0001:06:00.0".faults': 1,
            'log.kernel.iommu/"arm-smmu-v3.5.auto".faults': 1,
            "log.kernel.iommu": ("0000:04:00.0", "0001:06:00.0", "1b:00.0", "5d:00.1", "arm-smmu-v3.5.auto"),
        },
    ),
    (
        "log_span",
        [
            "audit: type=1400 audit(1753325024.836:58): x",
            "kauditd_printk_skb: 46 callbacks suppressed",
            "nvme nvme0: I/O 978 QID 3 timeout, completion polled",
        ],
        {
            "log.kernel.ends": 102.000002,
            "log.kernel.lines": 4,
            "log.kernel.suppressed": 46,
        },
    ),
    (
        "xid_meaning",
        [
            "NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
            "NVRM: Xid (PCI:0000:9b:00): 999, of a later driver",
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 00 (0x021405c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
            "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            "NVRM: Xid (PCI:0018:01:00): 145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)",
            "NVRM: Xid (PCI:0000:19:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x00000012bac1c3e0) marked for remapping, reset gpu to activate.",
        ],
        {
            'log.xid/"0000:9b:00.0".named': ("119 GSP did not answer an RPC in time", "999 not in our table"),
            'log.xid/"0000:9b:00.0".actions': ("RESET_GPU", "not in our table"),
            'log.xid/"0000:9b:00.0".investigate': ("INVESTIGATE_SW", "not in our table"),
            'log.xid/"0000:9b:00.0".serious': ("119",),
            'log.xid/"0000:9b:00.0".unlisted': ("999",),
            'log.xid/"0009:01:00.0".named': ("149 NVLink error in unit NETIR", "154 GPU recovery action changed"),
            'log.xid/"0009:01:00.0".actions': ("WORKFLOW_NVLINK5_ERR", "XID_154"),
            'log.xid/"0009:01:00.0".investigate': (
                "N/A Informational only regarding another Xid",
                "WORKFLOW_NVLINK5_ERR",
            ),
            'log.xid/"0009:01:00.0".mild': ("154",),
            'log.xid/"0009:01:00.0".disputed': ("149",),
            'log.xid/"0018:01:00.0".named': ("145 NVLink error in unit RLW",),
            'log.xid/"0018:01:00.0".actions': ("WORKFLOW_NVLINK5_ERR",),
            'log.xid/"0018:01:00.0".investigate': ("WORKFLOW_NVLINK5_ERR",),
            'log.xid/"0018:01:00.0".disputed': ("145",),
            'log.xid/"0000:19:00.0".named': ("63 Memory page retired or row remapped",),
            'log.xid/"0000:19:00.0".actions': ("IGNORE",),
            'log.xid/"0000:19:00.0".investigate': ("IGNORE",),
            'log.xid/"0000:19:00.0".disputed': ("63",),
        },
    ),
    (
        "xid_detail",
        [
            "NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
            "NVRM: Xid (PCI:0000:9b:00): 999, of a later driver",
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 00 (0x021405c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)",
            "NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            "NVRM: Xid (PCI:0018:01:00): 145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)",
            "NVRM: Xid (PCI:0000:19:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x00000012bac1c3e0) marked for remapping, reset gpu to activate.",
        ],
        {
            'log.xid/"0009:01:00.0".nvlink': ("149 NETIR_LINK_EVT Fatal link 0",),
            'log.xid/"0009:01:00.0".nvlink_fatal': 1,
            'log.xid/"0009:01:00.0".recovery': "Drain and Reset",
            'log.xid/"0018:01:00.0".nvlink': ("145 RLW_RXPIPE Nonfatal link 13",),
        },
    ),
    (
        "sxid_meaning",
        [
            "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up",
            "nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Severity 1 Engine instance 60 Sub-engine instance 00",
            "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)",
        ],
        {
            'log.sxid/"0000:06:00.0".named': (
                "12028, Non-fatal, egress non-posted PRIV error (First)",
                "20034, Fatal, LTSSM Fault Up",
            ),
            'log.sxid/"0000:06:00.0".links': ("32", "48"),
            'log.sxid/"0000:07:00.0".named': ("20034",),
        },
    ),
    (
        "journal",
        [
            "[    0.000000] kernel: [Firmware Bug]: TSC doesn't count with P0 frequency!",
            "[ 90000.000000] kernel: NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
            "[ 90001.000001] kernel: NVRM: Xid (PCI:0000:9b:00): 999, of a later driver",
            "[ 90002.000002] kernel: nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up",
        ],
        {
            'log.boot.xid/"0000:9b:00.0".codes': ("119", "999"),
            'log.boot.xid/"0000:9b:00.0".count': 2,
            'log.boot.sxid/"0000:06:00.0".codes': ("20034",),
            'log.boot.sxid/"0000:06:00.0".count': 1,
            "log.boot.lines": 4,
            "log.boot.xid": ("0000:9b:00.0",),
            "log.boot.sxid": ("0000:06:00.0",),
        },
    ),
    (
        "journal_before",
        [
            "[    0.000000] kernel: x86/cpu: SGX disabled by BIOS.",
            "[ 3095.100000] kernel: NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
            "[ 3098.275469] kernel: Kernel panic - not syncing: Test panic triggered by crash_test module",
        ],
        {
            "log.previous_boot.panics": 1,
            "log.previous_boot.xids": ("119",),
            "log.previous_boot.lines": 3,
        },
    ),
    (
        "fabric_manager_log",
        [
            "1048576",
            "[Dec 18 2024 07:10:01] [ERROR] [tid 1300] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33",
            "[Dec 19 2024 07:10:01] [INFO] [tid 1374] Fabric Manager version 535.161.08 is running with the following configuration options",
            "[Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:83:00.0 physical id 0 port 34",
            "[Dec 19 2024 19:18:57] [WARNING] [tid 1374] Trunk port failure detected for switch GUID 0xb0cf0e0300e42e00",
        ],
        {
            "log.fabric_manager.errors": 1,
            "log.fabric_manager.warnings": 1,
            "log.fabric_manager.sxids": ("12028",),
        },
    ),
    (
        "fabric_manager_log",
        [
            "6000000",
            "[Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:83:00.0 physical id 0 port 34",
        ],
        {},
    ),
]


@pytest.mark.parametrize(("probe", "rows", "expected"), QUOTED, ids=[probe for probe, _, _ in QUOTED])
def test_quoted_lines_are_counted_for_their_content(probe: str, rows: list[str], expected: dict[str, Reading]) -> None:
    if probe.startswith(("journal", "fabric")):
        assert seen(probe, "".join(f"{row}\n" for row in rows)) == expected
        return
    text = BOOT + "".join(f"[ {100 + at}.{at:06d}] {row}\n" for at, row in enumerate(rows))
    if probe != "log_span":
        assert seen(probe, "".join(f"{row}\n" for row in rows)) == expected
        assert seen(probe, re.sub(r"(?m)^(\[ *[0-9.]+\])", r"\1[ T1234]", text)) == expected
        decoded = (f"kern  :err   : 2025-02-10T16:28:06,502716+00:00 {row}\n" for row in rows)
        assert seen(probe, BOOT + "".join(decoded)) == expected
    assert seen(probe, text) == expected


@pytest.mark.parametrize(("probe", "rows", "expected"), QUOTED, ids=[probe for probe, _, _ in QUOTED])
def test_a_device_that_calls_itself_such_a_line_is_none(
    probe: str, rows: list[str], expected: dict[str, Reading]
) -> None:
    if probe in OF_THE_RING and probe != "log_span":
        forged = "".join(f"[  9.1] usb 1-2: Product: {row}\n" for row in rows if not row.startswith(" "))
        assert {path: value for path, value in seen(probe, BOOT + forged).items() if path in expected} == {}


@pytest.mark.parametrize("name", [name for name in OF_THE_RING if name != "log_span"])
def test_a_quiet_log_is_known_to_hold_nothing(name: str) -> None:
    given = readings_of(name, BOOT)
    assert not [path for path, value in given.items() if isinstance(value, Unknown)]
    assert seen(name, BOOT) == ({"log.kernel.from_boot": True} if name == "kernel_log" else {})


@pytest.mark.parametrize("name", OF_THE_RING)
def test_a_log_that_is_empty_cut_or_unreadable_is_unknown(name: str) -> None:
    probe = PROBES[name]
    denied = answering(probe, "", 1, "dmesg: read kernel buffer failed: Operation not permitted")
    missing = answering(probe, "", 127, "sh: dmesg: not found")
    for capture, reason in (
        (answering(probe, ""), Reason.UNPARSABLE),
        (answering(probe, BOOT + "[ 1.0] cut"), Reason.UNPARSABLE),
        (denied, Reason.DENIED),
        (missing, Reason.TOOL_MISSING),
    ):
        given = facts(probe, capture)
        assert given
        assert {value.reason if isinstance(value, Unknown) else None for value in given.values()} == {reason}


# What the kernel's sources print, from 4.18 to 6.x, and lines of public threads: one line, one count.
SPELLINGS = [
    # arch/x86/kernel/dumpstack.c, __die_header: `%s: %04lx [#%d]`, with `Oops: ` before it since 6.10
    ("general protection fault: 0000 [#1] SMP NOPTI", "log.kernel.crash.oopses"),
    ("general protection fault, probably for non-canonical address 0x25b5f6bb1a24827e: 0000 [#1] SMP NOPTI",
     "log.kernel.crash.oopses"),
    ("divide error: 0000 [#1] SMP PTI", "log.kernel.crash.oopses"),
    ("double fault: 0000 [#1] PREEMPT SMP", "log.kernel.crash.oopses"),
    ("stack segment: 0000 [#2] SMP", "log.kernel.crash.oopses"),
    ("invalid opcode: 0000 [#1] SMP", "log.kernel.crash.oopses"),
    ("kernel stack overflow (double-fault): 0000 [#1] SMP", "log.kernel.crash.oopses"),
    ("Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP",
     "log.kernel.crash.oopses"),
    ("Oops: Oops: 0002 [#1] SMP NOPTI", "log.kernel.crash.oopses"),
    # arch/arm64/kernel/traps.c, __die: `Internal error: %s: %016lx [#%d]`, `%x` before 5.18; arm64_serror_panic
    ("Internal error: synchronous external abort: 96000410 [#1] SMP", "log.kernel.crash.oopses"),
    ("Internal error: synchronous external abort: 0000000096000210 [#1] PREEMPT SMP", "log.kernel.crash.oopses"),
    ("Internal error: : 96000210 [#1] SMP", "log.kernel.crash.oopses"),
    ("Internal error: Oops - BUG: 0 [#1] SMP", "log.kernel.crash.oopses"),
    ("Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP", "log.kernel.crash.oopses"),
    ("SError Interrupt on CPU3, code 0x00000000be000411 -- SError", "log.kernel.crash.oopses"),
    # arch/x86/kernel/cpu/mce/core.c, kill_me_maybe
    ("mce: Uncorrected hardware memory error in user-access at 8a398a400", "log.kernel.mce.uncorrected"),
    # drivers/thermal/intel/therm_throt.c since 5.5; thermal_core.c before 5.11
    ("CPU7: Core temperature is above threshold, cpu clock is throttled (total events = 219)",
     "log.kernel.thermal.throttled"),
    ("mce: CPU9: Package temperature is above threshold, cpu clock is throttled (total events = 1)",
     "log.kernel.thermal.throttled"),
    ("thermal thermal_zone0: critical temperature reached (128 C), shutting down", "log.kernel.thermal.critical"),
    # kernel/hung_task.c since 7.1
    ("INFO: task kcompactd1:1177 blocked in I/O wait for more than 120 seconds.", "log.kernel.stall.hung_tasks"),
    # fs/xfs/xfs_fsops.c to 5.11 and since; fs/btrfs/super.c
    ("XFS (md122): I/O Error Detected. Shutting down filesystem", "log.kernel.filesystem/md122.shutdowns"),
    ("XFS (dm-0): Log I/O Error Detected. Shutting down filesystem", "log.kernel.filesystem/dm-0.shutdowns"),
    ("XFS (sda): Corruption of in-memory data detected.  Shutting down filesystem",
     "log.kernel.filesystem/sda.shutdowns"),
    ("XFS (sda): Metadata I/O Error (0x1) detected at xfs_buf_ioend+0x1/0x2 (xfs_buf.c:1).  Shutting down filesystem.",
     "log.kernel.filesystem/sda.shutdowns"),
    ("BTRFS: error (device sdb) in btrfs_commit_transaction:2268: errno=-5 IO failure (Error while writing)",
     "log.kernel.filesystem/sdb.errors"),
    ("BTRFS: error (device dm-3: state EA) in btrfs_run_delayed_refs:2150: errno=-5 IO failure",
     "log.kernel.filesystem/dm-3.errors"),
    ("BTRFS info (device dm-3: state EA): forced readonly", "log.kernel.filesystem/dm-3.read_only"),
    # pciehp and dpc before 5.2, each a device of the port's; pci_raw_set_power_state
    ("pciehp 0000:80:10.0:pcie004: Slot(36): Link Down", 'log.kernel.pcie/"0000:80:10.0".link_down'),
    ("pciehp 0000:00:1c.1:pcie004: Slot(3): Card not present", 'log.kernel.pcie/"0000:00:1c.1".card_gone'),
    ("dpc 0000:00:03.2:pcie008: DPC containment event, status:0x1f01 source:0x0000",
     'log.kernel.pcie/"0000:00:03.2".contained'),
    ("nvme 0000:01:00.0: can't change power state from D3hot to D0 (config space inaccessible)",
     'log.kernel.pcie/"0000:01:00.0".inaccessible'),
    # drivers/net/ethernet/mellanox/mlx5/core/health.c
    ("mlx5_core 0000:d2:00.0: poll_health:739:(pid 0): Fatal error 1 detected",
     'log.kernel.mlx5/"0000:d2:00.0".health'),
    # src/nvidia/src/kernel/gpu/gsp of the open kernel modules, of a GPU in MIG mode
    ("NVRM: Xid (PCI:0000:9b:00 GPU-I:05): 119, pid=7, name=a, b, Timeout after 6s of waiting for RPC response of GSP!",
     "log.kernel.nvidia.gsp_timeouts"),
    # kernel/time/clocksource.c before 5.13 and since 7.0; drivers/iommu/intel/dmar.c to 5.13; amd/iommu.c, iommu_print_event
    ("clocksource: Marking clocksource tsc unstable due to frequency skew", "log.kernel.clock.unstable"),
    ("Clocksource tsc unstable (delta = -201134949 ns)", "log.kernel.clock.unstable"),
    ("DMAR: [DMA Read] Request device [1b:00.0] PASID ffffffff fault addr 7f000000 [fault reason 06] PTE Read access",
     'log.kernel.iommu/"1b:00.0".faults'),
    ("pci 0000:00:00.2: AMD-Vi: Event logged [ILLEGAL_DEV_TABLE_ENTRY device=0000:41:00.0 pasid=0x00000 address=0xfe]",
     'log.kernel.iommu/"0000:41:00.0".faults'),
    # src/nvidia of the open kernel modules: nvstatuscodes.h, nv_gpu_ops.c
    ("NVRM: GPU5 nvCheckOkFailedNoLog: Check failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F) @ a.c:1",
     "log.kernel.nvidia.fallen_off"),
    ("NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover.",
     "log.kernel.nvidia.reset_required"),
    ("NVRM: nvAssertOkFailedNoLog: Assertion failed: Nvlink Training Error [NV_ERR_NVLINK_TRAINING_ERROR] (0x00000077)",
     "log.kernel.nvidia.nvlink_errors"),
    ("nvidia-nvlink: nvlink_core_train: Unable to set link state to ACTIVE for link", "log.kernel.nvidia.nvlink_errors"),
    ("NVRM: nvAssertFailedNoLog: Assertion failed: 0 @ kernel_gsp.c:1476", "log.kernel.nvidia.assertions"),
    ("NVRM nvAssertFailedNoLog: Assertion failed: 0 @ osapi.c:1688", "log.kernel.nvidia.assertions"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "path"), SPELLINGS)
def test_a_line_is_counted_once_in_each_spelling_that_kernels_have(row: str, path: str) -> None:
    probe = "log_" + path.removeprefix("log.kernel.").partition(".")[0].partition("/")[0]
    found = {p: v for p, v in seen(probe, f"{BOOT}[ 9.1] {row}\n").items() if not isinstance(v, tuple)}
    assert found == {path: 1}


def test_one_fault_of_an_arm_kernel_is_one_and_not_one_for_each_of_its_lines() -> None:
    rows = [
        "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000000",
        "Mem abort info:",
        "  ESR = 0x0000000096000004",
        "Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP",
        "---[ end trace 0000000000000000 ]---",
    ]
    given = seen("log_crash", BOOT + "".join(f"[ 9.1] {row}\n" for row in rows))
    assert given == {"log.kernel.crash.oopses": 1}


def test_one_fault_of_an_x86_kernel_is_one_oops_and_one_bug() -> None:
    rows = ["BUG: unable to handle page fault for address: ffffb24d403e5000", "#PF: error_code(0x0000)",
            "Oops: 0000 [#1] SMP NOPTI", "RIP: 0010:0x0"]  # fmt: skip
    given = seen("log_crash", BOOT + "".join(f"[ 9.1] {row}\n" for row in rows))
    assert given == {"log.kernel.crash.oopses": 1, "log.kernel.crash.bugs": 1}


def test_a_program_that_crashed_is_no_fault_of_the_kernel() -> None:
    row = "traps: job[78] general protection fault ip:7f7c7ac69996 sp:7f7c12fd7c30 error:0 in libc.so.6[7f7c+1]"
    assert seen("log_crash", f"{BOOT}[ 9.1] {row}\n") == {}


# Recorded logs


def test_a_recorded_gsp_timeout_is_counted_with_the_line_that_counts_withheld_ones() -> None:
    text = log("dmesg-xid-119-gsp.log")
    given = readings_of("log_nvidia", text)
    assert given["log.kernel.nvidia.gsp_timeouts"] == text.count("waiting for RPC response") + 1 == 6
    assert given["log.kernel.nvidia.fallen_off"] == 0
    assert "gpud" not in str(given["log.kernel.nvidia.last"])
    assert seen("log_crash", text) == {}  # a trace that a driver printed, and a warning about a stack
    meaning = readings_of("xid_meaning", text)
    assert meaning['log.xid/"0000:9b:00.0".named'] == ("119 GSP did not answer an RPC in time",)
    assert meaning['log.xid/"0000:9b:00.0".actions'] == ("RESET_GPU",)
    assert meaning['log.xid/"0000:9b:00.0".serious'] == ("119",)
    assert readings_of("log_span", text)["log.kernel.begins"] == Absent("the log lines contain no times since boot")


def test_recorded_memory_errors_are_named_and_disputed_where_their_judges_differ() -> None:
    text = log("dmesg-tail-0.log")
    given = readings_of("xid_meaning", text)
    item = 'log.xid/"0000:19:00.0"'
    assert given[f"{item}.named"] == (
        "48 Double-bit ECC error in GPU memory",
        "63 Memory page retired or row remapped",
        "94 Contained memory error",
    )
    assert given[f"{item}.serious"] == ("48",)
    assert given[f"{item}.disputed"] == ("63", "94")
    assert given[f"{item}.actions"] == ("IGNORE", "RESTART_APP", "WORKFLOW_XID_48")
    assert readings_of("log_nvidia", text)["log.kernel.nvidia.peermem_errors"] == text.count(
        "nv_get_p2p_free_callback:127 ERROR"
    )


def test_recorded_program_errors_are_mild() -> None:
    given = readings_of("xid_meaning", log("dmesg-decode-iso-0.log"))
    assert given['log.xid/"0000:38:00.0".mild'] == ("13", "43")
    assert given['log.xid/"0000:38:00.0".serious'] == given['log.xid/"0000:38:00.0".disputed'] == ()


def test_the_longest_time_without_a_link_is_read_for_each_interface() -> None:
    def at(seconds: float, name: str, word: str) -> str:
        return f"<6>[{seconds:12.6f}] mlx5_core 0000:41:00.0 {name}: Link {word}\n"

    log = (
        at(10, "ens4", "down") + at(14, "ens1", "up") + at(20, "ens2", "up") + at(95, "ens4", "up")
        + at(100, "ens1", "down") + at(101, "ens2", "down") + at(131.5, "ens1", "up") + at(200, "ens1", "down")
        + at(203, "ens1", "up") + at(400, "ens3", "up")
    )  # fmt: skip
    given = readings_of("log_netdev", log)
    assert given["log.kernel.netdev/ens1.longest_outage"] == 31.5
    assert given["log.kernel.netdev/ens2.longest_outage"] == 299  # it is still down at the log's last line
    assert isinstance(given["log.kernel.netdev/ens3.longest_outage"], Absent)
    assert isinstance(given["log.kernel.netdev/ens4.longest_outage"], Absent)  # it started
    without = re.sub(r"<6>\[.*?\] ", "", log)
    assert isinstance(readings_of("log_netdev", without)["log.kernel.netdev/ens1.longest_outage"], Unknown)


def test_recorded_errors_of_peermem_are_counted() -> None:
    assert seen("log_nvidia", log("dmesg-peermem.log")) == {"log.kernel.nvidia.peermem_errors": 7}


def test_a_recorded_panic_is_one_and_the_link_of_its_nic_came_up_once() -> None:
    text = log("pstore-erst-dmesg.txt")
    assert seen("log_crash", text) == {"log.kernel.crash.panics": 1}
    assert readings_of("log_crash", text)["log.kernel.crash.last"] == (
        "Kernel panic - not syncing: Test panic triggered by crash_test module"
    )
    ups = re.findall(r"mlx5_core \S+ (\S+): Link up", text)
    expected = {f"log.kernel.netdev/{name}.up": ups.count(name) for name in ups}
    assert ups
    assert seen("log_netdev", text) == {**expected, "log.kernel.netdev": tuple(sorted(set(ups)))}
    for name in ("log_edac", "log_mce", "log_disk", "log_filesystem", "log_nvme", "log_stall", "log_segfault"):
        assert seen(name, text) == {}, name
    suppressed = sum(int(number) for number in re.findall(r"([0-9]+) callbacks suppressed", text))
    assert readings_of("log_span", text)["log.kernel.suppressed"] == suppressed > 0
    assert readings_of("log_span", text)["log.kernel.ends"] == 3098.275598


def test_the_recorded_out_of_memory_log_speaks_of_nothing_else() -> None:
    for name in OF_THE_RING:
        if name not in {"kernel_log", "log_span", "xid_meaning"}:
            assert seen(name, log("dmesg-oom-iso.log")) == {}, name


def test_every_recorded_nvlink_error_of_blackwell_is_taken_apart() -> None:
    rows = [row for row in log("xid-lines-gpud-shared.txt").splitlines() if row.strip()]
    errors = [error for row in rows if (error := xids.xid(message(row))) is not None]
    assert len(errors) == len(rows)
    for error, row in zip(errors, rows, strict=True):
        assert (error.nvlink is not None) == (error.code in xids.NVLINK), row
        if error.nvlink is not None:
            assert error.nvlink.fatal == bool(re.search(r" Fatal ", row))
            assert error.nvlink.link == int(re.findall(r"Link (-?[0-9]+)", row)[0])
            assert re.search(rf"\b{error.nvlink.unit} +(Fatal|Nonfatal)", row)
        assert (error.recovery is not None) == (error.code == 154)


def test_the_last_recovery_action_counts() -> None:
    given = readings_of("xid_detail", log("xid-lines-gpud-shared.txt"))
    assert given['log.xid/"0018:01:00.0".recovery'] == "GPU Reset Required"
    assert given['log.xid/"0009:01:00.0".recovery'] == "Drain and Reset"
    assert isinstance(given['log.xid/"0000:05:00.0".recovery'], Absent)
    assert given['log.xid/"0018:01:00.0".nvlink'] == (
        "145 RLW_RXPIPE Nonfatal link 13",
        "149 NETIR Fatal link -1",
        "149 NETIR_BER_EVENT Nonfatal link 3",
        "149 NETIR_LINK_EVT Fatal link 9",
    )
    assert given['log.xid/"0018:01:00.0".nvlink_fatal'] == 2


def test_recorded_errors_of_nvswitches_have_the_drivers_words_and_their_links() -> None:
    given = readings_of("sxid_meaning", log("sxid-lines-gpud.txt"))
    assert given['log.sxid/"0000:05:00.0".named'] == (
        "12028, Non-fatal, egress non-posted PRIV error (First)",
        "20034, Fatal, LTSSM Fault Up",
    )
    assert given['log.sxid/"0000:05:00.0".links'] == ("32", "62", "63")
    assert given['log.sxid/"0000:a9:00.0".named'] == ("20034",)
    assert given['log.sxid/"0000:a9:00.0".links'] == ()


def searched(rows: str) -> str:
    """What the node's tail and grep would return for a Fabric Manager's log."""
    ask = PROBES["fabric_manager_log"].ask
    assert isinstance(ask, Shell)
    with subprocess.Popen(["mktemp"], stdout=subprocess.PIPE, text=True) as made:
        place = made.communicate()[0].strip()
    try:
        subprocess.run(["tee", place], input=rows, text=True, stdout=subprocess.DEVNULL, check=True)
        command = ask.command.replace(fabric_manager_log.PLACE, place)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    finally:
        subprocess.run(["rm", place], check=True)
    return done.stdout


def test_errors_of_the_recorded_fabric_manager_are_counted_since_its_last_start() -> None:
    text = log("fabric-manager-0.log")
    since = text[text.rindex("Fabric Manager version 535.161.08 is running") :]
    given = readings_of("fabric_manager_log", searched(text))
    assert given["log.fabric_manager.errors"] == since.count("] [ERROR] [")
    assert given["log.fabric_manager.warnings"] == since.count("] [WARNING] [")
    codes = set(re.findall(r"detected NVSwitch (?:non-)?fatal error ([0-9]+)", since))
    assert given["log.fabric_manager.sxids"] == tuple(sorted(codes, key=int))
    assert given["log.fabric_manager.fatal"] == since.count("detected NVSwitch fatal error")
    harmless = since.count("detected NVSwitch non-fatal error")
    assert given["log.fabric_manager.failures"] == since.count("] [ERROR] [") - harmless == 0


STARTS = (
    "[Dec 19 2024 07:10:01] [INFO] [tid 1374] Fabric Manager version 535.161.08 is running with the following "
    "configuration options\n"
)
LEAVES = ("errors", "warnings", "fatal", "failures", "sxids", "last")


def test_a_fabric_manager_without_an_error_has_none_and_grep_that_finds_nothing_is_no_failure() -> None:
    given = readings_of("fabric_manager_log", searched(f"{STARTS}[Dec 19 2024 07:10:01] [INFO] [tid 1374] hello\n"))
    assert given["log.fabric_manager.errors"] == given["log.fabric_manager.fatal"] == 0
    assert given["log.fabric_manager.sxids"] == ()
    assert isinstance(given["log.fabric_manager.last"], Absent)


def test_a_fabric_managers_log_that_was_turned_over_since_its_start_is_not_one_without_errors() -> None:
    for text in ("", "[Dec 19 2024 07:10:01] [INFO] [tid 1374] hello\n"):
        given = readings_of("fabric_manager_log", searched(text))
        reasons = {leaf: given[f"log.fabric_manager.{leaf}"] for leaf in LEAVES}
        assert {r.reason if isinstance(r, Unknown) else r for r in reasons.values()} == {Reason.NOT_READ_FURTHER}


@pytest.mark.parametrize("size", [80, fabric_manager_log.NEWEST, fabric_manager_log.NEWEST + 1])
def test_a_fabric_managers_log_without_its_start_in_what_was_read_leaves_the_errors_unknown(size: int) -> None:
    row = "[Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0\n"
    errors = readings_of("fabric_manager_log", f"{size}\n{row}")["log.fabric_manager.errors"]
    assert isinstance(errors, Unknown)
    assert errors.reason is Reason.NOT_READ_FURTHER
    assert readings_of("fabric_manager_log", f"{size}\n{STARTS}{row}")["log.fabric_manager.errors"] == 1


@pytest.mark.parametrize(
    "row",
    [
        "2027-01-19T19:17:49Z node [Dec 19 2024 19:17:49] [ERROR] [tid 1] detected NVSwitch fatal error 20034 on fid 0",
        "[Dec 19 2024 19:17:49] [tid 1] [ERROR] detected NVSwitch fatal error 20034 on fid 0",
    ],
)
def test_a_fabric_managers_error_in_another_form_is_not_lost(row: str) -> None:
    given = readings_of("fabric_manager_log", searched(f"{STARTS}{row}\n"))
    reasons = {given[f"log.fabric_manager.{leaf}"] for leaf in LEAVES}
    assert {r.reason if isinstance(r, Unknown) else r for r in reasons} == {Reason.UNPARSABLE}


# The table of Xids


def test_the_table_agrees_with_the_fact_base_on_every_xid() -> None:
    with shared("../facts/xid.csv").open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert {int(row["xid"]) for row in rows} == set(xid_table.TABLE)

    def plain(words: str) -> str:
        return re.sub(r"[\s;/]|\\n", "", words)

    for row in rows:
        entry = xid_table.TABLE[int(row["xid"])]
        assert plain(entry.mnemonic) == plain(row["mnemonic"])
        assert plain(entry.immediate) == plain(row["catalog_immediate_action"])
        assert plain(entry.investigatory) == plain(row["catalog_investigatory_action"])
        assert entry.dcgm == row["dcgm_always_watched"]
        assert entry.azure_nhc == row["azure_nhc_fails_node"]
        assert entry.azure_healthagent == row["azure_healthagent_severity"]
        assert entry.imbue == row["imbue_hardware_class"]
        assert entry.title.isprintable()


def test_every_row_names_sources_that_can_be_followed_and_no_column_is_a_severity_of_ours() -> None:
    folder = files("rackcheck_probes") / "data"
    rows = list(csv.DictReader((folder / "xid.csv").read_text("utf-8").splitlines()))
    sources = {
        row["source"]: row for row in csv.DictReader((folder / "xid_sources.csv").read_text("utf-8").splitlines())
    }
    assert all(row["sources"].split() and set(row["sources"].split()) <= set(sources) for row in rows)
    assert all(row["address"].startswith(f"https://github.com/{row['repository']}/blob/") for row in sources.values())
    by_source = {column for source in sources.values() for column in source["columns"].split()}
    assert set(rows[0]) - by_source == {"xid", "title", "note", "sources", "confidence"}


@pytest.mark.parametrize(
    ("code", "part"),
    [(48, "serious"), (79, "serious"), (119, "serious"), (120, "serious"), (13, "mild"), (31, "mild"), (154, "mild"),
     (45, "disputed"), (63, "disputed"), (94, "disputed"), (95, "disputed"), (145, "disputed"), (999, "unlisted")],
)  # fmt: skip
def test_who_agrees_on_an_xid_decides_and_disagreement_stays(code: int, part: str) -> None:
    parts = xids.by_agreement([code], xid_table.TABLE)
    assert {name: found for name, found in parts.items() if found} == {part: (str(code),)}


def test_every_xid_of_a_gpu_is_in_exactly_one_part() -> None:
    codes = [*xid_table.TABLE, 173, 99999]
    parts = xids.by_agreement(codes, xid_table.TABLE).values()
    assert sorted(int(code) for part in parts for code in part) == sorted(codes)


def test_an_xid_that_the_table_does_not_know_is_shown_and_so_is_one_without_an_action() -> None:
    assert xids.named([999, 79], xid_table.TABLE) == ("79 GPU has fallen off the bus", "999 not in our table")
    assert xids.actions([79, 171, 999], xid_table.TABLE, "immediate") == (
        "RESTART_BM",
        "none given",
        "not in our table",
    )


def test_a_table_that_lacks_a_column_or_repeats_a_number_is_refused() -> None:
    with pytest.raises(Unreadable, match="lacks title"):
        xids.table("xid,mnemonic\n1,A\n")
    whole = (files("rackcheck_probes") / "data" / "xid.csv").read_text("utf-8")
    with pytest.raises(Unreadable, match="172 twice"):
        xids.table(whole + whole.splitlines()[-1] + "\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (", pid=77, name=secret job, Ch 00000008", ", pid=77, Ch 00000008"),
        (", pid='<unknown>', name=<unknown>, GPU has fallen", ", pid='<unknown>', GPU has fallen"),
        (", pid=77, name=only", ", pid=77"),
        (", pid=77, Ch 00000008", ", pid=77, Ch 00000008"),
        (", GPU has fallen off the bus.", ", GPU has fallen off the bus."),
    ],
)
def test_a_process_name_is_dropped_and_the_rest_kept(before: str, after: str) -> None:
    error = xids.xid(f"NVRM: Xid (PCI:0000:1b:00): 79{before}")
    assert error is not None
    assert error.text == f"NVRM: Xid (PCI:0000:1b:00): 79{after}"


@pytest.mark.parametrize(
    ("probe", "row", "name", "last"),
    [
        ("log_stall", "watchdog: BUG: soft lockup - CPU#18 stuck for 27s! [secret:225]", "log.kernel.stall", "[…:225]"),
        ("log_stall", "INFO: task secret:1177 blocked for more than 120 seconds.", "log.kernel.stall", "task …:1177"),
        ("log_segfault", "secret[77]: segfault at 0 ip 0 sp 0 error 4 in a.out[0+1]", "log.kernel.segfault", "…[77]"),
        ("log_filesystem", "EXT4-fs error (device sda): ext4_find_entry:1436: inode #2: comm secret: reading",
         "log.kernel.filesystem/sda", "comm …: reading"),
        ("log_mce", "Memory failure: 0x12: Killing secret:77 due to hardware memory corruption", "log.kernel.mce", "…:77"),
        ("log_nvidia", "NVRM: Xid (PCI:0000:9b:00): 119, pid=7, name=secret, Timeout waiting for RPC from GPU4 GSP!", "log.kernel.nvidia", "name=…, Timeout"),
    ],
)  # fmt: skip
def test_no_last_line_names_a_process(probe: str, row: str, name: str, last: str) -> None:
    shown = str(readings_of(probe, f"{BOOT}[ 9.1] {row}\n")[f"{name}.last"])
    assert "secret" not in shown
    assert last in shown


# The journal


def journal_of(rows: int) -> str:
    xid = (
        "[ 900.5] kernel: NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    )
    return "".join(f"[ {at}.5] kernel: warning {at}\n" for at in range(rows - 1)) + f"{xid}\n"


def test_a_journal_that_was_read_to_its_end_is_known() -> None:
    given = readings_of("journal", journal_of(journal.MOST - 1))
    assert given["log.boot.xid"] == ("0000:1b:00.0",)
    assert given["log.boot.lines"] == journal.MOST - 1
    assert given["log.boot.begins"] == 0.5
    assert given["log.boot.sxid"] == ()


def test_a_journal_not_read_to_its_end_leaves_its_facts_unknown() -> None:
    given = readings_of("journal", journal_of(journal.MOST))
    for path in ("log.boot.xid", "log.boot.sxid", "log.boot.lines"):
        reading = given[path]
        assert isinstance(reading, Unknown), path
        assert reading.reason is Reason.NOT_READ_FURTHER
    assert given['log.boot.xid/"0000:1b:00.0".codes'] == ("79",)  # what was found stays found
    assert journal.BOOT.command.split()[journal.BOOT.command.split().index("-n") + 1] == str(journal.MOST)


LATE = "[86400.5] kernel: a warning of the second day\n"


def test_a_journal_whose_beginning_was_vacuumed_is_not_a_boot_without_xids() -> None:
    given = readings_of("journal", LATE)
    for path in ("log.boot.xid", "log.boot.sxid", "log.boot.lines"):
        reading = given[path]
        assert isinstance(reading, Unknown), path
        assert reading.reason is Reason.NOT_READ_FURTHER
    assert given["log.boot.begins"] == 86400.5
    assert isinstance(readings_of("journal", f"[{journal.EARLY + 0.1}] kernel: a warning\n")["log.boot.xid"], Unknown)
    assert readings_of("journal", f"[{journal.EARLY}.0] kernel: a warning\n{LATE}")["log.boot.xid"] == ()


ODD_XIDS = ["NVRM: Xid (PCI:0000:1b:00 GPU-J:05): 79, x", "[96B blob data]", "[1.9K blob data]"]
ODD_SXIDS = ["nvidia-nvswitch0: SXid (PCI:0000:05:00.0 PORT:1): 20034, Fatal, x", "[96B blob data]"]


@pytest.mark.parametrize("row", ODD_XIDS)
def test_an_xid_in_a_journal_that_cannot_be_taken_apart_is_not_lost(row: str) -> None:
    text = f"[ 0.5] kernel: a warning\n[ 9.5] kernel: {row}\n"
    boot, before = (
        readings_of("journal", text)["log.boot.xid"],
        readings_of("journal_before", text)["log.previous_boot.xids"],
    )
    assert isinstance(boot, Unknown)
    assert isinstance(before, Unknown)
    assert boot.reason is before.reason is Reason.UNPARSABLE


@pytest.mark.parametrize("row", ODD_SXIDS)
def test_an_sxid_in_a_journal_that_cannot_be_taken_apart_is_not_lost(row: str) -> None:
    text = f"[ 0.5] kernel: a warning\n[ 9.5] kernel: {row}\n"
    boot, before = (
        readings_of("journal", text)["log.boot.sxid"],
        readings_of("journal_before", text)["log.previous_boot.sxids"],
    )
    assert isinstance(boot, Unknown)
    assert isinstance(before, Unknown)
    assert boot.reason is before.reason is Reason.UNPARSABLE


def test_an_xid_of_a_gpu_in_mig_mode_is_found_in_the_journals_of_this_boot_and_of_the_one_before() -> None:
    row = "[ 9.5] kernel: NVRM: Xid (PCI:0000:3b:00 GPU-I:05 GPU-CI:00): 95, pid=7194, name=x, Uncontained"
    text = f"[ 0.5] kernel: a warning\n{row}\n"
    assert readings_of("journal", text)['log.boot.xid/"0000:3b:00.0".codes'] == ("95",)
    assert readings_of("journal_before", text)["log.previous_boot.xids"] == ("95",)


@pytest.mark.parametrize("text", ["", "-- No entries --\n", "-- Logs begin at Sat 2021-05-29 10:50:24 UTC. --\n"])
def test_a_journal_without_a_line_is_not_a_boot_without_xids(text: str) -> None:
    assert {v.reason if isinstance(v, Unknown) else None for v in readings_of("journal", text).values()} == {
        Reason.NOT_COLLECTED
    }


def test_a_journal_in_another_form_or_cut_is_unknown() -> None:
    for text in ("May 29 10:50:24 ubu kernel: hello\n", "[ 1.5] kernel: hello\n[ 2.5] kern"):
        assert isinstance(readings_of("journal", text)["log.boot.xid"], Unknown), text


def journalled(second: float, priority: str, kind: str = "") -> str:
    """An entry as `journalctl -o json --output-fields=PRIORITY,MESSAGE_ID` prints it."""
    values = {"__MONOTONIC_TIMESTAMP": str(int(second * 1e6)), "_BOOT_ID": "8eaf", "PRIORITY": priority}
    return json.dumps(values | ({"MESSAGE_ID": kind} if kind else {})) + "\n"


BEGINS = journalled(4, "6", journalctl.STARTED)


def test_entries_of_each_priority_are_counted_and_no_others() -> None:
    given = readings_of("journal_priorities", journalled(9, "3") * 2 + journalled(8, "0") + BEGINS + journalled(1, "3"))
    assert given == {
        "log.boot.priority.emergencies": 1,
        "log.boot.priority.alerts": 0,
        "log.boot.priority.criticals": 0,
        "log.boot.priority.errors": 3,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        journalled(9, "3"),
        # Restarted after a day; earlier lines are gone.
        journalled(90000, "3") + journalled(86400, "6", journalctl.STARTED),
        BEGINS.rstrip(),
        BEGINS + "[]\n",
        BEGINS + '{"PRIORITY": "3"}\n',
        "-- No entries --\n",
    ],
)
def test_a_journal_that_does_not_reach_back_to_its_start_is_not_one_without_errors(text: str) -> None:
    assert all(isinstance(reading, Unknown) for reading in readings_of("journal_priorities", text).values())


def test_a_clean_previous_boot_is_known_and_one_missing_in_the_journal_is_not() -> None:
    quiet = readings_of("journal_before", "[ 0.5] kernel: a warning\n")
    assert quiet["log.previous_boot.panics"] == quiet["log.previous_boot.uncorrected"] == 0
    assert quiet["log.previous_boot.lines"] == 1
    assert quiet["log.previous_boot.xids"] == quiet["log.previous_boot.sxids"] == ()
    assert isinstance(readings_of("journal_before", "")["log.previous_boot.panics"], Unknown)
    gone = answering(
        PROBES["journal_before"], "", 1, "Data from the specified boot (-1) is not available: No such boot ID"
    )
    assert isinstance(facts(PROBES["journal_before"], gone)["log.previous_boot.panics"], Unknown)


@pytest.mark.parametrize("text", ["-- No entries --\n", LATE])
def test_of_a_boot_before_whose_beginning_was_vacuumed_only_the_end_is_known(text: str) -> None:
    given = readings_of("journal_before", text)
    for leaf in ("lines", "uncorrected", "xids", "sxids"):
        reading = given[f"log.previous_boot.{leaf}"]
        assert isinstance(reading, Unknown), leaf
        assert reading.reason is Reason.NOT_READ_FURTHER
    assert given["log.previous_boot.panics"] == 0


def test_every_uncorrected_machine_check_of_the_boot_before_is_counted_as_the_rings_are() -> None:
    rows = [
        "mce: Uncorrected hardware memory error in user-access at 8a398a400",
        "[Hardware Error]: System Fatal error.",
        "[Hardware Error]: Uncorrected, software restartable error.",
        "mce: [Hardware Error]: CPU 10: Machine Check Exception: 5 Bank 3: be00000000800400",
        "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 7: be00004000010091",
        "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 7: 8c00004000010091",
    ]
    text = "".join(f"[ {at}.5] kernel: {row}\n" for at, row in enumerate(rows))
    assert readings_of("journal_before", text)["log.previous_boot.uncorrected"] == 5


def test_the_newest_lines_before_a_crash_are_read_and_older_ones_are_noted() -> None:
    row = "[ 9.5] kernel: Kernel panic - not syncing: Fatal machine check\n"
    given = readings_of("journal_before", "[ 1.5] kernel: a warning\n" * (journal_before.MOST - 1) + row)
    assert given["log.previous_boot.panics"] == 1
    assert given["log.previous_boot.last"] == "Kernel panic - not syncing: Fatal machine check"
    lines = given["log.previous_boot.lines"]
    assert isinstance(lines, Unknown)
    assert lines.reason is Reason.NOT_READ_FURTHER


# The reader


@pytest.mark.parametrize(
    "before",
    ["", "[  171.630899] ", "[  171.630899][ T1234] ", "<4>[  171.630899] ", "[Sun Feb 23 16:24:18 2025] ",
     "2024-11-15T12:02:03,470068+00:00 ", "kern  :warn  : 2025-01-21T02:21:33,498559+00:00 ",
     "kern  :warn  : [  171.630899] ", "[  171.630899] kernel: ", "               "],
)  # fmt: skip
def test_a_message_is_what_stands_behind_level_time_and_caller(before: str) -> None:
    for output in (
        "[Hardware Error]: Uncorrected",
        "[drm] *ERROR*",
        "{1}[Hardware Error]: x",
        "mce: x",
        "usb: kernel: x",
    ):
        assert message(before + output) == output
    assert seconds(before + "x") == (171.630899 if "171.6" in before else None)


def test_a_line_counts_once_for_the_first_kind_that_it_has() -> None:
    kinds = (line("a", "x", "x+"), line("b", "x", "x"), line("c", "y", ".*y"))
    found = tallies("xxxx y x\nyyy\n", kinds)[""]
    assert found.counts == {"a": 1, "c": 1}
    assert found.last == "yyy"


def test_a_line_is_looked_at_no_further_than_a_kernels_message_can_be_long() -> None:
    assert [len(row) for row in dmesg.lines("a" * 100_000 + "\n", "a")] == [dmesg.LONGEST]


def test_lines_come_in_the_logs_order_each_once() -> None:
    assert list(dmesg.lines("b\na b\nc\na a\n", "a", "b")) == ["b", "a b", "a a"]


def test_a_device_has_the_counts_of_its_own_lines_alone() -> None:
    text = "I/O error, dev sda, sector 1\nI/O error, dev sdb, sector 1\nI/O error, dev sda, sector 2\n"
    given = dict(single(of_each("log.kernel.disk", text, DISKS)))
    assert given["log.kernel.disk/sda.io_errors"] == 2
    assert given["log.kernel.disk/sdb.io_errors"] == 1
    assert given["log.kernel.disk/sda.last"] == "I/O error, dev sda, sector 2"


def test_a_logs_span_is_that_of_its_first_and_last_line_where_these_bear_a_time() -> None:
    assert dmesg.span("[    1.5] a\nb\n[   99.25] c\n") == (1.5, 99.25)
    assert dmesg.span("a\n[    1.5] b\n") == (None, 1.5)
    assert dmesg.span("[Sun Feb 23 16:24:18 2025] a\n") == (None, None)


def test_suppressed_messages_are_summed_where_the_kernel_itself_counts_them() -> None:
    rows = ("net_ratelimit: 33 callbacks suppressed", "x_y: 4 callbacks suppressed", "app says: 9 callbacks suppressed")
    assert dmesg.kept_back("".join(f"[ 9.5] {row}\n" for row in rows)) == 37


def test_each_count_has_one_sentence_of_help() -> None:
    kinds = (
        line("a", "x", "x", "The first of its kinds has it."),
        line("a", "y", "y"),
        line("b", "z", "z", "Another."),
    )
    assert set(dmesg.promised("log.kernel.some", kinds)) == {f"log.kernel.some.{leaf}" for leaf in ("a", "b", "last")}
