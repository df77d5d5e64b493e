"""What each PCI Express link was told to be, and whether it became that, as the registers of both its ends tell it."""

from rackcheck import Absent, Class, Facts, flag, probe, quantity, spell_key, text
from rackcheck.core.fact import Reading
from rackcheck.core.read import lspci
from rackcheck.core.read.lspci import EXPRESS, Function
from rackcheck_probes.pcie_control import LSPCI

SPEED, WIDTH = r"\bSpeed ([0-9]{1,3}(?:\.5)?)GT/s", r"\bWidth x([0-9]{1,2})\b"
TARGET = r"Target Link Speed: ([0-9]{1,3}(?:\.5)?)GT/s"
WORDS = ("ok", "downgraded", "overdriven")


def state(function: Function, pattern: str) -> Reading:
    """Compare what the link has with what this end could have; the words that lspci puts beside differ by version."""
    now, most = (function.field(EXPRESS, register, pattern, float) for register in ("LnkSta", "LnkCap"))
    if not isinstance(now, float) or not isinstance(most, float):
        return now if not isinstance(now, float) else most
    if not function.field(EXPRESS, "LnkSta", WIDTH, int):
        return Absent("no link")
    return "ok" if now == most else "downgraded" if now < most else "overdriven"


@probe(
    LSPCI,
    gives={
        "pcie/*.link.state.width": text("The link's width against what this end could have.", words=WORDS),
        "pcie/*.link.state.speed": text(
            "The link's speed against what this end could have; idle GPUs lower theirs.", Class.MEASUREMENT, WORDS
        ),
        "pcie/*.link.target_speed": quantity("GT/s", "The speed that this end was told to train at most."),
        "pcie/*.link.disabled": flag("Whether this end keeps the link off."),
    },
)
def pcie_link(answer: str) -> Facts:
    """Read the link registers of each function; absent where it has no link."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}.link"
        yield f"{item}.state.width", state(function, WIDTH)
        yield f"{item}.state.speed", state(function, SPEED)
        yield f"{item}.target_speed", function.field(EXPRESS, "LnkCtl2", TARGET, float)
        yield f"{item}.disabled", function.flag(EXPRESS, "LnkCtl", "Disabled", "LnkDisable")
