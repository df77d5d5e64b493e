"""A node's message when it refuses a login: shortened to one line, but never so that the end of a secret is cut off."""

from pathlib import Path

import pytest
from password_host import PasswordHost, login

from rackcheck.model.fact import Reason

SECRET = "correct-horse-battery"


@pytest.mark.parametrize("before", range(200 - len(SECRET), 201, 5))
def test_a_refusal_that_is_shortened_inside_the_password_does_not_show_its_half(tmp_path: Path, before: int) -> None:
    takes = "x" * before + SECRET + "x" * 50
    reply = login(tmp_path / "host", PasswordHost("another one", takes), SECRET)
    assert reply.cut.reason is Reason.DENIED
    assert "this host accepts" in reply.cut.detail
    assert "corr" not in reply.cut.detail
