"""Which PCI Express links may sleep: their power management states."""

import re

from rackcheck import Facts, Unreadable, listing, probe, spell_key, text
from rackcheck.core.read import lspci
from rackcheck.core.read.lspci import EXPRESS, L1_SUBSTATES
from rackcheck_probes.pcie_control import LSPCI

WORDS = ("none", "L0s", "L1", "L0s L1")
ENABLED, SUPPORTED = r"^ASPM (Disabled|[L01s ]{2,6}(?= Enabled))", r"\bASPM (not supported|L0s L1|\S{1,20}?)(?=,|\s|$)"


def state(words: str) -> str:
    """Read what stands after ASPM, without its last word: `Disabled`, `not supported`, `L0s L1`, `L1`."""
    told = "none" if words in {"Disabled", "not supported"} else words
    if told not in WORDS:
        raise Unreadable(f"no power management state: {words!r}")
    return told


@probe(
    LSPCI,
    gives={
        "pcie/*.aspm.enabled": text("The link's sleep states that are enabled at this end.", words=WORDS),
        "pcie/*.aspm.supported": text("The link's sleep states that this end could use.", words=WORDS),
        "pcie/*.aspm.substates": listing("The deeper states of L1 that are enabled: ASPM_L1.1, PCI-PM_L1.2."),
    },
)
def pcie_aspm(answer: str) -> Facts:
    """Read the link control register of each function; absent where it has no link."""
    for function in lspci.functions(answer):
        item = f"pcie/{spell_key(function.address)}.aspm"
        yield f"{item}.enabled", function.field(EXPRESS, "LnkCtl", ENABLED, state)
        yield f"{item}.supported", function.field(EXPRESS, "LnkCap", SUPPORTED, state)
        raised = function.raised(L1_SUBSTATES, "L1SubCtl1")
        deep = tuple(n for n in raised if re.fullmatch(r"\S+_L1\.\d", n)) if isinstance(raised, tuple) else raised
        yield f"{item}.substates", deep
