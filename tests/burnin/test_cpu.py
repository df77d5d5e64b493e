"""The CPU's part of the burn-in: what its kernels compute, which faults it reports, and when it reports none."""

import ast
import ctypes
import errno
import json
import mmap
import os
import platform
import random
import struct
import subprocess
import sys
import threading
import time
import zlib
from base64 import b85encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from joined import CPU, NODE, files, joined, source

cpu = joined(*CPU)
KERNELS = NODE.parent / "kernels"
LIBRARY = KERNELS / f"cpu-{platform.machine()}.so"
VARIANTS = {"x86_64": ("plain", "avx2", "avx512"), "aarch64": ("plain", "neon")}.get(platform.machine(), ())
FULL = (1 << 64) - 1
Records = list[dict[str, Any]]
CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
SHARE = (6 << 20) * len(CPUS) / max(1, cpu.cpu_available())
"""The share of this machine's memory that is some MiB for each CPU."""

pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() or not hasattr(os, "sched_setaffinity"), reason="no kernels of the CPU for this system"
)


def burn(stages: Iterable[Mapping[str, Any]], **how: Any) -> Records:
    """Run stages on this machine's CPUs and return the records, without the greeting."""
    records: Records = []
    began = time.monotonic()

    def clock() -> float:
        return time.monotonic() - began

    def emit(kind: str, **fields: Any) -> None:
        records.append({"k": kind, "t": clock(), **fields})

    whole = how.pop("whole", False)
    faults = cpu.CpuFaults(**{name: how.pop(name) for name in ("skew", "harm", "spoil") if name in how})
    how = {"library": LIBRARY.read_bytes(), "stop": threading.Event(), "seed": 12345, "cool": 0.05, **how}
    how["faults"] = faults
    worker = cpu.Cpu(emit, clock, how.pop("stop"), how.pop("library"), how.pop("seed"), **how)
    worker.again = 0.1
    worker.run([{"of": "cpu", "from": 0.0, **stage} for stage in stages])
    assert json.dumps(records)
    return records if whole else [record for record in records if record.get("stage") != "again"]


def errors(records: Records) -> Records:
    return [record for record in records if record["k"] == "error"]


def kernels() -> list[Any]:
    """Yield the kernels in each variant that this machine supports."""
    best = cpu.CpuKernels(LIBRARY.read_bytes()).variant
    return [cpu.CpuKernels(LIBRARY.read_bytes(), one) for one in VARIANTS[: VARIANTS.index(best) + 1]]


def word(index: int, seed: int) -> int:
    """Return the pattern's word, computed with Python's integers."""
    w = (index * 0x9E3779B97F4A7C15 + seed) & FULL
    w ^= w >> 32
    w ^= w << 21 & FULL
    return w ^ w >> 13


def fused(x: int, c: int) -> int:
    """Return x * x + c rounded once, to nearest and to even; numbers are in units of 2^-1074 of a double's bits."""
    (f, g), (h, i) = (struct.unpack("<d", struct.pack("<Q", b))[0].as_integer_ratio() for b in (x, c))
    return int(struct.unpack("<Q", struct.pack("<d", (f * f * i + h * g * g) / (g * g * i)))[0])


def fingerprint(seed: int, rounds: int) -> int:
    """Return the fingerprint from its definition: integers alone; true division of integers rounds correctly."""
    c = struct.unpack("<Q", struct.pack("<d", -2.0 + (1 + (word(96, seed) >> 48)) * 2.0**-36))[0]
    value = seed
    for lane in range(96):
        x = struct.unpack("<Q", struct.pack("<d", (word(lane, seed) >> 11) * 2.0**-52 - 1.0))[0]
        for _ in range(rounds):
            x = fused(x, c)
        value = (value ^ x) * 0x9E3779B97F4A7C15 & FULL
        value ^= value >> 29
    return value


class Memory:
    """Memory that the kernels may work on."""

    def __init__(self, size: int) -> None:
        self.map = mmap.mmap(-1, size)
        self._view = ctypes.c_char.from_buffer(self.map)
        self.at = ctypes.addressof(self._view)


@pytest.mark.parametrize(("seed", "rounds"), [(1, 0), (1, 1), (7, 50), (FULL, 9), (12345, 300)])
def test_every_variant_computes_what_integers_do(seed: int, rounds: int) -> None:
    want = fingerprint(seed, rounds)
    assert [(one.variant, one._call("fma", seed, rounds, 0, 0)[0]) for one in kernels()] == [
        (one.variant, want) for one in kernels()
    ]


def test_every_variant_gives_the_shipped_answer() -> None:
    for one in kernels():
        assert one.fingerprint(1, 0, 0.0)[0] == cpu.CPU_GOLDEN["fma"], one.variant
    assert cpu.CpuStdlib().fingerprint(1, 0, 0.0)[0] == cpu.CPU_GOLDEN["sha256"]


@pytest.mark.slow
def test_the_shipped_answer_is_that_of_integers() -> None:
    assert fingerprint(1, cpu.CPU_ROUNDS) == cpu.CPU_GOLDEN["fma"]


def test_a_wrong_answer_is_counted_and_shown() -> None:
    for one in kernels():
        right, _ = one.fingerprint(5, 0, 0.0)
        got, value = one.fingerprint(5, right ^ 1, 0.01)
        assert got == right
        assert value.found == value.work // (2 * 96 * cpu.CPU_ROUNDS) >= 1


def test_the_ciphers_are_those_of_the_standards() -> None:
    memory = Memory(1 << 16)
    key = bytes(word(i, 9) >> 24 & 255 for i in range(16))
    for one in kernels():
        one._call("fill", memory.at, 1 << 16, 0, 5, 0)
        plain = memory.map[:]
        assert plain == struct.pack("<8192Q", *(word(i, 5) for i in range(8192)))
        one._call("aes", memory.at, 1 << 16, 9, 0)
        assert memory.map[:] == Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(plain), one.variant
        one._call("aes", memory.at, 1 << 16, 9, 1)
        assert memory.map[:] == plain, one.variant
        memory.map[:32] = bytes(32)
        assert one._call("crc", memory.at, 32)[0] & 0xFFFFFFFF == 0x8A9136AA, "RFC 3720, B.4"


def test_the_triad_is_right_everywhere_and_one_wrong_number_is_seen() -> None:
    count = 1 << 16
    memory = Memory(24 * count)
    arrays = [memory.at + 8 * count * i for i in range(3)]
    for one in kernels():
        one.lay(arrays, 0, count)
        assert one.laid(arrays[0], 0, count) == count
        where, value = one.triad(arrays, count, 0, 0.01)
        assert where % 16384 == 0
        assert value.work >= 24 * count
        assert one.laid(arrays[0], 0, count) == 0
        assert struct.unpack_from("<d", memory.map, 8 * 1500)[0] == 1500 % 1024 + 3.0 * (1500 % 512)
        memory.map[8000] ^= 1
        assert one.laid(arrays[0], 0, count) == 1


@pytest.mark.parametrize("turned", [False, True])
def test_a_flipped_bit_is_found_at_its_address_in_every_variant(turned: bool) -> None:
    size = 1 << 20
    memory = Memory(size)
    for one in kernels():
        one.fill(memory.at, size, 3)
        if turned:
            assert one.verify(memory.at, size, 3, 0, 1)[1].found == 0
        flip = FULL if turned else 0
        for place, mask in ((0, 1), (size - 1, 0x80), (123456, 0x14)):
            memory.map[place] ^= mask
            wrong, value = one.verify(memory.at, size, 3, flip, 0)
            address, want, got = wrong[0]
            assert value.found == 1
            assert address == memory.at + place // 8 * 8
            assert want == word(address // 8, 3) ^ flip
            assert want ^ got == mask << 8 * (place % 8)
            memory.map[place] ^= mask
        assert one.verify(memory.at, size, 3, flip, 0)[1].found == 0


@given(index=st.integers(0, (1 << 61) - 1), seed=st.integers(0, FULL))
def test_a_word_encodes_its_index(index: int, seed: int) -> None:
    assert cpu.cpu_index(word(index, seed), seed) == index


def test_the_clock_of_additions_is_a_processors() -> None:
    one = cpu.CpuKernels(LIBRARY.read_bytes())
    value = max((one.adds() for _ in range(20)), key=lambda each: each.work / each.cpu)
    assert 0.5e9 < value.work / value.cpu * 1e9 < 8e9


def test_a_sound_machine_gives_no_error_and_its_first_answer_at_once() -> None:
    stages = [{"stage": "fingerprint", "until": 0.1}, {"stage": "crypto", "from": 0.1, "until": 1.5}]
    ram = {"stage": "ram", "from": 1.5, "until": 30.0, "share": SHARE, "seeds": 2}
    records = burn([*stages, ram])
    assert errors(records) == []
    by = {(one["of"], one["stage"], one["test"]): one for one in records}
    for number in CPUS:
        golden = by[f"cpu/{number}", "fingerprint", "golden"]
        assert golden["hash"] == f"{cpu.CPU_GOLDEN['fma']:016x}"
        assert golden["t"] < 0.5
        assert by[f"cpu/{number}", "crypto", "ring"]["rounds"] >= 1
    for stage, test in (("fingerprint", "verify"), ("crypto", "ring")):
        assert len({by[f"cpu/{number}", stage, test]["hash"] for number in CPUS}) == 1
    tested = [one for one in records if one["stage"] == "ram"]
    assert tested
    for one in tested:
        assert one["status"] == "done"
        assert one["seeds"] == 2
        assert 0 < one["coverage"] <= 1
    assert all(one["mismatches"] == 0 for one in records)
    assert all(one["share"] <= 1.05 for one in records if "share" in one)


def test_a_core_with_a_wrong_answer_is_named_by_the_shipped_one() -> None:
    bad = CPUS[-1]
    rows = errors(burn([{"stage": "fingerprint", "until": 0.05}], skew={bad: 77}))
    named = [one for one in rows if one["seed"] == 1]
    assert [(one["of"], one["name"], one["theirs"]) for one in named] == [
        (f"cpu/{bad}", "disagree", f"{cpu.CPU_GOLDEN['fma']:016x}")
    ]


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_cores_that_multiply_differently_are_reported() -> None:
    bad = CPUS[-1]
    records = burn([{"stage": "fma", "until": 0.1}], skew={bad: 5})
    assert {(one["of"], one["name"]) for one in errors(records)} >= {(f"cpu/{bad}", "disagree")}
    assert all(one["mismatches"] == 1 for one in records if one["k"] == "stage" and one["of"] == f"cpu/{bad}")


@pytest.mark.parametrize(
    ("answers", "odd", "blame"),
    [
        ({0: 5, 1: 5, 2: 5}, {}, False),
        ({0: 5, 1: 6, 2: 5}, {1: 5}, True),
        ({0: 5, 1: 6, 2: 7, 3: 5, 4: 5}, {1: 5, 2: 5}, True),
        ({0: 5, 1: 6}, {0: 6, 1: 5}, False),
        ({0: 5, 1: 5, 2: 6, 3: 6}, {0: 6, 1: 6, 2: 5, 3: 5}, False),
        ({0: 5}, {}, False),
        ({}, {}, False),
    ],
)
def test_a_majority_names_the_odd_one_and_a_tie_of_two_blames_none(
    answers: dict[int, int], odd: dict[int, int], blame: bool
) -> None:
    assert cpu.cpu_votes(answers) == (odd, blame)


def test_two_cores_that_differ_are_both_reported_and_neither_blamed() -> None:
    if len(CPUS) != 2:
        pytest.skip(f"needs two CPUs, there are {len(CPUS)}")
    rows = [one for one in errors(burn([{"stage": "fingerprint", "until": 0.05}], skew={CPUS[0]: 9})) if "blame" in one]
    first = [one for one in rows if one["seed"] == 12345]
    assert [(one["of"], one["blame"]) for one in first] == [(f"cpu/{number}", False) for number in CPUS]
    assert first[0]["hash"] == first[1]["theirs"]


def test_of_four_cores_the_odd_one_is_blamed_by_its_seed() -> None:
    rows: Records = []
    worker = cpu.Cpu(lambda _, **fields: rows.append(fields), time.monotonic, threading.Event(), None, 100)
    lost = cpu.cpu_vote(worker, "crypto", {0: [1, 2], 1: [1, 2, 9], 2: [1, 3], 3: [1, 2]})
    assert dict(lost) == {2: 1}
    assert rows == [
        {
            "of": "cpu/2", "stage": "crypto", "name": "disagree", "blame": True, "seed": 101,
            "hash": f"{3:016x}", "theirs": f"{2:016x}",
        }
    ]  # fmt: skip


def test_a_message_altered_in_transit_is_reported_by_the_opening_core() -> None:
    records = burn([{"stage": "crypto", "until": 1.0}], harm={CPUS[0]: 1 << 40})
    (values,) = errors(records)
    assert values["name"] == "mismatch"
    assert values["want"] != values["got"]
    assert values["other"] == f"cpu/{CPUS[CPUS.index(values['cpu']) - 1]}"
    assert sum(one["mismatches"] for one in records if one["k"] == "stage") == 1


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
def test_cores_that_encrypt_differently_are_reported() -> None:
    bad = CPUS[-1]
    rows = errors(burn([{"stage": "crypto", "until": 0.5}], skew={bad: 1 << 20}))
    assert rows
    assert {one["name"] for one in rows} == {"disagree"}
    assert f"cpu/{bad}" in {one["of"] for one in rows}


def spoiling(change: Callable[[int, int], None]) -> tuple[Callable[[int, int], None], list[int]]:
    """Make a fault in the first memory that is filled, once; also return the list that receives its address."""
    places: list[int] = []
    lock = threading.Lock()

    def spoil(at: int, size: int) -> None:
        with lock:
            if not places:
                places.append(at)
                change(at, size)

    return spoil, places


RAM = {"stage": "ram", "until": 30.0, "share": SHARE, "seeds": 1}


def poke(address: int, mask: int) -> None:
    ctypes.c_uint64.from_address(address).value ^= mask


@pytest.mark.parametrize("mask", [1 << 13, 0xFF00000000000018])
def test_wrong_bits_in_memory_are_reported_with_address_and_bits(mask: int) -> None:
    spoil, places = spoiling(lambda at, size: poke(at + 8 * 54321, mask))
    records = burn([RAM], spoil=spoil)
    (values,) = errors(records)
    assert (values["name"], values["address"]) == ("mismatch", places[0] + 8 * 54321)
    assert values["bits"] == mask.bit_count()
    assert int(values["want"], 16) ^ int(values["got"], 16) == mask
    assert int(values["want"], 16) == word(values["address"] // 8, values["seed"])
    assert sum(one["mismatches"] for one in records if one["k"] == "stage") == 1


def test_an_address_that_mirrors_another_is_reported_as_alias() -> None:
    def alias(at: int, size: int) -> None:
        ctypes.memmove(at + (1 << 20), at, 16)

    spoil, places = spoiling(alias)
    rows = errors(burn([RAM], spoil=spoil))
    assert [(one["name"], one["address"] - places[0], one["other"] - places[0]) for one in rows] == [
        ("alias", 1 << 20, 0),
        ("alias", (1 << 20) + 8, 8),
    ]


def test_memory_that_was_written_in_part_at_the_end_is_not_reported_as_wrong() -> None:
    """The clock jumps back and forth, so the time limit of one step lies before or after that of the next one."""
    late = random.Random(1)
    began = time.monotonic()
    records: Records = []
    worker = cpu.Cpu(
        lambda kind, **fields: records.append({"k": kind, **fields}),
        lambda: time.monotonic() - began - 0.1 * late.randrange(2),
        threading.Event(), LIBRARY.read_bytes(), 12345,
    )  # fmt: skip
    for _ in range(16):
        until = time.monotonic() - began + 0.3
        worker.run([{"of": "cpu", "stage": "ram", "from": 0.0, "until": until, "share": 20 * SHARE}])
    assert errors(records) == []
    assert [one["mismatches"] for one in records if "mismatches" in one]


def test_many_wrong_words_are_bounded_and_all_are_counted() -> None:
    def ruin(at: int, size: int) -> None:
        for number in range(1000):
            poke(at + 8 * number, 1)

    spoil, _ = spoiling(ruin)
    records = burn([RAM], spoil=spoil)
    rows = errors(records)
    assert len(rows) == 65
    assert rows[-1]["more"] > 0
    assert sum(one["mismatches"] for one in records if one["k"] == "stage") == 1000


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def test_each_core_works_on_its_own_and_each_seed_is_another() -> None:
    seen: Counter[int] = Counter()

    def look(at: int, _: int) -> None:
        first = ctypes.c_uint64.from_address(at).value
        seen.update(seed for seed in range(12345, 12350) if first == word(at // 8, seed))

    burn([{**RAM, "seeds": 2}], spoil=look)
    assert seen == {12345: len(CPUS), 12346: len(CPUS)}


def worked(cpus: Iterable[int], stage: str, **more: Any) -> Records:
    """Run one stage on these CPUs; return its records."""
    records: Records = []
    began = time.monotonic()
    worker = cpu.Cpu(
        lambda kind, **fields: records.append({"k": kind, **fields}), lambda: time.monotonic() - began,
        threading.Event(), LIBRARY.read_bytes(), 12345,
    )  # fmt: skip
    worker.cpus = sorted(cpus)
    worker.run([{"of": "cpu", "stage": stage, "from": 0.0, "until": 0.2, **more}])
    return records


@pytest.mark.parametrize("stage", ["fingerprint", "fma", "crypto"])
def test_a_core_to_which_no_thread_can_be_pinned_is_not_tested(stage: str) -> None:
    """The others are tested: beside a CPU that this machine does not have, the records are those of its CPUs."""
    rows = worked([*CPUS, 8000], stage, until=1.0)  # in a ring, each CPU waits for the one before it
    rows = [one for one in rows if one["stage"] == stage]  # without the products of AMX in the time of `fma`
    lost = [one for one in rows if one["of"] == "cpu/8000"]
    assert [(one["status"], one["why"].partition(":")[0]) for one in lost] == [("not tested", "lost")]
    assert {one["of"] for one in rows if "hash" in one} == {f"cpu/{number}" for number in CPUS}


def test_a_thread_runs_on_its_own_core() -> None:
    worker = cpu.Cpu(lambda *_, **__: None, time.monotonic, threading.Event(), LIBRARY.read_bytes(), 1)
    tasks = cpu.cpu_tasks(worker, "fma", "fma", time.monotonic() + 0.1, {number: {"seed": 1} for number in CPUS})
    assert {number: task.ran for number, task in tasks.items()} == {number: number for number in CPUS}
    assert all(task.sum.work > 0 for task in tasks.values())


def test_the_library_lies_in_memory_alone() -> None:
    cpu.CpuKernels(LIBRARY.read_bytes())
    maps = Path("/proc/self/maps").read_text()
    assert "/memfd:rackcheck (deleted)" in maps
    assert LIBRARY.name not in maps


def test_a_node_without_free_memory_is_not_tested() -> None:
    (ram,) = burn([{**RAM, "share": 1e-9}])
    assert ram["status"] == "not tested"
    assert ram["why"].startswith("no memory: ")


def test_the_memory_is_released() -> None:
    burn([RAM])
    before = resident()
    burn([{**RAM, "share": 4 * SHARE}])
    assert resident() - before < 16 << 20


@pytest.mark.parametrize("stage", ["fingerprint", "crypto", "fma", "triad", "ram", "later"])
def test_a_stop_is_heard_at_once(stage: str) -> None:
    stop = threading.Event()
    began: list[float] = []

    def ring() -> None:
        began.append(time.monotonic())
        stop.set()

    timer = threading.Timer(0.3, ring)
    timer.start()
    later = {"stage": "fma", "from": 50.0, "until": 60.0}
    burn([later if stage == "later" else {"stage": stage, "until": 60.0, "share": 0.02}], stop=stop)
    assert time.monotonic() - began[0] < 1.0


def test_the_triad_completes_or_states_the_reason() -> None:
    (values,) = [one for one in burn([{"stage": "triad", "until": 4.0}]) if one["k"] == "stage"]
    assert (values["of"], values["test"]) == ("node", "triad")
    if "array" in values:
        assert values["array"] >= 4 * cpu.cpu_last_cache(CPUS)
    if values["status"] == "done":
        assert values["rate"] == pytest.approx(values["work"] / values["seconds"])
        assert values["mismatches"] == 0
    else:
        assert values["why"].split(":")[0] in {"contended", "under-loaded", "no memory"}
        assert "rate" not in values


def test_a_rate_is_reported_only_for_a_core_of_whose_time_the_kernel_gets_a_share() -> None:
    """The rate is per second of processor time; below 30 % of the core's time, none is reported."""
    rows = [one for one in burn([{"stage": "fma", "until": 0.3}]) if one["stage"] == "fma"]
    assert {one["of"] for one in rows} == {f"cpu/{number}" for number in CPUS}
    for one in rows:
        assert one["mismatches"] == 0
        assert ("rate" in one) == (one["status"] == "done") == (one["share"] >= 0.3)
        if one["status"] == "done":
            assert 0 < one["rate"] <= 1.15 * one["roof"]


ALONE = """
import json, os, sys, threading, time
names = {"__name__": "joined"}
exec(sys.stdin.read(), names)
if sys.argv[2:]:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
began = time.monotonic()
def clock():
    return time.monotonic() - began
def tell(kind, **fields):
    print(json.dumps(dict(fields, k=kind)))
with open(sys.argv[1], "rb") as file:
    library = file.read()
cpu = names["Cpu"](tell, clock, threading.Event(), library or None, 12345)
tell("hello", **cpu.hello())
ram = {"of": "cpu", "stage": "ram", "from": 0.4, "until": 30.0, "share": 0.002, "seeds": 1}
short = [{"of": "cpu", "stage": name, "from": 0.0, "until": 0.4} for name in ("fingerprint", "fma")]
cpu.run(short[1:] if sys.argv[2:] else short[:1] + [ram])
"""


def alone(python: str, library: Path, *more: str) -> Records:
    """Run in a separate interpreter without site packages, as on a node."""
    command = [python, "-I", "-S", "-c", ALONE, str(library), *more]
    done = subprocess.run(command, input=source(*CPU), capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_core_that_others_hold_is_not_tested() -> None:
    core = CPUS[0]
    spin = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-I", "-S", "-c", spin]) for _ in range(3)]
    try:
        rows = [
            one for one in alone(sys.executable, LIBRARY, "one core") if one["k"] == "stage" and one["stage"] == "fma"
        ]
    finally:
        for other in others:
            other.kill()
            other.wait()
    (fma,) = rows
    assert (fma["of"], fma["status"]) == (f"cpu/{core}", "not tested")
    assert fma["why"] == f"contended: the work got {fma['share']:.2f} of a core"
    assert fma["share"] < 0.7
    assert "rate" not in fma


def old_pythons() -> list[str]:
    """Find the older interpreters on this machine, on the path or from pyenv."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    paths = [Path(folder) for folder in os.get_exec_path()] + sorted(path / "bin" for path in kept.glob("3.*"))
    found = {version: path / version for version in ("python3.6", "python3.8") for path in paths}
    found |= {
        name: path / name for name in found for path in paths if (path / name).is_file() and "shims" not in str(path)
    }
    return [str(path) for path in found.values() if path.is_file()]


def test_older_pythons_run_it_and_give_the_same_answers(tmp_path: Path) -> None:
    pythons = old_pythons()
    if not pythons:
        pytest.skip("neither python3.6 nor python3.8 is here")
    want = f"{cpu.CPU_GOLDEN['fma']:016x}"
    for python in pythons:
        hello, *rows = alone(python, LIBRARY)
        assert hello["variant"] in VARIANTS
        assert hello["troubles"] == []
        assert [one for one in rows if one["k"] == "error"] == []
        assert {one["hash"] for one in rows if one.get("test") == "golden"} == {want}
        assert any(one["stage"] == "ram" and one["status"] == "done" for one in rows)
        empty = tmp_path / "empty"
        empty.write_bytes(b"")
        hello, *rows = alone(python, empty)
        assert hello["variant"] == "stdlib"
        assert [one for one in rows if one["k"] == "error"] == []


@pytest.mark.parametrize("path", files(*CPU), ids=lambda path: path.stem)
def test_it_is_written_for_python_3_6_and_imports_the_library_alone(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = {
        name.split(".")[0]
        for node in tree.body
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom)
            else [each.name for each in node.names] if isinstance(node, ast.Import)
            else []
        )
    }  # fmt: skip
    assert imported <= sys.stdlib_module_names
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assert node.name.lower().lstrip("_").startswith("cpu"), "one namespace holds all files of the node"


@pytest.mark.parametrize("library", [None, b"", b"\x7fELF and no more"])
def test_without_the_library_stdlib_kernels_run_and_are_noted(library: bytes | None) -> None:
    records = burn(
        [{"stage": name, "until": 0.5} for name in ("fingerprint", "fma", "triad", "ram")]
        + [{"stage": "crypto", "from": 0.5, "until": 1.0}],
        library=library,
    )
    assert errors(records) == []
    stages = {one["stage"]: one for one in records}
    for name in ("fma", "triad", "ram"):
        assert stages[name]["why"] == "unsupported: stdlib kernels"
    assert stages["fingerprint"]["mismatches"] == stages["crypto"]["mismatches"] == 0
    worker = cpu.Cpu(lambda *_, **__: None, time.monotonic, threading.Event(), library, 1)
    hello = worker.hello()
    assert hello["variant"] == "stdlib"
    assert hello["troubles"][0]["why"].startswith("only stdlib kernels: ")


def test_the_greeting_describes_this_machine() -> None:
    hello = cpu.Cpu(lambda *_, **__: None, time.monotonic, threading.Event(), LIBRARY.read_bytes(), 1).hello()
    assert hello["cpus"] == CPUS
    assert sorted(one for cpus in hello["numa"].values() for one in cpus) == hello["cpus"]
    assert hello["memory"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") or hello["memory"] > 1 << 28
    assert 0 < cpu.cpu_available() <= hello["memory"]
    assert hello["cpu"].strip()


def test_a_stage_whose_time_is_over_or_unknown_is_not_tested() -> None:
    rows = burn([{"stage": "fma", "from": -2.0, "until": -1.0}, {"stage": "juggling", "until": 1.0}])
    rows = [one for one in rows if one["stage"] != "amx"]  # which on a processor with AMX shares the time of `fma`
    assert [(one["stage"], one["status"], one["why"].split(":")[0]) for one in rows] == [
        ("fma", "not tested", "stopped"),
        ("juggling", "not tested", "unsupported"),
    ]


@pytest.mark.parametrize(
    ("reached", "lanes", "cycle"), [(31.1, 8, 32), (15.9, 8, 16), (16.4, 8, 16), (15.8, 4, 16), (0.0, 8, 0), (99, 2, 0)]
)
def test_the_roof_is_that_of_the_fewest_units(reached: float, lanes: int, cycle: int) -> None:
    assert cpu.cpu_cycle(reached, lanes) == cycle


@pytest.mark.parametrize(("text", "cpus"), [("0-3,8\n", [0, 1, 2, 3, 8]), ("5", [5]), ("", []), ("\n", [])])
def test_the_kernels_lists_are_read(text: str, cpus: list[int]) -> None:
    assert cpu.cpu_list(text) == cpus


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_library_has_no_dependency(machine: str) -> None:
    data = (KERNELS / f"cpu-{machine}.so").read_bytes()
    start, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    headers = [struct.unpack_from("<IIQQQQQQ", data, start + 56 * i) for i in range(count)]
    (dynamic,) = [data[one[2] : one[2] + one[5]] for one in headers if one[0] == 2]
    tags = {tag for tag, _ in struct.iter_unpack("<QQ", dynamic)}
    assert not tags & {1, 2, 7, 8, 17, 20, 22, 23}, "libraries that are needed, or relocations"
    assert all(one[1] != 7 for one in headers), "memory that is both written and executed"


def test_the_libraries_fit_the_payload() -> None:
    packed = [b85encode(zlib.compress(path.read_bytes(), 9)) for path in sorted(KERNELS.glob("cpu-*.so"))]
    assert len(packed) == 2
    assert sum(map(len, packed)) <= 26 << 10


def test_what_a_core_did_wrong_it_does_again_hot_and_cold() -> None:
    bad = CPUS[-1]
    records = burn([{"stage": "fingerprint", "until": 0.05}], skew={bad: 77}, whole=True)
    again = {(r["of"], r["test"]): (r["found"], r["rounds"]) for r in records if r.get("stage") == "again"}
    assert again[f"cpu/{bad}", "fingerprint hot"] == again[f"cpu/{bad}", "fingerprint cold"] == (3, 3)
    assert [r for r in burn([{"stage": "fingerprint", "until": 0.05}], whole=True) if r.get("stage") == "again"] == []


def test_a_bit_that_flips_once_does_not_come_again() -> None:
    left = [1]

    def flip(at: int, size: int) -> None:
        if left:
            left.pop()
            ctypes.c_uint64.from_address(at + 4096).value ^= 4

    records = burn([{"stage": "ram", "until": 1.5, "share": SHARE}], spoil=flip, whole=True)
    assert len(errors(records)) == 1
    again = {r["test"]: r["found"] for r in records if r.get("stage") == "again"}
    assert again == {"ram hot": 0, "ram cold": 0}


FEW_THREADS = """
import ctypes, json, os, resource, sys, threading, time
names = {"__name__": "joined"}
exec(sys.stdin.read(), names)
began = time.monotonic()
records = []
with open(sys.argv[1], "rb") as file:
    library = file.read()
one = names["Cpu"](lambda k, **f: records.append(dict(f, k=k)), lambda: time.monotonic() - began,
                   threading.Event(), library, 12345)
ctypes.CDLL(None)
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 1600 * (1 << 20),) * 2)
one.run([{"of": "cpu", "stage": sys.argv[2], "from": 0.0, "until": 3.0}])
print(json.dumps(records))
"""


@pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs")
@pytest.mark.parametrize("stage", ["fma", "crypto"])
def test_a_thread_that_cannot_start_leaves_its_cpu_untested_and_does_not_stop_the_others(stage: str) -> None:
    """Stacks of 1 GiB, and room for one of them: the second thread fails with EAGAIN, and the ring goes on without it."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -s 1048576; exec "$0" "$@"', sys.executable, "-I", "-S", "-c", FEW_THREADS,
         str(LIBRARY), stage], input=source(*CPU), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    rows = [one for one in json.loads(done.stdout) if one["stage"] == stage]
    assert {one["k"] for one in rows} == {"stage"}, "no fault"
    first, *lost = CPUS
    why = f"lost: {os.strerror(errno.EAGAIN)}"
    assert {one["of"]: one["why"] for one in rows if "hash" not in one} == {f"cpu/{n}": why for n in lost}
    assert [one["of"] for one in rows if one.get("rounds") or one.get("test") == "fma"] == [f"cpu/{first}"]
