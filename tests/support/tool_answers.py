"""Outputs of tools under burn-in, in each tool's format; the numbers are made up."""

import json
from collections.abc import Mapping
from typing import Any

NVBANDWIDTH = """\
nvbandwidth Version: v0.6
Built from Git version: v0.6

CUDA Runtime Version: 12040
CUDA Driver Version: 12040
Driver Version: 550.54.15

Device 0: NVIDIA H200 (00000000:04:00)
Device 1: NVIDIA H200 (00000000:05:00)

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.31     54.87

SUM host_to_device_memcpy_ce 110.18

Running device_to_host_memcpy_ce.
memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)
           0         1
 0     52.40     53.02

SUM device_to_host_memcpy_ce 105.42

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    371.25
 1    370.11       N/A

SUM device_to_device_memcpy_read_ce 741.36

NOTE: The reported results may not reflect the full capabilities of the platform.
"""

COPIES = ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce")


def case(name: str, *rows: list[str], status: str = "Passed") -> dict[str, Any]:
    """One test in the JSON of nvbandwidth."""
    if status != "Passed":
        return {"name": name, "status": status}
    total = sum(float(cell) for row in rows for cell in row if cell != "N/A")
    words = {"bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)"}
    return {"name": name, "status": status, "bandwidth_matrix": list(rows), "sum": total, **words}


def nvbandwidth_json(*cases: dict[str, Any], **more: object) -> str:
    """The JSON of nvbandwidth."""
    return json.dumps({"nvbandwidth": {"version": "v0.8", "git_version": "v0.8", "testcases": list(cases), **more}})


NVBANDWIDTH_JSON = nvbandwidth_json(
    case(COPIES[0], ["55.3129", "54.8701"]),
    case(COPIES[1], ["52.4", "53.0188"]),
    case(COPIES[2], ["N/A", "371.25"], ["370.113", "N/A"]),
)

ALL_REDUCE = """\
# nThread 1 nGpus 2 minBytes 8388608 maxBytes 33554432 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
#  Rank  0 Group  0 Pid  39280 on node device  0 [0x04] NVIDIA H200
#  Rank  1 Group  0 Pid  39280 on node device  1 [0x05] NVIDIA H200
NCCL version 2.19.3+cuda12.2
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     8388608       2097152     float     sum      -1   112.04   74.87  131.02      0   110.93   75.62  132.33      0
node:39280:39280 [0] NCCL INFO a line of its log
    33554432       8388608     float     sum      -1   170.31  197.02  344.78      0   169.60  197.84  346.22      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 238.588
#
"""

IB_WRITE_BW = """\
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 Link type       : IB
---------------------------------------------------------------------------------------
 local address: LID 0x11 QPN 0x012e PSN 0x7eb74 RKey 0x030509 VAddr 0x005560e826f000
 remote address: LID 0x11 QPN 0x00ee PSN 0x7eb74 RKey 0x020509 VAddr 0x005560f99dc000
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
Conflicting CPU frequency values detected: 1200.000000 != 3591.635000. CPU Frequency is not max.
 65536      3746302          0.00               392.81\t\t   0.749226
---------------------------------------------------------------------------------------
"""

STRESS_NG = """\
---
system-info:
      stress-ng-version: 0.15.06
      hostname: node
      version: '#1 SMP PREEMPT_DYNAMIC @0'

metrics:
    - stressor: cpu
      bogo-ops: 833
      wall-clock-time: 10.003744
      user-time: 9.426986
      system-time: 0.100000
      max-rss: 6484

    - stressor: matrix
      bogo-ops: 6438
      wall-clock-time: 10.003744
      user-time: 9.800000
      system-time: 0.020000
      add-matrix-ops-per-sec: 296847.380855

    - stressor: vm
      bogo-ops: 40860
      wall-clock-time: 10.003744
      user-time: 3.900000
      system-time: 5.100000

...
"""

STRESS_WORDS = ["/usr/bin/stress-ng", "--cpu", "2", "--matrix", "2", "--vm", "1", "--verify"]


def job(name: str, **read: object) -> dict[str, Any]:
    """One job in fio's JSON."""
    values = {"io_bytes": 1 << 30, "bw_bytes": 6_900_000_000, "iops": 1_538_000.5, "total_ios": 1024}
    clat = {"clat_ns": {"min": 1, "percentile": {"50.000000": 70_000, "99.000000": 250_880}}}
    return {"jobname": name, "groupid": 0, "error": 0, "read": {**values, **clat, **read}}


def fio(*jobs: dict[str, Any], version: str = "fio-3.33") -> str:
    """The JSON of fio."""
    return json.dumps({"fio version": version, "jobs": list(jobs), "disk_util": []})


FIO = fio(job("nvme0n1:row"), job("nvme0n1:random"))


def dcgm(*tests: dict[str, Any], version: str = "4.2.3") -> str:
    """The JSON of dcgmi from version 4 on."""
    categories = [{"category": "Hardware", "tests": list(tests)}]
    about = {"version": version, "Driver Version Detected": "580.82.09"}
    return json.dumps({"DCGM Diagnostic": {"test_categories": categories}, "metadata": about}, indent=1)


def diagnosed(
    name: str, *verdicts: str, summary: str = "", warnings: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """One test of it, with a verdict for each GPU."""
    results: list[dict[str, Any]] = []
    for gpu, verdict in enumerate(verdicts):
        results.append({"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": verdict})
        if warnings and gpu in warnings:
            results[-1]["warnings"] = [{"warning": warnings[gpu], "error_id": 29, "error_severity": 5}]
    return {"name": name, "results": results, **({"test_summary": {"status": summary}} if summary else {})}


DCGM = dcgm(diagnosed("memory", "Pass", "Pass", summary="Pass"), diagnosed("pcie", "Pass", "Skip"))


def record(name: str, out: str, **more: Any) -> dict[str, Any]:
    """A `tool` record of a complete run."""
    values = {"k": "tool", "t": 1.0, "name": name, "of": "node", "argv": [name], "version": "1.2.3", "status": 0}
    return {**values, "seconds": 2.5, "out": out, "err": "", **more}


GOOD = {
    "dcgm-2": record("dcgm-2", DCGM),
    "nvbandwidth": record("nvbandwidth", NVBANDWIDTH, argv=["nvbandwidth", "-t", *COPIES]),
    "nvbandwidth as JSON": record("nvbandwidth", NVBANDWIDTH_JSON, argv=["nvbandwidth", "-j", "-t", *COPIES]),
    "all_reduce": record("all_reduce", ALL_REDUCE),
    "ib_write_bw": record("ib_write_bw", IB_WRITE_BW, of="nic/mlx5_0", argv=["ib_write_bw", "127.0.0.1"]),
    "fio": record("fio", FIO, of="disk/nvme0n1"),
    "stress-ng": record("stress-ng", STRESS_NG, argv=STRESS_WORDS),
}
"""A record of each reader's tool without a fault."""
