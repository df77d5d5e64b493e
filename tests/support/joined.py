"""The payload's files as on a node: some of them in one namespace, in the order in which the payload joins them."""

from pathlib import Path
from types import ModuleType
from typing import Any

import rackcheck.burnin.node
from rackcheck.burnin.pack import SOURCES

NODE = Path(str(rackcheck.burnin.node.__file__)).parent
CPU = tuple(name for name in SOURCES if name.startswith("cpu"))
TELEMETRY = tuple(name for name in SOURCES if name.startswith(("node_", "kernel_log", "nvml_", "telemetry")))
TOOLS = tuple(name for name in SOURCES if name.startswith("tool") or name in {"node_files", "node_accelerators"})


def files(*names: str) -> list[Path]:
    """Return the files of these names, in the payload's order; raises ValueError for one that is not shipped."""
    return [NODE / f"{name}.py" for name in sorted(names, key=SOURCES.index)]


def source(*names: str) -> str:
    """Return the text of these files, joined."""
    return "\n".join(file.read_text(encoding="utf-8") for file in files(*names))


def joined(*names: str) -> Any:
    """Run these files in one namespace, returned as a module; tracebacks show the place in each file."""
    module = ModuleType("joined_" + names[-1])
    for file in files(*names):
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), vars(module))
    return module
