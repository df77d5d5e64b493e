"""A text from a node in one line of output: what is shown of a large text is what is shown of a small one."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import clean, visible


@given(st.text(max_size=40), st.integers(1, 50))
def test_a_text_is_escaped_and_cut_after_its_escapes(text: str, limit: int) -> None:
    whole = visible(text.strip())
    assert clean(text, limit) == (whole if len(whole) <= limit else f"{whole[: limit - 1]}…")


def test_the_end_of_a_large_text_is_not_shown() -> None:
    assert clean("\n" + "\x1b" * 1_000_000, 9) == r"\x1b\x1b…"
    assert clean("x" * 200) == "x" * 200
    assert clean("x" * 201) == f"{'x' * 199}…"
