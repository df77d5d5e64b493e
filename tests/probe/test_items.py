"""The items that a probe collects are those in the paths of its facts, and those that its collections list."""

from collections.abc import Mapping

import pytest
from rack_runs import folder
from trees import ALL, read

from rackcheck.model.capture import BmcCapture, BurnCapture, Capture, NodeCapture, Output
from rackcheck.model.catalogue import collection, integer
from rackcheck.model.fact import Facts, Unreadable
from rackcheck.model.question import Redfish, Shell
from rackcheck.model.tree import Collected, Tree
from rackcheck.probe.collect import collected
from rackcheck.probe.contract import probe
from rackcheck.probe.registry import registry
from rackcheck.run import store


def same_items(found: Collected) -> None:
    """Compare the items with those in the leaves, which are searched one by one."""
    assert keys(found.items) == keys(Tree(found.leaves).items)


def keys(items: Mapping[str, Mapping[str, None]]) -> dict[str, set[str]]:
    return {name: set(found) for name, found in items.items()}


@pytest.mark.parametrize("name", ALL)
def test_items_of_a_recorded_bmc(name: str) -> None:
    probes = [each for each in registry().probes if isinstance(each.ask, Redfish)]
    capture = read(name, None, *(each.name for each in probes))
    found = [collected([each], capture, (), []) for each in probes]
    assert any(each.items for each in found)
    for each in found:
        same_items(each)


def test_items_of_a_rack() -> None:
    for answer in store.find(str(folder() / "first")).answers():
        if answer.capture is not None:
            for each in registry().probes:
                same_items(collected([each], answer.capture, (), []))


@pytest.mark.parametrize("capture", [NodeCapture(), BmcCapture({}), BurnCapture()])
def test_items_of_a_plane_without_replies(capture: Capture) -> None:
    for each in registry().probes:
        same_items(collected([each], capture, (), []))


@pytest.mark.parametrize("listed", [(), ("a",), ("a", "b"), ("b", "c")])
@pytest.mark.parametrize("cut", [False, True])
def test_items_that_only_a_collection_lists(listed: tuple[str, ...], cut: bool) -> None:
    gives = {"gpu": collection("GPUs"), "gpu/*.index": integer("its number"), "gpu/*.age": integer("its age")}

    def parse(_: str) -> Facts:
        yield "gpu/a.index", 1
        yield "gpu", listed
        yield "gpu/b.age", 2
        if cut:
            raise Unreadable("cut")

    found = collected([probe(Shell("gpus"), gives=gives)(parse)], NodeCapture({"gpus": Output(0, "", "")}), (), [])
    same_items(found)
    assert set(found.items["gpu"]) == {"a", "b", *listed}
