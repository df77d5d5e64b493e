"""The pluggable module or cable in each network interface, and the module's own measurements."""

from collections.abc import Iterator, Mapping

from rackcheck import Class, Facts, Shell, collection, listing, probe, quantity, text
from rackcheck.model.fact import Reading
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import module_eeprom
from rackcheck_probes.network.interfaces import HARDWARE

NAMED = " ".join(HARDWARE.removesuffix("*") + "[a-z]" + "[0-9a-z]" * more for more in range(1, 15))
"""Globs of the network interfaces that belong to a device, one glob for each length of an interface name.

The last path segment of each glob has no `*`, because commands that root runs are listed in sudoers, where a `*` allows
any text. The globs match names of 2 to 15 letters and digits; modules of interfaces with other names are not read.
"""

TEXTS = {"type": "Identifier", "connector": "Connector", "vendor": "Vendor name", "part": "Vendor PN",
         "revision": "Vendor rev", "serial": "Vendor SN", "date": "Date code"}  # fmt: skip
LIMITS = {f"{end}_{grade}": f"Module temperature {end} {grade} threshold"
          for end in ("high", "low") for grade in ("alarm", "warning")}  # fmt: skip
POWERS = {"tx_power": "sent", "rx_power": "received"}
LEAVES = (*TEXTS, "temperature", "voltage", "raised", "lane", *(f"temperature_{end}" for end in LIMITS),
          *(f"{way}_{end}_alarm" for way in POWERS for end in ("high", "low")))  # fmt: skip
MEASURED = Class.MEASUREMENT


def facts(found: module_eeprom.Module) -> Iterator[tuple[str, Reading]]:
    """Yield a module's facts."""
    for leaf, name in TEXTS.items():
        yield leaf, found.text(name)
    yield "temperature", found.temperature()
    yield "voltage", found.voltage()
    for leaf, name in LIMITS.items():
        yield f"temperature_{leaf}", found.temperature(name)
    for way in POWERS:
        for end in ("high", "low"):
            yield f"{way}_{end}_alarm", found.alarm(way, end)
    yield "raised", found.flags()
    for lane, readings in found.lanes.items():
        for leaf, reading in readings.items():
            yield f"lane/{lane}.{leaf}", reading
    yield "lane", tuple(map(str, found.lanes))


@probe(
    Shell("ethtool -m {}", root=True, each=NAMED, seconds=30, cap=4 << 20),
    gives={
        "nic.interface/*.module.type": text("The module's type: 0x03 (SFP), 0x11 (QSFP28), 0x19 (OSFP)."),
        "nic.interface/*.module.connector": text(
            "The type of the module's connector: 0x07 (LC), 0x21 (Copper pigtail)."
        ),
        "nic.interface/*.module.vendor": text("The module's vendor."),
        "nic.interface/*.module.part": text("The module's part number."),
        "nic.interface/*.module.revision": text("The module's revision."),
        "nic.interface/*.module.serial": text("The module's serial number.", Class.IDENTITY),
        "nic.interface/*.module.date": text("The module's date of manufacture.", Class.IDENTITY),
        "nic.interface/*.module.temperature": quantity(
            "C", "The module's temperature; absent if it has no sensor.", MEASURED
        ),
        "nic.interface/*.module.voltage": quantity("V", "The module's supply voltage.", MEASURED),
        **{
            f"nic.interface/*.module.temperature_{leaf}": quantity("C", f"The module's own {name.split(' ', 1)[1]}.")
            for leaf, name in LIMITS.items()
        },
        **{
            f"nic.interface/*.module.{way}_{end}_alarm": quantity(
                "mW", f"The module's own limit for a {end} alarm of the {what} light."
            )
            for way, what in POWERS.items()
            for end in ("high", "low")
        },
        "nic.interface/*.module.raised": listing("Alarms and warnings that the module reports now.", MEASURED),
        "nic.interface/*.module.lane": collection("The module's lanes with a laser; none in a copper cable."),
        "nic.interface/*.module.lane/*.tx_power": quantity("mW", "The light that the lane sends.", MEASURED),
        "nic.interface/*.module.lane/*.rx_power": quantity("mW", "The light that the lane receives.", MEASURED),
        "nic.interface/*.module.lane/*.bias": quantity("A", "The current through the lane's laser.", MEASURED),
    },
)
def ethtool_module(answer: str) -> Facts:
    """Read each interface's module. Unverified on hardware: QSFP and newer types of module."""
    yield from per_device.facts(answer, "nic.interface/*.module", LEAVES, _module)


def _module(message: str) -> Mapping[str, Reading]:
    return dict(facts(module_eeprom.module(message)))
