"""Tells the C library to return large blocks of memory to the system as soon as they are freed."""

import ctypes
from functools import lru_cache

M_MMAP_THRESHOLD = -3
"""The parameter of glibc's `mallopt` for the size from which a block is mapped alone."""

ALONE = 1 << 17
"""The size in bytes of such blocks: glibc's first value, which it otherwise raises to 32 MiB while the process runs."""


@lru_cache(maxsize=1)
def return_large_blocks() -> None:
    """Keep large blocks out of the heaps of threads, from now on; without effect if the C library is not glibc.

    Without this, the heaps of 64 threads keep several hundred MiB that large replies have freed.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, ALONE)
