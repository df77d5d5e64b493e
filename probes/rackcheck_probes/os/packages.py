"""Every installed package, and packages that are held back or broken."""

from rackcheck import Absent, Facts, Shell, collection, listing, probe, spell_key, text, version
from rackcheck.model.regex import regex
from rackcheck.parse.host.os import dpkg
from rackcheck_probes.os.hidden import THERE

DRIVERS = regex(
    r"(?:lib)?nvidia-|libnv|cuda-drivers|linux-(?:image|modules|objects|signatures)-|datacenter-gpu-manager|libcuda"
    r"|mlnx-|mlx5?-|mft|kmft|doca-|ofed|rdma-core|libibverbs|ibverbs|librdmacm|amdgpu|rocm-|libdrm-amdgpu|gdrdrv|\S+-dkms$"
)
"""Beginnings of the names of packages with a kernel, or with drivers of GPUs and NICs and their libraries."""


# A distribution may have the tools of both dpkg and rpm: the records that exist decide.
@probe(
    Shell(
        f"{THERE}there /var/lib/dpkg/status\n"
        'if [ -s /var/lib/dpkg/status ]; then echo "dpkg $(dpkg --print-architecture)" && '
        f"dpkg-query -W -f '{dpkg.DPKG}'\n"
        'elif command -v rpm >/dev/null; then echo "rpm $(uname -m)" && '
        f"rpm -qa --qf '{dpkg.RPM}'\n"
        f"else echo 'neither dpkg nor rpm has records: not found' >&2; exit 127; fi && echo '{dpkg.END}'",
        seconds=30,
        cap=2 << 20,
    ),
    gives={
        "package": collection("Installed packages by name; packages of another architecture as name:arch."),
        "package/*.version": version(
            "opaque", "The installed version with epoch and release; if there are several, blanks separate them."
        ),
        "os.packages.manager": text("The package manager whose records were read: dpkg, rpm.", words=("dpkg", "rpm")),
        "os.packages.held": listing("Packages that upgrades skip; absent under rpm, which has no holds."),
        "os.packages.broken": listing("Packages whose installation by dpkg is incomplete; absent under rpm."),
        "os.packages.broken_drivers": listing(
            "Incompletely installed packages of the kernel, or of drivers of GPUs and NICs; absent under rpm."
        ),
    },
)
def packages(answer: str) -> Facts:
    """Read one package per line; a removed package whose settings remain does not count as installed."""
    found = dpkg.installed(answer)
    yield "os.packages.manager", found.manager
    by_dpkg = found.manager == "dpkg"
    held = tuple(sorted({package.name for package in found.packages if package.held}))
    broken = tuple(sorted({package.name for package in found.packages if package.broken}))
    yield "os.packages.held", held if by_dpkg else Absent("rpm has no holds")
    unrecorded = Absent("rpm does not record incomplete installations")
    yield "os.packages.broken", broken if by_dpkg else unrecorded
    yield "os.packages.broken_drivers", tuple(filter(DRIVERS.match, broken)) if by_dpkg else unrecorded
    for key, versions in dpkg.versions(found.packages, found.native).items():
        yield f"package/{spell_key(key)}.version", " ".join(sorted(set(versions)))
