"""Nonsense as the answer to a probe."""

import re
from collections.abc import Iterator

from recordings import OsProbe

from rackcheck.model import path as paths
from rackcheck.model.catalogue import Catalogue
from rackcheck.model.fact import Unreadable, single
from rackcheck.model.question import Read, Shell
from rackcheck.model.text import Files


def read_all(probe: OsProbe, answer: str | Files) -> None:
    """Call the raw reader without the framework that would catch its exceptions."""
    promised = Catalogue.of(probe.entries())
    try:
        for path, _ in single(probe.parse(answer)):  # type: ignore[arg-type]  # the ask decides which
            assert promised.find(paths.parse(path)) is not None, path
    except Unreadable:
        pass


def places(probe: OsProbe) -> Iterator[str]:
    """One file for each glob of a probe."""
    assert isinstance(probe.ask, Read)
    for glob in probe.ask.globs:
        yield re.sub(r"\*", "0", glob)


def feed(probe: OsProbe, text: str) -> None:
    """Use a text as the answer, or as the content of every file."""
    if isinstance(probe.ask, Shell):
        read_all(probe, text)
    else:
        read_all(probe, Files(dict.fromkeys(places(probe), text), {}))
