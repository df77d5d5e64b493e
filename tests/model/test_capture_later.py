"""Captures whose fields are read when they are used."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import fields, replace

import pytest

from rackcheck.base.user_error import UserError
from rackcheck.model.capture import CAPTURES, BmcCapture, BurnCapture, Capture, NodeCapture, Output

WHOLE: tuple[Capture, ...] = (
    NodeCapture({"uname": Output(0, "Linux")}, {"/etc/*": None}, {"/etc/os-release": "ID=x"}),
    BmcCapture({"/redfish/v1": {"Id": "RootService"}}, {"/redfish/v1": "2026-11-21T08:00:00Z"}),
    BurnCapture(({"k": "hello"}, {"k": "end"})),
)


def test_every_kind_of_capture_is_tried_here() -> None:
    assert {type(whole) for whole in WHOLE} == set(CAPTURES.values())


@pytest.mark.parametrize("whole", WHOLE, ids=lambda whole: type(whole).__name__)
@pytest.mark.parametrize("used", [repr, copy, replace, lambda later: later.to_json()])
def test_a_capture_that_is_read_later_is_read_once_and_equals_the_whole(
    whole: Capture, used: Callable[[Capture], object]
) -> None:
    read: list[int] = []

    def reading() -> Capture:
        read.append(1)
        return whole

    later = type(whole).later(reading)
    assert read == []
    used(later)
    assert later == whole
    assert all(getattr(later, each.name) == getattr(whole, each.name) for each in fields(whole))
    assert len(read) == 1
    with pytest.raises(AttributeError):
        later.no_such_field  # noqa: B018


@pytest.mark.parametrize("whole", WHOLE, ids=lambda whole: type(whole).__name__)
def test_threads_that_use_a_capture_at_once_all_see_it_whole(whole: Capture) -> None:
    with ThreadPoolExecutor(8) as pool:
        for _ in range(50):
            later = type(whole).later(lambda: whole)
            assert all(pool.map(lambda each: each == whole, [later] * 8))


def test_a_reply_that_cannot_be_read_raises_its_reason_each_time() -> None:
    def damaged() -> Capture:
        raise UserError("damaged")

    later = NodeCapture.later(damaged)
    for _ in range(2):
        with pytest.raises(UserError, match="damaged"):
            later.load()
