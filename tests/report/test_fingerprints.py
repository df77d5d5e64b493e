"""Fingerprints: the digest of canonical JSON, whichever nodes were read before."""

import hashlib
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Class, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.report.fingerprints import MACHINES, Fingerprints, Print

KINDS = {cls: Kind(Type.TEXT, "help", cls=cls) for cls in Class}
PATHS = [f"node.f{n}" for n in (3, 1, 2, 10)] + ["gpu/1.name", 'pcie/"0000:17:00.0".link.width', "gpu/é.name"]
BASE = {path: Leaf(path, KINDS[Class.CONFIG], Plane.OS, "file") for path in PATHS}
READINGS: list[Reading] = ["a", "é", "\ud800", 1, True, (), ("a", "b"), Unknown(Reason.DENIED, "one")]


SILENT = [{}, {Plane.BMC: Unknown(Reason.TIMEOUT)}, {Plane.BMC: Unknown(Reason.DENIED)}]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A node of which most facts are the same objects as those of other nodes."""
    leaves = dict(BASE)
    for path in draw(st.lists(st.sampled_from(PATHS), max_size=2)):
        leaves[path] = Leaf(
            draw(st.sampled_from(READINGS)),
            KINDS[draw(st.sampled_from([Class.CONFIG, Class.CONFIG, Class.IDENTITY, Class.COUNTER]))],
            draw(st.sampled_from([Plane.OS, Plane.OS, Plane.OS, Plane.BMC])),
            "file",
        )
    if draw(st.integers(0, 4)) == 0:
        del leaves[draw(st.sampled_from(PATHS))]
    return Tree(leaves, draw(st.sampled_from(SILENT)))


@given(st.lists(trees(), min_size=2, max_size=2 * MACHINES))
def test_a_fingerprint_does_not_depend_on_the_nodes_before(nodes: list[Tree]) -> None:
    many = Fingerprints()
    for node in nodes:
        assert many.of(node) == Fingerprints().of(node)


def test_a_fingerprint_is_the_digest_of_the_canonical_json_of_the_facts_without_counters() -> None:
    prints = Fingerprints()
    for name, lost in (("a", "why"), ("b", "another reason"), ("b", "why"), ("ü", "")):
        leaves = {
            "node.b": leaf(name),
            "node.a": leaf(Unknown(Reason.DENIED, lost)),
            "node.count": leaf("7", Class.COUNTER),
            "node.time": leaf(name, Class.MEASUREMENT),
            "node.serial": leaf("S1", Class.IDENTITY),
        }
        assert prints.of(Tree(leaves, {Plane.BMC: Unknown(Reason.TIMEOUT, lost)})) == {
            (Plane.OS, Class.CONFIG): printed({"node.a": {"unknown": "denied"}, "node.b": {"value": name}}, 1),
            (Plane.OS, Class.IDENTITY): printed({"node.serial": {"value": "S1"}}, 0),
            (Plane.BMC, Class.CONFIG): printed({"": {"unknown": "timeout"}}, 1),
        }


def leaf(reading: Reading, cls: Class = Class.CONFIG) -> Leaf:
    return Leaf(reading, KINDS[cls], Plane.OS, "file")


def printed(facts: dict[str, Any], unknown: int) -> Print:
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return Print(hashlib.sha256(text.encode()).hexdigest(), len(facts), unknown)
