"""Accelerators on the node's PCI bus for which rackcheck has no kernels: whether a tool tested them.

A GPU that nothing tested is unknown, so that a node with such GPUs never passes a burn-in. Unverified on hardware.
"""

from rackcheck import Class, Facts, Load, Reason, Sourced, Unknown, collection, flag, probe, spell_key, text
from rackcheck.model.burn_record import Burn
from rackcheck.model.fact import Reading
from rackcheck.parse.burnin.readings import untested


@probe(
    Load(),
    gives={
        "burnin.accelerator": collection("GPUs and accelerators without kernels of rackcheck, by PCI address"),
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
    for place, about in found.items():
        at = f"burnin.accelerator/{spell_key(place)}"
        yield f"{at}.maker", about["maker"]
        yield f"{at}.device", about["device"]
        yield f"{at}.tested", _tested(about["maker"])


def _tested(maker: str) -> Reading | Sourced:
    return Unknown(Reason.NOT_TESTED, f"rackcheck has no kernels for accelerators of {maker}, and no tool tested it")
