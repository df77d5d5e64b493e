"""Folding: an independent parser of node sets expands ours to the same names."""

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fold import alike, fold, similar

NAMES = st.sets(
    st.one_of(
        st.builds("dgx{:02}".format, st.integers(0, 120)),
        st.builds("n{}".format, st.integers(0, 1200)),
        st.builds("r{}-sw{:03}".format, st.integers(1, 3), st.integers(1, 20)),
        st.builds("{}-bmc".format, st.integers(1, 12)),
        st.sampled_from(["localhost", "gone", "login"]),
    ),
    max_size=60,
)


@given(NAMES)
def test_a_folded_set_unfolds_to_the_same_names(names: set[str]) -> None:
    assert set(map(str, NodeSet(fold(names) or None, resolver=RESOLVER_NOGROUP))) == names


@given(NAMES)
def test_folding_does_not_depend_on_the_order(names: set[str]) -> None:
    assert fold(sorted(names)) == fold(sorted(names, reverse=True))


def test_runs_and_gaps_are_written_the_field_s_way() -> None:
    assert fold(["dgx03", "dgx01", "dgx02", "dgx07"]) == "dgx[01-03,07]"
    assert fold(["n9", "n10", "n11"]) == "n[9-11]"
    assert fold(["localhost"]) == "localhost"
    assert fold([]) == ""


def test_the_odd_one_out_is_named() -> None:
    answers = {f"dgx-{n:02}": "same" for n in range(1, 73)} | {"dgx-05": "other"}
    assert alike(answers) == "71 of 72 alike; dgx-05 differs"
    assert alike(dict.fromkeys(answers, 1)) == "all 72 alike"


def test_a_node_without_another_one_like_it_is_no_majority() -> None:
    assert alike({"n1": 1, "n2": 2, "n3": 3}) == "all 3 differ"
    assert alike({"n1": 1, "n2": 1, "n3": 3}) == "2 of 3 alike; n3 differs"


@given(st.sets(st.from_regex(r"[a-z0-9]{0,3}[a-z][a-z0-9-]{0,4}[0-9]{0,3}", fullmatch=True), max_size=40))
def test_any_host_names_fold_to_the_same_names(names: set[str]) -> None:
    folded = fold(names)
    assert set(map(str, NodeSet(folded or None, resolver=RESOLVER_NOGROUP))) == names


@given(st.sets(st.builds("n{}{}".format, st.sampled_from(["", "0", "00"]), st.integers(0, 120)), max_size=60))
def test_every_zero_in_front_is_kept(names: set[str]) -> None:
    assert set(map(str, NodeSet(fold(names) or None, resolver=RESOLVER_NOGROUP))) == names


def test_a_digit_of_another_script_is_a_letter_here() -> None:
    assert fold(["n٣", "n3"]) == "n3,n٣"


def test_texts_that_differ_only_in_addresses_and_the_like_are_one_text_with_all_their_names() -> None:
    refused = {f"10.0.0.{n} port 22: Connection refused": [f"n{n:04}"] for n in range(1, 1001)}
    keys = {f"it presents SHA256:{n}aB. Then: ssh-keyscan n{n}.dc >> file": [f"k{n}"] for n in range(1, 5)}
    few = {f"login as user{n} refused": [f"f{n}"] for n in range(3)}
    found = similar({**few, **refused, "no route": ["x1", "x2"], **keys})
    assert found == {
        **{text: tuple(names) for text, names in few.items()},
        "… port 22: Connection refused": tuple(f"n{n:04}" for n in range(1, 1001)),
        "no route": ("x1", "x2"),
        "it presents … Then: ssh-keyscan … >> file": ("k1", "k2", "k3", "k4"),
    }
    assert list(found)[:3] == list(few)


@given(st.dictionaries(st.text(st.sampled_from("a1 \n…")), st.lists(st.text(max_size=2), min_size=1)))
def test_merging_loses_no_name_and_is_stable(texts: dict[str, list[str]]) -> None:
    found = similar(texts)
    assert sorted(name for names in found.values() for name in names) == sorted(
        n for names in texts.values() for n in names
    )
    assert similar(found) == found
