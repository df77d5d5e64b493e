"""Built-in rules and a profile's machines, added to a generated run: shared identities, matching and other names."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from hypothesis import strategies as st
from law_nodes import NodeFacts, readings
from law_rules import pick

from rackcheck.inventory import BmcAccess, Node
from rackcheck.model.path import parse
from rackcheck.model.profile import Profile, Rule
from rackcheck.model.tree import Leaf
from rackcheck.probe.join import Join
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.job import Job

IDENTITIES: Mapping[str, tuple[str, ...]] = {
    "node.serial": ("S1", "S2", "S3", "S4", "None", "0000"),
    "node.uuid": ("4c4c4544-0035-3410-8050-c6c04f314733", "4445544c-3500-1034-8050-c6c04f314733", "38947555-7742-3448-3784-823347823834"),
    "bmc.host.serial": ("S1", "S2", "S3", "S4", "None"),
    "bmc.host.sku": ("S1", "T1", "T2"),
    "bmc.host.uuid": ("4c4c4544-0035-3410-8050-c6c04f314733", "38947555-7742-3448-3784-823347823834"),
}  # fmt: skip
"""Identities of nodes: shared serial numbers, placeholders, one UUID in both byte orders."""

PRODUCT = "node.product"
MODEL = "bmc.system/*.model"
NAMES = ("DGXH100", "DGXH200", "X1")


@cache
def built_in() -> tuple[tuple[Rule, ...], tuple[Join, ...]]:
    """The rules that belong to every profile, and the joins that they are computed from."""
    rules = tuple(rule for rule in library.load("linux-server", registry().catalogue).rules if rule.built_in)
    wanted = {str(fact) for rule in rules for fact in rule.facts()}
    return rules, tuple(join for join in registry().joins if wanted & join.gives.keys())


@st.composite
def laid_under(draw: st.DrawFn, job: Job, values: Mapping[str, NodeFacts]) -> tuple[Job, dict[str, NodeFacts]]:
    """A run with the built-in rules before its own, of nodes that report identities and a name."""
    rules, joins = built_in()
    known = registry()
    probes = tuple(probe for probe in known.probes if probe.name in {"serial", "bmc_host"})
    gatherings = tuple(each for each in known.gatherings if "fleet.identity.repeated" in each.gives)
    applies = pick(draw, [{}, {}, {"product": ("DGXH100*",)}])
    assert job.profile is not None
    profile = Profile("law", "1", "A machine", (*job.profile.rules, *rules), applies)
    nodes = tuple(_with_bmc(node) if draw(st.integers(0, 3)) else node for node in job.nodes)
    plan = replace(
        job.plan, probes=probes, joins=(*job.plan.joins, *joins), gatherings=(*job.plan.gatherings, *gatherings)
    )
    found = {name: replace(each, first={**each.first, **draw(identities())}) for name, each in values.items()}
    return replace(job, profile=profile, nodes=nodes, plan=plan), found


def _with_bmc(node: Node) -> Node:
    return replace(node, bmc=BmcAccess("https://192.0.2.1"))


@st.composite
def identities(draw: st.DrawFn) -> dict[str, Leaf]:
    """The identities that one node reports; some of them were never collected."""
    found: dict[str, Leaf] = {}
    for path, values in {**IDENTITIES, PRODUCT: NAMES}.items():
        if draw(st.integers(0, 5)):
            entry = registry().catalogue.find(parse(path))
            assert entry is not None
            found[path] = Leaf(draw(readings(values)), entry.kind, entry.plane, f"cat {path}")
    return found
