"""The output of `ethtool -m` for a pluggable module: SFP (SFF-8472), QSFP (SFF-8636), QSFP-DD and OSFP (CMIS)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, clean
from rackcheck.model.regex import regex
from rackcheck.parse.host.nic.ethtool import pairs

LANES = 16
UNMEASURED = "the module does not measure it"
_POWER = regex(r"(-?[0-9]{1,9}\.[0-9]{1,9}) mW(?: / \S{1,20} dBm)?")
_CURRENT = regex(r"(-?[0-9]{1,9}\.[0-9]{1,9}) mA")
_TEMPERATURE = regex(r"(-?[0-9]{1,9}\.[0-9]{1,9}) degrees C(?: / \S{1,20} degrees F)?")
_VOLTAGE = regex(r"(-?[0-9]{1,9}\.[0-9]{1,9}) V")
_LANE = regex(r"(.{1,60}?) ?\(Chan(?:nel)? ([0-9]{1,2})\)")
_MEASURES = {
    "tx_power": ("Laser output power", "Transmit avg optical power"),
    "rx_power": (
        "Receiver signal average optical power", "Receiver signal OMA", "Rcvr signal avg optical power",
        "Rcvr signal OMA",
    ),
    "bias": ("Laser bias current", "Laser tx bias current"),
}  # fmt: skip
_ALARMS = {"tx_power": ("Laser output power", "Laser tx power"), "rx_power": ("Laser rx power",)}
"""Names that ethtool prints for alarm thresholds of optical power; each of the transmitted power has two names."""

_OF_NAME = {name: leaf for leaf, names in _MEASURES.items() for name in names}


@dataclass(frozen=True)
class Module:
    """One module: its fields as printed, its measurements by lane, and the names of its active alarms and warnings."""

    texts: dict[str, str]
    lanes: dict[int, dict[str, Reading]]
    raised: tuple[str, ...]

    def text(self, name: str) -> Reading:
        """Return the text that ethtool prints for `name`; absent if the module does not report one."""
        return self.texts.get(name) or Absent(f"the module reports no {name}")

    def temperature(self, name: str = "Module temperature") -> Reading:
        """Return a temperature of the module in degrees C."""
        return _measured(self.texts.get(name), _TEMPERATURE)

    def voltage(self, name: str = "Module voltage") -> Reading:
        """Return a voltage in V."""
        return _measured(self.texts.get(name), _VOLTAGE)

    def alarm(self, measure: str, end: str) -> Reading:
        """Return the module's `high` or `low` alarm threshold of an optical power (`tx_power`, `rx_power`), in mW."""
        names = (f"{word} {end} alarm threshold" for word in _ALARMS[measure])
        text = next((self.texts[name] for name in names if name in self.texts), None)
        return _measured(text, _POWER)

    def flags(self) -> Reading:
        """Return the names of the active alarms and warnings; absent if the module supports no such flags."""
        has = self.text("Alarm/warning flags implemented") == "Yes"
        return self.raised if has or self.raised else Absent("the module supports no alarm or warning flags")


def _measured(value: str | None, form: re.Pattern[str], parts: int = 1) -> Reading:
    if value is None:
        return Absent(UNMEASURED)
    match = form.fullmatch(value)
    return (
        float(f"{float(match[1]) / parts:.12g}")
        if match
        else Unknown(Reason.UNPARSABLE, f"not a measurement: {clean(value, 60)!r}")
    )


def module(text: str) -> Module:
    """Read a module, with powers in mW and currents in A; raises Unreadable if the output describes no module."""
    texts: dict[str, str] = {}
    lanes: dict[int, dict[str, Reading]] = {}
    raised: dict[str, None] = {}
    for name, value in pairs(text):
        texts.setdefault(name, value)
        if value == "On" and re.search(r"(alarm|warning)\b", name):
            raised[" ".join(name.split())] = None
        for leaf, lane in _measure(name):
            form, parts = (_CURRENT, 1000) if leaf == "bias" else (_POWER, 1)
            lanes.setdefault(lane, {}).setdefault(leaf, _measured(value, form, parts))
    if "Identifier" not in texts:
        raise Unreadable(f"no Identifier of a module: {clean(text, 80)!r}")
    if len(lanes) > LANES:
        raise Unreadable(f"{len(lanes)} lanes", Reason.TOO_LARGE)
    return Module(texts, dict(sorted(lanes.items())), tuple(raised))


def _measure(name: str) -> Iterator[tuple[str, int]]:
    """Yield the measurement and the lane in a field's name; nothing if the field is not a measurement of a lane.

    The only lane of a single-lane module has no number in the field's name; it is returned as lane 1.
    """
    lane = _LANE.fullmatch(name)
    leaf = _OF_NAME.get(lane[1].strip() if lane is not None else name)
    if leaf is not None:
        yield leaf, int(lane[2]) if lane is not None else 1
