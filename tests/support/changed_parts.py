"""Simulated nodes with other parts: identifiers are replaced in every reply of both planes."""

import json
from collections.abc import Mapping
from dataclasses import replace

from rackcheck.model.capture import Output
from rackcheck.sim import edit
from rackcheck.sim.behaviour import Station


def gpu_ids(station: Station, index: int) -> tuple[str, str]:
    """The serial number and the UUID (without `GPU-`) of a GPU, by the driver's index."""
    values = edit.gpu(edit.gpus(station)[2], index)
    return str(values["serial"]["value"]), str(values["uuid"]["value"]).removeprefix("GPU-")


def with_ids(station: Station, table: Mapping[str, str]) -> Station:
    """A copy of a node in which each identifier of `table` is replaced, in files, outputs and resources."""

    def changed(text: str) -> str:
        for old, new in table.items():
            text = text.replace(old, new)
        return text

    host = edit.capture(station)
    files = {path: changed(text) for path, text in host.files.items() if changed(text) != text}
    outputs = {
        name: replace(out, out=changed(out.out)) for name, out in host.commands.items() if isinstance(out, Output)
    }
    bodies = {}
    for uri, body in station.machine.bmc.bodies.items():
        text = json.dumps(body) if isinstance(body, Mapping) else ""
        if changed(text) != text:
            bodies[uri] = json.loads(changed(text))
    return edit.bodies(edit.commands(edit.files(station, files), outputs), bodies)
