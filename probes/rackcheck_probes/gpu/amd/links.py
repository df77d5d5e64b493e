"""Which other AMD GPUs each GPU reaches, and over which links: XGMI, or PCIe only."""

from collections.abc import Iterator

from rackcheck import Absent, Facts, Files, Read, Reason, Unknown, collection, integer, probe, quantity, spell_key, text
from rackcheck.parse.host.gpu import kfd
from rackcheck_probes.gpu.amd.topology import FILES, NODES, parts

LINKS = tuple(NODES.format("*") + f"/{which}_links/*/properties" for which in ("io", "p2p"))
NONE_LISTED = Unknown(Reason.NOT_COLLECTED, "the compute driver lists no link of any GPU")
GONE = Unknown(Reason.NOT_COLLECTED, "the compute driver does not list the GPU")


def kfd_links(files: Files) -> Iterator[kfd.KfdLink]:
    """Yield every link that the compute driver (KFD) lists."""
    for glob in LINKS:
        for number, index in files.found(glob):
            yield kfd.link(files.text(glob.replace("*", number, 1).replace("*", index, 1)))


@probe(
    Read(*FILES, *LINKS, cap=8 << 20),
    gives={
        "gpu.amd/*.xgmi.peers": integer("Other GPUs that the GPU reaches over XGMI."),
        "gpu.amd/*.peer": collection("Other GPUs that the GPU reaches directly, by PCI address."),
        "gpu.amd/*.peer/*.type": text("The type of the link: xgmi, pcie."),
        "gpu.amd/*.peer/*.weight": integer("The distance, in the kernel's unit: 15 for one XGMI link."),
        "gpu.amd/*.peer/*.bandwidth": quantity("GB/s", "The bandwidth of all links to the other GPU together."),
        "gpu.amd/*.peer/*.bandwidth_min": quantity("GB/s", "The lowest bandwidth of a single link to the other GPU."),
    },
)
def amd_links(files: Files) -> Facts:
    """Read each GPU's links to other GPUs; links to CPUs are left out."""
    found = parts(files)
    links = kfd.nearest(kfd_links(files), {number: address for address, nodes in found.items() for number in nodes})
    listed = any(True for glob in LINKS for _ in files.found(glob))
    for address in found:
        item, peers = f"gpu.amd/{spell_key(address)}", links.get(address)
        if peers is None or not listed:
            yield from ((f"{item}.{leaf}", GONE if listed else NONE_LISTED) for leaf in ("peer", "xgmi.peers"))
            continue
        yield f"{item}.xgmi.peers", sum(link.kind == "xgmi" for link in peers.values())
        for peer, link in peers.items():
            at = f"{item}.peer/{spell_key(peer)}"
            yield f"{at}.type", link.kind
            yield f"{at}.weight", link.weight
            for leaf, megabytes in (("bandwidth", link.most), ("bandwidth_min", link.least)):
                yield (
                    f"{at}.{leaf}",
                    megabytes / 1000 if megabytes else Absent("the kernel does not report the bandwidth"),
                )
