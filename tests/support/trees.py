"""Recorded BMCs: finds their trees, and reads them over real HTTPS as an audit would."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from mockup_server import Mockup
from places import SHARED

import rackcheck_probes
from rackcheck.model.capture import BmcCapture
from rackcheck.model.documents import LinkPattern, wanted
from rackcheck.model.fact import Reading, Reason, Unknown
from rackcheck.model.question import Redfish
from rackcheck.model.resource import Body
from rackcheck.model.tree import Leaf
from rackcheck.probe.collect import collect
from rackcheck.probe.contract import Probe
from rackcheck.probe.registry import modules
from rackcheck.transport import redfish
from rackcheck.transport.redfish.answer import parsed

DELL = "dell-poweredge-r750-idrac9-6.00"
DGX = "nvidia-dgx-h100"
SUPERMICRO = "supermicro-sys821ge-hgxh100"
HPE_INTEL = "hpe-proliant-dl380a-gen12-ilo7"
HPE_AMD = "hpe-proliant-dl385gen10plusv2-ilo5"
LENOVO = "lenovo-thinksystem-sr670v2-xcc"
GB200 = "nvidia-gb200-nvl"
NVSWITCH = "nvidia-gb-nvswitch-tray"
BLUEFIELD = "nvidia-bluefield3-dpu"
DMTF = "dmtf-public-rackmount1"
X10 = "supermicro-x10sdv"
DELTA = "delta-powershelf-partial"
ALL = (DELL, DGX, SUPERMICRO, HPE_INTEL, HPE_AMD, LENOVO, GB200, NVSWITCH, BLUEFIELD, DMTF, X10, DELTA)
ANY_CASE = frozenset({HPE_AMD})
"""Trees of BMCs that ignore letter case, and whose own links depend on that."""


def tree(name: str) -> Path:
    """A recorded tree; without the collection the test is skipped, and fails in CI."""
    home = os.environ.get("RACKCHECK_RECORDINGS") or SHARED
    place = Path(home) / "redfish-mockups" / name
    if not place.exists():
        message = f"no recorded tree at {place}: set RACKCHECK_RECORDINGS to the folder that holds redfish-mockups"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return place


def resource(name: str, uri: str) -> dict[str, object]:
    """One body of a tree, as recorded."""
    body = json.loads((tree(name) / uri.lstrip("/") / "index.json").read_text("utf-8"))
    assert isinstance(body, dict)
    return body


def bmc_probes() -> dict[str, Probe[Redfish]]:
    """Every probe of the BMC plane, by name."""
    loaded = map(import_module, modules(rackcheck_probes.__name__, rackcheck_probes.__path__))
    found = (value for module in loaded for value in vars(module).values() if isinstance(value, Probe))
    return {probe.name: probe for probe in found if isinstance(probe.ask, Redfish)}


def links(*names: str) -> tuple[LinkPattern, ...]:
    """The links that the named probes read, or all of them."""
    probes = bmc_probes()
    return tuple(sorted({link for name in names or probes for link in probes[name].ask.every}, key=str))


def completed(name: str, links: Sequence[LinkPattern], held: Mapping[str, Body | Unknown]) -> dict[str, Body | Unknown]:
    """Add the bodies that a visit of altered bodies would request in addition."""
    bodies = dict(held)
    place = Mockup(tree(name), ignore_case=name in ANY_CASE)
    while todo := wanted(links, bodies):
        for uri in todo:
            data = place.body(uri)
            bodies[uri] = Unknown(Reason.NOT_COLLECTED, "HTTP 404") if data is None else parsed(data)
    return bodies


def client(server: Mockup, *, password: str = "calvin") -> redfish.Bmc:
    """The client of a served BMC, pinned by its certificate."""
    return redfish.Bmc(server.url, "root", password, server.fingerprint)


def read(name: str, bodies: Mapping[str, object] | None = None, *asked: str) -> BmcCapture:
    """Read a tree, some of its bodies replaced, over HTTPS; a recorded tree as it is is read once."""
    if bodies is None:
        capture = _recorded(name, *asked)
        return replace(capture, bodies=dict(capture.bodies))
    return _over_https(name, bodies, *asked)


@cache
def _recorded(name: str, *asked: str) -> BmcCapture:
    return _over_https(name, None, *asked)


def _over_https(name: str, bodies: Mapping[str, object] | None, *asked: str) -> BmcCapture:
    with Mockup(tree(name), bodies=bodies, ignore_case=name in ANY_CASE) as server:
        capture, trouble = redfish.read(client(server), links(*asked))
    assert trouble is None
    return capture


def facts(capture: BmcCapture) -> dict[str, Leaf]:
    """What all probes of the plane read in a capture."""
    return collect(bmc_probes().values(), capture)


@cache
def tree_leaves(name: str) -> Mapping[str, Leaf]:
    """All facts of a recorded tree."""
    return facts(read(name))


def readings(name: str) -> dict[str, Reading]:
    """The readings of a recorded tree, by path."""
    return {path: leaf.reading for path, leaf in tree_leaves(name).items()}
