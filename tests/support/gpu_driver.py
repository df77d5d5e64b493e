"""Answers of the NVIDIA driver, as a probe reads them."""

import json
from typing import Any

from recordings import answering, os_probes

from rackcheck.model.fact import Reading
from rackcheck.probe.collect import collect
from rackcheck_probes.gpu.nvml import QUESTION

PROBES = [probe for probe in os_probes().values() if probe.ask is QUESTION]


GPU = os_probes()["gpu"]


def driver_readings(bus: str, reply: Any) -> dict[str, Reading]:
    """The facts of a node from its lspci output and from NVML's answer, or from nvidia-smi's own output."""
    capture = answering(GPU, f"{bus}{reply if isinstance(reply, str) else json.dumps(reply)}\n")
    return {path: leaf.reading for path, leaf in collect(PROBES, capture, "2026-01-01T00:00:00Z").items()}


SMI = "nvidia-smi -q -x"
