"""PCI functions whose link or payload differs from that of most functions of the same model."""

from collections.abc import Mapping

from rackcheck import Absent, Facts, Inputs, Unknown, join
from rackcheck.model.fact import Reading
from rackcheck.model.pcie_tree import lanes_kept, speed_kept
from rackcheck.probe.majority import Differences, facts_of, gives, unlike
from rackcheck_probes.pcie.path import ENDS, links

MODEL = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device", "virtual")
"""Facts that are the same on all functions of a model."""
SETTINGS = ("link.max_width", "link.max_speed")
PAYLOAD = ("max_payload", "max_payload_supported", "max_read_request")
NVIDIA = "0x10de"
BRIDGE, NVME, DISPLAY, ACCELERATOR = "0x0604", "0x0108", "0x03", "0x12"
"""Beginnings of the class codes of ports (whose links differ by design), NVMe drives, GPUs and accelerators."""


@join(
    needs=("pcie", "pcie/*.upstream", *(f"pcie/*.{leaf}" for leaf in MODEL), *(f"pcie/*.link.{end}" for end in ENDS)),
    also=tuple(f"pcie/*.{leaf}" for leaf in PAYLOAD),
    gives=gives(
        "pcie/*",
        "Settings of the link, of payloads and of read requests in which this function differs from most functions of "
        "the same model, if there are at least three; none for ports, NVMe drives and NVIDIA GPUs.",
    ),
)
def pcie_unlike(inputs: Inputs) -> Facts:
    """Compare the link and the payload of each PCI function with those of the other functions of its model."""
    names, hidden = inputs.items("pcie")
    tables = {leaf: inputs.table("pcie", leaf) for leaf in MODEL}
    models = {name: _model({leaf: table[name] for leaf, table in tables.items()}) for name in names}
    kinds = {name: model for name, model in models.items() if not isinstance(model, Absent)}
    read = (*SETTINGS, *(leaf for leaf in PAYLOAD if inputs.collected(f"pcie/*.{leaf}")))
    settings = {leaf: inputs.table("pcie", leaf) for leaf in read}
    settings |= of_links(inputs, {name: name for name in kinds})
    settings["link.speed"] = {n: r for n, r in settings["link.speed"].items() if not _idles(kinds[n])}
    yield from facts_of("pcie", {**dict.fromkeys(names, Differences()), **unlike(kinds, settings, hidden)})


def of_links(inputs: Inputs, at: Mapping[str, Reading]) -> dict[str, Mapping[str, Reading]]:
    """Return how many of its lanes and how much of its speed each PCI function's own link has, by the names in `at`."""
    upstream, ends = inputs.table("pcie", "upstream"), links(inputs)
    return {
        leaf: {name: kept(place, upstream, ends) if isinstance(place, str) else place for name, place in at.items()}
        for leaf, kept in {"link.width": lanes_kept, "link.speed": speed_kept}.items()
    }


def _idles(model: Reading) -> bool:
    """Return whether functions of a model lower the speed of their link while they idle, as GPUs do."""
    return isinstance(model, str) and model.startswith((DISPLAY, ACCELERATOR))


def _model(facts: Mapping[str, Reading]) -> Reading:
    """Return the model of a function as text; absent if functions of its class are not compared here."""
    unknown = next((reading for reading in facts.values() if isinstance(reading, Unknown)), None)
    word = str(facts["class"])
    if isinstance(facts["class"], str) and word.startswith((BRIDGE, NVME)):
        return Absent("a port or an NVMe drive")
    if word.startswith(DISPLAY) and facts["vendor"] == NVIDIA:
        return Absent("an NVIDIA GPU")
    return unknown or " ".join(str(reading) for reading in facts.values())
