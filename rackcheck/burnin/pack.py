"""Builds the program that is sent to a node: node-side sources, kernels, the needed part of pynvml, and the plan."""

import ast
import json
import lzma
import re
from base64 import b85encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import compress

from rackcheck import __version__
from rackcheck.model.regex import regex
from rackcheck.probe.tree_shaking import needed

SOURCES = (
    "wire",
    "cpu_facts", "cpu_kernels", "cpu_tasks", "cpu_stdlib", "cpu_answers", "cpu_rates", "cpu_amx", "cpu_ram",
    "cpu_quiet", "cpu",
    "cuda", "gpu_parts", "gpu_truth", "gpu_bench", "gpu_memory", "gpu_units", "gpu_links", "gpu",
    "gpu_peers", "gpu_turns", "gpu_quiet", "gpu_work",
    "node_files", "node_accelerators", "node_reader", "kernel_log",
    "nvml_driver", "nvml_about", "nvml_rows", "nvml_gpus", "nvml_refusal", "gpu_listing", "telemetry",
    "cublas_library", "cublas_forms", "cublas", "cublas_tool",
    "tool_accelerators", "tool_words", "tool_run", "tool_server", "tools",
    "disk", "child", "supervisor", "main",
)  # fmt: skip
"""The node-side files in the order in which they are joined; main comes last."""

LARGEST = 192 << 10
"""Maximum size of the program, in bytes."""

_UNUSED = regex(r"^if TYPE_CHECKING:\n(?:(?: +.*)?\n)*(?=\S)", re.MULTILINE)
"""Imports for type checkers, which no node needs."""

_TEXT = """\
# A burn-in of rackcheck {version}: python3 -I -S reads this, runs it and leaves no files.
import time
BEGAN = time.monotonic()
import base64, json, sys, zlib
PLAN = json.loads({plan!r})
def _unpacked(text):
    return zlib.decompress(base64.b85decode(text))
CARRIED = {carried}
NAMES = {{"__name__": "rackcheck_burnin"}}
exec(compile(_unpacked({sources!r}), "rackcheck-burnin", "exec"), NAMES)
NAMES["main"](PLAN, CARRIED, BEGAN)
"""

LOADER = "import sys;exec(sys.stdin.buffer.read({size}))"
"""The program on python3's command line: it runs `size` bytes of standard input, and leaves the rest unread."""

PYTHONS = ("python3", "/usr/libexec/platform-python", "python3.6")
"""Names and paths under which Python may be found on a node."""


def payload(plan: Mapping[str, Any]) -> str:
    """Return the program that runs a plan on a node."""
    text = json.dumps({**plan, "version": __version__}, sort_keys=True, separators=(",", ":"))
    carried, sources = _carried()
    return _TEXT.format(version=__version__, plan=text, carried=carried, sources=sources)


def command(size: int) -> str:
    """Return the command for a node's login shell: the first Python found reads `size` bytes and runs them.

    Only single quotes are used, so that sh, bash, csh and fish parse the command in the same way.
    """
    loader = LOADER.format(size=size)
    tries = " ".join(PYTHONS)
    return (
        f"sh -c 'for p in {tries}; do command -v $p >/dev/null 2>&1 && exec $p -I -S -c \"{loader}\"; done; exit 127'"
    )


def sources() -> str:
    """Return the node-side files, joined into one text, without their imports for type checkers."""
    node = files("rackcheck.burnin").joinpath("node")
    return "\n".join(
        _UNUSED.sub("", node.joinpath(f"{name}.py").read_text(encoding="utf-8"))
        for name in SOURCES
        if node.joinpath(f"{name}.py").is_file()
    )


@cache
def _carried() -> tuple[str, str]:
    """Return what is the same for all nodes: the kernels as a Python expression, and the compressed sources."""
    kernels = files("rackcheck.burnin").joinpath("kernels")
    text = sources()
    cpu = {name: _packed(kernels.joinpath(f"cpu-{name}.so").read_bytes()) for name in ("x86_64", "aarch64")}
    gpu = {
        name: _packed(lzma.decompress(kernels.joinpath(f"gpu.{name}.xz").read_bytes()))
        for name in ("ptx", "sm_80", "sm_90")
    }
    literal = (
        f'{{"cpu": {_literal(cpu)}, "gpu": {_literal(gpu)}, "nvml": _unpacked({_packed(_nvml(text).encode())!r})}}'
    )
    return literal, _packed(stripped(text).encode())


def stripped(text: str) -> str:
    """Return a Python program without docstrings, whole-line comments, and imports that only type checkers read.

    The program's other lines are unchanged, so that the oldest Python for which they were written still runs them.
    """
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        for body in (getattr(node, name, None) for name in ("body", "orelse")):
            if not isinstance(body, list):
                continue
            cut = [one for one in body if _unread(one)]
            for one in cut:
                kept = len(cut) == len(body) and one is body[-1]
                first, last = one.lineno - 1, one.end_lineno or one.lineno
                lines[first:last] = ["pass".rjust(one.col_offset + 4) if kept else "", *[""] * (last - first - 1)]
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("#")) + "\n"


def _unread(node: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or a block of imports for type checkers."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _literal(blobs: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{name!r}: _unpacked({text!r})" for name, text in blobs.items()) + "}"


def _packed(data: bytes) -> str:
    return b85encode(compress(data, 9)).decode()


def _nvml(program: str) -> str:
    """Return the part of pynvml that the node-side sources use."""
    spec = find_spec("pynvml")
    if spec is None or spec.origin is None:
        raise ImportError("pynvml, of the package nvidia-ml-py, is not installed")
    return needed(Path(spec.origin).read_text(encoding="utf-8"), program)
