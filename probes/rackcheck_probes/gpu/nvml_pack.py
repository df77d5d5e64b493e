"""The NVML program in packed form: rackcheck's queries, and the part of pynvml that the queries need."""

import os
from base64 import b85encode
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from zlib import compress

from rackcheck.base import program, state
from rackcheck.base.sealed_file import SealedFiles
from rackcheck.probe import index
from rackcheck.probe.tree_shaking import needed


def payload() -> str:
    """Return the text of the Python program that queries NVML; raises ImportError if pynvml is not installed.

    The text is kept in the user's cache by the digest of the program, of which the source of pynvml is a part, unless
    nothing that probes declare is kept.
    """
    code = "" if os.environ.get(index.OFF) == "0" else program.digest()
    if not code:
        return _packed()
    files_ = SealedFiles(state.cache_folder("payloads"), b"rackcheck payload 1\n", MOST)
    kept = files_.load(code)
    if kept is not None:
        return kept.decode()
    text = _packed()
    files_.store(code, text.encode())
    return text


MOST = 4
"""Number of texts that are kept: one for each version of the program that the user has run lately."""


def _packed() -> str:
    spec = find_spec("pynvml")
    if spec is None or spec.origin is None:
        raise ImportError("pynvml, of the package nvidia-ml-py, is not installed")
    ours = files("rackcheck_probes").joinpath("payload/nvml.py").read_text()
    theirs = needed(Path(spec.origin).read_text(), ours)
    packed = b85encode(compress(f"{theirs}\0{ours}".encode(), 9)).decode()
    return (
        'import base64, sys, types, zlib\nsys.modules["pynvml"] = pynvml = types.ModuleType("pynvml")\n'
        f'theirs, ours = zlib.decompress(base64.b85decode("{packed}")).split(b"\\0")\n'
        "exec(theirs, vars(pynvml))\nexec(ours)\n"
    )
