# ruff: noqa: UP031  this runs on the node, where Python may be 3.6
"""The CPU's compiled kernels on the node: loaded from memory and called with ctypes.

Each kernel reads the clock and its thread's processor time itself, so the interpreter's time is never measured. The
stages of the burn-in call the kernels through tasks (cpu_tasks.py); the methods here call one kernel.
"""

import contextlib
import ctypes
import os
import platform
import struct
from pathlib import Path
from typing import Any, List, Optional, Tuple

CPU_ROUNDS = 20000
"""Rounds of one fingerprint: 3.84 million floating-point operations, under 50 ms even without vector instructions."""
CPU_GOLDEN = {"sha256": 0xEA379B16EE52A969, "fma": 0xE400995ABB7D3326}
"""The expected fingerprint of seed 1: `sha256` for the stdlib kernels, `fma` for the compiled library."""
CPU_MESSAGE = 1 << 20
"""Size, in bytes, of a message from core to core."""


class CpuResult(ctypes.Structure):
    """The result of one call: wall time (ns), the thread's processor time (ns), bytes or operations, mismatches."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("wall", "cpu", "work", "found")]


class CpuWrong(ctypes.Structure):
    """One 64-bit word of memory with a wrong value."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("address", "want", "got")]


class CpuKernels:
    """The compiled kernels, in the widest variant that the processor and the operating system support."""

    unit, golden = "FLOP", "fma"

    def __init__(self, library: bytes, variant: Optional[str] = None) -> None:
        """Load the library from memory. Raises OSError if the system forbids files in memory, or their execution."""
        number = (
            cpu_memory_file()
        )  # stays open: the loader identifies a library by its path, and a closed number is reused
        with os.fdopen(number, "wb", closefd=False) as out:
            out.write(library)
        self._all = ctypes.CDLL("/proc/self/fd/%d" % number)
        wide = ("plain", "avx2", "avx512") if platform.machine() == "x86_64" else ("plain", "neon")
        self.variant = variant or wide[self._all.best(ctypes.c_uint64(cpu_hwcap()))]

    def _call(self, name: str, *given: Any) -> Tuple[int, CpuResult]:
        value = CpuResult()
        one = name in {"adds", "lay", "laid"}
        function = self._all[name if one else "%s_%s" % (name, self.variant)]  # a new object: no thread shares it
        function.restype = ctypes.c_uint64
        wide = [ctypes.c_uint64(one) if isinstance(one, int) else one for one in given]
        return function(*wide, ctypes.byref(value)), value

    def amx(self) -> int:
        """Return what `amx` of kernels/cpu.c finds of the matrix units; 0 on other processors and for lower variants.

        The first call asks the kernel to let this process use them.
        """
        if self.variant != "avx512":
            return 0
        self._all.amx.restype = ctypes.c_uint32
        return int(self._all.amx())

    def fingerprint(self, seed: int, want: int, seconds: float) -> Tuple[int, CpuResult]:
        """Compute the hash of `seed` repeatedly for `seconds`, at least once, and return the hash.

        If a hash differs from `want`, or from the first hash if `want` is 0, the wrong hash is returned.
        """
        return self._call("fma", seed, CPU_ROUNDS, want, int(seconds * 1e9))

    def adds(self) -> CpuResult:
        """Run dependent additions, one per cycle, for about 0.1 ms, to measure the core's clock."""
        return self._call("adds", 6000)[1]

    def fill(self, at: int, size: int, seed: int) -> CpuResult:
        """Write the pattern to memory: the value of each 64-bit word depends on its address and on `seed`."""
        return self._call("fill", at, size, at // 8, seed, 0)[1]

    def verify(
        self, at: int, size: int, seed: int, flip: int, turn: int
    ) -> Tuple[List[Tuple[int, int, int]], CpuResult]:
        """Compare memory with the pattern of `seed` XOR `flip`; with `turn`, also replace each word by its complement.

        Return at most 64 mismatches as (address, want, got).
        """
        wrong = (CpuWrong * 64)()
        value = self._call("verify", at, size, at // 8, seed, flip, turn, wrong, 64)[1]
        return [(one.address, one.want, one.got) for one in wrong[: value.found]], value

    def lay(self, at: List[int], start: int, count: int) -> None:
        """Write the initial values into the arrays of the triad."""
        self._call("lay", *[one + 8 * start for one in at], count)

    def laid(self, at: int, start: int, count: int) -> int:
        """Count the wrong values in the triad's result."""
        return self._call("laid", at + 8 * start, count, ctypes.c_double(3.0))[0]

    def triad(self, at: List[int], count: int, start: int, seconds: float) -> Tuple[int, CpuResult]:
        """Run the triad for `seconds` over the arrays, from the index `start`; return the index at which it stopped."""
        return self._call("triad", *at, count, ctypes.c_double(3.0), start, int(seconds * 1e9))

    def address(self, name: str) -> int:
        """Return the address of a kernel in this variant."""
        function = self._all[name if name == "work" else "%s_%s" % (name, self.variant)]
        return int(ctypes.cast(function, ctypes.c_void_p).value or 0)


def cpu_memory_file() -> int:
    """Create a file that exists only in memory and disappears when it is closed.

    Raises OSError if the operating system forbids files in memory.
    """
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rackcheck")
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.syscall({"x86_64": 319, "aarch64": 279}[platform.machine()], b"rackcheck", 1)
    if number < 0:
        raise OSError(ctypes.get_errno(), "memfd_create")
    return int(number)


def cpu_hwcap() -> int:
    """Return the capability bits (AT_HWCAP) that the kernel reports for an aarch64 processor; 0 if unreadable."""
    with contextlib.suppress(OSError), Path("/proc/self/auxv").open("rb") as file:
        return int(dict(struct.iter_unpack("=QQ", file.read())).get(16, 0))
    return 0
