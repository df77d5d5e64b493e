"""A command line that lacks several arguments or options gets one error that names all of them."""

import pytest
from command import rackcheck


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("accept", "remove"), "Missing argument 'NAME', argument 'RUN' and option '--reason'."),
        (("accept", "remove", "pod7", "--reason", "x"), "Missing argument 'RUN'."),
        (("accept", "remove", "--reason", "x"), "Missing argument 'NAME' and argument 'RUN'."),
        (("sign",), "Missing argument 'BUNDLE' and option '--key'."),
        (("sign", "--key", "k"), "Missing argument 'BUNDLE'."),
        (
            ("waive", "nic.rate", "--by", "Jo"),
            "Missing option '--nodes', option '--until', option '--ticket' and option",
        ),
        (("inventory", "import"), "Missing option '--from' and argument 'FILE'."),
        (("accept", "new"), "Missing argument 'NAME'."),
        (("drift",), "Missing option '--against'."),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_all_missing_arguments_and_options_are_named_at_once(words: tuple[str, ...], wanted: str) -> None:
    done = rackcheck(*words)
    assert (done.status, done.out) == (2, "")
    assert f"Error: {wanted}" in done.err
    assert done.err.startswith(f"Usage: rackcheck {words[0]}")


def test_a_wrong_word_is_reported_before_what_is_missing() -> None:
    done = rackcheck("waive", "--nods", "n1")
    assert (done.status, "No such option" in done.err) == (2, True)
