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


RVS = """\
[RESULT] [1101980.682169] Action name :gst-1215Tflops-4K4K8K-rand-fp8
[RESULT] [1101980.683973] Module name :gst
[RESULT] [1101980.836841] [gst-1215Tflops-4K4K8K-rand-fp8] [GPU:: 28851] Start of GPU ramp up
[RESULT] [1101987.830800] [gst-1215Tflops-4K4K8K-rand-fp8] [GPU:: 28851] GFLOPS 1539705
[RESULT] [1101988.831928] [gst-1215Tflops-4K4K8K-rand-fp8] [GPU:: 28851] End of GPU ramp up
[RESULT] [1102003.864648] [gst-1215Tflops-4K4K8K-rand-fp8] [GPU:: 28851] GFLOPS 1687129 Target GFLOPS: 1215000 met: TRUE
[RESULT] [1102003.90211 ] [gst-1215Tflops-4K4K8K-rand-fp8] [GPU:: 23018] GFLOPS 1655300 Target GFLOPS: 1215000 met: TRUE
[RESULT] [1102104.157090] Action name :gst-free-fp64
[RESULT] [1102104.159274] Module name :gst
[RESULT] [1102133.864648] [gst-free-fp64] [GPU:: 28851] GFLOPS 90123 Target GFLOPS: 0 met: TRUE
[RESULT] [1102133.90211 ] [gst-free-fp64] [GPU:: 23018] GFLOPS 90005 Target GFLOPS: 0 met: TRUE
"""
RVS_ACTIONS = ["gst-1215Tflops-4K4K8K-rand-fp8", "gst-free-fp64"]

RVS_POWER = """\
[RESULT] [1102597.157090] Action name :iet-620W-1K-rand-dgemm
[RESULT] [1102597.159274] Module name :iet
[RESULT] [1102597.333747] [iet-620W-1K-rand-dgemm] [GPU:: 28851] Power(W) 127.000000
[RESULT] [1102617.334457] [iet-620W-1K-rand-dgemm] [GPU:: 23018] Power(W) 699.000000
[RESULT] [1102637.333747] [iet-620W-1K-rand-dgemm] [GPU:: 28851] Power(W) 704.000000
[RESULT] [1102657.372824] [iet-620W-1K-rand-dgemm] [GPU:: 23018] pass: TRUE
[RESULT] [1102657.372936] [iet-620W-1K-rand-dgemm] [GPU:: 28851] pass: TRUE
"""

TRANSFERBENCH = """\
TransferBench v1.62.00
Bytes Per Direction 268435456
Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
 SRC+EXE\\DST    CPU 00    CPU 01       GPU 00    GPU 01
  CPU 00  ->     92.21    102.51        45.11     45.16
  CPU 01  ->    104.88     90.09        44.74     44.81

  GPU 00  ->     55.47     55.54      2132.28     57.39
  GPU 01  ->     55.59     55.66        57.41   2152.51
                           CPU->CPU  CPU->GPU  GPU->CPU  GPU->GPU
Averages (During UniDir):    103.69     44.96     55.56     57.40

Bidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
     SRC\\DST    CPU 00    CPU 01       GPU 00    GPU 01
  CPU 00  ->       N/A     88.77        44.81     44.81
  CPU 00 <-        N/A     89.79        55.10     55.03
  CPU 00 <->       N/A    178.56        99.90     99.84

  CPU 01  ->     88.50       N/A        44.36     44.33
  CPU 01 <-      88.29       N/A        55.10     55.04
  CPU 01 <->    176.79       N/A        99.45     99.37


  GPU 00  ->     55.02     54.96          N/A     54.69
  GPU 00 <-      44.71     44.45          N/A     54.61
  GPU 00 <->     99.73     99.41          N/A    109.30

  GPU 01  ->     55.08     55.11        54.68       N/A
  GPU 01 <-      44.74     44.41        54.63       N/A
  GPU 01 <->     99.82     99.52       109.30       N/A
                           CPU->CPU  CPU->GPU  GPU->CPU  GPU->GPU
Averages (During  BiDir):     88.84     49.82     49.81     54.65

"""

ROCBLAS = """\
Query device success: there are 2 devices
-------------------------------------------------------------------------------
Device ID 0 : AMD Instinct MI300X gfx942:sramecc+:xnack-
with 206.1 GB memory, max. SCLK 2100 MHz, max. MCLK 1300 MHz, compute capability 9.4
-------------------------------------------------------------------------------
transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,rocblas-Gflops,us
N,T,4000,4000,4000,1,4000,0,4000,4000,96312.4,1329.05
"""


def amd_counters(*gpus: Mapping[str, object], listed: bool = True) -> str:
    """The JSON of `amd-smi metric --ecc --pcie`, of an older version or of one from ROCm 7 on."""
    rows = []
    for index, about in enumerate(gpus):
        counts = {"total_correctable_count": 4, "total_uncorrectable_count": 0, "total_deferred_count": 0}
        ecc = {name: about.get(name, value) for name, value in counts.items()}
        pcie = {"width": 16, "speed": {"value": 32, "unit": "GT/s"}, "replay_count": about.get("replay_count", 0)}
        rows.append({"gpu": index, "pcie": pcie, "ecc": {**ecc, "cache_correctable_count": "N/A"}})
    return json.dumps(rows if listed else {"gpu_data": rows}, indent=4)


AMD_COUNTERS = amd_counters({}, {}, listed=False)

HL_QUAL = """\
==================== hl qual report ====================
PASSED
"""


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
    "rvs": record("rvs", RVS, of="conf/gst_single", asked=RVS_ACTIONS),
    "rvs of power": record("rvs", RVS_POWER, of="conf/iet_single", asked=["iet-620W-1K-rand-dgemm"]),
    "transferbench": record("transferbench", TRANSFERBENCH),
    "rocblas-bench": record("rocblas-bench", ROCBLAS, of="gpu/0"),
    "amd-smi": record("amd-smi", AMD_COUNTERS, before=AMD_COUNTERS),
    "hl_qual": record("hl_qual", HL_QUAL),
}
"""A record of each reader's tool without a fault."""
