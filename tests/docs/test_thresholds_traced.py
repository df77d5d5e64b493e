"""From a rule back to where its threshold comes from: each cites a source, and stands in a row of the base of facts.

`test_fact_rows.py` goes from rows to rules. Here every rule of every shipped profile that holds a threshold (a number, a
quantity, a version, a fixed word) is followed the other way. What no row asks for stands below with its reason, and a
reason that does not fit the rule is refused.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest
from fact_tables import SHIPPED, TABLES, cited, covered, rules
from recordings import shared

from rackcheck.model.operator import Mask, Within
from rackcheck.model.path import Path
from rackcheck.model.profile import Rule

Figure = float | str
Key = tuple[object, ...]

EXAMPLE = "example-site"
"""The profile that shows how a site lays its own figures over ours."""


def figures(rule: Rule) -> Iterator[Figure]:
    """What a rule compares with: neither another fact, nor whether something is true or there, nor an empty list."""
    for test in (test for clause in rule.clauses for test in clause.tests):
        match test.operand:
            case bool() | Path():
                continue
            case Within(of, by, _):
                yield from (of, by)
            case Mask(_, wanted):
                yield float(wanted)
            case tuple() as several:
                yield from (each for each in several if isinstance(each, (str, float, int)))
            case int() | float() | str() as one:
                yield one
    if rule.look is not None:
        yield from (n for n in (rule.look.expect_count, rule.look.allow_failing or None) if n is not None)
    if rule.across is not None:
        yield rule.across.quorum


def asks(rule: Rule) -> Key:
    """What makes the thresholds of two rules one: an overlay that says the same in other words holds no new one."""
    return (rule.id, rule.clauses, rule.look, rule.across)


@cache
def thresholds() -> Mapping[Key, tuple[Rule, tuple[str, ...]]]:
    """Every rule that holds a threshold, once, with the profiles that have it."""
    found: dict[Key, tuple[Rule, tuple[str, ...]]] = {}
    for name in SHIPPED:
        for rule in rules(name).values():
            if any(True for _ in figures(rule)):
                first, names = found.get(asks(rule), (rule, ()))
                found[asks(rule)] = (first, (*names, name))
    return found


@cache
def in_rows() -> frozenset[Key]:
    """What rows of the base ask for."""
    return frozenset(asks(rule) for table in TABLES for row in covered(table) for rule in cited(row))


def none_of_it(rule: Rule, _: tuple[str, ...]) -> bool:
    """Counts what must not be, or must be there at all: no figure but none and one."""
    return all(figure in {0, 1} for figure in figures(rule))


def a_word_of_its_state(rule: Rule, _: tuple[str, ...]) -> bool:
    """Names the state that the interface itself calls good or bad."""
    return all(isinstance(figure, str) for figure in figures(rule))


def a_vote(rule: Rule, _: tuple[str, ...]) -> bool:
    """Compares nodes with one another, by the one share that all such rules have."""
    return rule.across is not None and rule.across.quorum == 75


def of_a_recorded_machine(rule: Rule, _: tuple[str, ...]) -> bool:
    """Says what a machine shows that was recorded whole, and no more than that."""
    return any(ref.endswith(".capture") for ref in rule.refs)


def our_own_choice(rule: Rule, _: tuple[str, ...]) -> bool:
    """Says itself that the figure is our choice; such a rule may be minor at most."""
    return "rackcheck.choice" in rule.refs and rule.severity.value in {"minor", "advisory"}


def of_an_example(_: Rule, names: tuple[str, ...]) -> bool:
    """Stands for a site's figure, in the profile that shows how a site gives its own."""
    return names == (EXAMPLE,)


def from_memory(rule: Rule, _: tuple[str, ...]) -> bool:
    """Is known from memory alone, so that it warns and fails nothing."""
    return rule.from_memory


def of_a_tuned_machine(rule: Rule, _: tuple[str, ...]) -> bool:
    """Says what a tuned machine shows, whose attributes the base lists as they were seen."""
    with shared("../facts/bios_attributes_observed.csv").open(encoding="utf-8", newline="") as opened:
        seen = {
            row["attribute"]: row["observed_value"].lower()
            for row in csv.DictReader(opened)
            if row["capture"] == "dell"
        }
    return all(seen.get(OBSERVED[rule.id]) == figure for figure in figures(rule))


def parts_two_states(rule: Rule, _: tuple[str, ...]) -> bool:
    """Tells two states of one part from each other that physics keeps far apart; says so in a comment."""
    return rule.refs == ("rackcheck.derived",) and rule.phase.value == "burn-in"


def by_the_params_of_another(rule: Rule, names: tuple[str, ...]) -> bool:
    """Takes the site's figures of a rule that stands in a row."""
    other = rules(names[0])[TWIN[rule.id]]
    return asks(other) in in_rows() and list(figures(rule)) == list(figures(other))


def of_a_part_in_a_row(_: Rule, names: tuple[str, ...]) -> bool:
    """Calls by its name the part that another rule of the profile counts by the PCI id of a row."""
    return all(asks(rules(name)["gpu.on_bus"]) in in_rows() for name in names)


OBSERVED = {"bios.node_interleave": "NodeInterleave", "bios.upi_prefetch": "UpiPrefetch"}
TWIN = {"mount.inodes": "mount.space"}


WITHOUT_A_ROW: Mapping[Callable[[Rule, tuple[str, ...]], bool], str] = {
    parts_two_states: "burnin.gpu_work_alike burnin.gpu_clock",
    none_of_it: """
        kernel.no_machine_check kernel.no_oops kernel.no_lockup cpu.all_online memory.none_broken memory.no_uncorrected
        memory.no_corrected gpu.present log.no_fatal_sxid log.no_sxid log.no_oom nvme.no_warning nvme.no_media_error
        nvme.not_too_hot log.no_nvme_timeout gpu.no_uncorrected gpu.no_bad_pages_failed log.no_gpu_reset
        log.no_gpu_reset_failed slurm.controllers fan.turning k8s.forwards k8s.bridged_traffic burnin.readable
        burnin.cpu_correct burnin.disk_correct burnin.gpu_correct burnin.no_uncorrected burnin.no_remap burnin.no_replay
        burnin.no_nvlink_errors burnin.no_xid burnin.all_reduce_correct burnin.disk_readable
        burnin.gpu_stays_cool
    """,
    a_word_of_its_state: """
        burnin.gpu_work_best burnin.gpu_alike burnin.gpu_work burnin.gpu_rate burnin.gpu_heat
        burnin.dcgm_quiet burnin.copies_whole burnin.stress
        service.none_failed fabric.manager_at_boot bmc.power_on bmc.system_healthy bmc.healthy psu.healthy fan.healthy
        fan.enabled security.identity_proven security.no_lasting_override nvme.live imex.domain_up shelf.kind
        shelf.supplies fabric.joined k8s.kubelet k8s.kubelet_at_boot k8s.runtime slurm.slurmd slurm.slurmd_at_boot
        slurm.devices_confined slurm.cores_confined slurm.memory_confined slurm.processes_tracked slurm.tasks_confined
        slurm.in_use cpu.mitigated cpu.maker
    """,
    a_vote: "alike.os alike.microcode firmware.alike switch.firmware_alike",
    of_a_recorded_machine: "bmc.gpu_count numa.two bios.virtualization firmware.eight_roots",
    our_own_choice: "burnin.gpu_heat_alike bmc.clock planes.clock security.certificate_valid security.certificate_digest nvme.wear",
    of_an_example: "memory.swappiness mount.space nvme.count storage.read_ahead",
    of_a_tuned_machine: "bios.node_interleave bios.upi_prefetch",
    by_the_params_of_another: "mount.inodes",
    of_a_part_in_a_row: "gpu.model",
    from_memory: "memory.overcommit",
}
"""Rules that no row asks for, by the reason."""


def test_every_threshold_cites_a_source_that_is_listed() -> None:
    bare = [rule.place for rule, _ in thresholds().values() if not rule.refs]
    assert bare == []
    assert len(thresholds()) > 300


def test_every_threshold_stands_in_a_row_of_the_base_or_has_a_reason() -> None:
    reasoned = {rule_id for ids in WITHOUT_A_ROW.values() for rule_id in ids.split()}
    untold = [(rule.id, rule.place) for key, (rule, _) in thresholds().items() if key not in in_rows()]
    assert [place for rule_id, place in untold if rule_id not in reasoned] == []
    print(f"{len(thresholds())} thresholds, {len(thresholds()) - len(untold)} in rows, {len(untold)} with a reason")


@pytest.mark.parametrize("reason", WITHOUT_A_ROW, ids=lambda reason: reason.__name__)
def test_a_reason_fits_every_rule_that_has_it_and_no_rule_has_it_for_nothing(
    reason: Callable[[Rule, tuple[str, ...]], bool],
) -> None:
    ids = WITHOUT_A_ROW[reason].split()
    open_ = [(rule, names) for key, (rule, names) in thresholds().items() if key not in in_rows()]
    assert sorted(set(ids) - {rule.id for rule, _ in open_}) == []
    assert [rule.place for rule, names in open_ if rule.id in ids and not _fits(reason, rule, names)] == []


def _fits(reason: Callable[[Rule, tuple[str, ...]], bool], rule: Rule, names: tuple[str, ...]) -> bool:
    return reason(rule, names) or of_an_example(rule, names)


def test_no_rule_has_two_reasons_and_few_rest_on_a_source_alone() -> None:
    listed = [rule_id for ids in WITHOUT_A_ROW.values() for rule_id in ids.split()]
    assert sorted(listed) == sorted(set(listed))
