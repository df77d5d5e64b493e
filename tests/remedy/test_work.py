"""The kind of work for each rule follows from the facts that it tests, on purpose, and never from its fix text."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from rackcheck.model.fact import Class
from rackcheck.model.profile import Rule
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.remedy.work import ORDER, TABLE, Row, Work, needs_reboot, work_of

FILE = Path(__file__).parent / "work_of_rules.txt"


@cache
def rules() -> tuple[Rule, ...]:
    """All rules of all shipped profiles, with the built-in rules."""
    files = sorted(path.stem for path in library.shipped("profiles").glob("*.yaml"))
    names = (name for name in files if name not in {"sources", "built-in"})
    return tuple(rule for name in names for rule in library.load(name, registry().catalogue).rules)


def derived() -> Mapping[Work, set[str]]:
    found: dict[Work, set[str]] = {work: set() for work in Work}
    for rule in rules():
        found[work_of(rule)].add(rule.id)
    return found


def test_every_rule_of_every_shipped_profile_is_of_a_kind_on_purpose() -> None:
    listed = {
        Work(kind): set(text.split()) for kind, text in re.findall(r"^(\S+):\n((?:  .*\n)+)", FILE.read_text(), re.M)
    }
    found = derived()
    for work in Work:
        assert found[work] == listed[work], f"{work.value}: {sorted(found[work] ^ listed[work])}; see {FILE.name}"
    assert all(listed.values())


def test_each_pattern_of_the_table_is_a_fact_or_a_collection_of_the_catalogue() -> None:
    known = registry().catalogue.entries
    for row in TABLE:
        for pattern in row.patterns:
            begin = pattern.removesuffix("**")
            assert any(each.startswith(begin) for each in known) if begin != pattern else pattern in known, pattern


def test_the_fix_and_the_title_of_a_rule_change_no_kind() -> None:
    text = "Reseat the GPU; swap the cable; update the firmware; power the node off and on; change the BIOS setting."
    for rule in rules():
        assert work_of(replace(rule, fix=text, title=text, why=text)) is work_of(rule)
        assert work_of(replace(rule, fix="", title="", why="")) is work_of(rule)


def one(name: str) -> Rule:
    return next(rule for rule in rules() if rule.id == name)


@pytest.mark.parametrize(
    ("name", "work"),
    [("gpu.width", Work.PART), ("nic.rate", Work.CABLE), ("gpu.vbios", Work.FIRMWARE), ("bios.turbo", Work.SETTING),
     ("bios.none_pending", Work.POWER), ("time.near", Work.HAND)],
)  # fmt: skip
def test_the_kind_follows_the_fact(name: str, work: Work) -> None:
    assert work_of(one(name)) is work
    other = one("time.near" if work is not Work.HAND else "gpu.width")
    assert work_of(replace(other, id=name)) is not work


def test_a_row_for_some_classes_leaves_the_settings_of_a_part_to_a_person() -> None:
    row = Row(Work.PART, ("gpu/*.**",), frozenset({Class.COUNTER}))
    assert row.matches("gpu/*.ecc.uncorrected", Class.COUNTER)
    assert not row.matches("gpu/*.persistence", Class.CONFIG)
    assert not row.matches("gpu", Class.COUNTER)


def test_a_bios_setting_needs_a_reboot_and_a_sysctl_does_not() -> None:
    assert needs_reboot(one("bios.turbo"))
    assert needs_reboot(one("kernel.no_zeroing"))
    assert not needs_reboot(one("memory.swappiness"))
    assert set(ORDER) == set(Work)
