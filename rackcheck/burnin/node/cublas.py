# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Measures the rates of a GPU's matrix products with the cuBLASLt library that is installed on the node.

The rates are references, not a pass or fail, because they depend on the library's version, which differs between nodes.
The products of integers, as fp8 and int8, are exact in any order of the sums, so they are compared with the CPU's.
The calls of cuBLASLt were checked against cublasLt.h of CUDA 13.1; without a GPU, only creating and freeing descriptors
was tested, with the library of CUDA 13.1. The matrix products of cuBLASLt are unverified on hardware.
"""

import array
import ctypes
import random
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cublas_library import Cublas, CublasTrouble
    from rackcheck.burnin.node.cuda import CudaDriver

CUBLAS_SIDE = 8192
"""Rows and columns of each matrix."""

CUBLAS_SLICE, CUBLAS_HANG = 0.02, 5.0
"""Target duration of a batch of matrix products, and the time after which a batch counts as hanging; in seconds."""

CUBLAS_SPACE = 32 << 20
"""Size of the library's workspace on the GPU, in bytes."""

CUBLAS_PERIOD = 1000003
"""Number of values after which the content of a matrix repeats: a prime, so that no two rows are identical."""

CUBLAS_FORMS: Dict[str, Tuple[int, int, int, int, str, str]] = {
    "bf16": (14, 14, 68, 0, "H", "H"),
    "fp8": (28, 0, 68, 0, "B", "f"),
    "int8": (3, 10, 72, 10, "b", "i"),
}
"""Types of A and B, of D, of the computation and of the scale, and the codes of A's and D's values for `struct`.

CUDA_R_16BF, CUDA_R_8F_E4M3, CUDA_R_8I, CUDA_R_32F and CUDA_R_32I are from library_types.h, CUBLAS_COMPUTE_32F and _32I
from cublas_api.h. Each product has A transposed and B not: the only form of fp8 and int8 that the library offers.
"""

CUBLAS_E4M3 = {0: 0x00, 1: 0x38, 2: 0x40, -1: 0xB8, -2: 0xC0}
"""The integers that the products of fp8 use, as E4M3 writes them.

Their sums stay below 2^13, so they are exact also in the fewer bits with which a tensor core may add products of fp8.
"""

CUBLAS_CHUNK = 16 << 20
"""Bytes of a product that are copied to the host at a time."""

CUBLAS_CHOICE = struct.Struct("<64sQif4i")
"""cublasLtMatmulHeuristicResult_t: the algorithm, its workspace in bytes, its status."""

CUBLAS_CHOICES = 4


def cublas_values(kind: str, seed: int, count: int) -> "array.array[int]":
    """Return the bits of `count` bf16 values: `normal` with mean 0 and variance 1, or `integer` from -127 to 127."""
    chance = random.Random(seed)  # noqa: S311  reproducible, not secret
    normal = kind == "normal"
    drawn = [chance.gauss(0.0, 1.0) if normal else float(chance.randint(-127, 127)) for _ in range(65536)]
    wide = struct.unpack("<65536I", struct.pack("<65536f", *drawn))
    table = [(bits + 0x7FFF + (bits >> 16 & 1)) >> 16 for bits in wide]
    places = array.array("H")
    places.frombytes(chance.getrandbits(16 * count).to_bytes(2 * count, "little"))
    return array.array("H", [table[place] for place in places])


def cublas_whole(form: str, seed: int, count: int) -> "array.array[int]":
    """Return `count` random integers as fp8 (bits of E4M3, -2 to 2) or int8 (-127 to 127)."""
    chance, code = random.Random(seed), CUBLAS_FORMS[form][4]  # noqa: S311  reproducible, not secret
    small = form == "fp8"
    drawn = [CUBLAS_E4M3[chance.randint(-2, 2)] if small else chance.randint(-127, 127) for _ in range(65536)]
    places = array.array("H")
    places.frombytes(chance.getrandbits(16 * count).to_bytes(2 * count, "little"))
    return array.array(code, [drawn[place] for place in places])


def cublas_number(bits: int) -> float:
    """Return the value of 16 bits interpreted as bf16."""
    return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])


class CublasProduct:
    """The matrix product D = A^T B on the GPU of the current context; all matrices are square, stored column by column.

    `side` is the number of rows and columns of each matrix, `form` is a key of CUBLAS_FORMS. Raises CublasTrouble for
    an error of the cuBLASLt library, and CudaTrouble for an error of the CUDA driver.
    """

    def __init__(
        self, driver: "CudaDriver", cublas: "Cublas", clock: Callable[[], float], stop: Any, side: int = CUBLAS_SIDE,
        form: str = "bf16",
    ) -> None:  # fmt: skip
        self.driver, self.cublas, self.clock, self.stop, self.side = driver, cublas, clock, stop, side
        self.work, self.form = 2 * side**3, form
        given, made, compute, scale, code, self._code = CUBLAS_FORMS[form]
        self._width, (free, _) = struct.calcsize(code), driver.memory()
        self._size, self._out = self._width * side * side, struct.calcsize(self._code) * side * side
        self._a, self._b, self._d = [driver.take(size) for size in (self._size, self._size, self._out)]
        self._room = min(CUBLAS_SPACE, free // 8)
        self._space = driver.take(self._room)
        self._stream = driver.handle("cuStreamCreate", 1)
        self._begin, self._end = driver.handle("cuEventCreate", 0), driver.handle("cuEventCreate", 0)
        self._handle = cublas.make("cublasLtCreate")
        self._way = cublas.make("cublasLtMatmulDescCreate", compute, scale)
        for turned, how in ((3, 1), (4, 0)):  # CUBLASLT_MATMUL_DESC_TRANSA: yes, _TRANSB: no
            cublas.call("cublasLtMatmulDescSetAttribute", self._way, turned, ctypes.byref(ctypes.c_int32(how)), 4)
        self._layout = cublas.make("cublasLtMatrixLayoutCreate", given, side, side, side)
        self._made = cublas.make("cublasLtMatrixLayoutCreate", made, side, side, side)
        self._one: Any = ctypes.c_int32(1) if form == "int8" else ctypes.c_float(1.0)
        self._none: Any = ctypes.c_int32(0) if form == "int8" else ctypes.c_float(0.0)
        self._ways = self._chosen()
        self._best = self._ways[0]
        self._values: List[Any] = []

    def _chosen(self) -> List[bytes]:
        """Return the algorithms that the library recommends."""
        wish = self.cublas.make("cublasLtMatmulPreferenceCreate")
        room = ctypes.c_uint64(self._room)  # CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
        self.cublas.call("cublasLtMatmulPreferenceSetAttribute", wish, 1, ctypes.byref(room), 8)
        value, count = ctypes.create_string_buffer(CUBLAS_CHOICE.size * CUBLAS_CHOICES), ctypes.c_int()
        layouts = (self._layout, self._layout, self._made, self._made)
        given = [self._handle, self._way, *layouts, wish, CUBLAS_CHOICES, value, ctypes.byref(count)]
        self.cublas.call("cublasLtMatmulAlgoGetHeuristic", *given)
        self.cublas.call("cublasLtMatmulPreferenceDestroy", wish)
        rows = [CUBLAS_CHOICE.unpack_from(value.raw, n * CUBLAS_CHOICE.size) for n in range(count.value)]
        found = [row[0] for row in rows if row[2] == 0 and row[1] <= self._room]
        if not found:
            raise CublasTrouble("unsupported: cuBLASLt has no algorithm for %s products on this GPU" % self.form)
        return found

    def fill(self, kind: str, seed: int) -> None:
        """Write values into A and B; the same seed gives the same values.

        `kind` is that of cublas_values; the values of fp8 and int8 are always those of cublas_whole.
        """
        driver, count = self.driver, min(CUBLAS_PERIOD, self.side * self.side)
        whole, length = self.form != "bf16", count * self._width
        drawn = [seed, seed + 1]
        integers = [cublas_whole(self.form, at, count) for at in drawn] if whole else []
        self._values = integers or [cublas_values(kind, at, count) for at in drawn]
        host = driver.handle("cuMemHostAlloc", length, 0)
        for at, values in zip((self._a, self._b), self._values):  # noqa: B905  Python 3.6 has no strict
            ctypes.memmove(host, values.tobytes(), length)
            for offset in range(0, self._size, length):
                size = min(length, self._size - offset)
                driver.call("cuMemcpyHtoDAsync_v2", at + offset, host, size, self._stream)
            self._go(0)
            self._come()
        driver.call("cuMemFreeHost", host)

    def settle(self) -> None:
        """Choose the fastest of the recommended algorithms."""
        took = {}
        for way in self._ways:
            self._best = way
            self.seconds(1)
            took[way] = self.seconds(3)
        self._best = min(self._ways, key=lambda way: took[way])

    def _go(self, times: int) -> None:
        self.driver.call("cuEventRecord", self._begin, self._stream)
        one, none, layout, made = ctypes.byref(self._one), ctypes.byref(self._none), self._layout, self._made
        for _ in range(times):
            self.cublas.call(
                "cublasLtMatmul", self._handle, self._way, one, self._a, layout, self._b, layout, none, self._d, made,
                self._d, made, self._best, self._space, self._room, self._stream,
            )  # fmt: skip
        self.driver.call("cuEventRecord", self._end, self._stream)

    def _come(self) -> None:
        since = self.clock()
        while not self.driver.come(self._end):
            if self.stop.is_set():
                raise CublasTrouble("stopped")
            if self.clock() - since > CUBLAS_HANG:
                raise CublasTrouble("hang: a product did not complete within %g s" % CUBLAS_HANG)
            time.sleep(0.0002)

    def seconds(self, times: int) -> float:
        """Compute the matrix product `times` times; return the GPU's seconds. Raises CublasTrouble if `stop` is set."""
        self._go(times)
        self._come()
        return max(self.driver.seconds(self._begin, self._end), 1e-9)

    def rates(self, until: float) -> List[float]:
        """Multiply matrices until `until`, in batches of about CUBLAS_SLICE seconds; return their rates in FLOP/s."""
        times = 1
        rows: List[float] = []
        while not rows or (self.clock() < until and not self.stop.is_set()):
            seconds = self.seconds(times)
            rows.append(times * self.work / seconds)
            times = max(1, min(int(times * CUBLAS_SLICE / seconds), 4 * times))
        return rows

    def wrong(self) -> int:
        """Compare eight elements of the last product with the CPU's results; return how many are wrong.

        Products of integers must be equal; products of bf16 must not exceed a tolerance.
        """
        side, bad, width = self.side, 0, struct.calcsize(self._code)
        got, meant = ctypes.create_string_buffer(width), {bits: float(whole) for whole, bits in CUBLAS_E4M3.items()}
        values_of: Dict[str, Callable[[int], float]] = {
            "bf16": cublas_number, "fp8": meant.__getitem__, "int8": float,
        }  # fmt: skip
        value = values_of[self.form]
        for n in range(8):
            row, column = n * 37 % side, n * 101 % side
            at = self._d + width * (row + column * side)
            self.driver.call("cuMemcpyDtoHAsync_v2", got, at, width, self._stream)
            self._go(0)
            self._come()
            a, b = [
                [value(values[(line * side + k) % len(values)]) for k in range(side)]
                for values, line in ((self._values[0], row), (self._values[1], column))
            ]
            each = [x * y for x, y in zip(a, b)]  # noqa: B905  Python 3.6 has no strict
            want, spread, found = sum(each), sum(x * x for x in each) ** 0.5, struct.unpack(self._code, got.raw)[0]
            if self.form != "bf16":
                bad += found != want
                continue
            # bf16 has 8 significant bits, and the library chooses the order of the sum.
            bad += not abs(cublas_number(found) - want) <= abs(want) / 128 + spread / 50
        return bad

    def digest(self) -> int:
        """Return the CRC-32 of the whole last product."""
        size, crc = min(CUBLAS_CHUNK, self._out), 0
        host = self.driver.handle("cuMemHostAlloc", size, 0)
        for offset in range(0, self._out, size):
            part = min(size, self._out - offset)
            self.driver.call("cuMemcpyDtoHAsync_v2", host, self._d + offset, part, self._stream)
            self._go(0)
            self._come()
            crc = zlib.crc32(ctypes.string_at(host, part), crc)
        self.driver.call("cuMemFreeHost", host)
        return crc

    def leave(self) -> None:
        """Release all resources."""
        for name, thing in (("cublasLtMatrixLayoutDestroy", self._layout), ("cublasLtMatrixLayoutDestroy", self._made),
                            ("cublasLtMatmulDescDestroy", self._way), ("cublasLtDestroy", self._handle)):  # fmt: skip
            self.cublas.call(name, thing)
        for at in (self._a, self._b, self._d, self._space):
            self.driver.call("cuMemFree_v2", at)
        for event in (self._begin, self._end):
            self.driver.call("cuEventDestroy_v2", event)
        self.driver.call("cuStreamDestroy_v2", self._stream)


def cublas_rate(
    driver: "CudaDriver", cublas: "Cublas", clock: Callable[[], float], stop: Any, seconds: float, side: int,
    form: str = "bf16",
) -> Dict[str, Any]:  # fmt: skip
    """Multiply random matrices for `seconds` on the GPU of the current context; return the median rate.

    For fp8 and int8, `mismatches` is the number of wrong elements among those that were compared with the CPU's, plus 1
    if any element of the last product differs from the first product.
    """
    product, more = CublasProduct(driver, cublas, clock, stop, side, form), {}
    product.fill("normal", 1)
    product.settle()
    wrong, whole = product.wrong(), form != "bf16"
    if wrong and not whole:
        raise CublasTrouble("unsupported: %s returns a wrong product" % cublas.path)
    first = product.digest() if whole else 0
    rates = product.rates(clock() + seconds)
    if whole:
        more["mismatches"] = wrong + (product.digest() != first)
    product.leave()
    middle = sorted(rates)[len(rates) // 2]
    kind = "integer" if whole else "normal"
    return dict(more, rate=middle, turns=len(rates), side=side, data=kind, type=form)
