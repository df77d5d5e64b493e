# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The CPU's part of the burn, on the node: finds the processors, runs the stages on them, writes what they did.

Every rate is of pure work: the kernels read the clock and their thread's own processor time themselves, so that the
interpreter is never measured. A stage that did not get its cores has no rate. What a verification found stays found.
"""

import contextlib
import ctypes
import errno
import hashlib
import mmap
import os
import platform
import queue
import struct
import threading
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

CPU_ROUNDS = 20000
"""Rounds of one fingerprint: 3.84 million floating-point operations, under 50 ms even in the plain variant."""
CPU_GOLDEN = {"sha256": 0xEA379B16EE52A969, "fma": 0xE400995ABB7D3326}
"""The fingerprint of seed 1: of the stdlib kernels, and of the library in every variant."""
CPU_PIECE = 0.04
"""Seconds that one call into a kernel may take."""
CPU_BLOCK, CPU_SLICE, CPU_MESSAGE = 64 << 20, 8 << 20, 1 << 20
"""Bytes that are mapped at once, that one call fills or verifies, that go from core to core."""
CPU_OBTAINED = 0.9
"""Core-seconds a second below which a core was not ours."""
CPU_FULL, CPU_STEP = (1 << 64) - 1, 0x9E3779B97F4A7C15

CpuTimes = Dict[str, float]
"""wall and cpu (s), work, found: sums over calls."""


class CpuTold(ctypes.Structure):
    """What one call did: ns of wall time, ns of the thread's processor time, bytes or operations, mismatches."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("wall", "cpu", "work", "found")]


class CpuWrong(ctypes.Structure):
    """One wrong word of memory."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("address", "want", "got")]


class CpuKernels:
    """The compiled kernels, in the widest variant that this processor and its system have."""

    unit, golden = "FLOP", "fma"

    def __init__(self, library: bytes, variant: Optional[str] = None) -> None:
        """Load the library from memory. Raises OSError where memory may not be a file or not be executed."""
        number = (
            cpu_memory_file()
        )  # stays open: the loader knows a library by its path, and a closed number comes again
        with os.fdopen(number, "wb", closefd=False) as out:
            out.write(library)
        self._all = ctypes.CDLL("/proc/self/fd/%d" % number)
        wide = ("plain", "avx2", "avx512") if platform.machine() == "x86_64" else ("plain", "neon")
        self.variant = variant or wide[self._all.best(ctypes.c_uint64(cpu_hwcap()))]

    def _call(self, name: str, *given: Any) -> Tuple[int, CpuTold]:
        told = CpuTold()
        one = name in {"adds", "lay", "laid"}
        function = self._all[name if one else "%s_%s" % (name, self.variant)]  # a new object: no thread shares it
        function.restype = ctypes.c_uint64
        wide = [ctypes.c_uint64(one) if isinstance(one, int) else one for one in given]
        return function(*wide, ctypes.byref(told)), told

    def fingerprint(self, seed: int, want: int, seconds: float) -> Tuple[int, CpuTold]:
        """Give the hash of `seed`, or one that is not `want`; again and again for `seconds`, at least once."""
        return self._call("fma", seed, CPU_ROUNDS, want, int(seconds * 1e9))

    def adds(self) -> CpuTold:
        """Do additions that wait for each other, one a cycle, for about 0.1 ms."""
        return self._call("adds", 6000)[1]

    def fill(self, at: int, size: int, seed: int) -> CpuTold:
        """Write the pattern of each address."""
        return self._call("fill", at, size, at // 8, seed, 0)[1]

    def verify(self, at: int, size: int, seed: int, flip: int, turn: int) -> Tuple[List[Tuple[int, int, int]], CpuTold]:
        """Compare with the pattern, and with `turn` write its complement; gives (address, want, got), 64 at most."""
        wrong = (CpuWrong * 64)()
        told = self._call("verify", at, size, at // 8, seed, flip, turn, wrong, 64)[1]
        return [(one.address, one.want, one.got) for one in wrong[: told.found]], told

    def lay(self, at: List[int], start: int, count: int) -> None:
        """Lay the arrays of the triad."""
        self._call("lay", *[one + 8 * start for one in at], count)

    def laid(self, at: int, start: int, count: int) -> int:
        """Count what the triad wrote wrong."""
        return self._call("laid", at + 8 * start, count, ctypes.c_double(3.0))[0]

    def triad(self, at: List[int], count: int, start: int, seconds: float) -> Tuple[int, CpuTold]:
        """Go round the arrays for `seconds`; gives where it stopped."""
        return self._call("triad", *at, count, ctypes.c_double(3.0), start, int(seconds * 1e9))

    def seal(self, seed: int, old: Any) -> Tuple[Any, int, int, CpuTold]:
        """Encrypt a message of `seed`, over an old one if there is one: gives it, its CRC32C before, and after."""
        kept = old[0] if old else (ctypes.c_char * (CPU_MESSAGE + 64))()
        at = ctypes.addressof(kept) + -ctypes.addressof(kept) % 64
        self._call("fill", at, CPU_MESSAGE, 0, seed, 0)
        plain = self._call("crc", at, CPU_MESSAGE)[0] & 0xFFFFFFFF
        told = self._call("aes", at, CPU_MESSAGE, seed, 0)[1]
        return (kept, at), plain, self._call("crc", at, CPU_MESSAGE)[0] & 0xFFFFFFFF, told

    def unseal(self, message: Any, seed: int) -> Tuple[int, CpuTold]:
        """Decrypt: gives the CRC32C."""
        told = self._call("aes", message[1], CPU_MESSAGE, seed, 1)[1]
        return self._call("crc", message[1], CPU_MESSAGE)[0] & 0xFFFFFFFF, told


class CpuStdlib:
    """What the standard library has, where no library may be loaded: hashes and compression, no rate of any unit."""

    unit, golden, variant = "B", "sha256", "stdlib"

    def fingerprint(self, seed: int, want: int, seconds: float) -> Tuple[int, CpuTold]:
        """Give the first 64 bits of SHA-256 of 1 MiB; again and again for `seconds`, at least once."""
        told, begun = CpuTold(), cpu_now()
        text, shown = struct.pack("<Q", seed) * (CPU_MESSAGE // 8), 0
        while True:
            seen = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
            told.work += CPU_MESSAGE
            told.found += want not in (0, seen)
            shown = seen if not shown or seen != want else shown
            want = want or seen
            if cpu_now()[0] - begun[0] >= seconds:
                return shown, cpu_ended(told, begun)

    def seal(self, seed: int, old: Any) -> Tuple[Any, int, int, CpuTold]:  # noqa: ARG002  the same call as the kernels'
        """Compress a message of `seed`: gives it, its CRC32 before, and after."""
        told, begun = CpuTold(work=CPU_MESSAGE), cpu_now()
        text = b"".join(hashlib.sha256(struct.pack("<QQ", seed, i)).digest() * 4 for i in range(CPU_MESSAGE // 128))
        packed = zlib.compress(text, 1)
        return packed, zlib.crc32(text), zlib.crc32(packed), cpu_ended(told, begun)

    def unseal(self, message: Any, seed: int) -> Tuple[int, CpuTold]:  # noqa: ARG002  the same call as the kernels'
        """Unpack: gives the CRC32."""
        told, begun = CpuTold(work=CPU_MESSAGE), cpu_now()
        try:
            plain = zlib.crc32(zlib.decompress(message))
        except zlib.error:
            plain = -1
        return plain, cpu_ended(told, begun)


class Cpu:
    """The processors of this node under load. `tell`, `clock` and `stop` as every part of the payload has them.

    `skew` (seed added on a CPU) and `spoil` (called with address and size of memory, after it was filled
    or a message sealed, before it is read) make faults, so that tests may see them found.
    """

    def __init__(
        self,
        tell: Callable[..., None],
        clock: Callable[[], float],
        stop: threading.Event,
        library: Optional[bytes],
        seed: int,
        variant: Optional[str] = None,
        skew: Optional[Dict[int, int]] = None,
        spoil: Optional[Callable[[int, int], None]] = None,
    ) -> None:
        self._tell, self._clock, self._stop, self.seed = tell, clock, stop, seed
        self._skew, self._spoil = skew or {}, spoil
        self.cpus = sorted(os.sched_getaffinity(0))
        self.troubles: List[Dict[str, str]] = []
        self._lock = threading.Lock()
        self._faults: Counter[Tuple[str, str, str]] = Counter()
        self._nodes = cpu_nodes(self.cpus)
        self._kernels: Any = CpuStdlib()
        try:
            if library is not None:
                self._kernels = CpuKernels(library, variant)
            why = "no library for %s" % platform.machine()
        except (OSError, AttributeError) as error:
            why = str(error)
        if self._kernels.variant == "stdlib":
            self.troubles.append({"of": "cpu", "why": "stdlib kernels alone: %s" % why})

    def hello(self) -> Dict[str, Any]:
        """Give what the payload's first line says of the processors: memory in B, load of the last minute."""
        return {
            "cpus": self.cpus,
            "cpu": cpu_model(),
            "variant": self._kernels.variant,
            "numa": self._nodes,
            "memory": cpu_memory("MemTotal"),
            "load": os.getloadavg()[0],
            "troubles": self.troubles,
        }

    def run(self, stages: List[Dict[str, Any]]) -> None:
        """Run the stages one after the other, each from its `from` to its `until`; return when done or stopped."""
        works = {"fingerprint": self._fingerprint, "crypto": self._crypto}
        if self._kernels.variant != "stdlib":
            works.update(fma=self._fma, triad=self._triad, ram=self._ram)
        for stage in sorted(stages, key=lambda one: float(one["from"])):
            self._stop.wait(max(0.0, stage["from"] - self._clock()))
            if self._stop.is_set():
                self._undone("node", stage["stage"], "stopped")
            elif stage["stage"] not in works:
                self._undone("node", stage["stage"], "unsupported: %s kernels" % self._kernels.variant)
            elif self._clock() >= stage["until"]:
                self._undone("node", stage["stage"], "stopped: its time was over before it began")
            else:
                works[stage["stage"]](stage)
        for (of, at, name), count in sorted(self._faults.items()):
            if count > 64:
                self._tell("error", of=of, stage=at, name=name, more=count - 64)

    def _ends(self, until: float) -> bool:
        return self._stop.is_set() or self._clock() >= until

    def _left(self, until: float) -> float:
        return max(0.0, min(CPU_PIECE, until - self._clock()))

    def _undone(self, of: str, stage: str, why: str, **fields: Any) -> None:
        self._tell("stage", of=of, stage=stage, status="not tested", why=why, **fields)

    def _fault(self, of: str, stage: str, name: str, **fields: Any) -> None:
        with self._lock:
            self._faults[of, stage, name] += 1
            told = self._faults[of, stage, name] <= 64
        if told:
            self._tell("error", of=of, stage=stage, name=name, **fields)

    def _together(self, stage: str, work: Callable[[int], Any]) -> Dict[int, Any]:
        """Run `work` on a thread pinned to each CPU; one that could not be run there is told and left out."""
        results: Dict[int, Any] = {}

        def pinned(cpu: int) -> None:
            try:
                os.sched_setaffinity(0, {cpu})
                results[cpu] = work(cpu)
            except Exception as error:  # noqa: BLE001  whatever happened to this core, the others go on
                none = isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
                why = "no memory" if none else "lost"
                self._undone("cpu/%d" % cpu, stage, "%s: %s: %s" % (why, type(error).__name__, error))

        threads = [threading.Thread(target=pinned, args=(cpu,), daemon=True) for cpu in self.cpus]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def _times(self) -> CpuTimes:
        return {"from": self._clock(), "wall": 0.0, "cpu": 0.0, "work": 0, "found": 0, "rounds": 0, "covered": 0}

    def _done(self, stage: Dict[str, Any], of: str, test: str, times: CpuTimes, rated: bool, **fields: Any) -> None:
        """Tell a finished piece, with a rate if its cores were its own; not tested if the rate is all it is for."""
        share = times["cpu"] / times["wall"] if times["wall"] else 0.0
        told = dict(fields, of=of, stage=stage["stage"], test=test, work=int(times["work"]))
        seconds = times.get("seconds") or times["cpu"]
        told.update({"from": times["from"], "seconds": seconds, "core_seconds": times["cpu"], "share": share})
        if share >= CPU_OBTAINED:
            self._tell("stage", status="done", rate=times["work"] / seconds, **told)
        elif rated:
            self._tell("stage", status="not tested", why="contended: %.2f of a core" % share, **told)
        else:
            self._tell("stage", status="done", **told)

    def _fingerprint(self, stage: Dict[str, Any]) -> None:
        """Every core the same work: against the shipped answer first, then seed after seed against each other."""
        kernels = self._kernels
        golden = CPU_GOLDEN[kernels.golden]

        def work(cpu: int) -> Tuple[List[int], CpuTimes]:
            fields: Dict[str, Any]
            hashes: List[int]
            of, skew, times, hashes = "cpu/%d" % cpu, self._skew.get(cpu, 0), self._times(), []
            got, told = kernels.fingerprint(1 + skew, 0, 0.0)
            fields = {"from": times["from"], "seconds": told.cpu / 1e9, "hash": "%016x" % got, "seed": 1}
            fields.update(work=told.work, unit=kernels.unit, mismatches=int(got != golden))
            self._tell("stage", of=of, stage="fingerprint", test="golden", status="done", **fields)
            if got != golden:
                self._fault(of, "fingerprint", "disagree", hash="%016x" % got, theirs="%016x" % golden, seed=1)
            while not hashes or not self._ends(stage["until"]):
                seed = self.seed + len(hashes) + skew & CPU_FULL
                got, told = kernels.fingerprint(seed, 0, self._left(stage["until"]))
                cpu_sum(times, told)
                hashes.append(got)
                if told.found:
                    self._fault(of, "fingerprint", "mismatch", got="%016x" % got, seed=seed, cpu=cpu, count=told.found)
            return hashes, times

        results = self._together("fingerprint", work)
        lost = self._vote("fingerprint", {cpu: hashes for cpu, (hashes, _) in results.items()})
        for cpu, (hashes, times) in sorted(results.items()):
            fields = {"unit": kernels.unit, "hash": "%016x" % hashes[0], "seed": self.seed, "pieces": len(hashes)}
            wrong = int(times["found"]) + lost[cpu]
            self._done(stage, "cpu/%d" % cpu, "verify", times, False, mismatches=wrong, **fields)

    def _vote(self, stage: str, hashes: Dict[int, List[int]]) -> "Counter[int]":
        """Hold the answers of the CPUs to equal questions against each other; give how many each has lost."""
        lost: Counter[int] = Counter()
        for at in range(max([len(one) for one in hashes.values()] or [0])):
            answers = {cpu: one[at] for cpu, one in hashes.items() if at < len(one)}
            odd, blame = cpu_votes(answers)
            for cpu, theirs in sorted(odd.items()):
                lost[cpu] += 1
                fields = {"hash": "%016x" % answers[cpu], "theirs": "%016x" % theirs, "seed": self.seed + at}
                self._fault("cpu/%d" % cpu, stage, "disagree", blame=blame, **fields)
        return lost

    def _crypto(self, stage: Dict[str, Any]) -> None:
        """Each core seals messages, the next one opens them: the same sealed bits everywhere, the same text again."""
        kernels = self._kernels
        ring: Dict[int, queue.Queue[Tuple[int, int, Any, int]]] = {cpu: queue.Queue() for cpu in self.cpus}
        following = dict(zip(self.cpus, self.cpus[1:] + self.cpus[:1]))  # noqa: B905

        def work(cpu: int) -> Tuple[List[int], CpuTimes]:
            times, skew = self._times(), self._skew.get(cpu, 0)
            sealed: List[int] = []
            message: Any = None
            while not self._ends(stage["until"]):
                seed = self.seed + len(sealed) + skew & CPU_FULL
                message, plain, hidden, told = kernels.seal(seed, message)
                cpu_sum(times, told)
                sealed.append(hidden)
                if self._spoil is not None and kernels.unit == "FLOP":
                    self._spoil(message[1], CPU_MESSAGE)
                ring[following[cpu]].put((cpu, seed, message, plain))
                while not self._ends(stage["until"]):
                    with contextlib.suppress(queue.Empty):
                        maker, seed, message, plain = ring[cpu].get(timeout=CPU_PIECE)
                        break
                else:
                    break
                got, told = kernels.unseal(message, seed)
                cpu_sum(times, told)
                times["rounds"] += 1
                if got != plain:
                    times["found"] += 1
                    fields = {"want": "%08x" % plain, "got": "%08x" % (got & 0xFFFFFFFF), "seed": seed, "cpu": cpu}
                    self._fault("cpu/%d" % cpu, "crypto", "mismatch", other="cpu/%d" % maker, blame=False, **fields)
            return sealed, times

        results = self._together("crypto", work)
        lost = self._vote("crypto", {cpu: sealed for cpu, (sealed, _) in results.items()})
        for cpu, (sealed, times) in sorted(results.items()):
            of = "cpu/%d" % cpu
            if not times["rounds"]:
                self._undone(of, "crypto", "under-loaded: no message came round", test="ring")
                continue
            fields = {"unit": "B", "hash": "%08x" % sealed[0], "seed": self.seed, "rounds": int(times["rounds"])}
            self._done(stage, of, "ring", times, False, mismatches=int(times["found"]) + lost[cpu], **fields)

    def _fma(self, stage: Dict[str, Any]) -> None:
        """All cores multiply and add at once, every result compared; the rate a core-second beside its roof.

        The roof is the core's measured clock times what one cycle can do: the lanes of the variant times two times
        the number of units, the smallest of 1, 2, 4 that the best CPU of this node does not exceed, for no register
        tells it; of logical CPUs that share a core each has what is left to it. So a CPU is held against its best
        peer; a node on which all of them lose half of their units is seen between nodes only.
        """
        kernels = self._kernels

        def work(cpu: int) -> Tuple[CpuTimes, List[float], int]:
            times, want = self._times(), 0
            clocks: List[float] = []
            while not clocks or not self._ends(stage["until"]):
                seed = self.seed + self._skew.get(cpu, 0) & CPU_FULL
                got, told = kernels.fingerprint(seed, want, self._left(stage["until"]))
                want = want or got
                cpu_sum(times, told)
                if told.found:
                    fields = {"want": "%016x" % want, "got": "%016x" % got, "seed": seed, "cpu": cpu}
                    self._fault("cpu/%d" % cpu, "fma", "mismatch", count=told.found, **fields)
                told = kernels.adds()
                clocks.append(told.work / max(1, told.cpu) * 1e9)
            return times, sorted(clocks), want

        results = self._together("fma", work)
        lost = self._vote("fma", {cpu: [first] for cpu, (_, _, first) in results.items()})
        clocks = {cpu: each[len(each) // 2] for cpu, (_, each, _) in results.items()}
        peaks = [times["work"] / times["cpu"] / clocks[cpu] for cpu, (times, _, _) in results.items()]
        cycle = cpu_cycle(max(peaks or [0.0]), {"avx512": 8, "avx2": 4, "neon": 2}.get(kernels.variant, 0))
        for cpu, (times, _, got) in sorted(results.items()):
            fields = {"unit": "FLOP", "hash": "%016x" % got, "seed": self.seed, "clock": clocks[cpu]}
            if cycle:
                fields["roof"] = clocks[cpu] * cycle
            wrong = int(times["found"]) + lost[cpu]
            self._done(stage, "cpu/%d" % cpu, "fma", times, True, mismatches=wrong, **fields)

    def _triad(self, stage: Dict[str, Any]) -> None:
        """All cores together a = b + 3 c, on arrays of four times the last caches, each its slice, then compared."""
        kernels, caches = self._kernels, cpu_last_cache(self.cpus)
        most = cpu_available() // 12 // len(self.cpus) >> 18 << 18
        size = max(4 * caches // len(self.cpus), 4 << 20) + (1 << 18) - 1 >> 18 << 18
        if size > most:
            why = "no memory: %d B free, 12 x %d B of arrays needed" % (cpu_available(), size * len(self.cpus))
            self._undone("node", "triad", why, test="triad")
            return
        count = size // 8
        ready: List[int] = []

        def work(cpu: int) -> CpuTimes:
            with cpu_mapped(3 * size) as at:
                arrays = [at, at + size, at + 2 * size]
                for start in range(0, count, 1 << 18):
                    if self._ends(stage["until"]):
                        break
                    kernels.lay(arrays, start, min(1 << 18, count - start))
                ready.append(cpu)
                while len(ready) < len(self.cpus) and not self._ends(stage["until"]):
                    time.sleep(0.002)
                times, where = self._times(), 0
                while not self._ends(stage["until"]):
                    where, told = kernels.triad(arrays, count, where, self._left(stage["until"]))
                    cpu_sum(times, told)
                times["seconds"] = self._clock()
                for start in range(0, count if times["work"] >= 3 * size else 0, 1 << 18):
                    if self._stop.is_set():
                        break
                    times["found"] += kernels.laid(arrays[0], start, min(1 << 18, count - start))
                return times

        results = self._together("triad", work)
        for cpu, times in sorted(results.items()):
            if times["found"]:
                self._fault("cpu/%d" % cpu, "triad", "mismatch", count=int(times["found"]), cpu=cpu, seed=0)
        if len(results) < len(self.cpus) or not all(times["work"] >= 3 * size for times in results.values()):
            self._undone("node", "triad", "under-loaded: not every core went once through its arrays", test="triad")
            return
        whole = {key: sum(times[key] for times in results.values()) for key in ("wall", "cpu", "work", "found")}
        whole["from"] = min(times["from"] for times in results.values())
        whole["seconds"] = max(times["seconds"] for times in results.values()) - whole["from"]
        fields = {"unit": "B", "mismatches": int(whole["found"]), "array": size * len(self.cpus)}
        self._done(stage, "node", "triad", whole, True, **fields)

    def _ram(self, stage: Dict[str, Any]) -> None:
        """Fill as much memory as a third of the time allows, verify and turn it, verify again, seed after seed.

        Memory lies where its core is, by first touch. The stage's `share` bounds it to that part of what is free, half
        if it has none; its `seeds` end the stage after so many.
        """
        begun, until, most = self._clock(), stage["until"], stage.get("seeds", 1 << 30)
        free = cpu_available()
        quota = int(free * min(0.9, stage.get("share", 0.5))) // len(self.cpus) >> 21 << 21
        blocks: List[Tuple[int, int]] = []

        def work(cpu: int) -> CpuTimes:
            times = self._times()
            mine: List[Tuple[int, int]] = []
            with contextlib.ExitStack() as held:
                filled = 0
                while filled + (2 << 20) <= quota and not self._ends(begun + 0.3 * (until - begun)):
                    size = min(CPU_BLOCK, quota - filled)
                    try:
                        mine.append((held.enter_context(cpu_mapped(size)), size))
                    except OSError:
                        if not mine:
                            raise
                        break
                    blocks.append(mine[-1])
                    filled += self._fill(mine[-1:], until, times, self.seed)
                seed, round_ = self.seed, 0
                while filled and round_ < most and not self._ends(until):
                    if round_:
                        self._fill(mine, until, times, seed)
                    if self._spoil is not None:
                        for at, size in mine:
                            self._spoil(at, size)
                    read = self._verify(cpu, mine, until, times, seed, blocks, turn=True)
                    times["covered"] = max(times["covered"], read)
                    round_ += self._verify(cpu, mine, until, times, seed, blocks, turn=False) == filled
                    seed = seed + 1 & CPU_FULL
                times["rounds"] = round_
            return times

        results = self._together("ram", work)
        for node, cpus in sorted(self._nodes.items()):
            parts = [results[cpu] for cpu in cpus if cpu in results]
            whole = {key: sum(part[key] for part in parts) for key in ("wall", "cpu", "work", "found", "covered")}
            if not whole["covered"]:
                why = "under-loaded: nothing was verified in its time" if quota else "no memory: %d B are free" % free
                self._undone("numa/" + node, "ram", why, test="march")
                continue
            whole["from"] = min(part["from"] for part in parts)
            whole["seconds"] = max(part["wall"] for part in parts)
            fields: Dict[str, Any] = {"unit": "B", "mismatches": int(whole["found"]), "seed": self.seed}
            total = cpu_memory("MemTotal", node)
            if total:
                fields["coverage"] = min(1.0, whole["covered"] / total)
            fields.update(tested=int(whole["covered"]), seeds=min(int(part["rounds"]) for part in parts))
            self._done(stage, "numa/" + node, "march", whole, False, **fields)

    def _fill(self, mine: List[Tuple[int, int]], until: float, times: CpuTimes, seed: int) -> int:
        done = 0
        for at, size in cpu_slices(mine):
            if self._ends(until):
                break
            cpu_sum(times, self._kernels.fill(at, size, seed))
            done += size
        return done

    def _verify(
        self, cpu: int, mine: List[Tuple[int, int]], until: float, times: CpuTimes, seed: int, blocks: Any, turn: bool
    ) -> int:
        """Verify what was filled and turn it, or what was turned; give the bytes that were read."""
        done, flip = 0, 0 if turn else CPU_FULL
        of = "numa/" + next((node for node, cpus in self._nodes.items() if cpu in cpus), "0")
        for at, size in cpu_slices(mine):
            if self._ends(until):
                break
            wrong, told = self._kernels.verify(at, size, seed, flip, int(turn))
            cpu_sum(times, told)
            done += size
            for address, want, got in wrong:
                fields: Dict[str, Any] = {"address": address, "want": "%016x" % want, "got": "%016x" % got}
                fields.update(
                    seed=seed, cpu=cpu, bits=bin(want ^ got).count("1"), pattern="turned" if flip else "filled"
                )
                physical, other = cpu_physical(address), cpu_index(got ^ flip, seed) * 8
                if physical:
                    fields["physical"] = physical
                if any(start <= other < start + length for start, length in blocks):
                    self._fault(of, "ram", "alias", other=other, **fields)
                else:
                    self._fault(of, "ram", "mismatch", **fields)
            if told.found > len(wrong):
                fields = {"address": at, "size": size, "count": told.found, "seed": seed, "cpu": cpu}
                self._fault(of, "ram", "mismatch", **fields)
        return done


def cpu_memory_file() -> int:
    """Make a file that lies in memory alone and is gone when it is closed. Raises OSError where that is denied."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rackcheck")
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.syscall({"x86_64": 319, "aarch64": 279}[platform.machine()], b"rackcheck", 1)
    if number < 0:
        raise OSError(ctypes.get_errno(), "memfd_create")
    return int(number)


def cpu_hwcap() -> int:
    """Give what the kernel says of an aarch64 processor (AT_HWCAP); 0 where it cannot be read."""
    with contextlib.suppress(OSError), Path("/proc/self/auxv").open("rb") as file:
        return int(dict(struct.iter_unpack("=QQ", file.read())).get(16, 0))
    return 0


def cpu_now() -> Tuple[float, float]:
    """Give the time and this thread's processor time, in s."""
    return time.monotonic(), time.clock_gettime(3)  # CLOCK_THREAD_CPUTIME_ID: 3.6 has no time.thread_time


def cpu_ended(told: CpuTold, begun: Tuple[float, float]) -> CpuTold:
    """Complete what one call of the stdlib kernels did."""
    wall, cpu = cpu_now()
    told.wall, told.cpu = int((wall - begun[0]) * 1e9), int((cpu - begun[1]) * 1e9)
    return told


def cpu_sum(times: CpuTimes, told: CpuTold) -> None:
    """Add one call to a sum."""
    times["wall"] += told.wall / 1e9
    times["cpu"] += told.cpu / 1e9
    times["work"] += told.work
    times["found"] += told.found


def cpu_votes(answers: Dict[int, int]) -> Tuple[Dict[int, int], bool]:
    """Give the CPUs that differ, each with the others' answer, and whether they are to blame.

    A majority names the odd ones. Without one, as with two CPUs, all that differ are given and nobody is blamed.
    """
    ranked = Counter(answers.values()).most_common()
    if len(ranked) < 2:
        return {}, False
    if ranked[0][1] * 2 > len(answers):
        return {cpu: ranked[0][0] for cpu, one in answers.items() if one != ranked[0][0]}, True
    return {cpu: next(other for other, _ in ranked if other != one) for cpu, one in answers.items()}, False


def cpu_cycle(reached: float, lanes: int) -> int:
    """Give the FLOP a cycle of the fewest units (1, 2, 4) that can have reached this many; 0 where none can."""
    return next((2 * lanes * units for units in (1, 2, 4) if reached <= 2.2 * lanes * units), 0) if reached else 0


def cpu_index(word: int, seed: int) -> int:
    """Give the index that has this word in the pattern of `seed`: the kernels' mixing, backwards."""
    word ^= word >> 13 ^ word >> 26 ^ word >> 39 ^ word >> 52
    word = (word ^ word << 21 ^ word << 42 ^ word << 63) & CPU_FULL
    word ^= word >> 32
    return (word - seed) * pow(CPU_STEP, (1 << 62) - 1, 1 << 64) & CPU_FULL


def cpu_slices(blocks: List[Tuple[int, int]]) -> Iterator[Tuple[int, int]]:
    """Cut blocks into what one call works on: (address, B)."""
    for at, size in blocks:
        for start in range(0, size, CPU_SLICE):
            yield at + start, min(CPU_SLICE, size - start)


@contextlib.contextmanager
def cpu_mapped(size: int) -> Iterator[int]:
    """Map memory, in huge pages where the system gives them; gives its address. Raises OSError where there is none."""
    memory = mmap.mmap(-1, size)
    view = ctypes.c_char.from_buffer(memory)
    at = ctypes.addressof(view)
    ctypes.CDLL(None).madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 14)  # MADV_HUGEPAGE
    try:
        yield at
    finally:
        del view
        memory.close()


def cpu_physical(address: int) -> int:
    """Give the physical address, which names the DIMM to who knows the board; 0 where only root may know it."""
    with contextlib.suppress(OSError, struct.error), Path("/proc/self/pagemap").open("rb") as file:
        file.seek(address // mmap.PAGESIZE * 8)
        frame = struct.unpack("=Q", file.read(8))[0] & (1 << 55) - 1
        return int(frame * mmap.PAGESIZE + address % mmap.PAGESIZE) if frame else 0
    return 0


def cpu_text(path: str) -> str:
    """Read a small file of the kernel; empty where it is not there."""
    with contextlib.suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace")
    return ""


def cpu_list(text: str) -> List[int]:
    """Read a list as the kernel writes it: 0-3,8."""
    ends = [part.split("-") for part in text.strip().split(",") if part]
    return [cpu for part in ends for cpu in range(int(part[0]), int(part[-1]) + 1)]


def cpu_nodes(cpus: List[int]) -> Dict[str, List[int]]:
    """Give the allowed CPUs of each NUMA node that has any; all as node 0 where the kernel does not say."""
    nodes = {}
    for path in Path("/sys/devices/system/node").glob("node*"):
        mine = [cpu for cpu in cpu_list(cpu_text("%s/cpulist" % path)) if cpu in cpus]
        if mine:
            nodes[path.name[4:]] = mine
    return nodes or {"0": cpus}


def cpu_model() -> str:
    """Give the processor's name; on aarch64 its implementer and part, for the kernel has no name."""
    lines = dict(line.partition(":")[::2] for line in cpu_text("/proc/cpuinfo").splitlines())
    told = {key.strip(): value.strip() for key, value in lines.items()}
    return told.get("model name") or "%s %s" % (told.get("CPU implementer", ""), told.get("CPU part", ""))


def cpu_memory(field: str, node: Optional[str] = None) -> int:
    """Give a line of meminfo in B, of the whole or of one NUMA node; 0 where it cannot be read."""
    text = cpu_text("/sys/devices/system/node/node%s/meminfo" % node) if node else ""
    for line in (text or cpu_text("/proc/meminfo")).splitlines():
        words = line.split()
        if field + ":" in words:
            return int(words[words.index(field + ":") + 1]) * 1024
    return 0


def cpu_available() -> int:
    """Give the memory that may be taken without hurting others, in B: the system's, or less in a control group."""
    free = [cpu_memory("MemAvailable")]
    for line in cpu_text("/proc/self/cgroup").splitlines():
        _, kind, path = line.split(":", 2)
        root, most, used = ("/sys/fs/cgroup", "memory.max", "memory.current")
        if kind == "memory":
            root, most, used = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        elif kind:
            continue
        while path:
            texts = [cpu_text("%s%s/%s" % (root, path, name)).strip() for name in (most, used)]
            if all(text.isdigit() for text in texts):
                free.append(max(0, int(texts[0]) - int(texts[1])))
            path = path.rpartition("/")[0]
    return min(free)


def cpu_last_cache(cpus: List[int]) -> int:
    """Give the last caches of these CPUs in B, each counted once; 32 MiB a CPU where the kernel does not say."""
    caches = {}
    for cpu in cpus:
        for level in (3, 2):
            path = "/sys/devices/system/cpu/cpu%d/cache/index%d/" % (cpu, level)
            size, shared = cpu_text(path + "size").strip(), cpu_text(path + "shared_cpu_list").strip()
            if size:
                caches[shared] = int(size.rstrip("KMG")) << {"K": 10, "M": 20, "G": 30}.get(size[-1:], 0)
                break
    return sum(caches.values()) or len(cpus) << 25
