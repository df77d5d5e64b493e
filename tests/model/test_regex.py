"""A regular expression that is compiled late is the same as one that is compiled at once."""

import gc
import pickle
import pkgutil
import re
from copy import copy
from importlib import import_module

import pytest

import rackcheck
import rackcheck_probes
import rackcheck_tui
from rackcheck.model.regex import LateRegex, regex

PAYLOADS = re.compile(r"\.(payload|kernels|node)\b|__main__")
"""Modules that run on a node, or only as programs."""


def test_it_has_every_attribute_of_a_pattern_before_and_after_its_first_use() -> None:
    source, flags, text = r"(?P<word>\w+) (\d+)", re.IGNORECASE, "one 1, two 2"
    early = re.compile(source, flags)
    public = [name for name in dir(re.Pattern) if not name.startswith("_")]
    for name in public:
        late = regex(source, flags)
        for _ in range(2):
            mine, theirs = getattr(late, name), getattr(early, name)
            assert callable(mine) == callable(theirs)
            assert callable(mine) or mine == theirs
    late = regex(source, flags)
    assert late.findall(text) == early.findall(text)
    assert late.sub(r"\2", text) == early.sub(r"\2", text)
    assert (late.match(text) or early)[0] == "one 1"  # type: ignore[index]
    assert regex(rb"\d").findall(b"1 2") == [b"1", b"2"]


def test_it_can_be_copied_before_and_after_its_first_use() -> None:
    late = regex("a+")
    assert copy(late).findall("aab") == ["aa"]
    assert late.findall("aab") == copy(late).findall("aab")
    assert pickle.loads(pickle.dumps(regex("b"))).findall("aab") == ["b"]


def test_an_invalid_expression_or_attribute_is_an_error_at_its_first_use() -> None:
    late = regex("(")
    with pytest.raises(re.error):
        late.match("")
    with pytest.raises(AttributeError):
        regex("a").missing  # type: ignore[attr-defined]  # noqa: B018


def test_every_late_expression_of_the_program_is_valid() -> None:
    for package in (rackcheck, rackcheck_probes, rackcheck_tui):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not PAYLOADS.search(info.name):
                import_module(info.name)
    found = [each for each in gc.get_objects() if type(each) is LateRegex]
    assert len(found) > 300
    assert all(isinstance(each.pattern, str | bytes) for each in found)
