"""A setting in which a part differs is shown with its name and its unit, wherever only a value is shown."""

import pytest

from rackcheck.evaluate.verdict import Evidence, Outcome, Status, Verdict
from rackcheck.probe.registry import registry
from rackcheck.profile import library
from rackcheck.run.event import Judged, RunDone, RunStarted
from rackcheck.views.census import Census
from rackcheck.views.differing_setting import differing_setting
from rackcheck.views.finding_groups import groups
from rackcheck.views.summary import summarize


def evidence(item: str, value: str) -> Evidence:
    return Evidence(Status.FAIL, item, value, "must not be there")


@pytest.mark.parametrize(
    ("item", "value", "text"),
    [
        ("nic.interface/eth0.unlike/speed.value", "25; most: 200", "nic.interface/eth0.speed is 25 Gb/s, must be 200 Gb/s"),
        ("nic.interface/eth0.unlike/mtu.value", "1500; most: 9000", "nic.interface/eth0.mtu is 1500, must be 9000"),
        ("nic.interface/eth0.unlike/speed.value", "absent; most: 200", "nic.interface/eth0.speed is absent, must be 200 Gb/s"),
        ('nvme/nvme3.unlike/"link.width".value', "2; most: 4", "nvme/nvme3.link.width is 2, must be 4"),
        ("gpu/0.unlike/no_such_fact.value", "1; most: 2", "gpu/0.no_such_fact is 1, must be 2"),
        ('nic.interface/eth0.queues_unlike/"ring.rx".value', "1; most: 2", "nic.interface/eth0.ring.rx is 1, must be 2"),
        ("nic.interface/eth0.queues_unlike/ring.rx.value", "1; most: 2", None),
    ],
)  # fmt: skip
def test_a_value_gets_the_unit_of_its_fact(item: str, value: str, text: str | None) -> None:
    found = differing_setting(evidence(item, value))
    assert (None if found is None else str(found)) == (None if text is None else f"{text}, as most")


@pytest.mark.parametrize("item", ["bios.turbo", "gpu/0.link.width", "", "x y", "count of gpu", "unlike/a.value", "a/b"])
def test_what_is_no_setting_that_differs_has_none(item: str) -> None:
    assert differing_setting(evidence(item, "8; most: 16")) is None
    assert differing_setting(evidence("nic.interface/eth0.unlike/speed.value", "8")) is None


@pytest.mark.parametrize(
    ("item", "value", "want", "got"),
    [
        ("nic.interface/eth0.unlike/speed.value", "25; most: 200", "200 Gb/s, as most", "speed 25 Gb/s"),
        ("nic.interface/eth0.unlike/mtu.value", "1500; most: 9000", "9000, as most", "mtu 1500"),
    ],
)
def test_a_group_shows_the_setting_its_unit_and_the_value_of_most(item: str, value: str, want: str, got: str) -> None:
    profile = library.load("linux-gpu-node", registry().catalogue)
    verdict = Verdict("nic.ports_alike", Status.FAIL, "x", (evidence(item, value),))
    started = RunStarted("r", "2026-11-21T08:00:00Z", "0", "p", "1", "", ("n1",), ("os",), "all", profile.law)
    judged = Judged("n1", "compute", Outcome.FAIL, (verdict,))
    summary = summarize([started, judged, RunDone("2026-11-21T09:00:00Z", Outcome.FAIL)], profile)
    (group,) = (each for each in groups(summary, Census()) if each.rule == "nic.ports_alike")
    assert (group.want, group.got) == (want, got)
