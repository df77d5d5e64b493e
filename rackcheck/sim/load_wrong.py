"""Simulates a GPU's wrong results: the tests that find them, the number of mismatches, the error's values. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from rackcheck.sim.behaviour import Ill

SMS = 132
"""Number of SMs of a simulated GPU; captures do not contain this number."""

LINE = 16
"""Size of one word of the memory pattern, in bytes."""

SCALAR = ("fp64", "fp32", "int32", "sfu")
GOLDEN = ("mma", "fp64", "fp32", "int32")
"""Tests whose result is known in advance; other tests compare a result with the majority of its peers."""


@dataclass(frozen=True)
class WrongResult:
    """The wrong results of one test in one stage: the number of mismatches, and the error's values."""

    test: str
    count: int
    words: dict[str, Any]


def stand_in(*what: object) -> str:
    """Return 16 hex digits that stand for a computed result; the same arguments always give the same digits."""
    return blake2b(" ".join(map(str, what)).encode(), digest_size=8).hexdigest()


def wrongs(ill: Ill, stage: str, seed: int, again: bool) -> Iterator[WrongResult]:
    """Yield the wrong results that a stage finds for one fault; `again` is true if the same stage ran before."""
    match ill.kind, stage:
        case (("gpu-bitflip" | "gpu-multibit" | "gpu-alias"), ("memory" | "together")):
            if ill.kind != "gpu-bitflip" or ill.words["how"] == "stuck" or (stage == "memory" and not again):
                yield _in_memory(ill, stage, seed)
        case (("sm-wrong" | "gpu-nan"), ("tensor" | "scalar" | "together")):
            yield from _of_sm(ill, stage, seed)
        case "gpu-wrong", ("tensor" | "scalar" | "together"):
            test = ill.words["unit"]
            # The result is not known in advance, and all SMs of the GPU agree: only other GPUs have a different result.
            if test in GOLDEN and (test in SCALAR) == (stage == "scalar"):
                yield WrongResult(test, SMS * 2, {"name": "mismatch", "sms": SMS, **_words(test, ill, seed)})


def hash_of(ills: Sequence[Ill], test: str, seed: int) -> str:
    """Return the hash that a GPU reports for a test."""
    mine = [ill.of for ill in ills if ill.kind == "gpu-wrong" and ill.words["unit"] == test]
    return stand_in(test, seed, *mine)


def _in_memory(ill: Ill, stage: str, seed: int) -> WrongResult:
    address = int(ill.words["address"], 16) // LINE * LINE
    words: dict[str, Any] = {"pattern": "complement", "address": hex(address), "seed": seed}
    if ill.kind == "gpu-alias":
        lines = 4096
        words |= {"name": "alias", "other": hex(address ^ 1 << int(ill.number("bit"))), "count": lines}
    else:
        lines, bits = (8, int(ill.number("bits"))) if ill.kind == "gpu-multibit" else (1, 1)
        mask = (1 << bits) - 1 << (int(ill.number("bit")) if bits == 1 else 0)
        want = int(stand_in("line", address, seed) * 2, 16)
        words |= {
            "name": "mismatch", "length": lines * LINE, "count": lines, "bits": bits, "want": f"{want:032x}",
            "got": f"{want ^ mask:032x}", "sm": address // LINE % SMS, "held": ill.words.get("how") != "transient",
        }  # fmt: skip
    return WrongResult("verify", lines, words | {"test": "memory" if stage == "memory" else "verify"})


def _of_sm(ill: Ill, stage: str, seed: int) -> Iterator[WrongResult]:
    sm = int(ill.number("sm"))
    if ill.kind == "gpu-nan":
        if stage != "scalar":
            words = _words("mma", ill, seed) | {"got": "7fc00000", "bits": 10}
            yield WrongResult("mma", 64, {"name": "not finite", "sm": sm, "count": 64, **words})
        return
    for test in SCALAR if stage == "scalar" else ("mma",):
        name = "mismatch" if test in GOLDEN else "disagree"
        yield WrongResult(test, 2, {"name": name, "sm": sm, "count": 2, **_words(test, ill, seed)})


def _words(test: str, ill: Ill, seed: int) -> dict[str, Any]:
    want, got = stand_in(test, seed), stand_in(test, seed, ill.of)
    if test == "mma":
        return {"want": want[:8], "got": got[:8], "bits": 7, "tile": stand_in("tile", seed), "seed": seed}
    names = ("want", "got") if test in GOLDEN else ("theirs", "hash")
    return dict(zip(names, (want, got), strict=True)) | {"seed": seed}
