"""The stage `amx`: exact products on the matrix units of Intel processors, and why it did not run elsewhere."""

import ctypes
import errno
import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest
from burn_racks import capture, tree
from joined import CPU, NODE, joined, source

from rackcheck.model.capture import BurnCapture
from rackcheck.model.fact import Absent, Plane, Reading, Unknown
from rackcheck.model.path import parse

cpu = joined(*CPU)
LIBRARY = NODE.parent / "kernels" / f"cpu-{platform.machine()}.so"
FULL = (1 << 64) - 1
CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
FMA = {"of": "cpu", "stage": "fma", "from": 0.0, "until": 0.6}
Records = list[dict[str, Any]]

pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() or not hasattr(os, "sched_setaffinity"), reason="no kernels of the CPU for this system"
)

FOUND = cpu.CpuKernels(LIBRARY.read_bytes()).amx() if LIBRARY.exists() else 0
USABLE = cpu.cpu_amx_types(FOUND) and not cpu.cpu_amx_refused(FOUND)
REAL = pytest.mark.skipif(
    not USABLE, reason="AMX DID NOT RUN: this processor has none, or its kernel does not grant it"
)


def worker(records: Records, **how: Any) -> Any:
    began = time.monotonic()
    return cpu.Cpu(
        lambda kind, **fields: records.append({"k": kind, **fields}), lambda: time.monotonic() - began,
        threading.Event(), LIBRARY.read_bytes(), 12345, cool=0.0, **how,
    )  # fmt: skip


def products(records: Records) -> Records:
    return [one for one in records if one["k"] == "stage" and one["stage"] == "amx"]


def element(side: int, i: int, k: int, seed: int, wide: bool) -> int:
    """Return an element of an operand from its definition."""
    w = (((side * 32 + i) * 512 + k) * 0x9E3779B97F4A7C15 + seed) & FULL
    w ^= w >> 32
    w ^= w << 21 & FULL
    w = (w ^ w >> 13) >> 24
    return (w & 15) - 8 if wide else ctypes.c_int8(w & 255).value


def product(i: int, j: int, seed: int, wide: bool) -> int:
    """Return the bits of an element of the product, computed with Python's integers."""
    total = 511 * sum(element(0, i, k, seed, wide) * element(1, j, k, seed, wide) for k in range(256 if wide else 512))
    assert not wide or abs(total) < 1 << 24, "exact in fp32"
    return ctypes.c_uint32.from_buffer(ctypes.c_float(total)).value if wide else total & 0xFFFFFFFF


@REAL
def test_every_product_of_a_sound_machine_is_right_and_alike_on_all_its_cpus() -> None:
    records: Records = []
    worker(records).run([FMA])
    assert [one for one in records if one["k"] == "error"] == []
    done = products(records)
    types = cpu.cpu_amx_types(FOUND)
    assert {(one["of"], one["test"]) for one in done} == {(f"cpu/{n}", kind) for n in CPUS for kind in types}
    for kind in types:
        mine = [one for one in done if one["test"] == kind]
        assert len({one["hash"] for one in mine}) == 1
        for one in mine:
            assert (one["status"], one["mismatches"]) == ("done", 0)
            assert one["work"] > 0
            assert one.get("rate", 0) <= 1.1 * one["roof"]


@REAL
@pytest.mark.parametrize("mask", [1, 1 << 31])
def test_one_wrong_bit_of_one_product_is_a_fault_of_its_cpu(mask: int) -> None:
    """The expected value in the record is the one that Python's integers give."""
    records: Records = []
    bad = CPUS[-1]
    worker(records, faults=cpu.CpuFaults(harm={bad: mask})).run([FMA])
    rows = [one for one in records if one["k"] == "error" and one["name"] == "mismatch"]
    assert {(one["of"], one["stage"], one["cpu"]) for one in rows} == {(f"cpu/{bad}", "amx", bad)}
    assert sorted(one["test"] for one in rows) == cpu.cpu_amx_types(FOUND)
    for one in rows:
        assert int(one["want"], 16) ^ int(one["got"], 16) == mask
        assert int(one["want"], 16) == product(19, 5, one["seed"], one["test"] == "bf16")
    first = [one for one in products(records) if "rounds" not in one and one["of"] == f"cpu/{bad}"]
    assert all(one["mismatches"] >= 1 for one in first)


@REAL
@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_cpus_whose_products_differ_are_reported() -> None:
    records: Records = []
    worker(records, faults=cpu.CpuFaults(skew={CPUS[-1]: 3})).run([FMA])
    rows = [one for one in records if one["k"] == "error" and one["stage"] == "amx"]
    assert {(one["of"], one["name"]) for one in rows} >= {(f"cpu/{CPUS[-1]}", "disagree")}


@REAL
def test_amx_takes_its_time_from_the_stage_fma() -> None:
    stages = [{**FMA, "from": 1.0, "until": 4.0}, {"stage": "ram", "from": 4.0, "until": 5.0}]
    divided = cpu.cpu_amx_stages(stages, FOUND)
    assert [(one["stage"], round(one["from"], 6), round(one["until"], 6)) for one in divided] == [
        ("fma", 1.0, 3.0), ("amx", 3.0, 4.0), ("ram", 4.0, 5.0),
    ]  # fmt: skip


REFUSED = """
import ctypes, json, struct, sys, threading, time
names = {"__name__": "joined"}
exec(sys.stdin.read(), names)
def filter(*rules):  # a seccomp filter: arch_prctl (158) with 0x1023 fails with EPERM, all else is allowed
    return b"".join(struct.pack("<HBBI", *rule) for rule in rules)
program = filter((0x20, 0, 0, 0), (0x15, 0, 3, 158), (0x20, 0, 0, 16), (0x15, 0, 1, 0x1023), (6, 0, 0, 0x50001),
                 (6, 0, 0, 0x7FFF0000))
libc = ctypes.CDLL(None, use_errno=True)
text = ctypes.create_string_buffer(program, len(program))
whole = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(text)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, whole, 0, 0) == 0, ctypes.get_errno()
began = time.monotonic()
with open(sys.argv[1], "rb") as file:
    library = file.read()
records = []
one = names["Cpu"](lambda k, **f: records.append(dict(f, k=k)), lambda: time.monotonic() - began,
                   threading.Event(), library, 1)
one.run([{"of": "cpu", "stage": "fma", "from": 0.0, "until": 0.2}])
print(json.dumps([one.hello(), records]))
"""


@REAL
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_a_kernel_that_does_not_grant_amx_leaves_it_untested_with_the_reason() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", REFUSED, str(LIBRARY)], input=source(*CPU), capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    hello, records = json.loads(done.stdout)
    assert hello["amx"] == " ".join(cpu.cpu_amx_types(FOUND))
    (one,) = products(records)
    assert (one["of"], one["status"]) == ("node", "not tested")
    assert one["why"] == f"unsupported: the kernel does not grant AMX: {os.strerror(errno.EPERM)}"


def test_on_any_machine_amx_that_is_refused_is_not_run_and_no_fault() -> None:
    records: Records = []
    one = worker(records)
    one.amx = errno.EINVAL << 8 | 3
    one.run([{**FMA, "until": 0.1}])
    (row,) = products(records)
    assert (row["status"], row["why"]) == (
        "not tested",
        f"unsupported: the kernel does not grant AMX: {os.strerror(errno.EINVAL)}",
    )
    assert [each for each in records if each["k"] == "error"] == []


@pytest.mark.parametrize("variant", ["plain", "no library"])
def test_on_any_machine_a_processor_without_amx_has_no_such_stage(variant: str) -> None:
    records: Records = []
    one = worker(records, variant=variant) if variant == "plain" else worker(records)
    if variant == "no library":
        one = cpu.Cpu(one.emit, one.clock, one.stop, None, 1)
    one.run([{**FMA, "until": 0.1}])
    assert one.hello().get("amx") == (None if variant == "no library" else "")
    assert products(records) == []
    assert [each for each in records if each["k"] == "error"] == []


# -- facts -------------------------------------------------------------------------------------------------------------


def facts(records: Any, core: str = "1") -> Mapping[str, Reading]:
    found = tree(1, 1, BurnCapture(tuple(records)))
    return {
        name: found.reading(parse(f"burnin.core/{core}.amx.{name}"), Plane.BURNIN)
        for name in ("int8", "bf16", "share", "mismatches")
    }


CLEAN = tuple(capture(1, 7).records)


def about(amx: str | None) -> list[Mapping[str, Any]]:
    """The records of a clean node without products, whose processor has these types of operands."""
    kept = [record for record in CLEAN if record.get("stage") != "amx"]
    return [
        {key: value for key, value in {**record, "amx": amx}.items() if value is not None} if "cpus" in record else record
        for record in kept
    ]  # fmt: skip


def test_the_rates_of_a_clean_node_are_beside_their_limit() -> None:
    found = facts(CLEAN)
    assert found["mismatches"] == 0
    assert all(isinstance(found[kind], float) for kind in ("int8", "bf16"))
    assert isinstance(found["share"], float)
    assert 35 < found["share"] < 45, "two logical processors share a unit"


def test_a_processor_without_amx_has_no_such_facts_and_no_pass_claims_them() -> None:
    assert {type(reading) for reading in facts(about("")).values()} == {Absent}


@pytest.mark.parametrize("types", [None, "bf16 int8"])
def test_products_that_no_record_shows_are_unknown(types: str | None) -> None:
    assert {type(reading) for reading in facts(about(types)).values()} == {Unknown}


def test_the_reason_of_a_refusal_is_that_of_the_facts() -> None:
    why = "unsupported: the kernel does not grant AMX: Invalid argument"
    row = {"k": "stage", "t": 1.0, "of": "node", "stage": "amx", "test": "", "status": "not tested", "why": why}
    first, *rest = about("bf16 int8")
    for reading in facts([first, row, *rest]).values():
        assert isinstance(reading, Unknown)
        assert reading.detail == why


def test_one_type_without_a_record_leaves_the_products_unknown() -> None:
    found = facts([record for record in CLEAN if (record.get("stage"), record.get("test")) != ("amx", "int8")])
    assert isinstance(found["mismatches"], Unknown)
    assert isinstance(found["bf16"], float)


def test_a_wrong_product_counts_even_if_the_burn_in_was_cut_off() -> None:
    error = {"k": "error", "t": 9.0, "of": "cpu/1", "stage": "amx", "test": "int8", "name": "mismatch", "cpu": 1}
    assert facts([*about(None)[:-1], error])["mismatches"] == 1
    assert isinstance(facts([*about(None)[:-1], error], "0")["mismatches"], Unknown)
