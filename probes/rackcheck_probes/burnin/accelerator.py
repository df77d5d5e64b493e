"""Accelerators on the node's PCI bus for which rackcheck has no kernels: whether a tool tested them.

The result of a GPU that no tool tested is unknown, so that a node with such a GPU never passes a burn-in.

Unverified on hardware.
"""

from collections import Counter

from rackcheck import Class, Facts, Load, Reason, Sourced, Unknown, collection, flag, probe, spell_key, text
from rackcheck.model.burn_record import Burn
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin.readings import untested
from rackcheck.parse.burnin.tools import every
from rackcheck.parse.burnin.tools.answer import RESULTS


@probe(
    Load(),
    gives={
        "burnin.accelerator": collection("GPUs and accelerators for which rackcheck has no kernels, by PCI address"),
        "burnin.accelerator/*.maker": text("Maker of the accelerator", Class.IDENTITY),
        "burnin.accelerator/*.device": text("PCI device id", Class.IDENTITY),
        "burnin.accelerator/*.tested": flag("Whether a tool tested the accelerator", Class.MEASUREMENT),
    },
)
def burnin_accelerator(burn: Burn) -> Facts:
    """Return the accelerators that rackcheck has no kernels for; unknown if the node did not list its PCI bus."""
    found = burn.hello.get("accelerators")
    if found is None:
        unread = Unknown(Reason.NOT_TESTED, "the burn-in does not report the accelerators on the PCI bus")
        yield "burnin.accelerator", unread if burn.whole else untested(burn, ())
        return
    yield "burnin.accelerator", tuple(found)
    makers = Counter(about["maker"] for about in found.values())
    tested = {maker: _tested(burn, maker, count) for maker, count in makers.items()}
    for place, about in found.items():
        at = f"burnin.accelerator/{spell_key(place)}"
        yield f"{at}.maker", about["maker"]
        yield f"{at}.device", about["device"]
        yield f"{at}.tested", tested[about["maker"]]


def _tested(burn: Burn, maker: str, count: int) -> Reading | Sourced:
    """Return true if a tool gave a verdict on each of the `count` accelerators of a maker; else unknown."""
    found = dict(every.facts(record for record in burn.tools if record.get("name") in {"rvs", "hl_qual"}))
    if maker == "AMD":
        verdicts = {path for path, reading in found.items() if reading in RESULTS and ".gpu/" in path}
        gpus = {path.rpartition(".gpu/")[2] for path in verdicts if path.startswith("burnin.rvs.action/")}
        if len(gpus) == count:
            return Sourced(True, f"rvs gave a verdict on each of {count} GPUs")
        if gpus:
            return Unknown(Reason.NOT_TESTED, f"rvs gave a verdict on {len(gpus)} GPUs, the PCI bus has {count}")
    if maker == "Intel Gaudi" and found.get("burnin.hl_qual.result") in RESULTS:
        return Sourced(True, "hl_qual gave a verdict on all Gaudi")
    why = f"rackcheck has no kernels for accelerators of {maker}, and no tool tested this one"
    return Unknown(Reason.NOT_TESTED, why)
