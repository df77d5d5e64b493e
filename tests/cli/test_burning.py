"""The progress of a burn-in on stderr while nodes start one after the other."""

import pytest

from rackcheck.cli.burning import watching
from rackcheck.parse.burnin.plan import Tier
from rackcheck.run.event import Burning


def test_the_nodes_that_have_started_are_counted_until_all_have(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(Tier.SMOKE, 2, quiet=False) as watch:
        for number in (1, 2):
            watch(Burning(f"n{number}", ({"k": "hello", "t": 0.0}, {"k": "about", "t": 6.0 * number})))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "6 s of 15, 1 of 2 nodes started, 0 tests done, no finding"
    assert second == "12 s of 15, 0 tests done, no finding"
