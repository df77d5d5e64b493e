"""How the firmware of NVIDIA's NICs is configured, and what the next boot will change."""

import re
from collections.abc import Iterator

from rackcheck import Class, Facts, Shell, Unreadable, collection, listing, probe, setting, spell_key, text
from rackcheck.core.fact import Reading, clean
from rackcheck.core.read import per_device
from rackcheck_probes.nic_adapters import EACH

HEAD = "Configurations:"
ROW = re.compile(r"\*? {0,40}([A-Z][A-Z0-9_]{1,79}) {1,60}(\S{1,200}) {1,60}(\S{1,200}) {1,60}(\S{1,200}) {0,60}")
DESCRIBED = re.compile(r"(Device type|Name): {1,40}([^\n]{1,100}?) {0,100}")
LEAVES = ("model", "part", "config", "config_waiting")
MOST = 800


def facts(said: str) -> Iterator[tuple[str, Reading]]:
    """Read one function: each parameter's default, current and next value."""
    rows = said.splitlines()
    if len(rows) > MOST:
        raise Unreadable(f"{len(rows)} lines")
    head = next((at for at, row in enumerate(rows) if row.startswith(HEAD)), None)
    if head is None or rows[head].split()[1:] != ["Default", "Current", "Next", "Boot"]:
        raise Unreadable(f"no table of default, current and next values: {clean(said, 80)!r}")
    told = {match[1]: match[2] for row in rows[:head] if (match := DESCRIBED.fullmatch(row))}
    for leaf, key in (("model", "Device type"), ("part", "Name")):
        if key in told:
            yield leaf, told[key]
    waiting = []
    for row in rows[head + 1 :]:
        match = ROW.fullmatch(row)
        if match is None:
            if row.strip() and not row.startswith("The '*' shows"):
                raise Unreadable(f"not a parameter: {clean(row, 80)!r}")
            continue
        name, default, current, following = match.groups()
        yield f"config/{name}.value", current
        yield f"config/{name}.default", default
        if current != following:
            waiting.append(f"{name}={following}")
    yield "config_waiting", tuple(waiting)


@probe(
    Shell("mlxconfig -d {} -e query", root=True, each=EACH, seconds=120, cap=8 << 20),
    gives={
        "nic.adapter/*.model": text("The NIC's family: ConnectX7.", Class.IDENTITY),
        "nic.adapter/*.part": text("The NIC's part number: MCX75310AAS-NEA_Ax."),
        "nic.adapter/*.config": collection("The firmware's parameters, by name: LINK_TYPE_P1, MAX_ACC_OUT_READ."),
        "nic.adapter/*.config/*.value": setting("The value the NIC runs with: IB(1), True(1), 44."),
        "nic.adapter/*.config/*.default": setting("The value the NIC was delivered with."),
        "nic.adapter/*.config_waiting": listing("Parameters that the next boot changes, with what they will be."),
    },
)
def mlxconfig(answer: str) -> Facts:
    """Read each function's parameters. Unverified on hardware: written to documentation and quoted outputs."""
    for address, told in per_device.read(answer, LEAVES, lambda said: dict(facts(said))):
        for leaf, reading in told.items():
            yield f"nic.adapter/{spell_key(address)}.{leaf}", reading
