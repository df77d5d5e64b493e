"""Settings of one interface from ethtool: each function returns readings by name, or raises Unreadable.

A value is absent if the driver leaves it out, or if ethtool prints it as `n/a`.
"""

from collections.abc import Mapping

from rackcheck.model.fact import Absent, Reading, Unreadable, clean
from rackcheck.model.path import spell_key
from rackcheck.model.regex import regex
from rackcheck.parse.host.nic import ethtool

VERSIONS = {"driver_version": "version", "firmware": "firmware-version", "option_rom": "expansion-rom-version"}
PAUSE = {"autoneg": "Autonegotiate", "rx": "RX", "tx": "TX"}
FEC = ("configured", "active")
LINK = ("autoneg", "connector", "link_detected", "link_modes", "partner_modes")

_QUEUES = {"rx": "RX", "tx": "TX", "combined": "Combined"}
CHANNELS = (*_QUEUES, *(f"{kind}_max" for kind in _QUEUES))
_WAYS = {"rx": "RX", "tx": "TX"}
RINGS = (*_WAYS, *(f"{way}_max" for way in _WAYS))

_ADAPTIVE = ("adaptive_rx", "adaptive_tx")
_WAITS = {"rx_usecs": "rx-usecs", "tx_usecs": "tx-usecs", "rx_frames": "rx-frames", "tx_frames": "tx-frames"}
COALESCING = (*_ADAPTIVE, *_WAITS)

FEATURES = 200
"""Maximum number of features of one interface; an output with more is not read."""

_CONFIGURED = ("Supported/Configured FEC encodings", "Configured FEC encodings")
"""Names of the configured FEC encodings: the first in newer versions of ethtool, the second in older versions."""

_MODES = {"link_modes": "Supported link modes", "partner_modes": "Link partner advertised link modes"}
_NO_VERSION = {"", "N/A", "n/a"}
_BOTH = regex(r"(on|off|n/a) {1,8}TX: (on|off|n/a)")
_PERMANENT = regex(r"Permanent address: ((?:[0-9a-f]{2}:){5,19}[0-9a-f]{2}|not set)")


def versions(text: str) -> dict[str, Reading]:
    """Return the versions of `ethtool -i`; absent if the driver has no version and prints N/A or an empty text."""
    values = dict(ethtool.pairs(text))
    if "driver" not in values:
        raise Unreadable(f"ethtool printed no driver: {clean(text, 80)!r}")
    return {
        leaf: Absent(f"the driver reports no {key}") if values.get(key, "") in _NO_VERSION else values[key]
        for leaf, key in VERSIONS.items()
    }


def channels(text: str) -> dict[str, Reading]:
    """Return the current and the maximum numbers of queues that `ethtool -l` prints."""
    return _with_highest(text, _QUEUES)


def rings(text: str) -> dict[str, Reading]:
    """Return the current and the maximum sizes of the ring buffers that `ethtool -g` prints."""
    return _with_highest(text, _WAYS)


def _with_highest(text: str, names: Mapping[str, str]) -> dict[str, Reading]:
    highest, current = ethtool.halves(text)
    ends = {"": current, "_max": highest}
    return {
        f"{leaf}{end}": ethtool.number(values.get(name)) for end, values in ends.items() for leaf, name in names.items()
    }


def coalescing(text: str) -> dict[str, Reading]:
    """Return the settings of interrupt coalescing that `ethtool -c` prints."""
    values = dict(ethtool.pairs(text))
    match = _BOTH.fullmatch(values.get("Adaptive RX", ""))
    if match is None:
        raise Unreadable(f"no coalesce parameters: {clean(text, 80)!r}")
    adaptive = {leaf: ethtool.switch(word) for leaf, word in zip(_ADAPTIVE, match.groups(), strict=True)}
    return adaptive | {leaf: ethtool.number(values.get(key)) for leaf, key in _WAITS.items()}


def fec(text: str) -> dict[str, Reading]:
    """Return the configured and the active FEC encodings from `ethtool --show-fec`; without a link, none is active."""
    values = dict(ethtool.pairs(text))
    configured = next((values[name] for name in _CONFIGURED if name in values), None)
    active = values.get("Active FEC encoding", values.get("Active FEC encodings"))
    if configured is None or active is None:
        raise Unreadable(f"no FEC parameters: {clean(text, 80)!r}")
    none = not active or active == "None"
    return {"configured": tuple(configured.split()), "active": Absent("no FEC is active") if none else active}


def pause(text: str) -> dict[str, Reading]:
    """Return the pause settings that `ethtool -a` prints."""
    values = dict(ethtool.pairs(text))
    if "RX" not in values:
        raise Unreadable(f"no pause parameters: {clean(text, 80)!r}")
    return {leaf: ethtool.switch(values.get(key)) for leaf, key in PAUSE.items()}


def permanent(text: str) -> dict[str, Reading]:
    """Return the permanent MAC address from `ethtool -P`; absent if the device reports no address, or only zeros."""
    match = _PERMANENT.fullmatch(ethtool.answered(text).strip())
    if match is None:
        raise Unreadable(f"no permanent address: {clean(text, 80)!r}")
    unset = not match[1].strip("nots e0:")
    return {"mac_permanent": Absent("the device reports no permanent address") if unset else match[1]}


def link(text: str) -> dict[str, Reading]:
    """Return the negotiated link from `ethtool` without options; a value that the driver does not report is absent."""
    text = ethtool.answered(text)
    values = dict(ethtool.pairs(text))
    if not text.startswith("Settings for "):
        raise Unreadable(f"no settings: {clean(text, 80)!r}")
    detected = values.get("Link detected", "").split(" ")[0]
    yes = {"yes": True, "no": False}.get(detected)
    return {
        "autoneg": ethtool.switch(values.get("Auto-negotiation")),
        "connector": values.get("Port") or Absent("the driver reports none"),
        "link_detected": Absent("the driver reports none") if yes is None else yes,
        **{leaf: ethtool.modes(text, key) for leaf, key in _MODES.items()},
    }


def features(text: str) -> dict[str, Reading]:
    """Return whether each feature of `ethtool -k` is on, and whether it is fixed, that is, cannot be changed.

    The readings of a feature are named `feature/NAME.on` and `feature/NAME.fixed`.
    """
    pairs = ethtool.pairs(text)[1:]
    if not text.startswith("Features for ") or not 0 < len(pairs) <= FEATURES or not all(dict(pairs)):
        raise Unreadable(f"no features: {text[:80]!r}")
    values: dict[str, Reading] = {}
    for name, value in pairs:
        values[f"feature/{spell_key(name)}.on"] = ethtool.switch(value)
        values[f"feature/{spell_key(name)}.fixed"] = value.endswith("[fixed]")
    return values


def statistics(text: str) -> dict[str, Reading]:
    """Return the names of the error statistics of `ethtool -S`, and their values as `statistic/NAME.value`."""
    found = ethtool.statistics(text)
    values: dict[str, Reading] = {"statistic": tuple(found)}
    return values | {f"statistic/{spell_key(name)}.value": count for name, count in found.items()}
