"""Temperatures of each AMD GPU, and their limits."""

from collections.abc import Iterator

from rackcheck import Absent, Class, Facts, Files, Sourced, Unknown, probe, quantity
from rackcheck.model.fact import Reading
from rackcheck.parse.host.gpu.amdgpu import degrees
from rackcheck_probes.gpu.amd.hwmon import folders, question

PLACES = {
    "edge": ("temperature_edge", "at the chip's edge"),
    "junction": ("temperature", "of the chip's hottest spot (AMD: junction, hotspot)"),
    "mem": ("temperature_memory", "of the GPU's memory"),
}
AGES = {
    "input": ("", "The temperature {}.", Class.MEASUREMENT),
    "crit": ("_slowdown", "The temperature {} at which the GPU slows down.", Class.CONFIG),
    "emergency": ("_shutdown", "The temperature {} at which the GPU shuts down.", Class.CONFIG),
}
CHANNELS = ("1", "2", "3")
NAMES = tuple(f"temp{number}_{name}" for number in CHANNELS for name in ("label", *AGES))
HEAT = {
    f"{leaf}{suffix}": quantity("C", words.format(where), cls)
    for leaf, where in PLACES.values()
    for suffix, words, cls in AGES.values()
}


def _heat(files: Files, folder: str) -> Iterator[tuple[str, Reading | Sourced]]:
    """Read each sensor channel by its label, because channel numbers differ between GPUs."""
    labels = {}
    for number in CHANNELS:
        label = files.read(f"{folder}/temp{number}_label").reading
        if isinstance(label, Unknown):
            yield from ((leaf, label) for leaf in HEAT)
            return
        labels[label] = number
    for word, (leaf, _) in PLACES.items():
        for name, (suffix, _, _) in AGES.items():
            none = Absent(f"no sensor has the label {word}")
            reading = files.read(f"{folder}/temp{labels[word]}_{name}", degrees) if word in labels else none
            yield f"{leaf}{suffix}", reading


# Unverified on hardware: from the kernel's documentation of amdgpu's hwmon files.
@probe(question(NAMES), gives={f"gpu.amd/*.{leaf}": kind for leaf, kind in HEAT.items()})
def amd_thermal(files: Files) -> Facts:
    """Read each GPU's temperatures."""
    for item, folder in folders(files, NAMES):
        if isinstance(folder, str):
            yield from ((f"{item}.{leaf}", value) for leaf, value in _heat(files, folder))
        else:
            yield from ((f"{item}.{leaf}", folder) for leaf in HEAT)
