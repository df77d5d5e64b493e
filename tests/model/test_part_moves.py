"""Where parts went between two readings: each identity is reported once, and no unread part is reported missing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.change import THERE, Change, ChangeKind, ComparedFacts, compare, folded, gathered
from rackcheck.model.fact import Class
from rackcheck.model.part_moves import Moved, Still, joined, sorted_out, still
from rackcheck.run.index import moving, words

Slots = Mapping[tuple[str, str], str | None]
"""A rack's parts: node and GPU -> letter of the part; None where it cannot be read."""

PLACES = [(node, key) for node in ("n1", "n2") for key in "0123"]
SURE = {ChangeKind.SWAPPED, ChangeKind.NEW, ChangeKind.GONE}


def rack(slots: Slots, nodes: Iterable[str] = ("n1", "n2")) -> dict[str, ComparedFacts]:
    """The facts of a rack: each part has a serial and a uuid, each place an address."""
    found: dict[str, ComparedFacts] = {}
    for node in nodes:
        mine = {key: part for (on, key), part in slots.items() if on == node}
        identity: dict[str, Any] = {}
        for key, part in mine.items():
            identity[f"gpu/{key}.pci"] = {"value": f"address {key}", "plane": "os"}
            for word in ("serial", "uuid"):
                values = {"unknown": "denied"} if part is None else {"value": f"{word} {part}"}
                identity[f"gpu/{key}.{word}"] = {**values, "plane": "os"}
        found[node] = {Class.IDENTITY: identity, Class.CONFIG: {"gpu": {"value": sorted(mine), "plane": "os"}}}
    return found


Out = tuple[tuple[Moved, ...], dict[str, tuple[Change, ...]]]


def moves_of(before: Mapping[str, ComparedFacts], after: Mapping[str, ComparedFacts]) -> Out:
    both = [node for node in before if node in after]
    changes = {node: tuple(compare(before[node], after[node])) for node in both}
    alone = {
        node: tuple(compare(before.get(node, {}), after.get(node, {}), (Class.IDENTITY,)))
        for node in before.keys() ^ after.keys()
    }
    return sorted_out(changes, alone, joined(still(before[node], after[node]) for node in both))


def serials(out: Out) -> tuple[Counter[object], Counter[object]]:
    """How often each serial is reported as removed, and as added."""
    moved, rest = out
    left: Counter[object] = Counter([dict(one.ids).get("serial") for one in moved])
    came = left.copy()
    for some in rest.values():
        for change in some:
            if change.path.endswith(".serial") or change.path.startswith("gpu/"):
                for side, value in ((left, change.before), (came, change.after)):
                    side.update([value] if isinstance(value, str) and value.startswith("serial ") else [])
    return left, came


WHOLE = st.permutations("ABCDEFGHIJ").flatmap(
    lambda parts: st.lists(st.sampled_from(PLACES), unique=True, max_size=8).map(
        lambda places: dict(zip(places, parts, strict=False))
    )
)
PATCHY = WHOLE.flatmap(
    lambda slots: st.sets(st.sampled_from(PLACES)).map(
        lambda hide: {p: None if p in hide else v for p, v in slots.items()}
    )
)


@given(WHOLE, WHOLE)
def test_every_identity_that_changed_is_reported_exactly_once(before: Slots, after: Slots) -> None:
    left, came = serials(moves_of(rack(before), rack(after)))
    assert left == Counter(f"serial {part}" for place, part in before.items() if after.get(place) != part)
    assert came == Counter(f"serial {part}" for place, part in after.items() if before.get(place) != part)


@given(WHOLE, WHOLE)
def test_where_all_is_known_a_part_is_new_or_gone_exactly_where_the_other_side_has_it_nowhere(
    before: Slots, after: Slots
) -> None:
    moved, rest = moves_of(rack(before), rack(after))
    assert {dict(one.ids)["serial"] for one in moved} == {
        f"serial {part}" for place, part in before.items() if part in after.values() and after.get(place) != part
    }
    for change in (c for some in rest.values() for c in some if c.path.endswith("serial")):
        assert change.kind in SURE


@given(st.permutations(PLACES), st.lists(st.sampled_from(PLACES), unique=True))
def test_a_permutation_of_parts_gives_moves_alone(places: list[tuple[str, str]], held: list[tuple[str, str]]) -> None:
    before = {place: "ABCDEFGH"[PLACES.index(place)] for place in held}
    after = {places[PLACES.index(place)]: part for place, part in before.items()}
    moved, rest = moves_of(rack(before), rack(after))
    assert rest == {}
    assert len(moved) == sum(after.get(place) != part for place, part in before.items())


@given(PATCHY)
def test_a_rack_held_against_itself_gives_nothing(slots: Slots) -> None:
    assert moves_of(rack(slots), rack(slots)) == ((), {})


@given(WHOLE, WHOLE, st.sampled_from(["before", "after", "both"]), st.sampled_from(["part", "plane", "list", "node"]))
def test_what_is_unknown_never_makes_a_part_swapped_new_or_gone(
    before: Slots, after: Slots, side: str, hidden: str
) -> None:
    racks = [rack(before), rack(after)]
    for facts, name in zip(racks, ("before", "after"), strict=True):
        if side not in {name, "both"}:
            continue
        match hidden:
            case "part":
                facts["n2"][Class.IDENTITY]["gpu/9.serial"] = {"unknown": "denied", "plane": "os"}  # type: ignore[index]
                facts["n2"][Class.IDENTITY]["gpu/9.uuid"] = {"unknown": "denied", "plane": "os"}  # type: ignore[index]
            case "plane":
                facts["n2"] = {Class.CONFIG: {"plane/os": {"unknown": "timeout", "plane": "os"}}}
            case "list":
                facts["n2"] = {Class.CONFIG: {"gpu": {"unknown": "denied", "plane": "os"}}}
            case "node":
                del facts["n2"]
                facts["n3"] = {}
    kinds = {c.kind for c in moves_of(*racks)[1].get("n1", ()) if c.path.startswith("gpu/") and "pci" not in c.path}
    known_before, known_after = side == "after", side == "before"
    assert ChangeKind.SWAPPED not in kinds
    assert known_before or ChangeKind.NEW not in kinds
    assert known_after or ChangeKind.GONE not in kinds


def test_a_node_without_parts_that_one_side_alone_read_leaves_open_where_a_part_came_from() -> None:
    before, after = rack({("n1", "0"): "A"}, ["n1"]), rack({("n1", "0"): "B"})
    assert {c.kind for c in moves_of(before, after)[1]["n1"]} == {ChangeKind.CHANGED}


def test_a_part_that_stayed_elsewhere_under_the_same_serial_is_not_gone() -> None:
    """Placeholder serials are equal on many items."""
    before = rack({("n1", "0"): "A", ("n1", "1"): "A"})
    after = rack({("n1", "0"): "A", ("n1", "1"): "B"})
    assert {c.kind for c in moves_of(before, after)[1]["n1"]} == {ChangeKind.CHANGED}


def test_a_node_silent_in_both_runs_may_hold_the_missing_part() -> None:
    before, after = rack({("n1", "0"): "A"}), rack({("n1", "0"): "B"})
    changes = {"n1": tuple(compare(before["n1"], after["n1"]))}
    assert {c.kind for c in sorted_out(changes)[1]["n1"]} == {ChangeKind.SWAPPED}
    assert {c.kind for c in sorted_out(changes, beside=Still(unread_node=True))[1]["n1"]} == {ChangeKind.CHANGED}


def test_another_plane_that_is_silent_hides_no_part_of_this_one() -> None:
    before, after = rack({("n1", "0"): "A"}), rack({("n1", "0"): "B"})
    for facts in (before, after):
        facts["n2"] = {Class.CONFIG: {"plane/bmc": {"unknown": "timeout", "plane": "bmc"}, "gpu": {"value": []}}}
    assert {c.kind for c in moves_of(before, after)[1]["n1"]} == {ChangeKind.SWAPPED}


def test_two_parts_of_one_board_move_by_their_own_identifiers() -> None:
    before, after = rack({("n1", "0"): "A", ("n1", "1"): "B"}), rack({("n1", "2"): "B", ("n1", "3"): "A"})
    for facts in (before, after):
        for path, doc in facts["n1"][Class.IDENTITY].items():
            if path.endswith("serial"):
                doc["value"] = "board"  # type: ignore[index]
    moved, rest = moves_of(before, after)
    assert rest == {}
    assert [(dict(m.ids)["uuid"], m.was[1], m.now[1], len(m.ids)) for m in moved] == [
        ("uuid A", "gpu/0", "gpu/3", 2), ("uuid B", "gpu/1", "gpu/2", 2),
    ]  # fmt: skip


def test_a_unit_in_the_same_place_with_another_address_reports_that_too() -> None:
    before, after = rack({("n1", "0"): "A"}), rack({("n1", "0"): "B"})
    after["n1"][Class.IDENTITY]["gpu/0.pci"]["value"] = "other"  # type: ignore[index]
    rows = [words.change_text(c) for c in moves_of(before, after)[1]["n1"]]
    assert "gpu/0.pci address 0 -> other" in rows
    assert "gpu/0.serial swapped serial A -> serial B" in rows


def test_an_item_that_came_or_went_names_its_part() -> None:
    _, rest = moves_of(rack({}), rack({("n1", "0"): "A", ("n2", "0"): "B"}))
    assert [words.change_text(c) for c in gathered(rest["n1"])] == ["gpu/0 appeared (serial A)"]
    (both,) = folded({node: gathered(some) for node, some in rest.items()})
    assert (words.change_text(both.change, alike=both.alike), both.nodes) == ("gpu/0 appeared", ("n1", "n2"))


def test_a_part_moved_from_an_item_now_unknown_is_reported_once() -> None:
    moved, rest = moves_of(rack({("n1", "0"): "A"}), rack({("n1", "0"): None, ("n2", "0"): "A"}))
    assert len(moved) == 1
    assert {(c.kind, c.before) for c in rest["n1"]} == {(ChangeKind.UNKNOWN_NOW, THERE)}


def test_parts_that_shift_alike_are_one_line_for_all_nodes_and_others_a_line_each() -> None:
    def one(node: str, was: str, now: str, part: str) -> Moved:
        return Moved((("serial", part),), (node, was), (node, now))

    moves = [one(n, f"gpu/{i}", f"gpu/{i + 1}", f"{n}{i}") for n in ("n1", "n2") for i in (5, 6, 7)]
    moves += [one("n3", "nic/mlx5_0", "nic/mlx5_1", "x"), one("n3", "gpu/1", "gpu/0", "y")]
    assert list(moving.lines(moves)) == [
        "3 gpu renumbered on each of n[1-2]: gpu/[5-7] -> gpu/[6-8]",
        "gpu y moved: n3 gpu/1 -> gpu/0",
        "nic x moved: n3 nic/mlx5_0 -> nic/mlx5_1",
    ]
