"""Versions of packages, against dpkg and rpm themselves and what they publish."""

import shutil
import subprocess
from functools import cmp_to_key, partial
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackcheck.model.version import SCHEMES, Unordered, order

SIGNS = st.sampled_from(["", ".", "+", "~", "a", "rc", "Z", "0", "00", "1", "9", "10", "19"])


def _written(signs: st.SearchStrategy[str], first: str = "") -> st.SearchStrategy[str]:
    return st.lists(signs, min_size=1, max_size=5).map(lambda parts: first + "".join(parts) or "0")


def _whole(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A version with and without epoch and revision."""
    return st.tuples(st.sampled_from(["", "0:", "1:", "10:"]), part, st.sampled_from(["", "-"]), part).map(
        lambda v: f"{v[0]}{v[1]}" + (f"-{v[3]}" if v[2] else "")
    )


DEB = _whole(_written(SIGNS, first="1"))
RPM = _whole(_written(st.one_of(SIGNS, st.sampled_from(["^", "_"]))))
SCHEME = {"deb": DEB, "rpm": RPM}


def _by_dpkg(pairs: list[tuple[str, str]]) -> list[int]:
    script = (
        'while read -r a b; do if dpkg --compare-versions "$a" lt "$b"; then echo -1; '
        'elif dpkg --compare-versions "$a" gt "$b"; then echo 1; else echo 0; fi; done'
    )
    rows = "".join(f"{a} {b}\n" for a, b in pairs)
    done = subprocess.run(["sh", "-c", script], input=rows, capture_output=True, text=True, check=True)
    return [int(row) for row in done.stdout.split()]


def _by_rpm(pairs: list[tuple[str, str]]) -> list[int]:
    calls = "".join(f'print(rpm.vercmp("{a}", "{b}"), ""); ' for a, b in pairs)
    done = subprocess.run(["rpm", "--eval", f"%{{lua: {calls}}}"], capture_output=True, text=True, check=True)
    return [int(row) for row in done.stdout.split()]


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="no dpkg here to compare with")
@settings(max_examples=12)
@given(st.lists(st.tuples(DEB, DEB), min_size=20, max_size=20))
def test_two_versions_compare_as_in_dpkg(pairs: list[tuple[str, str]]) -> None:
    assert [order("deb", a, b) for a, b in pairs] == _by_dpkg(pairs)


@pytest.mark.skipif(shutil.which("rpm") is None, reason="no rpm here to compare with")
@settings(max_examples=40)
@given(st.lists(st.tuples(RPM, RPM), min_size=20, max_size=20))
def test_two_versions_compare_as_in_rpm(pairs: list[tuple[str, str]]) -> None:
    assert [order("rpm", a, b) for a, b in pairs] == _by_rpm(pairs)


# Debian policy 5.6.12 gives the order of the first five; the others follow from its text.
DEBIAN = ["~~", "~~a", "~", "", "a"]


def test_a_tilde_comes_before_the_end_and_the_end_before_a_letter() -> None:
    written = [f"1{part}" for part in DEBIAN]
    assert [order("deb", a, b) for a, b in combinations(written, 2)] == [-1] * 10


@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("1.0a", "1.0+", -1), ("1.0Z", "1.0a", -1), ("1.0+", "1.0-1", 1), ("1:1.0", "2.0", 1), ("0:1.0", "1.0", 0),
        ("1.0", "1.0-0", 0), ("1.0", "1.0-00", 0), ("1.0", "1.0-1", -1), ("1.0-1", "1.0-1ubuntu1", -1),
        ("1.0-1~bpo12+1", "1.0-1", -1), ("1.09", "1.9", 0), ("1.0-1-2", "1.0-1.1-1", -1), ("1:2:3-1", "1:2:4-1", -1),
        ("5.15.0-1053.54", "5.15.0-1053.9", 1), ("23.10-1.2310055", "23.07-0.5.0.0", 1),
    ],
)  # fmt: skip
def test_debian_versions_have_the_policy_s_order(left: str, right: str, sign: int) -> None:
    assert order("deb", left, right) == sign
    assert order("deb", right, left) == -sign


# Pairs from rpm's own test suite (tests/rpmvercmp.at) and rpm-version(7), and what follows for whole versions.
@pytest.mark.parametrize(
    ("left", "right", "sign"),
    [
        ("1.0", "2.0", -1), ("2.0.1", "2.0", 1), ("2.0.1a", "2.0.1", 1), ("5.5p1", "5.5p2", -1), ("5.5p10", "5.5p1", 1),
        ("10xyz", "10.1xyz", -1), ("xyz10", "xyz10.1", -1), ("xyz.4", "8", -1), ("xyz.4", "2", -1),
        ("5.5p2", "5.6p1", -1), ("6.0.rc1", "6.0", 1), ("10b2", "10a1", 1), ("1.0aa", "1.0a", 1), ("10.0001", "10.1", 0),
        ("10.0001", "10.0039", -1), ("4.999.9", "5.0", -1), ("2_0", "2.0", 0), ("a+", "a_", 0), ("+a", "_a", 0),
        ("+_", "_+", 0), ("+", "_", 0), ("1.0~rc1", "1.0", -1), ("1.0~rc1", "1.0~rc2", -1),
        ("1.0~rc1~git123", "1.0~rc1", -1), ("1.0^", "1.0", 1), ("1.0^git1", "1.0^git2", -1), ("1.0^git1", "1.01", -1),
        ("1.0^20160101", "1.0.1", -1), ("1.0^20160102", "1.0^20160101^git1", 1), ("1.0~rc1^git1", "1.0~rc1", 1),
        ("1.0^git1~pre", "1.0^git1", -1), ("1b.fc17", "1.fc17", -1), ("1g.fc17", "1.fc17", 1),
        ("abc123", "abc.000123", 0), ("0.0", "0", 1), ("1.xyz", "1.0", -1), ("1.xyz", "1", 1), ("1.0", "1+.+0", 0),
        ("1.0-5", "1.0", 1), ("1.0-5", "1.0.1", -1), ("5:3.0-1", "6.0-1", 1), ("5:3.0-1", "5:3.1-1", -1),
        ("1.0~beta1-3", "1.0", -1), ("0:1.0-1", "1.0-1", 0), ("5.14.0-503.el9", "5.14.0-70.el9", 1),
    ],
)  # fmt: skip
def test_rpm_versions_have_the_published_order(left: str, right: str, sign: int) -> None:
    assert order("rpm", left, right) == sign
    assert order("rpm", right, left) == -sign


@pytest.mark.parametrize("scheme", SCHEME)
@given(st.data())
def test_the_order_of_packages_is_total_and_an_order(scheme: str, data: st.DataObject) -> None:
    one, two, three = (data.draw(SCHEME[scheme]) for _ in range(3))
    assert order(scheme, one, one) == 0
    assert order(scheme, one, two) == -order(scheme, two, one)
    a, b, c = sorted((one, two, three), key=cmp_to_key(partial(order, scheme)))
    assert order(scheme, a, b) <= 0
    assert order(scheme, b, c) <= 0
    assert order(scheme, a, c) == min(order(scheme, a, b), order(scheme, b, c))


@pytest.mark.parametrize(
    ("scheme", "text"),
    [
        ("deb", ""), ("deb", "1.0-"), ("deb", "-1"), ("deb", ":1.0"), ("deb", "a:1.0"), ("deb", "1.0_1"), ("deb", "1.0^1"),
        ("deb", "1.0 1.1"), ("deb", "\u0661.0"), ("deb", "1:"), ("rpm", ""), ("rpm", "1.0-"), ("rpm", "-1"), ("rpm", "1-2-3"),
        ("rpm", "1.1.\u03b1"), ("rpm", "1.0 1.1"), ("rpm", "a:1.0"), ("rpm", "1:2:3"), ("rpm", "%{VERSION}"),
    ],
)  # fmt: skip
def test_what_no_package_manager_writes_is_not_ordered(scheme: str, text: str) -> None:
    with pytest.raises(Unordered):
        SCHEMES[scheme](text)
