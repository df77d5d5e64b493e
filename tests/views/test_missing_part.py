"""A missing part is named by its PCI address: numbers in the order of detection name another part on each node."""

from collections.abc import Mapping, Sequence

import pytest
import single_faults
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
from rackcheck.views.named_part import NamedPart
from rackcheck.views.part_names import PartNames

COUNT = next(rule for rule in loaded("h100-dgx").own if rule.id == "burnin.gpu_count")
GPUS = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")


def tree(gpus: Sequence[str], node: int) -> Tree:
    """The GPUs that a burn-in found, numbered in the order of their PCI buses, as CUDA numbers them."""
    facts: dict[str, Reading] = {"burnin.gpu": tuple(map(str, range(len(gpus))))}
    for number, bus in enumerate(gpus):
        facts |= {f"burnin.gpu/{number}.pci": f"0000:{bus}:00.0", f"burnin.gpu/{number}.uuid": f"GPU-{node}-{bus}"}
    return Tree({path: leaf(path, reading) for path, reading in facts.items()})


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


def leaf(path: str, reading: Reading) -> Leaf:
    entry = known().catalogue.find(parse(path))
    assert entry is not None
    return Leaf(reading, entry.kind, Plane.BURNIN, "a test")


def judged(rule: str, read: Tree, *evidence: Evidence, status: Status = Status.FAIL) -> Sequence[NamedPart]:
    """The parts of one verdict of a rule on a node of these facts."""
    found = next(each for each in loaded("h100-dgx").own if each.id == rule)
    names = PartNames([found])
    names.take(FactsRead("n1", read))
    names.take(Judged("n1", "compute", Outcome.FAIL, (Verdict(rule, status, "it is wrong", evidence),)))
    return names.found().get("n1", {}).get(rule, ())


def test_a_fault_under_load_names_the_part_that_had_it() -> None:
    read = tree(GPUS, 1)
    read = Tree({**read.leaves, "burnin.fault/lost.where": leaf("burnin.fault/lost.where", "gpu/3, cpu/1")})
    found = judged(
        "burnin.no_crash", read, Evidence(Status.FAIL, "burnin.fault/lost.where", "gpu/3", "must not be there")
    )
    assert [part.part.pci for part in found] == ["0000:61:00.0"]


@pytest.mark.parametrize(("rates", "outlier"), [((4, 10, 10, 9, 10, 10, 10, 11), 0), ((4, 4, 4, 4, 4, 4, 9, 4), 6)])
def test_a_spread_names_the_end_that_is_far_from_the_others(rates: Sequence[int], outlier: int) -> None:
    read = tree(GPUS, 1)
    facts = {f"burnin.gpu/{n}.tensor.rate": rate for n, rate in enumerate(rates)}
    read = Tree({**read.leaves, **{path: leaf(path, float(rate)) for path, rate in facts.items()}})
    low, high = rates.index(min(rates)), rates.index(max(rates))
    seen = f"60 % apart, 4 TFLOP/s of burnin.gpu/{low} to 11 TFLOP/s of burnin.gpu/{high}"
    found = judged("burnin.gpu_spread", read, Evidence(Status.FAIL, "burnin.gpu/*.tensor.rate", seen, "at most 10 %"))
    assert [part.part.pci for part in found] == [f"0000:{GPUS[outlier]}:00.0"]


@pytest.mark.parametrize(
    ("pairs", "gpus"), [(((0, 4), (4, 1), (2, 4)), (4,)), (((0, 4),), (0, 4)), (((0, 1), (2, 3)), (0, 1, 2, 3))]
)
def test_slow_pairs_name_the_gpu_that_all_of_them_have(pairs: Sequence[Sequence[int]], gpus: Sequence[int]) -> None:
    evidence = [
        Evidence(Status.FAIL, f"burnin.gpu/{one}.peer/{other}.of_nvlink", "40 %", "at least 50 %")
        for one, other in pairs
    ]
    found = judged("burnin.gpu_pair_limit", tree(GPUS, 1), *evidence)
    assert [part.part.pci for part in found] == [f"0000:{GPUS[number]}:00.0" for number in gpus]


def test_values_of_many_parts_that_are_only_unknown_name_none() -> None:
    evidence = [Evidence(Status.UNKNOWN, f"burnin.gpu/{n}.among.work", "unknown", "fine") for n in range(8)]
    assert judged("burnin.gpu_work", tree(GPUS, 1), *evidence, status=Status.UNKNOWN) == ()
    few = judged("burnin.gpu_work", tree(GPUS, 1), *evidence[:2], status=Status.UNKNOWN)
    assert [part.part.pci for part in few] == ["0000:1b:00.0", "0000:43:00.0"]


def test_the_peer_of_a_rule_may_lack_parts_of_another_rule() -> None:
    """No node has all parts: one lacks a GPU, the other an RDMA device."""
    ours, other = single_faults.simulated("nic-missing", nic="mlx5_0"), single_faults.simulated("gpu-missing", gpu="5")
    names = PartNames(loaded("h100-dgx").own)
    for node, answers in (("n1", ours), ("n2", other)):
        names.take(FactsRead(node, answers.tree()))
        names.take(Judged(node, "compute", Outcome.FAIL, tuple(answers.verdicts())))
    found = names.found()
    assert [str(part) for part in found["n1"]["nic.count"]] == ["NIC mlx5_0 (PCI 0000:18:00.0) is missing"]
    assert [part.part.slot for part in found["n2"]["gpu.count"]] == ["SXM6"]


def test_where_every_node_lacks_the_part_no_part_that_is_there_is_named() -> None:
    answers = single_faults.simulated("nic-missing", nic="mlx5_0")
    names = PartNames(loaded("h100-dgx").own)
    names.take(FactsRead("n1", answers.tree()))
    names.take(Judged("n1", "compute", Outcome.FAIL, tuple(answers.verdicts())))
    assert [part for part in names.found()["n1"].get("nic.count", ()) if not part.missing] == []
