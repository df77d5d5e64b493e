"""Kernels from Python's standard library, for a node that forbids compiled libraries: similar work, but slower."""

import contextlib
import hashlib
import queue
import struct
import time
import zlib
from typing import TYPE_CHECKING, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu import CPU_FULL, CPU_PIECE, Cpu, CpuTimes, cpu_sum
    from rackcheck.burnin.node.cpu_answers import CpuAnswers
    from rackcheck.burnin.node.cpu_kernels import CPU_MESSAGE, CpuResult


class CpuStdlib:
    """Hashes and compression for a node that forbids compiled libraries; their rates do not measure a CPU unit."""

    unit, golden, variant = "B", "sha256", "stdlib"

    def fingerprint(self, seed: int, want: int, seconds: float) -> Tuple[int, "CpuResult"]:
        """Hash 1 MiB of copies of `seed` for `seconds`, at least once; return the first 64 bits of the SHA-256."""
        value, begun = CpuResult(), cpu_now()
        text, shown = struct.pack("<Q", seed) * (CPU_MESSAGE // 8), 0
        while True:
            seen = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
            value.work += CPU_MESSAGE
            value.found += want not in (0, seen)
            shown = seen if not shown or seen != want else shown
            want = want or seen
            if cpu_now()[0] - begun[0] >= seconds:
                return shown, cpu_ended(value, begun)

    def seal(self, seed: int) -> Tuple[bytes, int, int, "CpuResult"]:
        """Compress the message of `seed`; return it with the CRC32 of the text and the CRC32 of the compressed data."""
        value, begun = CpuResult(work=CPU_MESSAGE), cpu_now()
        text = b"".join(hashlib.sha256(struct.pack("<QQ", seed, i)).digest() * 4 for i in range(CPU_MESSAGE // 128))
        packed = zlib.compress(text, 1)
        return packed, zlib.crc32(text), zlib.crc32(packed), cpu_ended(value, begun)

    def unseal(self, message: bytes) -> Tuple[int, "CpuResult"]:
        """Decompress a message; return the CRC32 of the text."""
        value, begun = CpuResult(work=CPU_MESSAGE), cpu_now()
        try:
            plain = zlib.crc32(zlib.decompress(message))
        except zlib.error:
            plain = -1
        return plain, cpu_ended(value, begun)


def cpu_now() -> Tuple[float, float]:
    """Return the time and this thread's processor time, in seconds."""
    return time.monotonic(), time.clock_gettime(3)  # CLOCK_THREAD_CPUTIME_ID: Python 3.6 has no time.thread_time


def cpu_ended(value: "CpuResult", begun: Tuple[float, float]) -> "CpuResult":
    """Set the wall time and processor time in the result of one call of the stdlib kernels."""
    wall, cpu = cpu_now()
    value.wall, value.cpu = int((wall - begun[0]) * 1e9), int((cpu - begun[1]) * 1e9)
    return value


def cpu_stdlib_prints(burn: "Cpu", until: float, seeds: Dict[int, int]) -> "CpuAnswers":
    """Compute fingerprints as `cpu_prints` does, with a Python thread for each CPU."""

    def work(cpu: int) -> Tuple[List[int], "CpuTimes", List[Tuple[int, int, int]]]:
        times, hashes, wrong = burn.times(), [], []  # type: CpuTimes, List[int], List[Tuple[int, int, int]]
        while not hashes or not burn.ends(until):
            seed = seeds[cpu] + len(hashes) & CPU_FULL
            got, value = burn.kernels.fingerprint(seed, 0, burn.left(until))
            cpu_sum(times, value)
            hashes.append(got)
            if value.found:
                wrong.append((value.found, seed, got))
        return hashes, times, wrong

    return burn.together("fingerprint", work, sorted(seeds))


def cpu_stdlib_ring(burn: "Cpu", until: float, seeds: Dict[int, int]) -> "CpuAnswers":
    """Compress messages on each CPU, and decompress them on the next CPU, with a Python thread for each CPU."""
    cpus = sorted(seeds)
    ring: Dict[int, queue.Queue[Tuple[int, bytes, int]]] = {cpu: queue.Queue() for cpu in cpus}
    following = dict(zip(cpus, cpus[1:] + cpus[:1]))  # noqa: B905

    def work(cpu: int) -> Tuple[List[int], "CpuTimes", List[Tuple[int, int, int]]]:
        times, sealed, wrong = burn.times(), [], []  # type: CpuTimes, List[int], List[Tuple[int, int, int]]
        while not burn.ends(until):
            seed = seeds[cpu] + len(sealed) & CPU_FULL
            message, plain, hidden, value = burn.kernels.seal(seed)
            cpu_sum(times, value)
            sealed.append(hidden)
            ring[following[cpu]].put((seed, message, plain))
            while not burn.ends(until):
                with contextlib.suppress(queue.Empty):
                    seed, message, plain = ring[cpu].get(timeout=CPU_PIECE)
                    break
            else:
                break
            got, value = burn.kernels.unseal(message)
            cpu_sum(times, value)
            times["rounds"] += 1
            if got != plain:
                times["found"] += 1
                wrong.append((seed, plain, got))
        return sealed, times, wrong

    return burn.together("crypto", work, cpus)
