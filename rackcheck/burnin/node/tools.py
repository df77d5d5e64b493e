"""Finds the tools that are installed on the node, reads their versions, and runs them with fixed arguments.

Nothing is installed; the tools' output is recorded.

One `tool` record is written for each command: `name`, `of`, `argv`, `version`, `status` (exit status; a negative number
is the signal that ended the command; null if the command did not run to its end), `seconds`, `out`, `err`, `why` (only
if `status` is null), `cut` (the number of dropped output bytes), `asked` (the tests that the command's configuration
lists, if it has one) and `before` (only of `amd-smi`: its output before all other tools).
"""

import glob
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence

if TYPE_CHECKING:
    from rackcheck.burnin.node.cublas_tool import run_cublas
    from rackcheck.burnin.node.gpu_parts import GpuPart
    from rackcheck.burnin.node.tool_accelerators import tool_between
    from rackcheck.burnin.node.tool_run import tool_run
    from rackcheck.burnin.node.tool_server import tool_with_server
    from rackcheck.burnin.node.tool_words import TOOLS, ToolNode

TOOL_FOLDERS = (
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/opt/nccl-tests/build",
    "/usr/libexec/datacenter-gpu-manager-4/plugins/cuda[0-9]*", "/opt/rocm/bin", "/opt/rocm-[0-9]*/bin",
    "/opt/habanalabs/qual/gaudi[0-9]/bin",
)  # fmt: skip
"""Folders that are searched for tools after those on PATH."""


def run_tools(
    names: Sequence[str],
    emit: Callable[..., None],
    clock: Callable[[], float],
    stop: Any,
    until: float,
    root: str = "/",
    folders: Optional[Sequence[str]] = None,
    parts: Optional[Mapping[int, "GpuPart"]] = None,
) -> None:
    """Run tools one after the other, and write a `tool` record for each command; ends by `until`, or soon after `stop`.

    The error counters of `amd-smi` are read before all other tools and after them. `parts` has the GPUs that NVML
    lists, each with the reason if it must not be used; only the tool `cublas` reads it. The calling thread must live
    until this function returns: the kernel ends a tool when the thread that started it ends.
    """
    before = _tool_counters(clock, stop, until, root, folders) if "amd-smi" in names else None
    for name in sorted(dict.fromkeys(names), key="amd-smi".__eq__):
        if name == "cublas":
            run_cublas(emit, clock, stop, until, parts)
            continue
        tool = TOOLS.get(name)
        if tool is None:
            _tool_untested(emit, name, "node", "unsupported: this version of rackcheck has no such tool")
            continue
        exe = find_tool(tool.command, folders)
        unfit = tool.foreign(ToolNode(root)) if exe else "tool missing"
        if exe is None or unfit:
            _tool_untested(emit, name, "node", unfit)
            continue
        message = ""
        if tool.version:
            asked = tool_run([exe, *tool.version], clock, stop, until, 10.0)
            message = asked["out"] + asked["err"]
        version = re.search(
            r"(?:version[: ]{1,3}|fio-|\A\s{0,9})v?([0-9]{1,5}(?:\.[0-9]{1,6}){1,3})", message, re.IGNORECASE
        )
        tried = False
        for of, argv in tool.commands(exe, ToolNode(root, message)):
            tried = True
            number = version.group(1) if version else None
            left = until - clock()
            if stop.is_set() or left < tool.least:
                why = "stopped" if stop.is_set() else f"stopped: only {max(left, 0.0):.0f} s were left"
                _tool_untested(emit, name, of, why, argv, number)
                continue
            runs = tool_with_server if name == "ib_write_bw" else tool_run
            values = runs(argv, clock, stop, until, tool.most, tool.settings)
            if before is not None and name == "amd-smi":
                values = tool_between(before, values)
            emit("tool", name=name, of=of, argv=argv, version=number, **dict(values, **tool.asked(argv)))
        if not tried:
            _tool_untested(emit, name, "node", "unsupported: this node has nothing for it to test")


def _tool_counters(
    clock: Callable[[], float], stop: Any, until: float, root: str, folders: Optional[Sequence[str]]
) -> Optional[Dict[str, Any]]:
    """Query the error counters of AMD GPUs; None if amd-smi is missing or the node has no such GPU."""
    exe, tool = find_tool("amd-smi", folders), TOOLS["amd-smi"]
    commands = tool.commands(exe, ToolNode(root)) if exe else iter(())
    return next((tool_run(argv, clock, stop, until, tool.most) for _, argv in commands), None)


def find_tool(command: str, folders: Optional[Sequence[str]] = None) -> Optional[str]:
    """Return the path of a tool; None if there is no such executable file, or if every user may change it."""
    places = os.environ.get("PATH", "").split(os.pathsep) + list(TOOL_FOLDERS) if folders is None else folders
    for place in filter(os.path.isabs, places):
        for folder in sorted(glob.glob(place), reverse=True):  # noqa: PTH207  pathlib's raises if PATH has no pattern
            file = Path(folder, command)
            try:
                mode = file.stat().st_mode
            except OSError:
                continue
            if stat.S_ISREG(mode) and not mode & stat.S_IWOTH and os.access(str(file), os.X_OK):
                return str(file)
    return None


def _tool_untested(
    emit: Callable[..., None], name: str, of: str, why: str, argv: Sequence[str] = (), version: Optional[str] = None
) -> None:
    emit("tool", name=name, of=of, argv=list(argv), version=version, status=None, seconds=0.0, out="", err="", why=why)
