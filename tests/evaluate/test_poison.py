"""The poison proof: each sign of damage, made bad by the smallest step, fails a blocker or major rule."""

import poison
import pytest

pytestmark = pytest.mark.landing


def test_every_poison_of_a_clean_dgx_is_caught() -> None:
    done = list(poison.on_dgx())
    assert [str(each) for each in done if not each.caught and not each.spared] == []
    assert [each.pattern for each in done if each.spared] == ["storage.md/*.mismatches"]  # its arrays are mirrors
    assert len(done) > 100


def test_every_fact_that_needs_a_rule_is_caught_by_one_of_some_profile() -> None:
    todo, missed = set(poison.wanted()), list[str]()
    for name in poison.machine_profiles():
        done = [each for each in poison.on_others(name, patterns=todo) if each.pattern in todo]
        missed += [str(each) for each in done if not each.caught]
        todo -= {each.pattern for each in done}
    # A count whose rate is judged: its poison needs the time since boot, which the simulated machine has.
    profile, clean = poison.machine_profiles()["h100-dgx"], poison.dgx()
    rated = {"gpu/*.link.replays", "memory.controller/*.module/*.corrected"}
    for pattern in todo & rated:
        found = poison.poisoned_dgx(profile, pattern, clean)
        todo -= {pattern} if found is not None and found.caught else set()
    assert (todo, missed) == (set(), [])


@pytest.mark.parametrize(
    "rule", ["log.no_machine_check", "bmc.dimms_healthy", "nvme.no_warning", "pcie.no_uncorrected"]
)
def test_without_its_rule_a_poison_is_missed(rule: str) -> None:
    found = [each for each in poison.on_dgx(without=rule) if not each.caught and not each.spared]
    assert found
    assert {each.value for each in found} == {"nothing"}
