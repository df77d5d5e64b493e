# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Measures the rates of a GPU's matrix products with the cuBLASLt library that is installed on the node.

The rates are references, not a pass or fail, because they depend on the library's version, which differs between nodes.
The products of integers are exact in any order of the sums, so they are compared with the CPU's (cublas_forms.py).
The calls of cuBLASLt were checked against cublasLt.h of CUDA 13.1; without a GPU, only creating and freeing descriptors
was tested, with the library of CUDA 13.1. The matrix products of cuBLASLt are unverified on hardware.
"""

import ctypes
import struct
import time
import zlib
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

if TYPE_CHECKING:
    from rackcheck.burnin.node.cublas_forms import CUBLAS_BF16, CUBLAS_SIDE, CublasForm
    from rackcheck.burnin.node.cublas_library import Cublas, CublasTrouble
    from rackcheck.burnin.node.cuda import CudaDriver

CUBLAS_SLICE, CUBLAS_HANG = 0.02, 5.0
"""Target duration of a batch of matrix products, and the time after which a batch counts as hanging; in seconds."""

CUBLAS_SPACE = 32 << 20
"""Size of the library's workspace on the GPU, in bytes."""

CUBLAS_PERIOD = 1000003
"""Number of values after which the content of a matrix repeats: a prime, so that no two rows are identical."""

CUBLAS_CHUNK = 16 << 20
"""Bytes of a product that are copied to the host at a time."""

CUBLAS_CHOICE = struct.Struct("<64sQif4i")
"""cublasLtMatmulHeuristicResult_t: the algorithm, its workspace in bytes, its status."""

CUBLAS_CHOICES = 4


class CublasProduct:
    """The matrix product D = A^T B on the GPU of the current context; all matrices are square, stored column by column.

    `side` is the number of rows and columns of each matrix, by default CUBLAS_SIDE; `form` is by default CUBLAS_BF16.
    Raises CublasTrouble for an error of the cuBLASLt library, and CudaTrouble for an error of the CUDA driver.
    """

    def __init__(
        self, driver: "CudaDriver", cublas: "Cublas", clock: Callable[[], float], stop: Any, side: int = 0,
        form: Optional["CublasForm"] = None,
    ) -> None:  # fmt: skip
        self.driver, self.cublas, self.clock, self.stop = driver, cublas, clock, stop
        self.side = side = side or CUBLAS_SIDE
        self.form = form = form or CUBLAS_BF16
        self.work, (free, _) = 2 * side**3, driver.memory()
        self._width = struct.calcsize(form.code)
        self._size, self._out = self._width * side * side, struct.calcsize(form.out) * side * side
        self._a, self._b, self._d = [driver.take(size) for size in (self._size, self._size, self._out)]
        self._room = min(CUBLAS_SPACE, free // 8)
        self._space = driver.take(self._room)
        self._stream = driver.handle("cuStreamCreate", 1)
        self._begin, self._end = driver.handle("cuEventCreate", 0), driver.handle("cuEventCreate", 0)
        self._handle = cublas.make("cublasLtCreate")
        self._way = cublas.make("cublasLtMatmulDescCreate", form.compute, form.scale)
        for turned, how in ((3, 1), (4, 0)):  # CUBLASLT_MATMUL_DESC_TRANSA: yes, _TRANSB: no
            cublas.call("cublasLtMatmulDescSetAttribute", self._way, turned, ctypes.byref(ctypes.c_int32(how)), 4)
        self._layout = cublas.make("cublasLtMatrixLayoutCreate", form.given, side, side, side)
        self._made = cublas.make("cublasLtMatrixLayoutCreate", form.made, side, side, side)
        scale: Any = ctypes.c_float if form.out != "i" else ctypes.c_int32
        self._one, self._none = scale(1), scale(0)
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
            raise CublasTrouble("unsupported: cuBLASLt has no algorithm for %s products on this GPU" % self.form.name)
        return found

    def fill(self, kind: str, seed: int) -> None:
        """Write values of a kind of the form into A and B; the same seed gives the same values."""
        driver, count = self.driver, min(CUBLAS_PERIOD, self.side * self.side)
        length = count * self._width
        self._values = [self.form.values(kind, at, count) for at in (seed, seed + 1)]
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

        Products of integers must be equal; the others must not exceed a tolerance.
        """
        side, form, bad, width = self.side, self.form, 0, struct.calcsize(self.form.out)
        got, value = ctypes.create_string_buffer(width), form.number
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
            want, spread = sum(each), sum(x * x for x in each) ** 0.5
            found = form.result(struct.unpack(form.out, got.raw)[0])
            # bf16 has 8 significant bits, and the library chooses the order of the sum.
            close = 0.0 if form.exact else abs(want) / 128 + spread / 50
            bad += not abs(found - want) <= close
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
    form: "CublasForm",
) -> Dict[str, Any]:  # fmt: skip
    """Multiply random matrices for `seconds` on the GPU of the current context; return the median rate.

    For integers, `mismatches` is the number of wrong elements among those that were compared with the CPU's, plus 1 if
    any element of the last product differs from the first product.
    """
    product, more = CublasProduct(driver, cublas, clock, stop, side, form), {}
    product.fill(form.data, 1)
    product.settle()
    wrong = product.wrong()
    if wrong and not form.exact:
        raise CublasTrouble("unsupported: %s returns a wrong product" % cublas.path)
    first = product.digest() if form.exact else 0
    rates = product.rates(clock() + seconds)
    if form.exact:
        more["mismatches"] = wrong + (product.digest() != first)
    product.leave()
    middle = sorted(rates)[len(rates) // 2]
    return dict(more, rate=middle, turns=len(rates), side=product.side, data=form.data, type=form.name)
