# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Calls the CUDA driver with ctypes on the node, and checks every return code; `inside` is the call in progress."""

import ctypes
from typing import Any, Callable, Dict, Optional, Tuple

CUDA_NOT_READY = 600
CUDA_NO_MEMORY = 2
CUDA_ECC = 214
CUDA_FABRIC = 802

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
    "cuDeviceGetUuid": "pi", "cuDeviceGetUuid_v2": "pi", "cuDeviceGetPCIBusId": "pii", "cuDeviceTotalMem_v2": "pi",
    "cuDeviceGetAttribute": "pii", "cuDevicePrimaryCtxRetain": "pi", "cuDevicePrimaryCtxRelease_v2": "i",
    "cuCtxSetCurrent": "p", "cuMemGetInfo_v2": "pp",
    "cuMemAlloc_v2": "pz", "cuMemFree_v2": "d", "cuMemHostAlloc": "pzI", "cuMemFreeHost": "p",
    "cuMemcpyHtoDAsync_v2": "dpzp", "cuMemcpyDtoHAsync_v2": "pdzp", "cuMemcpyPeerAsync": "dpdpzp",
    "cuMemsetD8Async": "dizp", "cuStreamCreate": "pI", "cuStreamDestroy_v2": "p", "cuStreamWaitEvent": "ppI",
    "cuEventCreate": "pI", "cuEventDestroy_v2": "p", "cuEventRecord": "pp", "cuEventQuery": "p",
    "cuEventElapsedTime": "ppp", "cuDeviceCanAccessPeer": "pii", "cuCtxEnablePeerAccess": "pI",
    "cuCtxDisablePeerAccess": "p",
    "cuModuleLoadData": "pp", "cuModuleUnload": "p", "cuModuleGetFunction": "pps", "cuLaunchKernel": "pIIIIIIIppp",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": "ppiz",
}  # fmt: skip
"""Argument types of the driver's functions, one letter of CUDA_WORDS per argument; each function returns a code."""

CUDA_SLOW = (
    "cuInit", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuModuleLoadData", "cuModuleGetFunction",
    "cuMemHostAlloc",
)  # fmt: skip
"""Driver functions that may take long without a fault: they may start the driver, compile PTX or pin memory."""

CUDA_WHY = {
    2: "no memory", 34: "no driver", 46: "foreign process", 100: "no driver", 101: "no driver", 102: "unsupported",
    200: "unsupported", 209: "unsupported", 218: "unsupported", 221: "unsupported", 222: "unsupported",
    223: "unsupported", 225: "unsupported", 304: "denied", 500: "unsupported", 800: "denied", 801: "unsupported",
    802: "fabric manager down", 803: "no driver", 804: "no driver", 805: "foreign process", 806: "foreign process",
    807: "foreign process", 808: "foreign process", 809: "foreign process", 810: "foreign process", 999: "no driver",
}  # fmt: skip
"""Reasons why nothing was tested, by the return code (CUresult) of a driver call that failed before any work was done.

The return codes are those of cuda.h of CUDA 12. 34 is a stub library, 46 a GPU that is in use, or in an exclusive mode.
200 to 225 mean that the driver cannot load or compile the kernels for this GPU; 803 and 804 are a library that does not
fit the driver or the GPU; 805 to 810 are errors of MPS.
"""

CUDA_BROKEN = (101, CUDA_FABRIC, 999)
"""Return codes of CUDA_WHY that are a fault even before any work was done: the GPUs exist, but no process can use them.

Any other code of CUDA_WHY means that this GPU or this driver cannot run the test now; it is no fault of a part.
"""

CUDA_GONE = (46, 100, 101, 999)
"""Return codes that mean that the GPU is lost if it worked before. Unverified on hardware."""


class CudaTrouble(Exception):
    """A failed driver call: its name, its code (0 if the library or function is missing), and the driver's message."""

    def __init__(self, call: str, code: int, message: str) -> None:
        Exception.__init__(self, "%s: %s" % (call, message) if not code else "%s: code %d, %s" % (call, code, message))
        self.call, self.code, self.message = call, code, message

    def why(self) -> str:
        """Return why nothing was tested, beginning with a word that the controller parses, such as `no driver`."""
        return "%s: %s" % (CUDA_WHY.get(self.code, "no driver" if not self.code else "lost"), self)

    def faulty(self) -> bool:
        """Return whether the error is a fault if it occurs before any work was done."""
        return bool(self.code) and (self.code not in CUDA_WHY or self.code in CUDA_BROKEN)

    def name(self) -> str:
        """Return the name of the finding for an error that occurred under load."""
        if self.code == CUDA_ECC:
            return "ecc"
        return "lost" if self.code in CUDA_GONE else "cuda"


class CudaDriver:
    """The driver's library. `inside` has the name of the current call and its start, to detect a hang."""

    def __init__(self, library: str, clock: Callable[[], float]) -> None:
        """Open the library; raises CudaTrouble if it is missing."""
        self.inside: Optional[Tuple[str, float]] = None
        self._clock = clock
        self._calls: Dict[str, Any] = {}
        try:
            self._library = ctypes.CDLL(library)
        except OSError as error:
            raise CudaTrouble(library, 0, str(error)) from None

    def call(self, name: str, *given: Any, well: Tuple[int, ...] = (0,)) -> int:
        """Call a driver function; return its code if `well` contains the code, otherwise raise CudaTrouble."""
        function = self._calls.get(name) or self._find(name)
        self.inside = (name, self._clock())
        code = int(function(*given))
        self.inside = None
        if code not in well:
            raise CudaTrouble(name, code, self._message(code))
        return code

    def _find(self, name: str) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError:
            raise CudaTrouble(name, 0, "the driver's library has no such function") from None
        function.restype = ctypes.c_int
        function.argtypes = [CUDA_WORDS[letter] for letter in CUDA_CALLS[name]]
        self._calls[name] = function
        return function

    def _message(self, code: int) -> str:
        words = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            function = getattr(self._library, name, None)
            if function is not None and function(code, ctypes.byref(text)) == 0 and text.value:
                words.append(text.value.decode("ascii", "replace"))
        return ", ".join(words) or "no error text"

    def start(self) -> int:
        """Initialise the driver; return the number of GPUs. Raises CudaTrouble if the driver returns an error."""
        self.call("cuInit", 0)
        return self.whole("cuDeviceGetCount")

    def whole(self, name: str, *given: Any) -> int:
        """Call a function that writes an int to its first argument; return the int."""
        out = ctypes.c_int()
        self.call(name, ctypes.byref(out), *given)
        return out.value

    def handle(self, name: str, *given: Any) -> ctypes.c_void_p:
        """Call a function that writes a handle or a pointer to its first argument; return that value."""
        out = ctypes.c_void_p()
        self.call(name, ctypes.byref(out), *given)
        return out

    def text(self, name: str, device: int) -> str:
        """Call a function that writes a text to its first argument; return the text."""
        out = ctypes.create_string_buffer(256)
        self.call(name, out, 256, device)
        return out.value.decode("ascii", "replace")

    def memory(self) -> Tuple[int, int]:
        """Return the free and the total memory, in bytes, of the GPU of the current context."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def take(self, size: int) -> int:
        """Allocate this many bytes of GPU memory; raises CudaTrouble with CUDA_NO_MEMORY if too little is free."""
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), size)
        return at.value

    def launch(self, function: Any, grid: int, threads: int, stream: Any, given: Tuple[Any, ...]) -> None:
        """Launch a kernel; `given` are its arguments as ctypes numbers, which the driver copies."""
        places = (ctypes.c_void_p * len(given))(*[ctypes.addressof(one) for one in given])
        self.call("cuLaunchKernel", function, grid, 1, 1, threads, 1, 1, 0, stream, places, None)

    def seconds(self, begin: Any, end: Any) -> float:
        """Return the seconds between two completed events."""
        out = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(out), begin, end)
        return out.value / 1000.0

    def come(self, event: Any) -> bool:
        """Return whether an event is complete; never waits."""
        return self.call("cuEventQuery", event, well=(0, CUDA_NOT_READY)) == 0


def cuda_uuid(driver: CudaDriver, device: int) -> str:
    """Return a device's UUID in NVML's form; for a MIG slice, the slice's UUID if the driver has CUDA 11.4 or newer."""
    uuid = ctypes.create_string_buffer(16)
    try:
        driver.call("cuDeviceGetUuid_v2", uuid, device)
    except CudaTrouble as trouble:
        if trouble.code:
            raise
        driver.call("cuDeviceGetUuid", uuid, device)
    digits = uuid.raw.hex()
    return "GPU-" + "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def cuda_described(driver: CudaDriver, device: int) -> Dict[str, Any]:
    """Return a GPU's uuid, PCI address, model, memory in bytes, number of SMs and compute capability."""
    size = ctypes.c_size_t()
    driver.call("cuDeviceTotalMem_v2", ctypes.byref(size), device)
    return {
        "uuid": cuda_uuid(driver, device),
        "pci": driver.text("cuDeviceGetPCIBusId", device).lower(),
        "model": driver.text("cuDeviceGetName", device),
        "memory": size.value,
        "sms": driver.whole("cuDeviceGetAttribute", 16, device),
        "cc": "%d.%d" % (
            driver.whole("cuDeviceGetAttribute", 75, device), driver.whole("cuDeviceGetAttribute", 76, device)
        ),
    }  # fmt: skip
