"""The answers for many devices: facts are keyed by device name, and an unreadable device affects only its own."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.fact import Absent, Reading, Reason, Unknown, Unreadable, single
from rackcheck.model.path import parse
from rackcheck.model.text import per_device


def message_of(*answers: tuple[str, str, int]) -> str:
    return "".join(f"==> {name} <==\n{text}\n<== {status}\n" for name, text, status in answers)


def sizes(text: str) -> dict[str, Reading]:
    if not text.startswith("size"):
        raise Unreadable(f"no size: {text!r}")
    return {"rx": len(text), "tx": 1}


def test_facts_hang_on_the_devices_name_wherever_its_star_stands() -> None:
    assert dict(
        single(per_device.facts(message_of(("eth0", "size", 0)), "nic.interface/*.ring", ("rx", "tx"), sizes))
    ) == {
        "nic.interface/eth0.ring.rx": 4,
        "nic.interface/eth0.ring.tx": 1,
    }
    assert dict(
        single(per_device.facts(message_of(("0000:29:00.0", "size", 0)), "nic.adapter/*", ("rx", "tx"), sizes))
    ) == {
        'nic.adapter/"0000:29:00.0".rx': 4,
        'nic.adapter/"0000:29:00.0".tx': 1,
    }


def test_a_device_that_cannot_be_read_costs_its_own_facts_only() -> None:
    answer = message_of(("eth0", "what", 0), ("eth1", "size", 0), ("eth2", "netlink error: Operation not supported", 1))
    values = dict(single(per_device.facts(answer, "nic/*", ("rx", "tx"), sizes)))
    assert {values["nic/eth0.rx"], values["nic/eth0.tx"]} == {Unknown(Reason.UNPARSABLE, "no size: 'what'")}
    assert (values["nic/eth1.rx"], values["nic/eth1.tx"]) == (4, 1)
    assert {values["nic/eth2.rx"], values["nic/eth2.tx"]} == {Absent("the driver does not support it")}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=30), st.text())
def test_every_name_and_text_gives_facts_with_a_path_or_is_unreadable(name: str, text: str) -> None:
    try:
        rows = list(single(per_device.facts(message_of((name, text, 0)), "nic/*", ("rx", "tx"), sizes)))
    except Unreadable:
        return
    assert [parse(path).segments[0].word for path, _ in rows] == ["nic"] * len(rows)
