"""A command line that lacks words, or has a mistyped one, gets an error that names all that is missing, or the nearest."""

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
        (("diff", "dgx03"), "Missing argument 'RUN|NODE|peers|before'."),
        (("diff",), "Missing argument 'RUN|NODE' and argument 'RUN|NODE|peers|before'."),
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


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("report", "last", "--format", "md"), "markdown"),
        (("report", "last", "--format", "jnuit"), "junit"),
        (("report", "last", "--level", "costumer"), "customer"),
        (("accept", "add", "pod7", "last", "--kind", "rewrk"), "rework"),
        (("accept", "new", "pod7", "--burn-in", "vaildate"), "validate"),
        (("burnin", "--tier", "smok"), "smoke"),
        (("burnin", "--with", "cublass"), "cublas"),
        (("rack", "--mode", "temp"), "temperature"),
        (("inventory", "import", "--from", "slrum", "x"), "slurm"),
        (("tui", "--link", "slo"), "slow"),
        (("completion", "zhs"), "zsh"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_a_mistyped_choice_gets_all_words_and_the_nearest(words: tuple[str, ...], near: str) -> None:
    done = rackcheck(*words)
    assert (done.status, done.out) == (2, "")
    assert f"'{near}'" in done.err
    assert done.err.rstrip().endswith(f"; did you mean {near}?")


def test_a_choice_that_is_like_no_word_gets_all_words_alone() -> None:
    done = rackcheck("rack", "--mode", "xyz")
    assert (done.status, "did you mean" in done.err) == (2, False)
    assert done.err.rstrip().endswith("'xyz' is not one of 'state', 'temperature', 'power'.")


@pytest.mark.parametrize("word", ["simulate", "simulation"])
def test_another_word_for_the_simulator_names_its_command(word: str) -> None:
    done = rackcheck(word)
    assert (done.status, f"no command {word}; did you mean sim?" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("accept", "shw"), "no command accept shw; did you mean show?"),
        (("accept", "list"), "no command accept list; there are add, new, remove, show"),
        (("profile", "lst"), "no command profile lst; did you mean list?"),
        (("inventory", "chek"), "no command inventory chek; did you mean check?"),
        (("sim", "zz"), "no command sim zz; there are list, show, up"),
        (("runs", "lst"), "no command runs lst; did you mean list?"),
        (("probe", "x"), "no command probe x; there are list, run, show"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_an_unknown_command_of_a_group_gets_the_nearest_or_all(words: tuple[str, ...], message: str) -> None:
    done = rackcheck(*words)
    assert (done.status, done.out) == (2, "")
    assert done.err.rstrip().endswith(message)
