"""Answers of the NVIDIA driver, as a probe reads them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recordings import answering, os_probes

from rackcheck.model import path as paths
from rackcheck.model.fact import Reading
from rackcheck.model.tree import Leaf
from rackcheck.probe.collect import collect
from rackcheck_probes.gpu.nvml import QUESTION

PROBES = [probe for probe in os_probes().values() if probe.ask is QUESTION]


GPU = os_probes()["gpu"]


def driver_leaves(bus: str, reply: Any) -> dict[str, Leaf]:
    """The facts of a node from its lspci output and from NVML's answer, or from nvidia-smi's own output."""
    capture = answering(GPU, f"{bus}{reply if isinstance(reply, str) else json.dumps(reply)}\n")
    return dict(collect(PROBES, capture))


def driver_readings(bus: str, reply: Any) -> dict[str, Reading]:
    """The readings of such a node; its GPUs are named by their index."""
    return {path: leaf.reading for path, leaf in by_index(driver_leaves(bus, reply)).items()}


def by_index(leaves: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """Leaves of a node whose GPUs are named by the driver's index, `gpu/0`, for tests on values in the driver's order."""
    names = {
        path.removesuffix(".index"): str(leaf.reading)
        for path, leaf in leaves.items()
        if path.startswith("gpu/") and path.endswith(".index")
    }

    def renamed(text: str) -> str:
        item = next((item for item in names if text == item or text.startswith((f"{item}.", f"{item}/"))), None)
        return text if item is None else f"gpu/{names[item]}{text[len(item) :]}"

    found = {renamed(path) if path.startswith("gpu/") else path: leaf for path, leaf in leaves.items()}
    if names and isinstance(found.get("gpu"), Leaf) and isinstance(found["gpu"].reading, tuple):
        found["gpu"] = replace(
            found["gpu"], reading=tuple(names[f"gpu/{paths.spell_key(k)}"] for k in found["gpu"].reading)
        )
    return found


SMI = "nvidia-smi -q -x"
