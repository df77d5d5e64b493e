"""How each PCI function may use its link: payload, read requests, ordering, tags.

Every probe that reads PCI configuration registers shares the query `LSPCI`. Only root may read beyond the first 64
bytes of a function's configuration space. lspci writes to no register, but every read wakes a sleeping function for as
long as the read takes.
"""

from rackcheck import Facts, Shell, by_part, flag, probe, quantity, spell_key, text
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import EXPRESS

LSPCI = Shell("lspci -Dnnvvv", root=True, seconds=30, cap=16 << 20)

BYTES = {
    "max_payload": ("DevCtl", "MaxPayload", "The largest payload that the function may send."),
    "max_payload_supported": ("DevCap", "MaxPayload", "The largest payload that the function supports."),
    "max_read_request": ("DevCtl", "MaxReadReq", "The largest read request that the function may send."),
}
FLAGS = {
    "relaxed_ordering": ("DevCtl", "RlxdOrd", "Whether the function may request relaxed ordering of its writes."),
    "no_snoop": ("DevCtl", "NoSnoop", "Whether the function may bypass the processors' caches."),
    "extended_tag": (
        "DevCtl",
        "ExtTag",
        "Whether the function uses tags of 8 bits, which allow more requests in flight.",
    ),
    "extended_tag_supported": ("DevCap", "ExtTag", "Whether the function supports tags of 8 bits."),
    "ten_bit_tag": ("DevCtl2", "10BitTagReq", "Whether the function uses tags of 10 bits as a requester."),
    "ten_bit_tag_supported": (
        "DevCap2",
        "10BitTagReq",
        "Whether the function supports tags of 10 bits as a requester.",
    ),
    "ten_bit_tag_completer": (
        "DevCap2",
        "10BitTagComp",
        "Whether the function completes requests that have tags of 10 bits.",
    ),
}
"""Maps each fact to a register, the name of a flag in lspci's output of the register, and the flag's meaning."""


@probe(
    LSPCI,
    gives={
        "pcie/*.type": text("The function's type on PCI Express: Endpoint, Root Port, Upstream Port, Downstream Port."),
        **{f"pcie/*.{leaf}": quantity("B", what) for leaf, (_, _, what) in BYTES.items()},
        **{f"pcie/*.{leaf}": flag(what) for leaf, (_, _, what) in FLAGS.items()},
    },
)
def pcie_control(answer: str) -> Facts:
    """Read the device control registers of each function; the facts are absent if the function is not PCI Express."""
    for function in lspci.functions(answer):
        yield _control(function)


@by_part
def _control(function: lspci.PciFunction) -> Facts:
    item, express = f"pcie/{spell_key(function.address)}", function.capability(EXPRESS)
    kind = express.name if isinstance(express, lspci.Capability) else express
    yield f"{item}.type", lspci.kind(kind) if isinstance(kind, str) else kind
    for leaf, (register, name, _) in BYTES.items():
        yield f"{item}.{leaf}", function.field(EXPRESS, register, rf"\b{name} ([0-9]{{1,5}}) bytes", float)
    for leaf, (register, name, _) in FLAGS.items():
        yield f"{item}.{leaf}", function.flag(EXPRESS, register, name)
