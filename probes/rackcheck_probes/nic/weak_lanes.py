"""Lanes of an optical module that have far less light or laser current than the best lane of the module."""

from rackcheck import Absent, Class, Facts, Inputs, Unknown, join, listing, spell_key
from rackcheck.model.fact import Reading

MODULES = ("nic.adapter", "nic.interface")
LEAVES = ("rx_power", "tx_power", "bias")
DARK = 0.001
"""Light in mW, received or sent, below which a lane is not in use: -30 dBm. A split cable leaves lanes dark."""

SHARE = 0.25
"""The lowest share of the best lane's value: 6 dB less light. Our choice; module makers publish no such limit."""


@join(
    needs=(
        *MODULES,
        *(f"{module}/*.module.lane" for module in MODULES),
        *(f"{module}/*.module.lane/*.{leaf}" for module in MODULES for leaf in LEAVES),
    ),
    gives={
        f"{module}/*.module.weak_lanes": listing(
            "Lanes with less than a quarter of the best lane's received light (rx_power), sent light (tx_power) or "
            "laser current (bias): `3 rx_power`.",
            Class.MEASUREMENT,
        )
        for module in MODULES
    },
)
def weak_lanes(inputs: Inputs) -> Facts:
    """Compare the lanes of each module with each other; the fact is absent if fewer than two lanes have a value."""
    for module in MODULES:
        for name in inputs.items(module)[0]:
            item = f"{module}/{spell_key(name)}.module"
            yield f"{item}.weak_lanes", _weak(inputs, f"{item}.lane")


def _weak(inputs: Inputs, lanes: str) -> Reading:
    _, hidden = inputs.items(lanes)
    if hidden is not None:
        return hidden
    found: list[str] = []
    compared = False
    tables = {leaf: inputs.table(lanes, leaf) for leaf in LEAVES}
    lost = next((each for table in tables.values() for each in table.values() if isinstance(each, Unknown)), None)
    if lost is not None:
        return lost
    light = [(lane, value) for leaf in ("rx_power", "tx_power") for lane, value in tables[leaf].items()]
    bright = {lane for lane, value in light if isinstance(value, float) and value >= DARK}
    dark = {lane for lane, value in light if isinstance(value, float)} - bright
    for leaf, readings in tables.items():
        values = {lane: value for lane, value in readings.items() if isinstance(value, float) and lane not in dark}
        compared = compared or len(values) > 1
        best = max(values.values(), default=0.0)
        found += [f"{lane} {leaf}" for lane, value in values.items() if len(values) > 1 and value < best * SHARE]
    return tuple(sorted(found)) if compared else Absent("fewer than two lanes have a value")
