"""Every sign of damage has a judge: a blocker or major rule of a shipped profile, or a reason why it needs none."""

from rackcheck.probe.registry import registry
from rackcheck.profile import judged, library

CATALOGUE = registry().catalogue
JUDGED = judged.judges(
    (each for each in (library.load(name, CATALOGUE) for name in library.profiles()) if not each.fragment),
    registry().joins,
)


def test_every_counter_log_and_health_fact_is_judged_or_exempt_for_a_reason() -> None:
    assert judged.unjudged(CATALOGUE, JUDGED) == ()
    assert sum(map(judged.needs_rule, CATALOGUE.entries.values())) > 350


def test_no_exemption_is_idle_wrong_or_about_an_uncorrected_error() -> None:
    assert judged.wrong_exemptions(CATALOGUE, JUDGED) == ()
    assert len(judged.exemptions()) > 150


def test_a_fact_whose_rules_are_removed_is_named() -> None:
    removed = {pattern: ids for pattern, ids in JUDGED.items() if pattern != "log.kernel.mce.uncorrected"}
    assert judged.unjudged(CATALOGUE, removed) == ("log.kernel.mce.uncorrected",)
