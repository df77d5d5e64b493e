"""A simulated rack for tests of the command line."""

from pathlib import Path

from mockup_server import WatchedRack as Rack

from rackcheck.sim import scenario

ONE = "rackcheck: 1\nscenario: one\nnodes: {{ n1: {{ machine: {machine} }} }}\nfaults: {faults}\n"


def rack(folder: Path, faults: str = "[]", machine: str = "dgx-h100") -> Rack:
    folder.mkdir(exist_ok=True)
    file = folder / "rack.yaml"
    file.write_text(ONE.format(faults=faults, machine=machine))
    return Rack(scenario.load(file), folder)
