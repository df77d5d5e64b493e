"""What `RecentlyUsed` keeps never exceeds its budget, and the newest value is always kept."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.recently_used import LARGEST, RecentlyUsed

BUDGET = 10 * LARGEST

puts = st.tuples(st.just("put"), st.integers(0, 20), st.integers(0, 12))
gets = st.tuples(st.just("get"), st.integers(0, 20), st.just(0))
clears = st.just(("clear", 0, 0))


@given(st.lists(puts | gets | clears, max_size=80))
def test_the_values_stay_within_the_budget_and_the_newest_is_there(steps: list[tuple[str, int, int]]) -> None:
    kept, expected = RecentlyUsed[object](BUDGET), dict[int, object]()
    for word, key, size in steps:
        if word == "put":
            value = object()
            kept.put(key, value, size)
            if size <= BUDGET // LARGEST:
                expected[key] = value
                assert kept.get(key) is value
        elif word == "get":
            assert kept.get(key) in (None, expected.get(key))
        else:
            kept.clear()
            expected.clear()
        assert kept._size == sum(entry.size for entry in kept._kept.values()) <= BUDGET


def test_putting_a_value_ends_although_sizes_were_miscounted() -> None:
    kept = RecentlyUsed[str](BUDGET)
    kept.put("old", "old", 10)
    kept._size += BUDGET
    kept.put("new", "new", 10)
    assert kept.get("new") == "new"
