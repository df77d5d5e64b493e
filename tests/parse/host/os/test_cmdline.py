"""The kernel's command line: arguments as the kernel splits them, and no secret in what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import shared_text

from rackcheck.model.fact import Absent, Unknown, Unreadable
from rackcheck.parse.host.os import cmdline


def shown(line: str) -> list[str]:
    return [argument.shown for argument in cmdline.arguments(f"{line}\n")]


def test_a_recorded_line_is_shown_as_it_stands() -> None:
    text = shared_text("os/proc-cmdline-procfs.txt")
    assert shown(text.strip()) == text.split()


def test_quotes_keep_an_argument_together_and_are_no_part_of_its_value() -> None:
    first, second = cmdline.arguments('dyndbg="file a.c +p" "x y"\n')
    assert (first.name, first.value, first.shown) == ("dyndbg", "file a.c +p", 'dyndbg="file a.c +p"')
    assert (second.name, second.value, second.shown) == ("x y", Absent("the argument has no value"), "x y")


def test_what_follows_two_dashes_is_inits() -> None:
    assert shown("quiet -- single a=b") == ["quiet"]
    assert shown("quiet --x") == ["quiet", "--x"]


@pytest.mark.parametrize("word", ["rootPassword=a", "api.token=a", "luks_key=a", '"SECRET=a b"', "x=<withheld>"])
def test_what_looks_secret_is_withheld_even_where_the_node_did_not_see_it(word: str) -> None:
    (argument,) = cmdline.arguments(f"{word}\n")
    assert isinstance(argument.value, Unknown)
    assert argument.shown == f"{argument.name}={cmdline.WITHHELD}"


@pytest.mark.parametrize("answer", ["", "\n", "quiet", 'a="b\n', "a\nb\n"])
def test_a_quote_that_never_closes_and_what_is_not_one_line_are_unreadable(answer: str) -> None:
    with pytest.raises(Unreadable):
        cmdline.arguments(answer)


@given(
    st.text() | st.lists(st.sampled_from(["a=b", '"', "--", "=", '"a b"', "key=", " ", "token=x", '""'])).map(" ".join)
)
def test_nonsense_is_read_or_unreadable(text: str) -> None:
    try:
        for argument in cmdline.arguments(f"{text}\n"):
            assert isinstance(argument.value, str | Absent | Unknown)
            assert argument.shown != "token=x"
    except Unreadable:
        pass
