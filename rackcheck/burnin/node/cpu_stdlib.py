"""What Python itself has for the CPU's burn on the node, where no library may be loaded: the same calls, slower."""

import hashlib
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cpu_kernels import CPU_MESSAGE, CpuTold


class CpuStdlib:
    """What the standard library has, where no library may be loaded: hashes and compression, no rate of any unit."""

    unit, golden, variant = "B", "sha256", "stdlib"

    def fingerprint(self, seed: int, want: int, seconds: float) -> Tuple[int, "CpuTold"]:
        """Give the first 64 bits of SHA-256 of 1 MiB; again and again for `seconds`, at least once."""
        value, begun = CpuTold(), cpu_now()
        text, shown = struct.pack("<Q", seed) * (CPU_MESSAGE // 8), 0
        while True:
            seen = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
            value.work += CPU_MESSAGE
            value.found += want not in (0, seen)
            shown = seen if not shown or seen != want else shown
            want = want or seen
            if cpu_now()[0] - begun[0] >= seconds:
                return shown, cpu_ended(value, begun)

    def seal(self, seed: int, old: Any) -> Tuple[Any, int, int, "CpuTold"]:  # noqa: ARG002  the same call as the kernels'
        """Compress a message of `seed`: gives it, its CRC32 before, and after."""
        value, begun = CpuTold(work=CPU_MESSAGE), cpu_now()
        text = b"".join(hashlib.sha256(struct.pack("<QQ", seed, i)).digest() * 4 for i in range(CPU_MESSAGE // 128))
        packed = zlib.compress(text, 1)
        return packed, zlib.crc32(text), zlib.crc32(packed), cpu_ended(value, begun)

    def unseal(self, message: Any, seed: int) -> Tuple[int, "CpuTold"]:  # noqa: ARG002  the same call as the kernels'
        """Unpack: gives the CRC32."""
        value, begun = CpuTold(work=CPU_MESSAGE), cpu_now()
        try:
            plain = zlib.crc32(zlib.decompress(message))
        except zlib.error:
            plain = -1
        return plain, cpu_ended(value, begun)


def cpu_now() -> Tuple[float, float]:
    """Give the time and this thread's processor time, in s."""
    return time.monotonic(), time.clock_gettime(3)  # CLOCK_THREAD_CPUTIME_ID: 3.6 has no time.thread_time


def cpu_ended(value: "CpuTold", begun: Tuple[float, float]) -> "CpuTold":
    """Complete what one call of the stdlib kernels did."""
    wall, cpu = cpu_now()
    value.wall, value.cpu = int((wall - begun[0]) * 1e9), int((cpu - begun[1]) * 1e9)
    return value
