# ruff: noqa: UP031  for a node: Python 3.6, and one namespace for all files
"""Finds the copies of the cuBLASLt library on a node, and calls their functions with ctypes.

No copy of the library is sent to the node.
"""

import ctypes
import glob
import os
import re
import stat
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.cuda import CUDA_WORDS, CudaDriver

CUBLAS_NAME = re.compile(r"libcublasLt\.so\.([0-9]{1,3})(?:\.[0-9.]{1,40})?\Z")

CUBLAS_FOLDERS = (
    "/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/opt/cuda*/lib64", "/usr/lib/*-linux-gnu",
    "/usr/lib64", "/usr/lib", "/opt/nvidia/hpc_sdk/*/*/math_libs/*/lib64", "/opt/nvidia/hpc_sdk/*/*/math_libs/lib64",
)  # fmt: skip
CUBLAS_SITES = ("/usr", "/usr/local", "/opt/*", "/opt/conda/envs/*", "~/.local", "~/*", "~/*/envs/*")
CUBLAS_PACKAGES = ("nvidia/cublas/lib", "nvidia/cu[0-9]*/lib", "torch/lib")
"""Where cuBLASLt is searched for: CUDA and system folders; Python's prefixes; package folders below a prefix."""

CUBLAS_CALLS = {
    "cublasLtCreate": "p", "cublasLtDestroy": "p", "cublasLtMatmulDescCreate": "pii", "cublasLtMatmulDescDestroy": "p",
    "cublasLtMatmulDescSetAttribute": "pipz", "cublasLtMatrixLayoutCreate": "piddd", "cublasLtMatrixLayoutDestroy": "p",
    "cublasLtMatmulPreferenceCreate": "p", "cublasLtMatmulPreferenceDestroy": "p",
    "cublasLtMatmulPreferenceSetAttribute": "pipz", "cublasLtMatmulAlgoGetHeuristic": "pppppppipp",
    "cublasLtMatmul": "pppdpdppdpdppdzp",
}  # fmt: skip
"""Argument types of the library's functions, one letter of CUDA_WORDS per argument; each function returns a status."""


CUBLAS_UNABLE = (7, 8, 15)
"""Statuses of cublas_api.h for what a GPU or a version does not offer: INVALID_VALUE, ARCH_MISMATCH, NOT_SUPPORTED."""


class CublasTrouble(Exception):
    """An error on opening or calling the library; the message begins with a word that the controller parses."""


class Cublas:
    """The cuBLASLt library loaded from one file.

    `version` is the version that the library reports; None for old libraries, which use another number format.
    """

    def __init__(self, path: str) -> None:
        """Open the library; raises CublasTrouble if that fails."""
        self.path = path
        try:
            self._library = ctypes.CDLL(path)
            value: Any = self._library.cublasLtGetVersion
        except (OSError, AttributeError) as error:
            raise CublasTrouble("unsupported: %s" % error) from None
        value.restype, value.argtypes = ctypes.c_size_t, []
        number = int(value())
        dotted = "%d.%d.%d" % (number // 10000, number // 100 % 100, number % 100)
        self.version = dotted if number >= 100000 else None

    def call(self, name: str, *given: Any) -> None:
        """Call a function; raises CublasTrouble if the status is not 0."""
        function = getattr(self._library, name, None)
        if function is None:
            raise CublasTrouble("unsupported: %s has no %s" % (self.path, name))
        function.restype, function.argtypes = ctypes.c_int, [CUDA_WORDS[letter] for letter in CUBLAS_CALLS[name]]
        status = function(*given)
        if status:
            word = "unsupported" if status in CUBLAS_UNABLE else "lost"
            raise CublasTrouble("%s: %s returns status %d" % (word, name, status))

    def make(self, name: str, *given: Any) -> ctypes.c_void_p:
        """Call a library function that creates an object, and return the object."""
        out = ctypes.c_void_p()
        self.call(name, ctypes.byref(out), *given)
        return out


def find_cublas(folders: Optional[Sequence[str]] = None) -> List[Tuple[int, str]]:
    """Return the copies of the library as (major version, file), the newest first.

    A file is left out if any user may write to it, or if its owner is neither root nor the current user: its code would
    run with the current user's rights.
    """
    places = list(folders or ())
    if folders is None:
        places = [place for place in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if place]
        places += CUBLAS_FOLDERS
        for site in CUBLAS_SITES:
            for package in CUBLAS_PACKAGES:
                places += ["%s/lib*/python3*/%s-packages/%s" % (site, kind, package) for kind in ("site", "dist")]
    found: Dict[str, int] = {}
    for place in filter(os.path.isabs, map(os.path.expanduser, places)):
        for file in sorted(glob.glob(place + "/libcublasLt.so.[0-9]*")):  # noqa: PTH207  patterns with many stars
            name = CUBLAS_NAME.search(file)
            try:
                about = os.stat(file)  # noqa: PTH116  the status of the file that a link points to
            except OSError:
                continue
            ours = about.st_uid in (0, os.geteuid()) and not about.st_mode & stat.S_IWOTH
            if name and ours and stat.S_ISREG(about.st_mode):
                found.setdefault(os.path.realpath(file), int(name.group(1)))
    return sorted(((major, file) for file, major in found.items()), key=lambda one: -one[0])


def open_cublas(copies: Sequence[Tuple[int, str]], driver: "CudaDriver") -> "Cublas":
    """Open the newest copy that this driver supports; raises CublasTrouble with a reason for each copy if all fail."""
    able, value = driver.whole("cuDriverGetVersion") // 1000, []
    for major, file in copies:
        if not 11 <= major <= able:
            value.append("%s does not work with a driver of CUDA %d" % (file, able))
            continue
        try:
            return Cublas(file)
        except CublasTrouble as trouble:
            value.append(str(trouble).partition(": ")[2])
    raise CublasTrouble("unsupported: %s" % "; ".join(value)[:400])
