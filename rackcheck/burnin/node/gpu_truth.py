# ruff: noqa: B905, C401, UP031  for a node: Python 3.6, and one namespace for all files
"""Computes the expected results of the GPU kernels, with integers only, and classifies findings. No I/O.

Every expected number is exact: the memory pattern; the tiles of the matrix units (integers from -127 to 127 in bf16,
with sums below 2^24); the chains of dependent operations in FP64, FP32 and INT32. The GPU kernels in kernels/gpu.cu
compute the same numbers as this Python code.
"""

import struct
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

GPU_MASK = (1 << 64) - 1
_ODD = 0x9E3779B97F4A7C15
_TURN = 0xD6E8FEB86659FD93
_SECOND = 0xD1342543DE82EF95
_ODD_BACK = pow(_ODD, (1 << 62) - 1, 1 << 64)
_TURN_BACK = pow(_TURN, (1 << 62) - 1, 1 << 64)

GPU_LINE = 16
"""Size of one word of the memory pattern, in bytes."""

GPU_FINDING = struct.Struct("<7Q2I")
GPU_BLOCK = struct.Struct("<3Q2I")
GPU_RING, GPU_BLOCKS = 256, 1024
GPU_RING_AT = 64
GPU_BLOCKS_AT = GPU_RING_AT + GPU_RING * GPU_FINDING.size
GPU_REPORT = GPU_BLOCKS_AT + GPU_BLOCKS * GPU_BLOCK.size
"""Size of a launch's report in bytes: a header, the first GPU_RING findings, and a row for each thread block."""


def gpu_mix(x: int) -> int:
    """Return a 64-bit hash of `x`; different arguments have different hashes, so `_unmix` can invert it."""
    x ^= x >> 32
    x = x * _TURN & GPU_MASK
    return x ^ (x >> 32)


def _unmix(x: int) -> int:
    x ^= x >> 32
    x = x * _TURN_BACK & GPU_MASK
    return x ^ (x >> 32)


def gpu_pattern(seed: int, place: int, flip: int = 0) -> Tuple[int, int]:
    """Return the low and the high half of the 128-bit pattern word at index `place`, each half XOR `flip`.

    `flip` is 0 for the pattern, or 2^64 - 1 for the complement of the pattern.
    """
    low = gpu_mix((place * _ODD + seed) & GPU_MASK)
    high = (low * _SECOND + place) & GPU_MASK
    high ^= high >> 32
    return low ^ flip, high ^ flip


def gpu_place_of(seed: int, low: int, high: int, places: int) -> Optional[int]:
    """Return the index below `places` whose pattern word, or the word's complement, has these two halves; else None."""
    for flip in (0, GPU_MASK):
        place = (_unmix(low ^ flip) - seed) * _ODD_BACK & GPU_MASK
        if place < places and gpu_pattern(seed, place, flip) == (low, high):
            return place
    return None


def gpu_checksum(lines: Iterable[Tuple[int, int]]) -> int:
    """Return the sum of all 64-bit halves modulo 2^64, each multiplied by an odd number that depends on its index."""
    return sum(low * (4 * k + 1) + high * (4 * k + 3) for k, (low, high) in enumerate(lines)) & GPU_MASK


def gpu_operands(tile: int) -> Tuple[List[List[int]], List[List[int]]]:
    """Return the integers of a tile: 64 rows of the matrix A and 32 columns of the matrix B, each with 16 integers."""

    def pair(number: int) -> Tuple[int, int]:
        h = gpu_mix((tile + number * _ODD) & GPU_MASK)
        return ((h & 0xFF) * 255 >> 8) - 127, ((h >> 40 & 0xFF) * 255 >> 8) - 127

    left = [[x for k in range(8) for x in pair(row * 8 + k)] for row in range(64)]
    right = [[x for k in range(8) for x in pair(512 + k * 32 + column)] for column in range(32)]
    return left, right


def gpu_tile(tile: int) -> List[List[int]]:
    """Return the 64 rows of 32 integers that the matrix units must compute for a tile.

    Each of these integers is a sum of 1024 products, because the kernel multiplies A with the four column groups of B
    in rotation, with alternating signs, sixteen times.
    """
    left, right = gpu_operands(tile)
    turned = [
        [16 * (right[c][k] - right[c + 8][k] + right[c + 16][k] - right[c + 24][k]) for k in range(16)]
        for c in range(8)
    ]
    rows = []
    for row in left:
        eight = [sum(x * y for x, y in zip(row, column)) for column in turned]
        rows.append([sign * x for sign in (1, -1, 1, -1) for x in eight])
    return rows


def gpu_golden(tile: int) -> bytes:
    """Return the expected results of a tile in the kernel's order: by fragment, by lane, as float32."""
    rows = gpu_tile(tile)
    laid = []
    for fragment in range(16):
        top, left = (fragment >> 2) * 16, (fragment & 3) * 8
        for lane in range(32):
            row, column = top + (lane >> 2), left + (lane & 3) * 2
            laid += rows[row][column : column + 2] + rows[row + 8][column : column + 2]
    return struct.pack("<2048f", *laid)


def _rounded(m: int, e: int, bits: int) -> Tuple[int, int]:
    """Round m * 2^e to `bits` significant bits, half to even; m must not be negative."""
    over = m.bit_length() - bits
    if over <= 0:
        return m, e
    low, half = m & ((1 << over) - 1), 1 << (over - 1)
    m >>= over
    if low > half or (low == half and m & 1):
        m += 1
    return m, e + over


def _chain(x: int, bits: int, rate: int) -> Tuple[int, int]:
    """Compute 64 steps of x <- rate (x - x x), and round the result of each operation to `bits` bits."""
    m, e = x, -bits
    for _ in range(64):
        m, e = _rounded((m << -e) - m * m, 2 * e, bits)
        m, e = _rounded(m * rate, e + 2 - bits, bits)
    return m, e


def _double(m: int, e: int) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", m * 2.0**e))[0])


def _single(m: int, e: int) -> int:
    return int(struct.unpack("<I", struct.pack("<f", m * 2.0**e))[0])


def _end_of(kind: str, h: int) -> int:
    """Return the bits of the last value of a chain of dependent operations that starts from the 64-bit number `h`."""
    if kind == "fp64":
        return _double(*_chain((1 << 52) | h >> 12, 53, 0x1FE6B7318FC505))
    if kind == "fp32":
        return _single(*_chain((1 << 23) | h >> 41, 24, 0xFF35B9))
    x = h & 0xFFFFFFFF
    for _ in range(64):
        x = (x * 0x9E3779B1 + 0x85EBCA6B) & 0xFFFFFFFF
        x ^= (x << 7 | x >> 25) & 0xFFFFFFFF
    return x


def gpu_chains(kind: str, seed: int) -> List[List[int]]:
    """Return the expected sum of four chains of operations, for each of 8 groups of threads and 4 groups of rounds.

    The expected sum is the weighted sum of the last values of the four chains. Thread n belongs to group n modulo 8,
    and round n to group n modulo 4. `kind` is fp64, fp32 or int32; the approximate units have no exact result.
    """
    return [
        [
            sum(
                _end_of(kind, gpu_mix((seed + (group * 16 + chain * 4 + turn) * _ODD) & GPU_MASK)) * (2 * chain + 1)
                for chain in range(4)
            )
            for turn in range(4)
        ]
        for group in range(8)
    ]


def gpu_chain_hash(sums: Sequence[Sequence[int]], rounds: int, threads: int) -> int:
    """Return the hash that every thread block must report after `rounds` rounds with `threads` threads."""
    turns = [(rounds + 3 - turn) // 4 for turn in range(4)]
    each = [sum(n * s for n, s in zip(turns, group)) for group in sums]
    return sum((2 * thread + 1) * each[thread & 7] for thread in range(threads)) & GPU_MASK


def gpu_odd_ones(answers: Sequence[Tuple[int, int]]) -> Tuple[Optional[int], List[Tuple[int, int]]]:
    """Return the hash of more than half of the SMs, and each (SM, hash) that differs from it.

    `answers` has the SM and the hash of each thread block. If no hash has a majority, return None and an empty list.
    """
    values: Dict[int, Dict[int, int]] = {}
    for sm, answer in answers:
        values.setdefault(sm, {})[answer] = 1
    votes: Dict[int, int] = {}
    for hashes in values.values():
        for answer in hashes:
            votes[answer] = votes.get(answer, 0) + 1
    best = max(votes, key=lambda answer: votes[answer]) if votes else None
    if best is None or votes[best] * 2 <= len(values):
        return None, []
    return best, sorted((sm, answer) for sm, hashes in values.items() for answer in hashes if answer != best)


def gpu_strays(seed: int, flip: int, places: int, ring: Iterable[Sequence[int]]) -> List[Dict[str, Any]]:
    """Classify wrong words: `alias` if a word has the pattern of another index, else one `mismatch` for adjacent words.

    A row of `ring` is (index, low and high half of the wrong word, both halves when read again, unused, unused, SM,
    warp). Addresses are bytes from the beginning of the tested memory.
    """
    aliases: Dict[int, Dict[str, Any]] = {}
    runs: List[Dict[str, Any]] = []
    last = -2
    for row in sorted(set(tuple(row) for row in ring)):
        place, low, high, again_low, again_high = row[:5]
        other = gpu_place_of(seed, low, high, places)
        if other is not None and other != place:
            known = aliases.setdefault(place ^ other, {"name": "alias", "count": 0})
            known["count"] += 1
            known.setdefault("address", hex(place * GPU_LINE))
            known.setdefault("other", hex(other * GPU_LINE))
            continue
        want_low, want_high = gpu_pattern(seed, place, flip)
        wrong = (low ^ want_low) | (high ^ want_high) << 64
        held = (again_low, again_high) == (low, high)
        if place != last + 1:
            runs.append({
                "name": "mismatch", "address": hex(place * GPU_LINE), "length": 0, "count": 0, "bits": 0, "held": True,
                "want": "%016x%016x" % (want_high, want_low), "got": "%016x%016x" % (high, low), "sm": row[7],
            })  # fmt: skip
        run = runs[-1]
        run["length"] += GPU_LINE
        run["count"] += 1
        run["bits"] = max(run["bits"], bin(wrong).count("1"))
        run["held"] = run["held"] and held
        last = place
    return list(aliases.values()) + runs


def gpu_ring(report: bytes) -> Tuple[int, List[Tuple[int, ...]]]:
    """Return the number of errors that a launch found, and the details of the first GPU_RING errors."""
    found, _, logged = struct.unpack_from("<3Q", report)
    size = GPU_FINDING.size
    return found, [GPU_FINDING.unpack_from(report, GPU_RING_AT + n * size) for n in range(min(logged, GPU_RING))]


def gpu_blocks(report: bytes, blocks: int) -> List[Tuple[int, ...]]:
    """Return the report of each thread block: hash, clock ticks, work, SM, number of wrong elements."""
    return [GPU_BLOCK.unpack_from(report, GPU_BLOCKS_AT + n * GPU_BLOCK.size) for n in range(blocks)]


def gpu_grid(sms: int, each: int) -> int:
    """Return the number of blocks of a launch with `each` blocks on each SM, of which all have a row in the report."""
    return min(GPU_BLOCKS, sms * max(1, min(each, GPU_BLOCKS // sms)))


def gpu_pairs(gpus: int, slot: int) -> List[Tuple[int, int]]:
    """Return the pairs of GPUs that are tested in a time slot, by the circle method.

    Over all time slots, every pair of GPUs is tested exactly once.
    """
    seats = gpus + gpus % 2
    if seats < 2 or slot >= seats - 1:
        return []
    ring = [0] + [1 + (n + slot) % (seats - 1) for n in range(seats - 1)]
    pairs = [(ring[n], ring[seats - 1 - n]) for n in range(seats // 2)]
    return sorted((min(a, b), max(a, b)) for a, b in pairs if max(a, b) < gpus)


def gpu_slots(gpus: int) -> int:
    """Return the number of time slots that are needed to test every pair of GPUs once."""
    return gpus + gpus % 2 - 1 if gpus > 1 else 0
