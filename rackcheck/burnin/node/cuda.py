# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""The CUDA driver by ctypes, on the node: every answer is looked at, and which call is under way can be seen."""

import ctypes
from typing import Any, Callable, Dict, Optional, Tuple

CUDA_NOT_READY = 600
CUDA_NO_MEMORY = 2
CUDA_ECC = 214

CUDA_WORDS = {
    "I": ctypes.c_uint,
    "i": ctypes.c_int,
    "p": ctypes.c_void_p,
    "d": ctypes.c_uint64,
    "z": ctypes.c_size_t,
    "s": ctypes.c_char_p,
}
CUDA_CALLS = {
    "cuInit": "I", "cuDriverGetVersion": "p", "cuDeviceGetCount": "p", "cuDeviceGet": "pi", "cuDeviceGetName": "pii",
    "cuDeviceGetUuid": "pi", "cuDeviceGetPCIBusId": "pii", "cuDeviceTotalMem_v2": "pi", "cuDeviceGetAttribute": "pii",
    "cuDevicePrimaryCtxRetain": "pi", "cuDevicePrimaryCtxRelease_v2": "i", "cuCtxSetCurrent": "p",
    "cuMemGetInfo_v2": "pp", "cuMemAlloc_v2": "pz", "cuMemFree_v2": "d", "cuMemHostAlloc": "pzI", "cuMemFreeHost": "p",
    "cuMemcpyHtoDAsync_v2": "dpzp", "cuMemcpyDtoHAsync_v2": "pdzp", "cuMemcpyPeerAsync": "dpdpzp",
    "cuMemsetD8Async": "dizp", "cuStreamCreate": "pI", "cuStreamDestroy_v2": "p", "cuStreamWaitEvent": "ppI",
    "cuEventCreate": "pI", "cuEventDestroy_v2": "p", "cuEventRecord": "pp", "cuEventQuery": "p",
    "cuEventElapsedTime": "ppp", "cuDeviceCanAccessPeer": "pii", "cuCtxEnablePeerAccess": "pI",
    "cuModuleLoadData": "pp", "cuModuleUnload": "p", "cuModuleGetFunction": "pps", "cuLaunchKernel": "pIIIIIIIppp",
}  # fmt: skip
"""The calls and what each takes, a letter of CUDA_WORDS for each; each answers with a code."""

CUDA_SLOW = ("cuInit", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuModuleLoadData", "cuMemHostAlloc")
"""Calls that wake a driver without persistence, translate PTX or pin memory: they may take long and be well."""

CUDA_WHY = {
    2: "no memory", 46: "foreign process", 100: "no driver", 101: "no driver", 200: "unsupported", 209: "unsupported",
    218: "unsupported", 222: "unsupported", 223: "unsupported", 304: "denied", 500: "unsupported", 800: "denied",
    801: "unsupported", 802: "fabric manager down", 803: "no driver", 804: "no driver", 999: "no driver",
}  # fmt: skip
"""Why nothing was tested, by the code of a call before any work was done (cuda.h of CUDA 12, CUresult)."""

CUDA_GONE = (46, 100, 101, 999)
"""Codes that say, of a GPU that worked a moment ago, that it is there no more. Unverified on hardware."""


class CudaTrouble(Exception):
    """A call that failed: its name, its code (0 where there is no library or no such call), the driver's words."""

    def __init__(self, call: str, code: int, message: str) -> None:
        Exception.__init__(self, "%s: %s" % (call, message) if not code else "%s: code %d, %s" % (call, code, message))
        self.call, self.code, self.said = call, code, message

    def why(self) -> str:
        """Why nothing was tested, a known word first."""
        return "%s: %s" % (CUDA_WHY.get(self.code, "no driver" if not self.code else "lost"), self)

    def name(self) -> str:
        """The finding's name, of trouble that came while work was done."""
        if self.code == CUDA_ECC:
            return "ecc"
        return "lost" if self.code in CUDA_GONE else "cuda"


class CudaDriver:
    """The driver's library. `inside` names the call under way and when it began, for whoever watches for a hang."""

    def __init__(self, library: str, clock: Callable[[], float]) -> None:
        """Open it; raises CudaTrouble where it is not there."""
        self.inside: Optional[Tuple[str, float]] = None
        self._clock = clock
        self._calls: Dict[str, Any] = {}
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise CudaTrouble(library, 0, str(error)) from None

    def call(self, name: str, *given: Any, well: Tuple[int, ...] = (0,)) -> int:
        """Call; answers with the code if it is one of `well`, raises CudaTrouble at any other."""
        function = self._calls.get(name) or self._find(name)
        self.inside = (name, self._clock())
        code = int(function(*given))
        self.inside = None
        if code not in well:
            raise CudaTrouble(name, code, self._said(code))
        return code

    def _find(self, name: str) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise CudaTrouble(name, 0, "the driver's library has no such call") from None
        function.restype = ctypes.c_int
        function.argtypes = [CUDA_WORDS[letter] for letter in CUDA_CALLS[name]]
        self._calls[name] = function
        return function

    def _said(self, code: int) -> str:
        words = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            function = getattr(self._library, name, None)
            if function is not None and function(code, ctypes.byref(text)) == 0 and text.value:
                words.append(text.value.decode("ascii", "replace"))
        return ", ".join(words) or "no words for it"

    def start(self) -> int:
        """Wake the driver; answers with the number of GPUs, raises CudaTrouble."""
        self.call("cuInit", 0)
        return self.whole("cuDeviceGetCount")

    def whole(self, name: str, *given: Any) -> int:
        """Call one that fills an int, first in order."""
        out = ctypes.c_int()
        self.call(name, ctypes.byref(out), *given)
        return out.value

    def handle(self, name: str, *given: Any) -> ctypes.c_void_p:
        """Call one that fills a handle or a pointer, first in order."""
        out = ctypes.c_void_p()
        self.call(name, ctypes.byref(out), *given)
        return out

    def text(self, name: str, device: int) -> str:
        """Call one that fills a text."""
        out = ctypes.create_string_buffer(256)
        self.call(name, out, 256, device)
        return out.value.decode("ascii", "replace")

    def memory(self) -> Tuple[int, int]:
        """Bytes of memory that are free, and in all, of the GPU of the current context."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def take(self, size: int) -> int:
        """Take bytes of the GPU's memory; raises CudaTrouble with CUDA_NO_MEMORY where there are not so many."""
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), size)
        return at.value

    def launch(self, function: Any, grid: int, threads: int, stream: Any, given: Tuple[Any, ...]) -> None:
        """Launch; `given` are ctypes numbers, which the driver copies."""
        places = (ctypes.c_void_p * len(given))(*[ctypes.addressof(one) for one in given])
        self.call("cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, 0, stream, places, None)

    def seconds(self, begin: Any, end: Any) -> float:
        """Give the time between two events that came."""
        out = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(out), begin, end)
        return out.value / 1000.0

    def come(self, event: Any) -> bool:
        """Whether an event came; never waits."""
        return self.call("cuEventQuery", event, well=(0, CUDA_NOT_READY)) == 0


def cuda_described(driver: CudaDriver, device: int) -> Dict[str, Any]:
    """Say what a GPU is: uuid, pci, model, memory (B), sms, cc."""
    uuid, size = ctypes.create_string_buffer(16), ctypes.c_size_t()
    driver.call("cuDeviceGetUuid", uuid, device)
    driver.call("cuDeviceTotalMem_v2", ctypes.byref(size), device)
    digits = uuid.raw.hex()
    cuts = [digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]]
    return {
        "uuid": "GPU-" + "-".join(cuts),
        "pci": driver.text("cuDeviceGetPCIBusId", device).lower(),
        "model": driver.text("cuDeviceGetName", device),
        "memory": size.value,
        "sms": driver.whole("cuDeviceGetAttribute", 16, device),
        "cc": "%d.%d" % (
            driver.whole("cuDeviceGetAttribute", 75, device), driver.whole("cuDeviceGetAttribute", 76, device)
        ),
    }  # fmt: skip
