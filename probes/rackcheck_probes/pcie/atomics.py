"""Whether PCI functions send, execute and route atomic operations."""

from rackcheck import Facts, by_part, flag, listing, probe, spell_key
from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import EXPRESS
from rackcheck_probes.pcie.control import LSPCI

PORTS = ("Root Port", "Upstream Port", "Downstream Port")


@probe(
    LSPCI,
    gives={
        "pcie/*.atomics.completer": listing("Sizes of atomic operations that the function executes: 32bit, 64bit."),
        "pcie/*.atomics.requester": flag("Whether the function may send atomic operations; absent on a switch."),
        "pcie/*.atomics.routing": flag("Whether a port routes atomic operations; absent if it is not a port."),
        "pcie/*.atomics.blocked": flag("Whether a port blocks outgoing atomic operations; absent if it is not a port."),
    },
)
def pcie_atomics(answer: str) -> Facts:
    """Read which atomic operations each PCI function executes, sends, routes and blocks.

    The facts are absent if the function is not PCI Express, or has no memory that an atomic operation could reach.
    """
    for function in lspci.functions(answer):
        yield _atomics(function)


@by_part
def _atomics(function: lspci.PciFunction) -> Facts:
    item = f"pcie/{spell_key(function.address)}.atomics"
    able = function.raised(EXPRESS, "AtomicOpsCap")
    yield f"{item}.completer", tuple(n for n in able if n != "Routing") if isinstance(able, tuple) else able
    switch = function.only(EXPRESS, ("Upstream Port", "Downstream Port"), but=True)
    yield f"{item}.requester", switch or function.flag(EXPRESS, "AtomicOpsCtl", "ReqEn")
    endpoint = function.only(EXPRESS, PORTS)
    yield f"{item}.routing", endpoint or function.flag(EXPRESS, "AtomicOpsCap", "Routing")
    yield f"{item}.blocked", endpoint or function.flag(EXPRESS, "AtomicOpsCtl", "EgressBlck")
