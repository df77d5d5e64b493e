"""Decides on the node which GPUs must not be tested, and why: a GPU in use, a shared GPU, a part of a GPU."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_files import node_text

MPS_NAME = "nvidia-cuda-mps"
"""The kernel's name of the processes nvidia-cuda-mps-control and nvidia-cuda-mps-server: their first 15 characters."""

IDLE_MEMORY = 2 << 30
"""Bytes of its memory that an idle GPU may have in use; drivers reserve 480 MiB of an H100 and 616 MiB of an H200."""


def mps_process(root: "str") -> "str":
    """Return the process ID of a running MPS daemon or server; empty if there is none."""
    try:
        found = sorted(int(each.name) for each in Path(root + "/proc").iterdir() if each.name.isdecimal())
    except OSError:
        return ""
    return next((str(pid) for pid in found if node_text(f"{root}/proc/{pid}/comm") == MPS_NAME), "")


def nvml_refused(gpus: "Any", found: "Any") -> "Any":
    """Return why GPUs must not be tested, by NVML index as text; `found` is the result of `gpus.hello()`.

    In an exclusive mode, only one process may use a GPU, and a test of the links needs two. With MPS, the results and
    the errors of one process depend on those of others. A GPU with MIG is several smaller GPUs. A GPU whose processes
    NVML does not report may be in use. NVML does not list the processes of other containers, but counts their memory;
    where the kernel itself may use a GPU's memory (Grace), that count proves nothing.
    """
    coherent = os.uname().machine == "aarch64"
    foreign = gpus.foreign(set()) if found else {}
    unknown = {trouble["of"]: trouble["why"] for trouble in gpus.troubles}
    mps, refused = mps_process(gpus.root) if found else "", {}
    for index, about in found.items():
        mode, who = about.get("mode", "default"), foreign.get(int(index), "")
        if about.get("mig"):
            refused[index] = f"unsupported: MIG on gpu/{index}"
        elif mode != "default":
            refused[index] = f"unsupported: compute mode {mode} on gpu/{index}"
        elif mps:
            refused[index] = f"unsupported: MPS is running on the node (pid {mps})"
        elif who:
            refused[index] = f"foreign process: {who}"
        elif (about.get("memory_used") or 0) > IDLE_MEMORY and not coherent:
            used = "%.1f GiB" % (about["memory_used"] / 2**30)
            refused[index] = f"foreign process: none is visible here, but {used} of its memory are in use"
        elif f"gpu/{index}" in unknown:
            refused[index] = unknown[f"gpu/{index}"]
    return refused
