"""One walk: every probe of the operating system reads every recording, its own and all others, and never fails."""

import pytest
from nonsense import feed
from recorded_answers import recorded
from recordings import os_probes, shared

PROBES = os_probes()
BEGINNING = 4_000
"""Characters of a recording that each probe reads at every change; enough for the start of each parser."""
LARGEST = 100_000
"""And the total length: the rest of the largest recordings is repetitive."""


def text(name: str) -> str:
    """The text of a recording: of a folder, all of its files in a row."""
    place = shared(name)
    files = [place] if place.is_file() else [f for f in sorted(place.rglob("*")) if f.is_file() and not f.is_symlink()]
    return "".join(file.read_bytes().decode("utf-8", "surrogateescape") for file in files)


def test_the_collection_is_there_and_whole() -> None:
    shared("README.md")
    assert len(recorded()) >= 200


@pytest.mark.parametrize("name", recorded() or ["README.md"])
@pytest.mark.parametrize("much", [BEGINNING, pytest.param(LARGEST, marks=pytest.mark.slow)])
def test_every_probe_reads_a_recording_or_states_why_not(name: str, much: int) -> None:
    given = text(name)[:much]
    if much > BEGINNING and len(given) <= BEGINNING:
        return  # the other parameter reads it whole
    for probe in PROBES.values():
        feed(probe, given)
