"""The law on facts of host, GPUs and switches: a resource with less content leaves each as it was, or unknown."""

import re

import depth
import pytest
from less_known import less
from trees import ALL, DMTF, GB200, LENOVO, bmc_probes, completed, links, read

from rackcheck.model.capture import BmcCapture
from rackcheck.model.fact import Reading, Unknown
from rackcheck.model.resource import Body
from rackcheck.probe.collect import collect

PROBES = (
    "bmc_drives",
    "bmc_pcie",
    "bmc_memory",
    "bmc_cpu",
    "bmc_boot",
    "bmc_tpm",
    "bmc_gpu",
    "bmc_gpu_power",
    "bmc_gpu_nvlink",
    "bmc_nvswitch",
)
EACH, MANY = 24, depth.cases(500)
"""Kinds of change of one BMC that are tried by default, evenly spread, and by `make full`."""

Bodies = dict[str, Body | Unknown]


def facts(held: Bodies) -> dict[str, Reading]:
    found = bmc_probes()
    leaves = collect([found[probe] for probe in PROBES], BmcCapture(held))
    return {path: leaf.reading for path, leaf in leaves.items()}


def kinds(held: Bodies) -> list[tuple[str, str, Body | Unknown]]:
    """One change of each kind; numbered names count as one kind."""
    found = {(re.sub(r"\d+", "#", uri), what): (what, uri, body) for what, uri, body in less(held)}
    return list(found.values())


def broken(name: str, held: Bodies, changes: list[tuple[str, str, Body | Unknown]]) -> list[str]:
    """The facts that one of these changes turned into another value, or removed without a reason."""
    before = facts(held)
    found = []
    for what, uri, body in changes:
        after = facts(completed(name, links(*PROBES), {**held, uri: body}))
        for path, reading in before.items():
            now = after.get(path)
            if now is None:
                items = re.split(r"/", path, maxsplit=1)[0]
                if not isinstance(after.get(items), Unknown):
                    found.append(f"{path} is gone, when {uri}: {what}")
            elif now != reading and not isinstance(now, Unknown):
                found.append(f"{path}: {reading} -> {now}, when {uri}: {what}")
    return found


@pytest.mark.parametrize("name", [DMTF, LENOVO, GB200])
def test_an_incomplete_resource_turns_no_fact_into_another(name: str) -> None:
    held = dict(read(name, None, *PROBES).bodies)
    changes = kinds(held)
    assert not broken(name, held, changes[:: max(1, len(changes) // EACH)])


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_an_incomplete_resource_of_any_bmc_turns_no_fact_into_another(name: str) -> None:
    held = dict(read(name, None, *PROBES).bodies)
    changes = kinds(held)
    assert not broken(name, held, changes[:: max(1, len(changes) // MANY)])
