"""Libraries through which programs use GPUs and their network: installed versions, and whether they are intact.

Programs fail to load a library whose file is empty or whose link is broken.
"""

from pathlib import PurePosixPath

from rackcheck import Facts, Shell, Unreadable, collection, flag, probe, quantity, read, spell_key, text, version
from rackcheck.parse.host.gpu import shared_libraries
from rackcheck_probes.os.hidden import THERE

NAMES = (
    *("libcuda", "libnvidia-ml", "libnvidia-ptxjitcompiler", "libnvidia-nscq", "libnvsdm", "libdcgm"),
    *("libcudart", "libcudnn", "libcufile", "libnccl", "libnccl-net", "libgdrapi"),
    *("libibverbs", "libmlx5", "librdmacm"),
    *("librccl", "libamdhip64", "libhsa-runtime64", "libamd_smi", "librocm_smi64"),
)
PLACES = (
    *("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"),
    *("/usr/local/cuda/lib64", "/opt/rocm/lib", "/run/nvidia/driver/usr/lib/x86_64-linux-gnu"),
)
FOLLOWED, END = "-- followed --", "-- end --"


# Two listings: the names, and their targets. A broken link is missing in the second listing. So is a link whose target
# this login may not see: the script reports such a link.
@probe(
    Shell(
        f"{THERE}hidden() {{ (there \"$1\") 2>/dev/null; [ $? != 2 ] || echo \"hidden $1\"; }}\n"
        f"set --; for d in {' '.join(PLACES)}; do [ -e $d ] || {{ hidden $d; continue; }}\n"
        '{ [ -r $d ] && [ -x $d ]; } || { echo "hidden $d"; continue; }\n'
        'for f in $d/lib*.so $d/lib*.so.*; do n=${f##*/} n=${n%.so}; case ${n%%.so.*} in\n'
        f"{'|'.join(NAMES)}) {{ [ -e \"$f\" ] || [ -L \"$f\" ]; }} && set -- \"$@\" \"$f\";; esac; done; done\n"
        'for f; do [ -e "$f" ] || hidden "$f"; done\n'
        f"[ $# = 0 ] || ls -lnd -- \"$@\" || exit; echo '{FOLLOWED}'\n"
        f"[ $# = 0 ] || ls -lnLd -- \"$@\" 2>/dev/null; echo '{END}'", quick=True),
    gives={
        "os.library": collection("Libraries of CUDA, NCCL, ROCm and RDMA in the system's library folders, by file."),
        "os.library/*.name": text("The library's name: libnccl."),
        "os.library/*.version": version("dotted", "The version in the name of the library's target file."),
        "os.library/*.size": quantity(
            "MiB", "The size of the library's target file; absent if the file does not exist."
        ),
        "os.library/*.usable": flag("False if the file is empty, or a broken link."),
    },
)  # fmt: skip
def libraries(answer: str) -> Facts:
    """Read the lists of libraries and of their targets; a folder that could not be listed may have more libraries."""
    rows = read.rows(answer)
    if not rows or rows[-1] != END or FOLLOWED not in rows:
        raise Unreadable("the output was truncated")
    at = rows.index(FOLLOWED)
    for library in shared_libraries.libraries(rows[:at], rows[at + 1 : -1]):
        item = f"os.library/{spell_key(library.path)}"
        yield f"{item}.name", PurePosixPath(library.path).name.partition(".so")[0]
        yield f"{item}.version", library.version
        yield f"{item}.size", library.size
        yield f"{item}.usable", library.usable
