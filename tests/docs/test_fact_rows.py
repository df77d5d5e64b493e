"""Every row of the base of facts is judged by a shipped rule, or states why by none; no rule cites a source
that cannot be looked up, and what is known from memory alone fails no machine."""

from collections import Counter
from dataclasses import fields

import pytest
from fact_tables import HERE, SHIPPED, TABLES, Row, base, cited, covered, profile, rules

from rackcheck.model.profile import Rule, Source
from rackcheck.probe.registry import registry
from rackcheck.profile import library

REASONS = frozenset({"info only", "from memory", "contradicted", "no fact", "other system", "site value"})


def from_memory(row: Row) -> bool:
    return row.get("confidence", "").startswith("from memory")


@pytest.mark.parametrize("table", TABLES)
def test_every_row_stands_exactly_once(table: str) -> None:
    wanted = [row[TABLES[table]] for row in base(table)]
    times = Counter(row["row"] for row in covered(table))
    assert {row: times[row] for row in wanted if times[row] != 1} == {}
    assert set(times) - set(wanted) == set()


@pytest.mark.parametrize("table", TABLES)
def test_a_row_has_rules_or_a_reason_of_the_closed_set_with_a_clause(table: str) -> None:
    wrong = [
        row["row"]
        for row in covered(table)
        if (bool(row["rule"]) == bool(row["reason"]))
        or (bool(row["rule"]) != bool(row["profiles"]))
        or (row["reason"] and (row["reason"] not in REASONS or not row["note"].strip()))
    ]
    assert wrong == []


@pytest.mark.parametrize("table", TABLES)
def test_the_rules_and_profiles_that_a_row_names_are_shipped(table: str) -> None:
    wrong: list[str] = []
    for row in covered(table):
        names, ids = row["profiles"].split(), row["rule"].split()
        wrong += [f"{row['row']}: no profile {name}" for name in names if name not in SHIPPED]
        names = [name for name in names if name in SHIPPED]
        wrong += [f"{row['row']}: no rule {i} in {names}" for i in ids if not any(i in rules(name) for name in names)]
        wrong += [f"{row['row']}: {name} has none of {ids}" for name in names if not set(ids) & set(rules(name))]
    assert wrong == []


@pytest.mark.parametrize("table", TABLES)
def test_a_rule_that_rests_on_rows_from_memory_alone_fails_nothing(table: str) -> None:
    known = {row[TABLES[table]]: row for row in base(table)}
    better = {
        rule.place for other in TABLES for rule in _cited_by_better_rows(other)
    }  # a rule that a row from a source cites, too, has that source
    wrong = [
        f"{row['row']}: {rule.id}, {', '.join(rule.refs)}"
        for row in covered(table)
        if row["row"] in known and from_memory(known[row["row"]])
        for rule in cited(row)
        if not rule.from_memory and rule.place not in better
    ]
    assert wrong == []


def _cited_by_better_rows(table: str) -> list[Rule]:
    if not (HERE / f"{table}.csv").exists():
        return []
    known = {row[TABLES[table]]: row for row in base(table)}
    rows = [row for row in covered(table) if row["row"] in known and not from_memory(known[row["row"]])]
    return [rule for row in rows for rule in cited(row)]


@pytest.mark.parametrize("table", TABLES)
def test_only_a_row_from_memory_is_left_out_as_one(table: str) -> None:
    known = {row[TABLES[table]]: row for row in base(table)}
    left = [row["row"] for row in covered(table) if row["reason"] == "from memory" and row["row"] in known]
    assert [row for row in left if not from_memory(known[row])] == []


@pytest.mark.parametrize("name", SHIPPED)
def test_every_source_that_a_shipped_rule_cites_is_listed_with_all_that_it_takes_to_look_it_up(name: str) -> None:
    shown = profile(name)
    missing = {ref for rule in shown.own for ref in rule.refs if ref not in shown.sources}
    assert missing == set()
    empty = {s.id for s in shown.sources.values() for field in fields(Source) if not getattr(s, field.name).strip()}
    assert empty == set()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_rule_has_a_title_a_reason_what_to_do_and_a_source_or_a_value_of_the_site(name: str) -> None:
    bare = library.load(name, registry().catalogue).own
    wrong = [
        rule.id
        for rule in bare
        if not (rule.title and rule.why.strip() and rule.fix.strip() and (rule.refs or rule.unset))
    ]
    assert wrong == []
