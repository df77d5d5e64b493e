"""The diagram of the packages matches their imports, and no import points backwards."""

import pytest
from rooms import PAGE, Rooms, circle, drawn, modules, picture, rooms


@pytest.fixture(scope="module")
def found() -> Rooms:
    return rooms()


def test_the_picture_in_the_page_is_that_of_the_imports(found: Rooms) -> None:
    page = PAGE.read_text("utf-8")
    assert picture(found) in page, "make rooms draws it again"
    assert drawn(page, found) == page


def test_no_two_rooms_import_each_other_and_no_two_modules(found: Rooms) -> None:
    assert circle(found) == []
    assert circle(modules()) == []


def test_an_arrow_back_is_found_also_over_a_third_room() -> None:
    turned: Rooms = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"a"}), "d": frozenset({"a"})}
    assert set(circle(turned)) == {"a", "b", "c"}


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    rows = picture({"a": frozenset({"b", "c"}), "b": frozenset({"c"}), "c": frozenset()}).splitlines()
    assert [row.strip() for row in rows if row.startswith("    ")] == ["a --> b", "b --> c"]
