"""The commands of tools that test accelerators of AMD and Intel, for which rackcheck has no kernels.

The commands are those of the makers' acceptance pages. All of them are unverified on hardware.
"""

import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Sequence, Tuple

if TYPE_CHECKING:
    from rackcheck.burnin.node.node_accelerators import node_accelerators
    from rackcheck.burnin.node.tool_words import ToolNode

RVS_FOLDERS = {
    "0x7408": "MI250X", "0x740f": "MI210", "0x74a0": "MI300A", "0x74a1": "MI300X", "0x74a2": "MI308X",
    "0x74a5": "MI325X", "0x74a9": "MI300X-HF", "0x74b5": "MI300X", "0x74b9": "MI325X", "0x75a0": "MI350X",
    "0x75a3": "MI355X",
}  # fmt: skip
"""The folder of ROCm Validation Suite with the configuration of a GPU, by PCI device id (pci.ids).

0x74b5 and 0x74b9 are the virtual functions that the guest of a virtual machine sees.

AMD's page on system validation requires the configuration in the folder of the GPU's model, which has the targets of
this model.
"""

RVS_FILES = (("gst_single.conf",), ("iet_single.conf", "iet_stress.conf"))
"""The configurations of rvs that report a verdict for each GPU: GEMM rate and power. The first that exists is used."""

RVS_NAME = re.compile(r"^-\s{1,8}name:\s{1,8}([!-~]{1,100})\s{0,8}$", re.MULTILINE)
"""The line of a configuration of rvs that names an action."""

GEMM = "-f gemm -r s -m 4000 -n 4000 -k 4000 --lda 4000 --ldb 4000 --ldc 4000 --transposeA N --transposeB T"
"""The FP32 product for which AMD publishes a minimum rate."""

HL_QUAL_SECONDS = 120
"""Duration of the functional test by hl_qual, in seconds."""

HL_QUAL_SETTINGS: Tuple[Tuple[str, str], ...] = (
    ("GC_KERNEL_PATH", "/usr/lib/habanalabs/libtpc_kernels.so"),
    ("HABANA_LOGS", "/var/log/habana_logs"),
    ("HABANA_PLUGINS_LIB_PATH", "/opt/habanalabs/habana_plugins"),
    ("HABANA_SCAL_BIN_PATH", "/opt/habanalabs/engines_fw"),
)
"""Environment variables of hl_qual, as the packages of Intel Gaudi set them for a login shell."""

HL_QUAL_MODELS = {"0x1020": "gaudi2", "0x1060": "gaudi3"}
"""The option and the folder of hl_qual, by PCI device id (habanalabs driver)."""


def tool_devices(node: "ToolNode", maker: str) -> List[str]:
    """Return the PCI device ids of a maker's accelerators, one for each accelerator."""
    found = node_accelerators(node.root) or {}
    return [each["device"] for each in found.values() if each["maker"] == maker]


def tool_foreign(node: "ToolNode") -> str:
    """Return the processes that compute on AMD GPUs, as the reason why no tool may use these GPUs; empty if none.

    amdgpu lists the processes, their queues and their GPU memory (`/sys/class/kfd/kfd/proc`); it may list a process
    that has ended for a moment.
    """
    found = []
    try:
        places = sorted(Path(node.root, "sys/class/kfd/kfd/proc").iterdir())
    except OSError:
        return ""
    for place in places:
        name = node.line(f"proc/{place.name}/comm")
        used = [node.line(str(file.relative_to(node.root))) for file in place.glob("vram_*")]
        if name and (any(place.glob("queues/*")) or any(text not in ("", "0") for text in used)):
            found.append(f"pid {place.name} ({name})")
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    return f"foreign process: {', '.join(found[:4])}{more}" if found else ""


def tool_rvs(exe: str, node: "ToolNode") -> Iterator[Tuple[str, List[str]]]:
    """Yield the commands of ROCm Validation Suite; none if the GPUs are of several models, or of an unknown one."""
    models = set(tool_devices(node, "AMD"))
    folder = RVS_FOLDERS.get(models.pop()) if len(models) == 1 else None
    if folder:
        conf = Path(exe).parent.parent / "share/rocm-validation-suite/conf" / folder
        for names in RVS_FILES:
            chosen = next((conf / name for name in names if _tool_trusted(conf / name)), None)
            if chosen is not None:
                yield "conf/" + chosen.stem, [exe, "-c", str(chosen)]


def tool_rvs_asked(argv: Sequence[str]) -> Dict[str, List[str]]:
    """Return the names of the actions in the configuration of an rvs command, as the field `asked` of its record."""
    try:
        with Path(argv[-1]).open("rb") as file:
            return {"asked": RVS_NAME.findall(file.read(262144).decode("utf-8", "replace"))}
    except OSError:
        return {"asked": []}


def _tool_trusted(file: Path) -> bool:
    """Return whether a path is a file that not every user may change; a configuration of rvs can name programs."""
    try:
        mode = file.stat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and not mode & stat.S_IWOTH


def tool_transferbench(exe: str, node: "ToolNode") -> Iterator[Tuple[str, List[str]]]:
    """Yield TransferBench's copies between all pairs of CPUs and GPUs, in one and in both directions."""
    if tool_devices(node, "AMD"):
        yield "node", [exe, "p2p"]


def tool_rocblas(exe: str, node: "ToolNode") -> Iterator[Tuple[str, List[str]]]:
    """Yield an FP32 product for each GPU, by the index that ROCm gives it."""
    for index in range(min(len(tool_devices(node, "AMD")), 64)):
        yield f"gpu/{index}", [exe, *GEMM.split(), "--device", str(index)]


def tool_amd_smi(exe: str, node: "ToolNode") -> Iterator[Tuple[str, List[str]]]:
    """Yield the query of the error counters of all GPUs."""
    if tool_devices(node, "AMD"):
        yield "node", [exe, "metric", "--ecc", "--pcie", "--json"]


def tool_hl_qual(exe: str, node: "ToolNode") -> Iterator[Tuple[str, List[str]]]:
    """Yield the functional test of all Gaudi of the node, in parallel, by the program for their model."""
    models = {HL_QUAL_MODELS.get(device) for device in tool_devices(node, "Intel Gaudi")}
    model = models.pop() if len(models) == 1 else None
    if model:
        mine = Path(exe).parent.parent.parent / model / "bin" / "hl_qual"
        words = ["-c", "all", "-rmod", "parallel", "-dis_mon", "-f2", "-l", "extreme", "-t", str(HL_QUAL_SECONDS)]
        if _tool_trusted(mine):
            yield "node", [str(mine), "-" + model, *words]


def tool_between(before: Any, after: Any) -> Any:
    """Return the fields of a query of counters after the tools, with the output of the query before them as `before`.

    If the first query did not succeed, its fields are returned, because no increase can be computed without it.
    """
    if before["status"] != 0 or before.get("cut"):
        return before
    return dict(after, before=before["out"])
