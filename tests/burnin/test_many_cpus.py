"""Nodes with hundreds of CPUs, in a simulated /sys and /proc: what the burn-in counts, covers, and costs.

The simulated CPUs run on the real CPUs of this machine in turn. The tests count processes, threads, turns of the
supervisor's loop and calls of the interpreter; they measure no time.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from joined import CPU, NODE, joined, source
from many_cpus import MIB, large_node
from payloads import of_session, plan
from places import TESTS

from rackcheck.burnin import pack

cpu = joined(*CPU)
LIBRARY = NODE.parent / "kernels" / f"cpu-{platform.machine()}.so"
CPUS = (224, 768)
Records = list[dict[str, Any]]

pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() or not hasattr(os, "sched_setaffinity"), reason="no kernels of the CPU for this system"
)

STAGES = """
import json, sys, threading, time
names = {"__name__": "joined"}
exec(sys.stdin.read(), names)
began = time.monotonic()
def emit(kind, **fields):
    print(json.dumps(dict(fields, k=kind)))
with open(sys.argv[1], "rb") as file:
    library = file.read()
cpu = names["Cpu"](emit, lambda: time.monotonic() - began, threading.Event(), library, 12345, root=sys.argv[2])
emit("hello", **cpu.hello())
cpu.run(json.loads(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def numa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the library that answers mbind and move_pages; without a C compiler the test is skipped."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    target = tmp_path_factory.mktemp("numa") / "numa.so"
    words = ("-shared", "-fPIC", "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-result")
    subprocess.run([compiler, *words, "-o", str(target), str(TESTS / "fake_numa" / "numa.c"), "-ldl"], check=True)
    return target


def staged(root: Path, stages: Iterable[Mapping[str, Any]], **env: str) -> Records:
    """Run the stages in an interpreter of their own, and return the records."""
    text = json.dumps([{"of": "cpu", "from": 0.0, **stage} for stage in stages])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", STAGES, str(LIBRARY), str(root), text], input=source(*CPU),
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **env},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


# -- what the files show ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpus", CPUS)
def test_every_cpu_belongs_to_one_of_eight_nodes_and_each_cache_counts_once(tmp_path: Path, cpus: int) -> None:
    root = str(large_node(tmp_path, cpus))
    nodes = cpu.cpu_nodes(list(range(cpus)), root)
    assert {node: len(mine) for node, mine in nodes.items()} == {str(node): cpus // 8 for node in range(8)}
    assert sorted(one for mine in nodes.values() for one in mine) == list(range(cpus))
    assert cpu.cpu_last_cache(list(range(cpus)), root) == 2 * 320 * MIB


def test_the_available_memory_is_shared_among_the_nodes_as_they_have_it(tmp_path: Path) -> None:
    root = large_node(tmp_path, 224)
    (root / "sys/devices/system/node/node3/meminfo").write_text(
        "Node 3 MemTotal: 67108864 kB\nNode 3 MemFree: 1024 kB\n"
    )
    shares = cpu.cpu_shares([str(node) for node in range(8)], str(root))
    assert shares["3"] <= MIB
    assert len({shares[str(node)] for node in range(8) if node != 3}) == 1
    assert sum(shares.values()) <= cpu.cpu_available(str(root))


@pytest.mark.parametrize(("far", "found"), [("", {}), ("gpu", {}), ("cxl", {"8": "5"}), ("unknown", {"8": ""})])
def test_memory_without_cpus_is_tested_only_if_it_is_known_to_be_ram(
    tmp_path: Path, far: str, found: dict[str, str]
) -> None:
    root = str(large_node(tmp_path, 224, far=far))
    assert cpu.cpu_far_nodes(cpu.cpu_nodes(list(range(224)), root), root) == found


def test_a_node_without_cpus_and_without_memory_is_no_part(tmp_path: Path) -> None:
    root = large_node(tmp_path, 224, far="unknown")
    (root / "sys/devices/system/node/node8/meminfo").write_text("Node 8 MemTotal: 0 kB\n")
    assert cpu.cpu_far_nodes(cpu.cpu_nodes(list(range(224)), str(root)), str(root)) == {}


def test_the_memory_of_a_node_whose_cpus_may_not_be_used_is_not_tested(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for number, cpus in enumerate(("0-1", "2-3")):
        folder = root / f"sys/devices/system/node/node{number}"
        folder.mkdir(parents=True)
        (folder / "cpulist").write_text(f"{cpus}\n")
        (folder / "meminfo").write_text(f"Node {number} MemTotal:       1048576 kB\n")
        (folder / "distance").write_text("10 21\n" if not number else "21 10\n")
    (root / "sys/devices/system/node/online").write_text("0-1\n")
    nodes = cpu.cpu_nodes([0, 1], str(root))
    assert nodes == {"0": [0, 1]}
    assert cpu.cpu_far_nodes(nodes, str(root)) == {"1": ""}


# -- memory ------------------------------------------------------------------------------------------------------------

SMALL = 28 * 8 * MIB
"""Bytes of a NUMA node of 28 CPUs, of which half is free: at a share of 0.5, each CPU tests 2 MiB."""
RAM = {"stage": "ram", "until": 60.0, "share": 0.5, "seeds": 1}


def marched(records: Records) -> dict[str, dict[str, Any]]:
    return {one["of"]: one for one in records if one.get("test") == "march"}


@pytest.mark.slow
def test_each_numa_node_reports_the_share_of_its_own_memory(tmp_path: Path, numa: Path) -> None:
    hello, *records = staged(large_node(tmp_path, 224, SMALL), [RAM], LD_PRELOAD=str(numa))
    assert len(hello["cpus"]) == 224
    found = marched(records)
    assert set(found) == {f"numa/{node}" for node in range(8)}
    for one in found.values():
        assert (one["status"], one["mismatches"], one["tested"]) == ("done", 0, 56 * MIB)
        assert one["coverage"] == pytest.approx(0.25)


@pytest.mark.slow
def test_memory_that_the_kernel_put_on_another_node_covers_only_that_node(tmp_path: Path, numa: Path) -> None:
    root = large_node(tmp_path, 224, SMALL)
    found = marched(staged(root, [RAM], LD_PRELOAD=str(numa), FAKE_NUMA_HOME="0"))
    assert found["numa/0"]["status"] == "done"
    assert found["numa/0"]["tested"] == 8 * 56 * MIB
    for node in range(1, 8):
        assert found[f"numa/{node}"]["status"] == "not tested"
        assert "other NUMA nodes" in found[f"numa/{node}"]["why"]


@pytest.mark.slow
def test_memory_without_cpus_is_covered_from_the_nearest_node(tmp_path: Path, numa: Path) -> None:
    root = large_node(tmp_path, 224, SMALL, far="cxl")
    hello, *records = staged(root, [RAM], LD_PRELOAD=str(numa), FAKE_NUMA_NODES="8")
    assert hello["numa"]["8"] == []
    far = marched(records)["numa/8"]
    assert (far["status"], far["mismatches"], far["tested"]) == ("done", 0, 56 * MIB)


@pytest.mark.parametrize(
    ("far", "why"), [("unknown", "unsupported: NUMA node 8 has no CPU"), ("cxl", "unsupported: memory cannot be bound")]
)
def test_memory_without_cpus_that_cannot_be_reached_is_reported_as_not_tested(
    tmp_path: Path, numa: Path, far: str, why: str
) -> None:
    root = large_node(tmp_path, 224, SMALL, far=far)
    found = marched(staged(root, [{**RAM, "until": 4.0}], LD_PRELOAD=str(numa), FAKE_NUMA_NODES="1 2"))
    assert found["numa/8"]["status"] == "not tested"
    assert found["numa/8"]["why"].startswith(why)


def test_this_machines_kernel_reports_where_memory_is() -> None:
    """On a machine that forbids the query, the node of the CPU is assumed, which is the same here."""
    with cpu.cpu_mapped(16 * MIB) as at:
        area = (at, 16 * MIB)
        with suppress(OSError):
            cpu.cpu_bind(area, 0)
        memory = (cpu.ctypes.c_char * (16 * MIB)).from_address(at)
        memory[0] = memory[8 * MIB] = b"x"
        shares = cpu.cpu_homes(area, "0")
        assert sum(shares.values()) == pytest.approx(1)
        assert set(shares) <= set(cpu.cpu_nodes(sorted(os.sched_getaffinity(0)))) | {"0"}
        with pytest.raises(OSError, match="mbind"):
            cpu.cpu_bind(area, 1000)


# -- what it costs -----------------------------------------------------------------------------------------------------

WAIT = 0.05
"""The supervisor, and the Python thread that waits for tasks, wait at most this many seconds for each turn."""


def called(work: Callable[[], object]) -> tuple[int, float]:
    """Return how often functions were called in this thread and in threads that it starts, and the seconds it took."""
    counted = [0]

    def count(_frame: object, event: str, _arg: object) -> None:
        counted[0] += event in {"call", "c_call"}

    began = time.monotonic()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counted[0], time.monotonic() - began


def worker(root: Path, library: bytes | None) -> Any:
    """A node's CPU work; its records are dropped."""
    began = time.monotonic()
    return cpu.Cpu(
        lambda *_, **__: None, lambda: time.monotonic() - began, threading.Event(), library, 1, root=str(root)
    )


PER_TURN = 12
"""Most calls of one turn while the tasks run, of which there are at most one each 0.05 s and ten at the start."""


def grown(root: Path, library: bytes | None, work: Callable[[Any, float], object]) -> tuple[int, float]:
    """Return how many calls a longer stage makes more than a short one, and how many are allowed."""
    one, few = worker(root, library), worker(root, library)
    short, _ = called(lambda: work(few, few.clock() + 0.2))
    long, seconds = called(lambda: work(one, one.clock() + 0.9))
    return long - short, PER_TURN * (seconds / WAIT + 10)


@pytest.mark.parametrize("cpus", CPUS)
def test_the_interpreter_works_no_more_if_a_stage_is_longer_however_many_cpus_it_has(tmp_path: Path, cpus: int) -> None:
    root = large_node(tmp_path, cpus)
    calls, most = grown(root, LIBRARY.read_bytes(), lambda one, until: cpu.cpu_prints(one, until, 1, one.cpus))
    assert calls <= most


def test_a_python_thread_per_cpu_would_work_more_the_longer_a_stage_is(tmp_path: Path) -> None:
    """The negative proof: the same count over kernels that have a thread for each CPU, on only 32 CPUs."""
    root = large_node(tmp_path, 32)
    calls, most = grown(root, None, lambda one, until: cpu.cpu_prints(one, until, 1, one.cpus))
    assert calls > most


COUNTED = """
import atexit, json, os, select, sys
counted = {"select": 0, "read": 0, "write": 0}
def counting(module, name):
    real = getattr(module, name)
    def call(*given):
        counted[name] += 1
        return real(*given)
    setattr(module, name, call)
counting(select, "select"); counting(os, "read"); counting(os, "write")
mine = os.getpid()
atexit.register(lambda: os.getpid() == mine and print(json.dumps(counted), file=sys.stderr))
exec(sys.stdin.buffer.read(int(sys.argv[1])))
"""


def supervised(root: Path, seconds: float) -> tuple[Records, dict[str, int], dict[int, int]]:
    """Run the payload on a simulated node; return records, calls of the supervisor, and most threads by process.

    The number of threads of the process itself is under 0, of its children under 1, 2 and so on, in order of start.
    """
    made = plan(seconds, root=str(root), pulse=600)
    stages = {one["stage"]: one for one in made["stages"]}
    made["stages"] = [stages["fingerprint"], stages["fma"]]
    for number, stage in enumerate(made["stages"]):
        stage["from"], stage["until"] = number * seconds, (number + 1) * seconds
    text = pack.payload(made).encode()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", COUNTED, str(len(text))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    threads: dict[int, int] = {}
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            for pid in of_session(process.pid):
                with suppress(OSError):
                    threads[pid] = max(threads.get(pid, 0), len(list(Path(f"/proc/{pid}/task").iterdir())))

    watch = threading.Thread(target=look)
    watch.start()
    try:
        assert process.stdout is not None
        out = process.stdout.read()
        assert process.stderr is not None
        calls = json.loads(process.stderr.read())
        process.wait(30)
    finally:
        done.set()
        watch.join()
        process.kill()
    order = [process.pid, *sorted(set(threads) - {process.pid})]
    return [json.loads(line) for line in out.splitlines()], calls, {i: threads[pid] for i, pid in enumerate(order)}


@pytest.mark.slow
@pytest.mark.parametrize("cpus", CPUS)
def test_the_supervisor_turns_twenty_times_a_second_and_once_for_each_record(tmp_path: Path, cpus: int) -> None:
    """The bound: one thread, 20 turns a second and one for each record.

    Each CPU has three records in these stages, and one for each type of operands of its matrix unit (AMX), if it has
    one that the kernel grants.
    """
    records, calls, threads = supervised(large_node(tmp_path, cpus), 1.0)
    assert records[-1]["k"] == "verdict"
    assert records[-1]["status"] == "whole", records[-1]
    mine = [one for one in records if str(one.get("of", "")).startswith("cpu/")]
    assert [one for one in mine if one["k"] != "stage" or one["mismatches"]] == []
    amx = cpu.CpuKernels(LIBRARY.read_bytes()).amx()
    types = [] if cpu.cpu_amx_refused(amx) else cpu.cpu_amx_types(amx)
    (about,) = [one for one in records if one["k"] == "about" and "cpus" in one]
    assert about["amx"] == " ".join(cpu.cpu_amx_types(amx))
    wanted = {("fingerprint", "golden"), ("fingerprint", "verify"), ("fma", "fma"), *(("amx", name) for name in types)}
    assert Counter((one["of"], one["stage"], one["test"]) for one in mine) == Counter(
        (f"cpu/{number}", *work) for number in range(cpus) for work in wanted
    )
    assert calls["select"] <= records[-1]["t"] / WAIT + len(records) + 10
    assert calls["read"] <= calls["select"] + len(records) + 10
    assert calls["write"] <= 2 * len(records) + calls["select"]
    assert len(threads) == 3, "the supervisor, the sampler and the process that loads the CPUs"
    assert threads[0] == 1
    assert sorted(threads.values())[-1] <= cpus + 2, "a native thread for each CPU, and two of Python"
    assert sorted(threads.values())[-2] <= 4, "the sampler's threads do not depend on the CPUs"


def triads(records: Records) -> dict[str, dict[str, Any]]:
    return {one["of"]: one for one in records if one.get("test") == "triad"}


@pytest.mark.slow
def test_each_numa_node_reports_its_bandwidth_unless_its_arrays_are_elsewhere(tmp_path: Path, numa: Path) -> None:
    root = large_node(tmp_path, 32)
    for size in root.glob("sys/devices/system/cpu/cpu*/cache/index3/size"):
        size.write_text("4M\n")
    triad = {"stage": "triad", "until": 2.0}
    found = triads(staged(root, [triad], LD_PRELOAD=str(numa)))
    assert set(found) == {"node", *(f"numa/{node}" for node in range(8))}
    nodes = [one for of, one in found.items() if of != "node"]
    assert {one["threads"] for one in nodes if one["status"] == "done"} <= {4}
    assert {one["why"].partition(":")[0] for one in nodes if one["status"] != "done"} <= {"contended", "under-loaded"}
    far = triads(staged(root, [triad], LD_PRELOAD=str(numa), FAKE_NUMA_HOME="0"))
    lost = {of: one["why"] for of, one in far.items() if of not in ("node", "numa/0")}
    assert lost == {f"numa/{n}": "under-loaded: 100 % of the arrays are on other NUMA nodes" for n in range(1, 8)}
