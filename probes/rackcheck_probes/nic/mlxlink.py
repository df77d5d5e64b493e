"""Links of NVIDIA's NICs: state, advice, bit errors, and the module or cable."""

from collections.abc import Iterator, Mapping

from rackcheck import (
    Class,
    Facts,
    Shell,
    Unknown,
    collection,
    integer,
    probe,
    quantity,
    text,
)  # fmt: skip
from rackcheck.model.fact import Reading
from rackcheck.model.text import per_device
from rackcheck.parse.host.nic import mlxlink as tool
from rackcheck_probes.nic.adapters import EACH

LINK = {
    "link.state": "State", "link.physical": "Physical state", "link.speed": "Speed", "link.width": "Width",
    "link.fec": "FEC", "link.loopback": "Loopback Mode", "link.advice": "Recommendation", "module.type": "Identifier",
    "module.cable": "Cable Type", "module.vendor": "Vendor Name", "module.part": "Vendor Part Number",
    "module.serial": "Vendor Serial Number", "module.firmware": "FW Version",
}  # fmt: skip
COUNTS = {
    "link.effective_errors": "Effective Physical Errors", "link.downs": "Link Down Counter",
    "link.recoveries": "Link Error Recovery Counter", "link.symbol_errors": "Symbol Errors",
}  # fmt: skip
SHARES = {
    "link.raw_ber": "Raw Physical BER", "link.effective_ber": "Effective Physical BER", "link.symbol_ber": "Symbol BER",
}  # fmt: skip
SENSORS: dict[str, tuple[str, tool.Scaling]] = {
    "module.temperature": ("Temperature [C]", tool.rounded),
    "module.voltage": ("Voltage [mV]", tool.thousandths),
}
LANES: dict[str, tuple[str, tool.Scaling]] = {
    "tx_power": ("Tx Power Current [dBm]", tool.milliwatts), "rx_power": ("Rx Power Current [dBm]", tool.milliwatts),
    "bias": ("Bias Current [mA]", tool.thousandths),
}  # fmt: skip
ENDS = ("", "_low_alarm", "_high_alarm")
LEAVES = (*LINK, *COUNTS, *SHARES, "link.lane", *(f"{leaf}{end}" for leaf in SENSORS for end in ENDS), "module.lane",
          *(f"module.{leaf}{end}" for leaf in LANES for end in ENDS[1:]))  # fmt: skip
MEASURED = Class.MEASUREMENT


def facts(port: tool.MlxlinkPort) -> Iterator[tuple[str, Reading]]:
    """Yield a port's facts."""
    yield from ((leaf, port.text(name)) for leaf, name in LINK.items())
    yield from ((leaf, port.count(name)) for leaf, name in COUNTS.items())
    yield from ((leaf, port.share(name)) for leaf, name in SHARES.items())
    for leaf, (name, scale) in SENSORS.items():
        yield from zip((f"{leaf}{end}" for end in ENDS), port.measured(name, scale), strict=True)
    errors = port.errors()
    yield "link.lane", errors if isinstance(errors, Unknown) else tuple(map(str, range(len(errors))))
    for lane, count in enumerate(() if isinstance(errors, Unknown) else errors):
        yield f"link.lane/{lane}.raw_errors", count
    known: set[int] = set()
    trouble: Reading | None = None
    for leaf, (name, scale) in LANES.items():
        values, *alarms = port.lanes(name, scale)
        yield from zip((f"module.{leaf}{end}" for end in ENDS[1:]), alarms, strict=True)
        trouble = values if isinstance(values, Unknown) else trouble
        for lane, value in enumerate(values if isinstance(values, list) else (), start=1):
            known.add(lane)
            yield f"module.lane/{lane}.{leaf}", value
    yield "module.lane", trouble or tuple(map(str, sorted(known)))


@probe(
    Shell("mlxlink -d {} -m -c", root=True, each=EACH, seconds=120, cap=4 << 20),
    gives={
        "nic.adapter/*.link.state": text("The link's state: Active, Polling, Disable."),
        "nic.adapter/*.link.physical": text("The link's physical state: LinkUp, Polling, ETH_AN_FSM_ENABLE."),
        "nic.adapter/*.link.speed": text("The link's speed in NVIDIA's notation: IB-NDR, 400G."),
        "nic.adapter/*.link.width": text("The link's width: 4x."),
        "nic.adapter/*.link.fec": text("The link's forward error correction (FEC)."),
        "nic.adapter/*.link.loopback": text("The mode of the port's loopback: No Loopback, PHY Local Loopback."),
        "nic.adapter/*.link.advice": text("The firmware's advice: No issue was observed.", MEASURED),
        "nic.adapter/*.link.effective_errors": integer("Errors left after correction.", Class.COUNTER),
        "nic.adapter/*.link.symbol_errors": integer("Symbol errors; absent on Ethernet.", Class.COUNTER),
        "nic.adapter/*.link.downs": integer("Times the link went down, since last cleared.", Class.COUNTER),
        "nic.adapter/*.link.recoveries": integer("Times the link recovered, since last cleared.", Class.COUNTER),
        "nic.adapter/*.link.lane": collection("The link's lanes, from 0; none while it is down."),
        "nic.adapter/*.link.lane/*.raw_errors": integer("Errors before correction, since last cleared.", Class.COUNTER),
        "nic.adapter/*.link.raw_ber": quantity("%", "Bit error rate before correction: 1E-12 is 1e-10 %.", MEASURED),
        "nic.adapter/*.link.effective_ber": quantity(
            "%", "Bit error rate after correction: 1E-12 is 1e-10 %.", MEASURED
        ),
        "nic.adapter/*.link.symbol_ber": quantity("%", "Symbol error rate: 1E-12 is 1e-10 %.", MEASURED),
        "nic.adapter/*.module.type": text("The type of module or cable: OSFP, QSFP112."),
        "nic.adapter/*.module.cable": text("The type of cable: Passive copper cable, Optical module."),
        "nic.adapter/*.module.vendor": text("The vendor of the module or cable."),
        "nic.adapter/*.module.part": text("The module's part number."),
        "nic.adapter/*.module.serial": text("The module's serial number.", Class.IDENTITY),
        "nic.adapter/*.module.firmware": text("The module's own firmware.", Class.VERSION),
        "nic.adapter/*.module.temperature": quantity("C", "Module temperature; absent without a sensor.", MEASURED),
        "nic.adapter/*.module.temperature_low_alarm": quantity("C", "The low alarm limit of the temperature."),
        "nic.adapter/*.module.temperature_high_alarm": quantity("C", "The high alarm limit of the temperature."),
        "nic.adapter/*.module.voltage": quantity("V", "The module's supply voltage.", MEASURED),
        "nic.adapter/*.module.voltage_low_alarm": quantity("V", "The low alarm limit of the voltage."),
        "nic.adapter/*.module.voltage_high_alarm": quantity("V", "The high alarm limit of the voltage."),
        "nic.adapter/*.module.lane": collection("The module's lanes with a laser; none in a copper cable."),
        "nic.adapter/*.module.lane/*.tx_power": quantity("mW", "The light that the lane sends.", MEASURED),
        "nic.adapter/*.module.lane/*.rx_power": quantity("mW", "The light that the lane receives.", MEASURED),
        "nic.adapter/*.module.lane/*.bias": quantity("A", "The current through the lane's laser.", MEASURED),
        **{
            f"nic.adapter/*.module.{leaf}{end}": quantity("A" if leaf == "bias" else "mW", f"The {word} alarm limit.")
            for leaf in LANES
            for end, word in (("_low_alarm", "low"), ("_high_alarm", "high"))
        },
    },
)  # fmt: skip
def mlxlink(answer: str) -> Facts:
    """Read each link. Unverified on hardware: written from the documentation and from quoted outputs."""
    yield from per_device.facts(answer, "nic.adapter/*", LEAVES, _port)


def _port(message: str) -> Mapping[str, Reading]:
    return dict(facts(tool.port(message)))
