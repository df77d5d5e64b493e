"""Every recording of our own, read again: the facts are those that were expected."""

from pathlib import Path

import pytest
from recordings import as_json, leaves, os_probes, ours, recorded

from rackcheck.model import path as paths
from rackcheck.model.capture import named
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.question import Read
from rackcheck.probe.collect import typed

PROBES = os_probes()


@pytest.mark.parametrize("place", ours(), ids=lambda place: f"{place.parent.name}-{place.stem}")
def test_a_recorded_machine_gives_the_facts_that_were_expected(place: Path) -> None:
    probe = PROBES[place.parent.name]
    capture, expected = recorded(place)
    given = leaves(probe, capture)
    assert {path: as_json(leaf.reading) for path, leaf in given.items()} == expected
    catalogue = Catalogue.of(probe.entries())
    for path, leaf in given.items():
        entry = catalogue.find(paths.parse(path))
        assert entry is not None
        assert typed(leaf.reading, entry.kind) == leaf.reading, path


def test_a_recording_answers_its_probes_current_question() -> None:
    for place in ours():
        ask = PROBES[place.parent.name].ask
        capture, _ = recorded(place)
        if isinstance(ask, Read):
            assert set(capture.globs) == set(ask.globs), place
        else:
            assert set(capture.commands) == {named(ask.command)}, place


def test_no_two_probes_give_the_same_fact() -> None:
    Catalogue.of(entry for probe in PROBES.values() for entry in probe.entries())


def test_a_probe_documents_its_question_and_what_each_fact_means() -> None:
    for name, probe in PROBES.items():
        assert probe.help.endswith("."), name
        for pattern, kind in probe.gives.items():
            assert kind.help.endswith("."), (name, pattern)
