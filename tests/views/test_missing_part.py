"""A missing part is named by its PCI address: numbers in the order of detection name another part on each node."""

from collections.abc import Mapping, Sequence

from damaged import loaded
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.evaluate.verdict import Evidence, Outcome, Status, Verdict, judge_one
from rackcheck.model.fact import Plane, Reading
from rackcheck.model.path import parse
from rackcheck.model.profile import Rule
from rackcheck.model.tree import Leaf, Tree
from rackcheck.run.event import FactsRead, Judged
from rackcheck.session.registry_loading import known
from rackcheck.views.part_names import NamedPart, PartNames

COUNT = next(rule for rule in loaded("h100-dgx").own if rule.id == "burnin.gpu_count")
GPUS = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")


def tree(gpus: Sequence[str], node: int) -> Tree:
    """The GPUs that a burn-in found, numbered in the order of their PCI buses, as CUDA numbers them."""
    facts: dict[str, Reading] = {"burnin.gpu": tuple(map(str, range(len(gpus))))}
    for number, bus in enumerate(gpus):
        facts |= {f"burnin.gpu/{number}.pci": f"0000:{bus}:00.0", f"burnin.gpu/{number}.uuid": f"GPU-{node}-{bus}"}
    catalogue = known().catalogue
    leaves = {}
    for path, reading in facts.items():
        entry = catalogue.find(parse(path))
        assert entry is not None
        leaves[path] = Leaf(reading, entry.kind, Plane.BURNIN, "a test")
    return Tree(leaves)


def named(nodes: Mapping[str, Tree], rules: Sequence[Rule] = (COUNT,)) -> dict[str, Mapping[str, Sequence[NamedPart]]]:
    names = PartNames(rules)
    for node, read in nodes.items():
        verdicts = tuple(judge_one(rule, read, {}, {}, {}) for rule in rules)
        failed = any(verdict.status is Status.FAIL for verdict in verdicts)
        names.take(FactsRead(node, read))
        names.take(Judged(node, "compute", Outcome.FAIL if failed else Outcome.PASS, verdicts))
    return dict(names.found())


@given(st.sets(st.sampled_from(GPUS), min_size=1, max_size=3))
def test_the_gpus_that_are_gone_are_named_wherever_they_were(gone: set[str]) -> None:
    left = [bus for bus in GPUS if bus not in gone]
    found = named({"n1": tree(left, 1), "n2": tree(GPUS, 2)})["n1"]["burnin.gpu_count"]
    assert {part.part.pci for part in found} == {f"0000:{bus}:00.0" for bus in gone}
    assert all(part.missing and not part.part.serial for part in found)
    present = {f"burnin.gpu/{number}" for number in range(len(left))}
    assert present.isdisjoint(item for part in found for item in part.part.items)


def test_the_missing_gpu_has_its_address_where_its_number_is_that_of_another_gpu() -> None:
    found = named({"n1": tree(GPUS[1:], 1), "n2": tree(GPUS, 2)})["n1"]["burnin.gpu_count"]
    assert [str(part) for part in found] == ["GPU 0000:1b:00.0 is missing"]
    found = named({"n1": tree(GPUS[:-1], 1), "n2": tree(GPUS, 2)})["n1"]["burnin.gpu_count"]
    assert [str(part) for part in found] == ["GPU 7 (PCI 0000:df:00.0) is missing"]


def test_a_finding_about_the_gpu_that_has_the_number_now_is_not_laid_to_the_missing_one() -> None:
    read = tree([*GPUS[:5], *GPUS[6:]], 1)
    rule = next(rule for rule in loaded("h100-dgx").own if rule.id == "burnin.gpu_rate_best")
    names = PartNames([COUNT, rule])
    names.take(FactsRead("n2", tree(GPUS, 2)))
    names.take(Judged("n2", "compute", Outcome.PASS, (judge_one(COUNT, tree(GPUS, 2), {}, {}, {}),)))
    names.take(FactsRead("n1", read))
    evidence = Evidence(Status.FAIL, "burnin.gpu/5.rate", "1", "at least 2")
    slow = Verdict(rule.id, Status.FAIL, "it is slow", (evidence,))
    names.take(Judged("n1", "compute", Outcome.FAIL, (judge_one(COUNT, read, {}, {}, {}), slow)))
    found = names.found()["n1"]
    assert [part.part.pci for part in found[COUNT.id]] == ["0000:c3:00.0"]
    assert [(part.part.pci, part.missing) for part in found[rule.id]] == [("0000:d1:00.0", False)]


def test_numbers_are_not_compared_with_a_node_whose_parts_have_other_addresses() -> None:
    for other in ([f"{number:02x}" for number in range(16, 23)], [*GPUS[:3], "5f", *GPUS[5:]]):
        assert "burnin.gpu_count" not in named({"n1": tree(other, 1), "n2": tree(GPUS, 2)}).get("n1", {})
