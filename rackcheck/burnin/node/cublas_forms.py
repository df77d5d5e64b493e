"""The forms of matrix products that the node's cuBLASLt computes: the types of their matrices, and their values.

Products of integers are exact if every sum of them is a number that the accumulator represents, whatever the order of
the additions. Then each element must be equal to the CPU's. An fp32 accumulator represents all integers up to 2^24, and
an int32 accumulator all up to 2^31.
"""

import array
import random
import struct
from typing import Any, Callable, Mapping, Sequence, Tuple

CUBLAS_SIDE = 8192
"""Rows and columns of each matrix."""

CUBLAS_BF16_MOST = 45
"""Largest integer in the exact products of bf16: the largest m with CUBLAS_SIDE * m^2 <= 2^24.

bf16 has 8 significant bits, so it represents all integers up to 2^8.
"""

CUBLAS_E4M3 = {0: 0x00, 1: 0x38, 2: 0x40, -1: 0xB8, -2: 0xC0}
"""The integers that the products of fp8 use, as E4M3 writes them.

Their sums stay below 2^13, so they are exact also in the fewer bits with which a tensor core may add products of fp8.
"""

CUBLAS_DRAWN = 65536
"""Number of values that are drawn; the elements of a matrix are taken from them."""


def cublas_bits(value: float) -> int:
    """Return the 16 bits of the bf16 value nearest to a number."""
    bits = int(struct.unpack("<I", struct.pack("<f", value))[0])
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def cublas_number(bits: int) -> float:
    """Return the value of 16 bits interpreted as bf16."""
    return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


def cublas_fp8(bits: int) -> float:
    """Return the value of 8 bits interpreted as E4M3, for the values in CUBLAS_E4M3."""
    return next(float(whole) for whole, each in CUBLAS_E4M3.items() if each == bits)


CublasDraw = Callable[["random.Random"], int]


class CublasForm:
    """One form of products: `name` is the type of A and B, `data` the kind of their values, `normal` or `integer`.

    `types` are the library's numbers for the types of A and B, of D, of the computation and of the scale: CUDA_R_16BF,
    CUDA_R_8F_E4M3, CUDA_R_8I, CUDA_R_32F and CUDA_R_32I of library_types.h, CUBLAS_COMPUTE_32F and _32I of
    cublas_api.h. `codes` are those of A's and D's values for `struct`, and `draws` returns the bits of a random value
    of A for each kind of values. `number` is the value of A's bits, and `result` that of D's.
    """

    def __init__(
        self, name: str, data: str, types: Tuple[int, int, int, int], codes: Sequence[str],
        draws: Mapping[str, CublasDraw], number: Callable[[int], float], result: Callable[[Any], float] = float,
    ) -> None:  # fmt: skip
        self.name, self.data, self.exact = name, data, data == "integer"
        self.given, self.made, self.compute, self.scale = types
        self.code, self.out = codes
        self.number, self.result, self._draws = number, result, draws

    def values(self, kind: str, seed: int, count: int) -> "array.array[int]":
        """Return the bits of `count` random values of a kind; the same seed gives the same values."""
        chance, draw = random.Random(seed), self._draws[kind]  # noqa: S311  reproducible, not secret
        table = [draw(chance) for _ in range(CUBLAS_DRAWN)]
        places = array.array("H")
        places.frombytes(chance.getrandbits(16 * count).to_bytes(2 * count, "little"))
        return array.array(self.code, [table[place] for place in places])


CUBLAS_BF16 = CublasForm(
    "bf16", "normal", (14, 14, 68, 0), "HH",
    {"normal": lambda chance: cublas_bits(chance.gauss(0.0, 1.0)),
     "integer": lambda chance: cublas_bits(float(chance.randint(-127, 127)))},
    cublas_number, cublas_number,
)  # fmt: skip
"""Products of bf16 as in use: D is rounded to bf16, so they are compared with a tolerance."""

CUBLAS_EXACT = (
    CublasForm(
        "bf16", "integer", (14, 0, 68, 0), "Hf",
        {"integer": lambda chance: cublas_bits(float(chance.randint(-CUBLAS_BF16_MOST, CUBLAS_BF16_MOST)))},
        cublas_number,
    ),
    CublasForm(
        "fp8", "integer", (28, 0, 68, 0), "Bf",
        {"integer": lambda chance: CUBLAS_E4M3[chance.randint(-2, 2)]}, cublas_fp8,
    ),
    CublasForm("int8", "integer", (3, 10, 72, 10), "bi", {"integer": lambda chance: chance.randint(-127, 127)}, float),
)  # fmt: skip
"""Products of integers: D has the type of the accumulator, so that nothing is rounded.

The library offers those of fp8 and int8 only with A transposed and B not, so all forms are computed in this way.
"""
