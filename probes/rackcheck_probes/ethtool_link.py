"""How each network interface agreed on its link."""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Shell, Unreadable, flag, listing, probe, spell_key, text
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import ethtool, per_device
from rackcheck_probes.interfaces import HARDWARE

LEAVES = ("autoneg", "connector", "link_detected", "link_modes", "partner_modes")
MODES = {"link_modes": "Supported link modes", "partner_modes": "Link partner advertised link modes"}


def modes(said: str, key: str) -> Reading:
    """Read link modes, which go on in the lines below, each begun with blanks and without a colon."""
    found: list[str] = []
    inside = False
    for row in said.splitlines():
        name, mark, value = row.partition(":")
        inside = name.strip() == key if mark else inside
        if inside:
            found.extend((value if mark else row).split())
    told = tuple(found)
    return Absent("not reported") if not told or told in {("Not", "reported"), ("None",)} else told


def link(said: str) -> Mapping[str, Reading]:
    """Read what was agreed; a driver that knows no modes says little."""
    said = ethtool.answered(said)
    told = dict(ethtool.pairs(said))
    if not said.startswith("Settings for "):
        raise Unreadable(f"no settings: {clean(said, 80)!r}")
    detected = told.get("Link detected", "").split(" ")[0]
    yes = {"yes": True, "no": False}.get(detected)
    return {
        "autoneg": ethtool.switch(told.get("Auto-negotiation")),
        "connector": told.get("Port") or Absent("the driver tells none"),
        "link_detected": Absent("the driver tells none") if yes is None else yes,
        **{leaf: modes(said, key) for leaf, key in MODES.items()},
    }


@probe(
    Shell("ethtool {}", each=HARDWARE, seconds=30),
    gives={
        "nic.interface/*.autoneg": flag("Whether it agrees on the link with the other end."),
        "nic.interface/*.connector": text("What its socket takes: Direct Attach Copper, FIBRE, Twisted Pair, Other."),
        "nic.interface/*.link_detected": flag("Whether the driver sees a link."),
        "nic.interface/*.link_modes": listing("The links it could have: 400000baseSR4/Full."),
        "nic.interface/*.partner_modes": listing("The links that the other end offers; absent if it does not say."),
    },
)
def ethtool_link(answer: str) -> Facts:
    """Read each interface's link. Without root its wake-up settings are refused, which changes nothing."""
    for name, told in per_device.read(answer, LEAVES, link):
        for leaf, reading in told.items():
            yield f"nic.interface/{spell_key(name)}.{leaf}", reading
