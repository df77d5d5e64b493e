"""Runs on the node: writes a scratch file that the user named, reads it back without caches, and removes it.

Nothing is written except the scratch file, and an existing file is never overwritten. If the user names no scratch
file, nothing is written to any disk.
"""

import errno
import mmap
import os
import random
import re
import struct
import threading
from pathlib import Path
from typing import Any, Callable, Dict

DISK_BLOCK = 4 << 20
"""Size, in bytes, of one write or read."""

DISK_SECTOR = 4096
"""Size of a sector in bytes; each sector of the file begins with the seed and the sector's number."""


class DiskWork:
    """One scratch file, from its creation to its removal."""

    def __init__(
        self, emit: Callable[..., None], clock: Callable[[], float], stop: threading.Event, path: str, seed: int
    ) -> None:
        self._emit, self._clock, self._stop, self._path, self._seed = emit, clock, stop, path, seed
        folder = re.sub("[^A-Za-z0-9_.-]", "_", Path(path).absolute().parent.name)
        self.of = f"disk/{folder or 'root'}"
        self._buffer = mmap.mmap(-1, DISK_BLOCK)  # aligned, as O_DIRECT requires
        self._wanted = bytearray(_noise(seed))

    def run(self, size: int, until: float) -> None:
        """Write, read and compare this many bytes, or fewer if the time ends.

        The file's name is removed right after the file is created, so the file disappears even if this process is
        killed.
        """
        blocks = max(1, size // DISK_BLOCK)
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_DIRECT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._untested(_why(error))
            return
        try:
            Path(self._path).unlink()  # a file without a name is gone when this process ends, even after a crash
            done = self._pass("write", file, blocks, self._clock() + (until - self._clock()) / 2)
            if done:
                os.fsync(file)
                self._pass("read", file, done, until)
        except OSError as error:
            self._untested(_why(error))
        finally:
            os.close(file)
            self._buffer.close()

    def _pass(self, test: str, file: int, blocks: int, until: float) -> int:
        """Write all blocks of the scratch file, or read and compare all; return the number of completed blocks."""
        begun, wrong, number = self._clock(), 0, 0
        while number < blocks and self._clock() < until and not self._stop.is_set():
            self._mark(number)
            if test == "write":
                self._buffer[:] = bytes(self._wanted)
                done = os.pwrite(file, self._buffer, number * DISK_BLOCK)
            else:
                os.lseek(file, number * DISK_BLOCK, os.SEEK_SET)
                done = os.readv(file, [self._buffer])
                wrong += self._compare(number) if done == DISK_BLOCK else 0
            if done != DISK_BLOCK:
                break
            number += 1
        fields: Dict[str, Any] = {"from": round(begun, 3), "work": number * DISK_BLOCK, "unit": "B", "seed": self._seed}
        seconds = self._clock() - begun
        fields.update(seconds=round(seconds, 6), rate=number * DISK_BLOCK / seconds if seconds > 0 else 0)
        if test == "read":
            fields["mismatches"] = wrong
        status = {"status": "done"} if number else {"status": "not tested", "why": "stopped"}
        self._emit("stage", of=self.of, stage="disk", test=test, **status, **fields)
        return number

    def _mark(self, number: int) -> None:
        """Write the seed and the sector's number into each expected sector, so that misplaced sectors can be found."""
        for sector in range(DISK_BLOCK // DISK_SECTOR):
            place = number * (DISK_BLOCK // DISK_SECTOR) + sector
            struct.pack_into("<QQ", self._wanted, sector * DISK_SECTOR, self._seed, place)

    def _compare(self, number: int) -> int:
        """Count the sectors that differ, and report the first one."""
        if self._buffer[:] == bytes(self._wanted):
            return 0
        wrong = [
            at for at in range(0, DISK_BLOCK, DISK_SECTOR)
            if self._buffer[at : at + DISK_SECTOR] != bytes(self._wanted[at : at + DISK_SECTOR])
        ]  # fmt: skip
        at = wrong[0]
        want, got = bytes(self._wanted[at : at + DISK_SECTOR]), self._buffer[at : at + DISK_SECTOR]
        byte = next(i for i in range(DISK_SECTOR) if want[i] != got[i]) // 16 * 16
        seed, place = struct.unpack_from("<QQ", got)
        elsewhere = seed == self._seed and place * DISK_SECTOR != number * DISK_BLOCK + at
        stray = {"other": place * DISK_SECTOR} if elsewhere else {}
        self._emit(
            "error", of=self.of, stage="disk", name="alias" if stray else "mismatch", test="read", count=len(wrong),
            address=number * DISK_BLOCK + at + byte, want=want[byte : byte + 16].hex(), got=got[byte : byte + 16].hex(),
            seed=self._seed, **stray,
        )  # fmt: skip
        return len(wrong)

    def _untested(self, why: str) -> None:
        self._emit("stage", of=self.of, stage="disk", test="", status="not tested", why=why)


def _noise(seed: int) -> bytes:
    """Return a block that no disk can compress; its bytes depend only on the seed."""
    return random.Random(seed).getrandbits(DISK_BLOCK * 8).to_bytes(DISK_BLOCK, "little")  # noqa: S311  not a secret


def _why(error: OSError) -> str:
    if error.errno == errno.EEXIST:
        return "denied: a file of that name exists; it was not changed"
    if error.errno == errno.EINVAL:
        return "unsupported: its filesystem does not support direct I/O"
    return f"denied: {os.strerror(error.errno or 0)}"
