"""The complete GPU burn-in: our node-side sources in a separate process, on a fake driver that runs our kernels."""

import ast
import ctypes
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import depth
import pytest
from places import TESTS

from rackcheck.burnin.kernels.build_gpu import TARGETS, unpacked
from rackcheck.burnin.node import gpu_truth as truth
from rackcheck.burnin.node.gpu_bench import GPU_ERRORS, GpuPace, GpuRecordWriter, GpuTally
from rackcheck.burnin.node.gpu_units import report_gpu_tensor

HERE = TESTS
NODE = HERE.parent / "rackcheck" / "burnin" / "node"
FILES = ("cuda", "gpu_parts", "gpu_truth", "gpu_bench", "gpu_memory", "gpu_units", "gpu_links", "gpu")

CHILD = """
import json, sys, threading, time
exec(compile(sys.stdin.read(), "payload", "exec"))
began = time.monotonic()
def clock():
    return time.monotonic() - began
def tell(kind, **fields):
    fields.update(k=kind, t=round(clock(), 3))
    sys.stdout.write(json.dumps(fields) + "\\n")
    sys.stdout.flush()
given = json.loads(sys.argv[1])
stop = threading.Event()
if given["stop"]:
    threading.Timer(given["stop"], stop.set).start()
blobs = {name: open(path, "rb").read() for name, path in given["blobs"].items()}
if given["describe"]:
    tell("described", told=describe(given["library"]))
else:
    gpu_child(given["plan"], given["gpu"], tell, clock, stop, blobs, given["library"])
tell("end")
"""

Record = dict[str, Any]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fake driver, built; skips without a C compiler, in CI it fails."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        message = "no C compiler to build the fake CUDA driver with: the GPU burn-in is not tested"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    target = tmp_path_factory.mktemp("cuda") / "libcuda.so.1"
    words = ["-shared", "-fPIC", "-O2", "-std=gnu11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *words, "-o", str(target), str(HERE / "fake_cuda" / "cuda.c"), "-lm"], check=True)
    return target


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("blobs")
    for name in TARGETS:
        (folder / name).write_bytes(unpacked(name))
    return {name: str(folder / name) for name in TARGETS}


class Gpu:
    """A machine of fake GPUs; `burn` runs stages on one of them."""

    def __init__(self, library: Path, blobs: Mapping[str, str], folder: Path) -> None:
        self.library, self.blobs, self.folder = library, blobs, folder
        self.seconds, self.status, self.changed = 0.0, 0, ("", "")

    def burn(
        self, state: str, *stages: tuple[str, float], gpu: int = 0, stop: float = 0, hold: float = 0, **more: Any
    ) -> list[Record]:
        at, value = 0.0, []
        for stage, seconds in stages:
            value.append({"of": "gpu", "stage": stage, "from": at, "until": at + seconds, "hold": hold})
            at += seconds
        plan = {"wire": 1, "tier": "smoke", "seed": 7, "stages": value, "step": 0.0, "deadline": 60.0, "cool": 0.1,
                "round": 0.1, "warm": 0.02, **more}  # fmt: skip
        return self._run(state, plan=plan, gpu=gpu, stop=stop, describe=False)

    def describe(self, state: str) -> Any:
        return self._run(state, plan={}, gpu=0, stop=0, describe=True)[0]["told"]

    def _run(self, state: str, **given: Any) -> list[Record]:
        file = self.folder / "state"
        file.write_text(state.replace(" ", "\n") + "\n")
        words = json.dumps({**given, "blobs": self.blobs, "library": str(self.library)})
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", CHILD, words],
            input="\n".join((NODE / f"{name}.py").read_text() for name in FILES).replace(*self.changed),
            env={**os.environ, "FAKE_CUDA_STATE": str(file)},
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        self.seconds, self.status = time.monotonic() - begun, done.returncode
        assert done.stderr == ""
        return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def machine(library: Path, blobs: Mapping[str, str], tmp_path: Path) -> Gpu:
    return Gpu(library, blobs, tmp_path)


def errors(records: list[Record]) -> list[Record]:
    return [r for r in records if r["k"] == "error"]


def stages(records: list[Record]) -> dict[tuple[str, str, str], Record]:
    return {(r["of"], r["stage"], r["test"]): r for r in records if r["k"] == "stage"}


MEMORY = ("fill", "march", "march down", "cache", "verify", "rounds", "copy", "checksum")

ALL = [("memory", 0.8), ("tensor", 0.8), ("scalar", 0.8), ("links", 0.6), ("together", 3.0)]


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1, 2**63])
def test_a_healthy_gpu_does_all_stages_without_a_finding(machine: Gpu, seed: int) -> None:
    rows = machine.burn("gpus=1", *ALL, seed=seed)
    done = stages(rows)
    assert errors(rows) == []
    assert [r for r in done.values() if r["status"] != "done"] == []
    assert {(stage, test) for _, stage, test in done} == {
        *(("memory", test) for test in MEMORY),
        ("tensor", "mma"),
        *(("scalar", test) for test in ("fp64", "fp32", "int32", "sfu")),
        *(("links", test) for test in ("h2d", "d2h", "both")),
        *(("together", test) for test in MEMORY),
        *(("together", test) for test in ("mma", "h2d", "d2h", "both")),
    }
    for record in done.values():
        assert record["work"] > 0
        assert record.get("mismatches", 0) == 0
    # On a loaded machine one launch may take the whole stage: then its record shows that too little was measured.
    rated = {
        (stage, test)
        for (_, stage, test), record in done.items()
        if "rate" in record or record.get("measured", math.inf) < record.get("least", 0.0)
    }
    assert rated >= {("tensor", "mma"), *(("memory", test) for test in ("fill", "march", "verify", "copy")),
                     *(("scalar", test) for test in ("fp64", "fp32", "int32", "sfu")),
                     *(("links", test) for test in ("h2d", "d2h", "both"))}  # fmt: skip
    verified = [("memory", "verify"), ("memory", "march"), ("tensor", "mma"), ("scalar", "fp64"), ("links", "h2d")]
    assert all("mismatches" in done["gpu/0", stage, test] for stage, test in verified)


def test_a_rate_of_memory_comes_from_half_a_second_without_the_first_launch(machine: Gpu) -> None:
    """With the first launches of 3 s each, none of these rates would be near the speed."""
    done = stages(machine.burn("speed=100 cold=3", ("memory", 4.0), warm=0.5))
    for test in ("fill", "march", "march down", "verify", "copy"):
        record = done["gpu/0", "memory", test]
        assert record["rate"] == pytest.approx(1e8, rel=1e-3), test
        assert record["measured"] >= (0.5 if test == "copy" else record["least"]), test
        if test in ("fill", "march", "copy"):  # the first launch of `verify` is in the test of the cache
            assert record["seconds"] >= record["measured"] + 3.0, test


def test_copies_take_a_quarter_of_a_stage_at_most_and_a_rate_that_was_measured_too_shortly_is_none(
    machine: Gpu,
) -> None:
    rows = machine.burn("", ("memory", 2.0), warm=30.0)
    record = stages(rows)["gpu/0", "memory", "copy"]
    assert errors(rows) == []
    assert record["status"] == "done"
    assert 0.0 < record["measured"] < record["least"] == 6.0
    assert "rate" not in record
    assert record["seconds"] < 1.0
    assert stages(rows)["gpu/0", "memory", "rounds"]["work"] > 1


def test_a_test_with_a_single_launch_has_no_rate() -> None:
    rows: list[Record] = []
    tally = GpuTally("gpu/0", "memory", 0.0)
    for test, seconds in (("verify", (0.3,)), ("copy", (3.0, 0.05, 0.02)), ("march", (3.0, 0.05, 0.0, 0.05))):
        for each in seconds:
            tally.add(test, "B", 1e9 * each, each)
    tally.emit(lambda kind, **fields: rows.append(fields), "")
    assert {r["test"]: (r.get("rate"), r["measured"]) for r in rows} == {
        "verify": (None, 0.0), "copy": (None, 0.07), "march": (pytest.approx(1e9), 0.1),
    }  # fmt: skip


def test_a_stage_of_all_parts_that_ran_no_memory_test_counts_as_not_tested(machine: Gpu) -> None:
    done = stages(machine.burn("gpus=1", ("together", 0.001)))
    assert done["gpu/0", "together", "mma"]["status"] == "done"
    assert ("gpu/0", "together", "verify") not in done
    row = done["gpu/0", "together", ""]
    assert (row["status"], row["why"]) == ("not tested", "under-loaded: no time was left for verify")


@pytest.mark.slow
@pytest.mark.parametrize("seed", depth.first(1, range(4)))
def test_many_seeds_of_a_healthy_gpu_give_no_finding(machine: Gpu, seed: int) -> None:
    rows = machine.burn("gpus=1", ("memory", 6.0), ("tensor", 4.0), ("scalar", 4.0), ("together", 4.0), seed=seed)
    assert errors(rows) == []
    assert stages(rows)["gpu/0", "memory", "rounds"]["work"] >= 5


def test_nearly_all_memory_is_tested_and_released(machine: Gpu) -> None:
    rows = machine.burn("memory=16777216 duty=100", ("memory", 0.8), ("tensor", 0.4), ("memory", 0.8))
    covered = [r["coverage"] for r in rows if r.get("test") == "verify"]
    assert len(covered) == 2
    assert covered[0] >= 0.95
    assert covered[1] == covered[0]


def test_every_launch_on_memory_begins_where_a_gpu_reads_whole_lines(
    machine: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = tmp_path / "launched"
    monkeypatch.setenv("FAKE_CUDA_LAUNCHED", str(written))
    rows = machine.burn("memory=16777216", ("memory", 1.5))
    launches = [row.split() for row in written.read_text().splitlines()]
    assert errors(rows) == []
    assert {name for name, _, _ in launches} == {"fill", "march", "march_down", "verify", "checksum"}
    assert len({at for _, at, _ in launches}) > 1
    assert [at for _, at, _ in launches if int(at) % 65536] == []


FAR, NEAR = 0x50000, 0x40000
"""Two addresses at which a march works soon one after the other."""

TOP = 0x7BE000
"""An address in what a march to higher addresses writes last, in a GPU with 8 MiB."""

FAULTS: dict[str, tuple[str, str, Record]] = {
    "a line that a write below it disturbs": (
        f"couple=0:{NEAR}:{FAR}:20000:0x10", "memory",
        {"name": "mismatch", "test": "march", "address": hex(FAR), "bits": 1, "pattern": "address"}),
    "a line that a write above it disturbs": (
        f"couple=0:{FAR}:{NEAR}:20000:0x10", "memory",
        {"name": "mismatch", "test": "march down", "address": hex(NEAR), "bits": 1, "pattern": "complement"}),
    "a line that the cache does not renew": (
        f"stale=0:{TOP}", "memory", {"name": "mismatch", "test": "cache", "address": hex(TOP), "pattern": "complement"}),
    "a line that does not leave the cache": (
        f"unwritten=0:{TOP}:2", "memory",
        {"name": "mismatch", "test": "march down", "address": hex(TOP), "bits": 128}),
    "a flipped bit": ("flip=0:160000:64", "memory", {"name": "mismatch", "address": "0x27100", "bits": 1, "length": 16}),
    "a line that strays in many bits": (
        "flip=0:160000:0xffff00ff00ff0001", "memory", {"name": "mismatch", "address": "0x27100", "bits": 33}),
    "a stuck bit": ("stuck=0:4096:0x100", "memory", {"name": "mismatch", "address": "0x1000", "bits": 1, "held": True}),
    "a warp's lines": ("burst=0:320000:0xff00ff", "memory", {"name": "mismatch", "address": "0x4e200", "length": 512,
                                                              "bits": 16, "count": 32}),
    "a dead low address line": ("alias=0:5", "memory", {"name": "alias"}),
    "a dead high address line": ("alias=0:20", "memory", {"name": "alias"}),
    "an SM whose products are off by one": (
        "wrong=0:2:mma:1", "tensor", {"name": "mismatch", "test": "mma", "sm": 2, "row": 26, "column": 10}),
    "an SM whose products are off by much": (
        "wrong=0:0:mma:70000", "tensor", {"name": "mismatch", "test": "mma", "sm": 0, "row": 26, "column": 10}),
    "a GPU whose products are wrong": (
        "wrong=0:-1:mma:1", "tensor", {"name": "mismatch", "test": "mma", "sms": 4, "row": 26, "column": 10}),
    "an SM that makes no number": ("nan=0:3", "tensor", {"name": "not finite", "test": "mma", "sm": 3}),
    "an SM with a wrong ulp in FP64": ("wrong=0:1:fp64:1", "scalar", {"name": "mismatch", "test": "fp64", "sm": 1}),
    "an SM with a wrong ulp in FP32": ("wrong=0:3:fp32:1", "scalar", {"name": "mismatch", "test": "fp32", "sm": 3}),
    "an SM with a wrong bit in INT32": (
        "wrong=0:2:int32:0x800", "scalar", {"name": "mismatch", "test": "int32", "sm": 2}),
    "an SM with another root": ("wrong=0:1:sfu:1", "scalar", {"name": "disagree", "test": "sfu", "sm": 1}),
    "two SMs, one with another root": ("sms=2 wrong=0:1:sfu:1", "scalar", {"name": "disagree", "sms": 2}),
    "a GPU whose FP32 is wrong": ("wrong=0:-1:fp32:2", "scalar", {"name": "mismatch", "test": "fp32", "sms": 4}),
    "a bit lost on the way up": ("link=0:h2d:65540", "links", {"name": "mismatch", "test": "h2d", "address": "0x10000"}),
    "a bit lost on the way down": (
        "link=0:d2h:200000", "links", {"name": "mismatch", "test": "d2h", "address": "0x30d40"}),
    "a golden that a copy changed": ("link=0:h2d:4096", "tensor", {"name": "mismatch", "test": "golden"}),
    "a kernel that the GPU ended": ("sticky=0:9:719", "memory", {"name": "cuda", "code": 719}),
    "an uncorrected ECC error": ("sticky=0:1:214", "tensor", {"name": "ecc", "code": 214}),
    "a GPU that is gone": ("lost=0:3:999", "scalar", {"name": "lost", "code": 999}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_finding_with_its_name_and_place(machine: Gpu, fault: str) -> None:
    state, stage, expected = FAULTS[fault]
    rows = machine.burn(state, (stage, 0.8))
    found = errors(rows)
    assert len(found) == 1
    assert {key: found[0].get(key) for key in expected} == expected
    assert (found[0]["of"], found[0]["stage"]) == ("gpu/0", stage)
    if expected["name"] in ("mismatch", "alias", "disagree", "not finite"):
        assert "seed" in found[0]
        if expected.get("test") not in ("golden", "sfu"):
            assert sum(r.get("mismatches", 0) for r in rows) > 0


def test_a_disturbed_line_is_found_only_by_the_march_in_that_order(machine: Gpu) -> None:
    up = stages(machine.burn(f"couple=0:{NEAR}:{FAR}:20000:0x10", ("memory", 0.8)))
    down = stages(machine.burn(f"couple=0:{FAR}:{NEAR}:20000:0x10", ("memory", 0.8)))
    for done, right in ((up, "march"), (down, "march down")):
        wrong = {
            test: done["gpu/0", "memory", test]["mismatches"] for test in ("march", "march down", "cache", "verify")
        }
        assert wrong.pop(right) > 0
        assert set(wrong.values()) == {0}


def test_a_disturbed_line_is_not_found_if_blocks_wait_for_others(machine: Gpu) -> None:
    """With a driver that reports too many blocks at the same time, some blocks begin at one end after the others."""
    state = f"couple=0:{FAR}:{NEAR}:20000:0x10 resident=1"
    assert [e["test"] for e in errors(machine.burn(state, ("memory", 0.8)))] == ["march down"]
    assert errors(machine.burn(f"{state} resident_said=8", ("memory", 0.8))) == []


def test_a_write_that_never_left_the_cache_is_found_only_where_the_cache_was_evicted(machine: Gpu) -> None:
    """With a driver that reports too small a cache, too little is read between the write and the read."""
    state = f"unwritten=0:{TOP}:2"
    assert [e["address"] for e in errors(machine.burn(state, ("memory", 0.8)))] == [hex(TOP)]
    assert errors(machine.burn(f"{state} l2_said=1024", ("memory", 0.8))) == []


@pytest.mark.parametrize("size", [8 << 20, 16 << 20])
def test_marches_go_up_and_down_and_their_reads_miss_the_cache(
    machine: Gpu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    cache, written = 256 << 10, tmp_path / "launched"
    monkeypatch.setenv("FAKE_CUDA_LAUNCHED", str(written))
    rows = machine.burn(f"memory={size} l2={cache}", ("memory", 1.5))
    assert errors(rows) == []
    launches = [
        (name, int(at), int(lines) * 16) for name, at, lines in map(str.split, written.read_text().splitlines())
    ]
    tested = next(r["tested"] for r in rows if r.get("test") == "verify")
    for kernel, step in (("march", 1), ("march_down", -1)):
        begins = [at for name, at, _ in launches if name == kernel]
        passes = begins.count(0)
        assert passes >= 2
        rounds = [(at, length) for name, at, length in launches if name == kernel][::step]
        covered = 0
        for at, length in rounds[: len(rounds) if step > 0 else None]:
            covered = 0 if covered == tested else covered
            if kernel == "march_down" and at and not covered:
                continue  # the last pass was cut by the end of the stage
            assert at == covered
            covered += length
    accessed, since, nearest, hits = 0, dict.fromkeys(range(0, tested, 4096), 0), size, 0
    for name, at, length in launches:
        pages = range(at, at + length, 4096)
        if name in ("march", "march_down", "verify"):
            pages = pages[:: -1 if name == "march_down" else 1]
            distance = min(accessed + n * 4096 - since[page] for n, page in enumerate(pages))
            if name == "verify" and length <= cache // 4 + 65536 and distance < cache:
                hits += 1  # the test of the cache
            else:
                nearest = min(nearest, distance)
        accessed += length
        if name in ("fill", "march", "march_down"):
            for n, page in enumerate(pages):
                since[page] = accessed - length + n * 4096
    assert nearest >= 4 * cache
    assert hits >= 2


@pytest.mark.parametrize("state", ["l2=1048576", "l2_said=0"])
def test_a_gpu_whose_memory_is_not_much_larger_than_its_cache_is_not_tested(machine: Gpu, state: str) -> None:
    rows = machine.burn(state, ("memory", 0.4), ("together", 0.4))
    assert errors(rows) == []
    assert {r["stage"]: r["why"].partition(":")[0] for r in rows if r["k"] == "stage" and not r["test"]} == {
        "memory": "no memory", "together": "no memory",
    }  # fmt: skip


FADES = "fade=0:0x8000:400:0xff"


def test_a_cell_that_loses_its_value_with_time_is_found_by_the_pause_and_found_again(machine: Gpu) -> None:
    rows = machine.burn(FADES, ("memory", 1.6), hold=0.5)
    (found,) = errors(rows)
    assert (found["name"], found["test"], found["address"]) == ("mismatch", "retention", "0x8000")
    done = stages(rows)
    kept = done["gpu/0", "memory", "retention"]
    assert (kept["mismatches"], kept["waited"]) == (2, 0.5)
    assert {test: r["found"] for (_, stage, test), r in done.items() if stage == "again"} == {
        "memory hot": 3, "memory cold": 3,
    }  # fmt: skip


def test_without_the_pause_such_a_cell_is_not_found_and_with_it_one_that_holds_is_silent(machine: Gpu) -> None:
    assert errors(machine.burn(FADES, ("memory", 0.3))) == []
    rows = machine.burn(FADES.replace(":400:", ":60000:"), ("memory", 1.6), hold=0.5)
    assert errors(rows) == []
    assert stages(rows)["gpu/0", "memory", "retention"]["mismatches"] == 0


def test_a_stage_too_short_for_its_pauses_counts_as_not_tested(machine: Gpu) -> None:
    done = stages(machine.burn("", ("memory", 0.6), hold=0.5))
    row = done["gpu/0", "memory", ""]
    assert (row["status"], row["why"]) == ("not tested", "under-loaded: no time was left for verify")


@pytest.mark.parametrize("line", [5, 9, 14, 20])
def test_an_alias_names_both_places(machine: Gpu, line: int) -> None:
    (found,) = errors(machine.burn(f"alias=0:{line}", ("memory", 0.8)))
    assert int(found["address"], 16) ^ int(found["other"], 16) == 1 << line


def test_a_wrong_line_reports_the_seed_that_reproduces_it(machine: Gpu) -> None:
    (found,) = errors(machine.burn("flip=0:160000:64", ("memory", 0.8)))
    assert found["pattern"] == "address"
    low, high = truth.gpu_pattern(found["seed"], 160000 // truth.GPU_LINE)
    assert found["want"] == f"{high:016x}{low:016x}"
    assert found["got"] == f"{high:016x}{low ^ 64:016x}"


def test_a_gone_gpu_leaves_the_rest_not_tested(machine: Gpu) -> None:
    rows = machine.burn("lost=0:9:999", ("memory", 0.5), ("tensor", 0.5), ("links", 0.5))
    assert {r["status"] for r in rows if r["k"] == "stage"} == {"not tested"}
    assert all(r["why"].startswith("lost") for r in rows if r["k"] == "stage")
    assert {r["stage"] for r in rows if r["k"] == "stage"} == {"memory", "tensor", "links"}


@pytest.mark.parametrize("way", ["hang", "stall"])
def test_what_never_comes_back_ends_the_child_and_nothing_passes(machine: Gpu, way: str) -> None:
    rows = machine.burn(f"{way}=0:9", ("memory", 0.5), ("scalar", 0.5), hang=0.6)
    (found,) = errors(rows)
    assert found["name"] == "hang"
    assert machine.status == 3
    assert {r["status"] for r in rows if r["k"] == "stage"} == {"not tested"}
    assert {r["stage"] for r in rows if r["k"] == "stage"} == {"memory", "scalar"}


@pytest.mark.parametrize(
    ("state", "why", "faults"),
    [
        ("init=802", "fabric manager down", ["cuda"]), ("init=999", "no driver", ["cuda"]), ("init=803", "no driver", []),
        ("gpus=0", "no driver", []), ("context=0:46", "foreign process", []), ("context=0:2", "no memory", []),
        ("init=800", "denied", []), ("cc=70", "unsupported", []),
    ],
)  # fmt: skip
def test_an_unavailable_gpu_is_not_tested_and_the_reason_is_stated(
    machine: Gpu, state: str, why: str, faults: list[str]
) -> None:
    rows = machine.burn(state, ("memory", 0.3), ("tensor", 0.3))
    assert [(r["stage"], r["status"]) for r in rows if r["k"] == "stage"] == [
        ("memory", "not tested"),
        ("tensor", "not tested"),
    ]
    assert all(r["why"].startswith(f"{why}: ") for r in rows if r["k"] == "stage")
    assert [e["name"] for e in errors(rows)] == faults


def test_a_node_without_the_library_is_not_tested(machine: Gpu) -> None:
    machine.library = Path("/nowhere/libcuda.so.1")
    rows = machine.burn("", ("memory", 0.3))
    assert errors(rows) == []
    (stage,) = (r for r in rows if r["k"] == "stage")
    assert stage["why"].startswith("no driver: ")


@pytest.mark.parametrize("stage", ["memory", "tensor", "scalar", "links", "together"])
def test_a_stage_ends_soon_after_a_stop_request(machine: Gpu, stage: str) -> None:
    rows = machine.burn("gpus=2", (stage, 30.0), ("memory", 1.0), stop=0.6)
    assert rows[-1]["k"] == "end"
    assert rows[-1]["t"] < 0.6 + 1.0
    assert errors(rows) == []
    assert {r["status"] for r in rows if r["k"] == "stage"} == {"not tested"}
    assert {r["why"] for r in rows if r["k"] == "stage"} == {"stopped"}
    assert machine.seconds < 5.0


def test_units_and_links_do_one_round_also_where_their_time_is_short(machine: Gpu) -> None:
    for stage, test in (("tensor", "mma"), ("scalar", "fp64"), ("links", "h2d")):
        rows = machine.burn("gpus=2", (stage, 0.001))
        assert stages(rows)["gpu/0", stage, test]["status"] == "done"


def test_a_stage_with_less_than_half_of_its_time_left_is_not_tested(machine: Gpu) -> None:
    """The stage before it takes too long: 0.2 s are planned."""
    machine.changed = ("bench.work([gpu_scalar_work(", "time.sleep(2.7) or bench.work([gpu_scalar_work(")
    found = stages(machine.burn("gpus=2", ("scalar", 0.2), ("tensor", 4.0)))
    late = found["gpu/0", "tensor", "mma"]
    assert late["status"] == "not tested"
    assert re.fullmatch(r"under-loaded: [01]\.[0-9] s of 4\.0 s were left", late["why"])
    assert found["gpu/0", "scalar", "fp64"]["status"] == "done"


def test_a_stage_ends_by_the_plan(machine: Gpu) -> None:
    rows = machine.burn("", *ALL)
    for record in stages(rows).values():
        ends = {"memory": 0.8, "tensor": 1.6, "scalar": 2.4, "links": 3.0, "together": 6.0}[record["stage"]]
        assert record["t"] < ends + 1.0


def test_gpus_begin_one_step_after_the_other(machine: Gpu) -> None:
    rows = machine.burn("gpus=4", ("memory", 0.8), gpu=3, step=0.2)
    begun = {r["from"] for r in rows if r["k"] == "stage"}
    assert len(begun) == 1
    assert 0.6 <= begun.pop() < 1.6


def test_results_are_the_same_on_every_gpu_and_not_for_every_seed(machine: Gpu) -> None:
    def hashes(gpu: int, seed: int) -> dict[str, str]:
        rows = machine.burn("gpus=2", ("memory", 0.8), ("tensor", 0.8), ("scalar", 0.8), gpu=gpu, seed=seed)
        return {r["test"]: r["hash"] for r in rows if "hash" in r}

    first = hashes(0, 5)
    assert set(first) == {"checksum", "mma", "fp64", "fp32", "int32", "sfu"}
    assert hashes(1, 5) == first
    assert not set(hashes(0, 6).values()) & set(first.values())


def test_a_slow_sm_is_reported(machine: Gpu) -> None:
    values = stages(machine.burn("slow=0:2:150", ("tensor", 0.8), ("scalar", 0.8)))
    for record in values.values():
        assert (record["sms"], record["slowest_sm"]) == (4, 2)
        assert record["slowest"] == pytest.approx(1.5, rel=0.02)
        assert record["clock"] > 0


@pytest.mark.parametrize(("state", "code"), [("cc=90", "sm_90"), ("cc=89", "sm_80"), ("cc=100", "ptx"),
                                             ("cc=90 refuses=1", "ptx")])  # fmt: skip
def test_machine_code_is_taken_where_the_chip_has_it(machine: Gpu, state: str, code: str) -> None:
    values = stages(machine.burn(state, ("tensor", 0.8)))
    assert values["gpu/0", "tensor", "mma"]["code"] == code


@pytest.mark.parametrize(("loading", "within"), [("EAGER", False), ("LAZY", True)])
def test_the_time_to_compile_is_in_no_stage_unless_the_driver_loads_kernels_at_their_first_launch(
    machine: Gpu, loading: str, within: bool
) -> None:
    machine.changed = ('"EAGER"', f'"{loading}"')
    rows = machine.burn("cc=100 jit=2", ("tensor", 0.1))
    (record,) = stages(rows).values()
    assert record["code"] == "ptx"
    assert (record["from"] >= 2.0) is not within
    assert (record["seconds"] >= 2.0) is within


def test_a_fault_put_in_on_the_device_is_found(machine: Gpu) -> None:
    inject = {"place": 777, "flip": 0x8001, "sm": 1, "bits": 4}
    rows = errors(machine.burn("", ("memory", 0.8), ("tensor", 0.8), ("scalar", 0.8), inject=inject))
    assert [(e["stage"], e["test"], e.get("sm")) for e in rows if e["stage"] != "memory"] == [
        ("tensor", "mma", 1), ("scalar", "fp64", 1), ("scalar", "fp32", 1), ("scalar", "int32", 1), ("scalar", "sfu", 1),
    ]  # fmt: skip
    assert [(e["address"], e["bits"]) for e in rows if e["stage"] == "memory"] == [(hex(777 * 16), 2)]


def test_gpus_report_their_properties(machine: Gpu) -> None:
    value = machine.describe("gpus=2 memory=8388608 sms=4 cc=90")
    assert set(value) == {"0", "1"}
    assert value["1"] == {
        "uuid": "GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1", "pci": "0000:27:00.0", "model": "Fake GPU",
        "memory": 8388608, "sms": 4, "cc": "9.0",
    }  # fmt: skip
    assert machine.describe("init=802")["trouble"].startswith("fabric manager down: ")


# -- the kernels themselves, called without the burn-in ----------------------------------------------------------------


class Kernels:
    """The fake driver in this process, with one GPU."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        context, self._stream = ctypes.c_void_p(), ctypes.c_void_p()
        assert self._library.cuInit(0) == 0
        assert self._library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self._library.cuCtxSetCurrent(context) == 0
        assert self._library.cuStreamCreate(ctypes.byref(self._stream), 0) == 0
        self.report = self.take(truth.GPU_REPORT)

    def take(self, size: int) -> int:
        at = ctypes.c_uint64()
        assert self._library.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(size)) == 0
        return at.value

    def go(self, name: str, *given: Any, grid: int = 4, threads: int = 64) -> bytes:
        ctypes.memset(self.report, 0, truth.GPU_REPORT)
        function = ctypes.c_void_p()
        assert self._library.cuModuleGetFunction(ctypes.byref(function), None, name.encode()) == 0
        words = [*given, ctypes.c_uint64(self.report)]
        places = (ctypes.c_void_p * len(words))(*(ctypes.addressof(word) for word in words))
        assert self._library.cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, 0, self._stream, places, None) == 0
        return ctypes.string_at(self.report, truth.GPU_REPORT)


@pytest.fixture(scope="module")
def kernels(library: Path) -> Iterator[Kernels]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FAKE_CUDA_STATE", raising=False)
        yield Kernels(library)


def long(*numbers: int) -> list[ctypes.c_uint64]:
    return [ctypes.c_uint64(number) for number in numbers]


@pytest.mark.parametrize("seed", [0, 1, 7, 2**40 + 3, 2**64 - 1])
def test_the_pattern_is_what_integers_compute(kernels: Kernels, seed: int) -> None:
    at, first, count = kernels.take(4096), 2**33 + 5, 256
    kernels.go("fill", *long(at, first, count, seed, 0))
    lines = list(struct.iter_unpack("<2Q", ctypes.string_at(at, 4096)))
    assert lines == [truth.gpu_pattern(seed, first + n) for n in range(count)]
    assert struct.unpack_from("<Q", kernels.go("checksum", *long(at, count)), 8)[0] == truth.gpu_checksum(lines)
    assert struct.unpack_from("<Q", kernels.go("march", *long(at, first, count, seed, 0, 0)))[0] == 0
    assert struct.unpack_from("<2Q", ctypes.string_at(at, 16)) == truth.gpu_pattern(seed, first, truth.GPU_MASK)
    for flip in (0, truth.GPU_MASK):
        line = truth.gpu_pattern(seed, first + 9, flip)
        assert truth.gpu_place_of(seed, *line, first + count) == first + 9
        assert truth.gpu_place_of(seed, line[0] ^ 1, line[1], first + count) is None


@pytest.mark.parametrize("count", [1, 511, 512, 513, 4096, 4113])
def test_a_march_in_either_order_turns_each_line_once(kernels: Kernels, count: int) -> None:
    at = kernels.take(16 * count)
    kernels.go("fill", *long(at, 5, count, 9, 0))
    for flip, top in ((0, 0), (truth.GPU_MASK, (count - 1) // 512 * 512 + 1), (0, (count - 1) // 512 * 512 + 1)):
        assert struct.unpack_from("<Q", kernels.go("march", *long(at, 5, count, 9, flip, top)))[0] == 0
        lines = list(struct.iter_unpack("<2Q", ctypes.string_at(at, 16 * count)))
        assert lines == [truth.gpu_pattern(9, 5 + n, flip ^ truth.GPU_MASK) for n in range(count)]


@pytest.mark.parametrize("kind", ["fp64", "fp32", "int32"])
@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_the_chains_are_what_integers_compute(kernels: Kernels, kind: str, rounds: int) -> None:
    for seed in (3, 2**50 + 1, 2**64 - 5):
        report = kernels.go(kind, *long(seed), *(ctypes.c_uint32(x) for x in (rounds, 2**32 - 1, 0)))
        got = {truth.GPU_BLOCK.unpack_from(report, truth.GPU_BLOCKS_AT + 32 * block)[0] for block in range(4)}
        assert got == {truth.gpu_chain_hash(truth.gpu_chains(kind, seed), rounds, 64)}


def test_the_tiles_are_what_integers_compute(kernels: Kernels) -> None:
    tiles, golden = kernels.take(8), kernels.take(8192)
    for tile in (0, 1, 2**64 - 1, *(truth.gpu_mix(n) for n in range(20))):
        ctypes.memmove(golden, truth.gpu_golden(tile), 8192)
        ctypes.memmove(tiles, struct.pack("<Q", tile), 8)
        words = [ctypes.c_uint32(x) for x in (1, 0, 1, 2**32 - 1, 0)]
        assert struct.unpack_from("<Q", kernels.go("tensor", *long(tiles, golden), *words, threads=32))[0] == 0


def test_a_tile_is_a_product_of_1024_small_integers_and_exact() -> None:
    for tile in range(5):
        left, right = truth.gpu_operands(tile)
        assert all(-127 <= x <= 127 for row in left + right for x in row)
        rows = truth.gpu_tile(tile)
        for row, column in ((0, 0), (63, 31), (17, 9), (40, 24)):
            total = 0
            for step in range(64):
                group = (column // 8 + step) % 4 * 8 + column % 8
                total += (-1) ** step * sum(x * y for x, y in zip(left[row], right[group], strict=True))
                assert abs(total) < 2**24
            assert rows[row][column] == total


def test_any_one_changed_bit_changes_the_sum() -> None:
    lines = [truth.gpu_pattern(9, n) for n in range(40)]
    whole = truth.gpu_checksum(lines)
    for place in range(40):
        for bit in (0, 17, 63):
            changed = list(lines)
            changed[place] = (lines[place][0] ^ 1 << bit, lines[place][1])
            assert truth.gpu_checksum(changed) != whole


@pytest.mark.parametrize("gpus", range(2, 17))
def test_each_gpu_meets_each_other_once_and_one_at_a_time(gpus: int) -> None:
    slots = [truth.gpu_pairs(gpus, slot) for slot in range(truth.gpu_slots(gpus))]
    met = [pair for pairs in slots for pair in pairs]
    assert sorted(met) == list(combinations(range(gpus), 2))
    for pairs in slots:
        seen = [gpu for pair in pairs for gpu in pair]
        assert len(seen) == len(set(seen))


def test_a_single_gpu_has_no_pairs() -> None:
    assert truth.gpu_slots(1) == 0
    assert truth.gpu_pairs(1, 0) == []


def test_the_majority_outvotes_the_minority_and_a_tie_blames_none() -> None:
    assert truth.gpu_odd_ones([(0, 5), (1, 5), (2, 9), (0, 5)]) == (5, [(2, 9)])
    assert truth.gpu_odd_ones([(0, 5), (1, 9)]) == (None, [])
    assert truth.gpu_odd_ones([(0, 5), (0, 9), (1, 5), (2, 5)]) == (5, [(0, 9)])
    assert truth.gpu_odd_ones([]) == (None, [])


def test_errors_of_one_name_are_reported_up_to_the_bound() -> None:
    rows: list[Record] = []
    writer = GpuRecordWriter("gpu/0", lambda kind, **fields: rows.append(fields))
    for place in range(GPU_ERRORS * 2):
        for _ in range(2):
            writer.error("memory", "verify", "mismatch", (place,), address=hex(place))
    writer.error("memory", "verify", "alias", (1,))
    assert [r.get("more") for r in rows] == [None] * GPU_ERRORS + [True, None]
    assert len({r.get("address") for r in rows}) == GPU_ERRORS + 1


def grids(machine: Gpu, monkeypatch: pytest.MonkeyPatch, state: str, *stages: tuple[str, float]) -> dict[str, set[int]]:
    """The numbers of blocks with which each kernel was launched."""
    written = machine.folder / "grids"
    written.unlink(missing_ok=True)
    monkeypatch.setenv("FAKE_CUDA_GRIDS", str(written))
    assert errors(machine.burn(state, *stages)) == []
    found: dict[str, set[int]] = {}
    for row in written.read_text().splitlines():
        name, blocks = row.split()
        found.setdefault(name, set()).add(int(blocks))
    return found


@pytest.mark.parametrize("tensor", [1, 2, 5])
def test_products_and_scalar_units_have_as_many_blocks_as_the_driver_reports(
    machine: Gpu, monkeypatch: pytest.MonkeyPatch, tensor: int
) -> None:
    state = f"sms=3 resident_tensor={tensor} resident_fp64=1 resident_fp32=4 resident_int32=3 resident_sfu=2"
    found = grids(machine, monkeypatch, state, ("tensor", 0.2), ("scalar", 0.2))
    assert found == {"tensor": {3 * tensor}, "fp64": {3}, "fp32": {12}, "int32": {9}, "sfu": {6}}


def test_all_blocks_of_a_launch_have_a_row_in_its_report_and_each_sm_has_as_many() -> None:
    assert truth.gpu_grid(132, 8) == 132 * 7
    assert truth.gpu_grid(148, 2) == 296
    assert truth.gpu_grid(600, 8) == 600
    assert truth.gpu_grid(1500, 8) == truth.GPU_BLOCKS == 1024
    for sms in range(1, 1025):
        for each in range(33):
            blocks = truth.gpu_grid(sms, each)
            assert blocks <= 1024
            assert blocks % sms == 0
            assert blocks >= sms


SMALL = "l2=16384 sms=2"
"""A GPU of which the fake driver tests all parts together in a short time."""

TOGETHER = ["resident_tensor=2 resident=8", "resident_tensor=2 resident=3", "resident_tensor=3 resident=2",
            "resident_tensor=5 resident=4", "resident_tensor=8 resident=2"]  # fmt: skip


@pytest.mark.parametrize("state", TOGETHER)
def test_the_blocks_of_all_parts_together_fit_on_each_sm(
    machine: Gpu, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    tensor, other = (int(word.partition("=")[2]) for word in state.split())
    found = grids(machine, monkeypatch, f"{SMALL} {state}", ("together", 2.0))
    assert set(found) >= {"tensor", "fill", "march", "verify"}
    assert found.pop("tensor") == {2 * (tensor // 2)}
    for kernel, blocks in found.items():
        (beside,) = blocks
        assert beside >= 2, kernel
        assert beside % 2 == 0, kernel
        assert (tensor // 2) / tensor + beside / 2 / other <= 1, kernel


def test_after_the_parts_together_a_test_of_memory_uses_the_whole_gpu_again(
    machine: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = grids(machine, monkeypatch, f"{SMALL} resident=6", ("together", 0.2), ("memory", 1.0))
    assert found["march"] == {2 * 3, 2 * 6}
    assert found["fill"] == {2 * 3, 2 * 8}


@pytest.mark.parametrize(
    ("state", "why"),
    [("resident_tensor=1", "fill, verify, march, copy, checksum"), ("resident_march=1", "march"),
     ("resident_tensor=3 resident_copy=1 resident_march=1", "march, copy")],
)  # fmt: skip
def test_parts_that_do_not_fit_on_an_sm_together_count_as_not_tested(machine: Gpu, state: str, why: str) -> None:
    rows = machine.burn(f"{SMALL} {state}", ("tensor", 0.2), ("memory", 1.5), ("together", 2.0))
    done = stages(rows)
    assert errors(rows) == []
    assert done["gpu/0", "tensor", "mma"]["status"] == done["gpu/0", "memory", "verify"]["status"] == "done"
    reasons = {(r["status"], r["why"]) for (_, stage, _), r in done.items() if stage == "together"}
    assert reasons == {
        ("not tested", f"under-loaded: no block of {why} fits on an SM beside the matrix products")
    }  # fmt: skip


ABSENT = ("cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuOccupancyOfAnOldDriver")


@pytest.mark.parametrize(
    ("state", "changed"), [("resident_said=0", ("", "")), ("", ABSENT), ("resident_said=-3", ("", ""))]
)
def test_without_the_number_of_blocks_at_the_same_time_units_are_not_tested_and_memory_is(
    machine: Gpu, monkeypatch: pytest.MonkeyPatch, state: str, changed: tuple[str, str]
) -> None:
    machine.changed = changed
    found = grids(machine, monkeypatch, f"{SMALL} {state}", ("tensor", 0.2), ("scalar", 0.2), ("memory", 0.8))
    assert found["tensor"] == found["fp32"] == found["march"] == {2}
    rows = machine.burn(
        f"{SMALL} {state} wrong=0:1:mma:1", ("memory", 1.5), ("tensor", 0.2), ("scalar", 0.2), ("together", 2.0)
    )
    assert {e["sm"] for e in errors(rows)} == {1}  # an error counts however little was loaded
    status = {(stage, r["status"]) for (_, stage, _), r in stages(rows).items() if stage != "again"}
    assert status == {("memory", "done"), *((stage, "not tested") for stage in ("tensor", "scalar", "together"))}
    why = {r["why"] for (_, stage, _), r in stages(rows).items() if stage in ("tensor", "together")}
    assert why == {"under-loaded: the driver does not report how many blocks of tensor run at the same time"}


@pytest.mark.parametrize("fault", ["wrong=0:2:mma:1", "wrong=0:1:fp64:1", "wrong=0:3:int32:0x800"])
def test_products_and_chains_stay_exact_with_other_numbers_of_blocks(machine: Gpu, fault: str) -> None:
    sizes = "resident_tensor=5 resident_fp64=3 resident_int32=7"
    assert errors(machine.burn(sizes, ("tensor", 0.3), ("scalar", 0.3))) == []
    (found,) = errors(machine.burn(f"{sizes} {fault}", ("tensor", 0.3), ("scalar", 0.3)))
    assert (found["name"], found["sm"]) == ("mismatch", int(fault.split(":")[1]))


def test_an_sm_that_fills_the_ring_does_not_hide_another() -> None:
    rows: list[Record] = []
    writer = GpuRecordWriter("gpu/0", lambda kind, **fields: rows.append(fields))
    ring = [(n, 0x3F800000, 0, 0, 0, 0x40000000, 5, 3, 0) for n in range(truth.GPU_RING)]
    blocks = [(1, 9, 1, sm, {3: 700, 6: 2}.get(sm, 0)) for sm in range(8)]
    report_gpu_tensor(writer, "tensor", ring, blocks, 8, 1)
    assert [(e["name"], e["sm"], e["count"]) for e in rows] == [("mismatch", 3, 700), ("mismatch", 6, 2)]


def test_two_sms_that_err_are_both_named(machine: Gpu) -> None:
    rows = errors(machine.burn("wrong=0:2:mma:1 nan=0:3", ("tensor", 0.8)))
    assert [(e["name"], e["sm"]) for e in rows] == [("mismatch", 2), ("not finite", 3)]


def test_a_wholly_wrong_memory_is_counted_and_reported_within_bounds(machine: Gpu) -> None:
    rows = machine.burn("alias=0:4", ("memory", 0.8))
    wrong = sum(r["mismatches"] for r in rows if r["k"] == "stage" and r["test"] in ("march", "march down", "verify"))
    assert wrong > 100_000
    assert len(errors(rows)) == 1


def test_a_launch_stays_below_its_slice() -> None:
    pace, rate = GpuPace(1, 10**9), 1e6
    for _ in range(20):
        amount = pace.next()
        assert amount / rate <= 0.05
        pace.took(amount, amount / rate)
    assert pace.next() == pytest.approx(0.02 * rate, rel=0.01)


@pytest.mark.parametrize("name", FILES)
def test_the_node_may_have_python_3_6(name: str) -> None:
    text = (NODE / f"{name}.py").read_text()
    ast.parse(text, feature_version=(3, 6))
    assert "dataclass" not in text
