"""`rackcheck groups` and `rackcheck odd` on stored runs of a simulated rack: n1 has a slow port, n3 no BMC answer."""

import json
from pathlib import Path

import pytest
from command import rackcheck
from rack_runs import accepted, folder

from rackcheck.evaluate.verdict import Status
from rackcheck.session import rejudge
from rackcheck.session.subject import find
from rackcheck.views.causes import causes
from rackcheck.views.census import Census
from rackcheck.views.finding_groups import FindingGroup, groups
from rackcheck.views.summary import Summary


@pytest.fixture(scope="module")
def read() -> tuple[Summary, Census, tuple[FindingGroup, ...]]:
    summary, census = rejudge.read(find(str(folder() / "first")))
    return summary, census, groups(summary, census)


def test_every_finding_and_cause_is_one_group_numbered_from_one(
    read: tuple[Summary, Census, tuple[FindingGroup, ...]],
) -> None:
    summary, _, found = read
    aside = [
        f for f in summary.findings if f.status is Status.UNKNOWN and f.rule.unknown_is_minor and not f.rule.built_in
    ]
    assert aside
    common, single = causes([f for f in summary.findings if f not in aside], summary.silent)
    assert [group.number for group in found] == list(range(1, len(common) + len(single) + 1))
    assert {id(group.about) for group in found if group.rule} == {id(finding) for finding in single}
    largest_first = sorted(common, key=lambda cause: -len(cause.nodes))
    assert [group.about for group in found if not group.rule] == largest_first


def test_what_fails_stands_first_with_what_was_wanted_seen_and_hinted_at() -> None:
    done = rackcheck("groups", folder() / "first")
    assert done.status == 1, done.err
    assert "nic.rate" in done.out.partition("25 rules of the bmc plane: unreachable")[0]
    assert "only this node" in done.out
    assert "Verdict: ✘ FAIL" in done.out


def test_a_group_keeps_its_number_and_is_narrowed_to_the_filtered_nodes() -> None:
    whole = json.loads(rackcheck("groups", folder() / "first", "--all", "--json").out)["groups"]
    some = json.loads(rackcheck("groups", folder() / "first", "--all", "--json", "--where", "node:n3").out)["groups"]
    numbered = {group["group"]: group for group in whole}
    assert some
    assert all(group["nodes"] == ["n3"] for group in some)
    assert all(numbered[group["group"]]["rules"] == group["rules"] for group in some)
    assert len(some) < len(whole)


def test_terms_about_findings_choose_groups() -> None:
    def rules(where: str) -> list[str]:
        done = rackcheck("groups", folder() / "first", "--json", "--where", where)
        return [group["rule"] for group in json.loads(done.out)["groups"]]

    assert rules("state:fail") == ["nic.rate"]
    assert rules("group:1") == ["nic.rate"]
    assert rules("rule:bmc.clock") == [""]
    assert rules("!state:fail") == ["", "identity.unique", "silence.nodes", "limits.services_locked_memory"]
    assert rules("plane:fabric") == []


def test_nodes_that_may_or_may_not_match_are_left_out_and_counted() -> None:
    done = rackcheck("groups", folder() / "first", "--where", "bios.smt=enabled")
    assert "1 of 3 nodes, the fleet left out: the facts in `bios.smt=enabled` are unknown there" in done.err
    assert "unreachable" not in done.out


def test_without_a_matching_group_it_is_stated_beside_the_runs_own_verdict(
    read: tuple[Summary, Census, tuple[FindingGroup, ...]],
) -> None:
    done = rackcheck("groups", folder() / "first", "--where", "rule:no.such")
    assert done.status == 1
    assert f"none of {len(read[2])} groups matches `rule:no.such`" in done.out
    assert "Verdict: ✘ FAIL" in done.out


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (("groups", "--all"), ("odd",)):
        done = rackcheck(words[0], folder() / "first", *words[1:])
        assert max(map(len, done.out.splitlines())) <= columns, words


def test_in_a_plain_locale_nothing_but_ascii_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert (rackcheck("groups", folder() / "first").out + rackcheck("odd", folder() / "first").out).isascii()


def test_the_odd_one_out_is_named_with_the_slow_port_and_unknowns_are_counted() -> None:
    done = rackcheck("odd", folder() / "first")
    assert done.status == 1, done.err
    assert "n1: nic/mlx5_4.port/1.rate is 40 Gb/s, 2 of 3 have 400 Gb/s" in done.out
    assert "known on too few nodes" in " ".join(done.out.split())


def test_none_is_odd_among_too_few_nodes_and_that_is_no_pass() -> None:
    done = rackcheck("odd", folder() / "one")
    assert done.status == 3
    assert "no comparison: 1 node" in done.out


def test_no_odd_node_is_no_pass_while_facts_are_unknown_and_is_one_where_all_is_known() -> None:
    assert rackcheck("odd", folder() / "first", "--where", "node:n2").status == 3
    assert rackcheck("odd", folder() / "os", "--where", "node:n2,n3").status == 0


def test_odd_takes_a_filter_of_facts_and_a_role() -> None:
    (role,) = json.loads(rackcheck("odd", folder() / "os", "--json", "--where", "fact:nic/mlx5_4.port/1.rate").out)[
        "roles"
    ]
    (one,) = role["odd"]
    assert [each["facts"] for each in one["deviations"]] == [["nic/mlx5_4.port/1.rate"]]
    wrong = rackcheck("odd", folder() / "os", "--role", "compte")
    assert wrong.status == 2
    assert "did you mean compute?" in wrong.err


def test_an_acceptance_is_counted_by_the_newest_reading_of_each_plane(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    assert accepted("pod", "first", "os").status in {0, 1, 3}
    _, census = rejudge.read(find("pod"))
    _, single = rejudge.read(find(str(folder() / "first")))
    assert set(census.facts()) == set(single.facts())
    assert rackcheck("groups", "pod").status == 1
