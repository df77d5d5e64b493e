"""`rackcheck rack`: a run's racks in a terminal, what the run stores of them, and what an untrusted run may hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import Done, rackcheck
from rack_runs import accepted, copied, edited, folder

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Rack, RackSlot
from rackcheck.run import store
from rackcheck.session.stored import stored_racks

SHAPE = {
    "name": "a01", "row": "A", "title": "our own", "height": 9,
    "slots": [{"name": "top", "u": 8, "height": 2, "role": "storage"}],
}  # fmt: skip
PLACES = {"n1": ("a01", 1), "n2": ("a01", 3), "n3": ("", 0)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose nodes n1 and n2 stand in a rack, and n3 in none."""
    place = copied("first", tmp_path)
    nodes = json.loads((place / "run.json").read_text())["nodes"]
    for node in nodes:
        rack, u = PLACES[node["name"]]
        node |= {"rack": rack, "u": u}
    edited(place, nodes=nodes, racks=[SHAPE])
    return place


def drawn(*words: object) -> tuple[Done, list[str]]:
    done = rackcheck("rack", *words)
    return done, done.out.splitlines()


def test_a_rack_is_drawn_from_its_top_with_each_node_and_the_run_s_exit(run: Path) -> None:
    done, lines = drawn(run)
    shown = rackcheck("runs", "show", run)
    assert done.status == shown.status == 1
    assert done.err == ""
    at = lines.index("row A")
    assert lines[at + 1 : at + 8] == [
        "a01  1 of 2 nodes pass", "our own", "U8-9 (storage)", "U4-7", "  U3 ✔ n2", "  U2", "  U1 ✘ n1",
    ]  # fmt: skip
    assert lines[lines.index("row unknown") + 1 :][0] == "no rack  0 of 1 node passes"
    assert "? n3" in lines
    assert "✘ FAIL  1 of 3 nodes: n1" in lines
    assert "? INCOMPLETE  1 of 3 nodes: n3" in lines


@pytest.mark.parametrize(("columns", "mode"), [(20, "state"), (80, "temperature"), (200, "power")])
def test_no_line_is_wider_than_the_terminal(
    run: Path, monkeypatch: pytest.MonkeyPatch, columns: int, mode: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done, lines = drawn(run, "--mode", mode)
    assert done.status == 1
    assert lines
    assert all(len(line) <= columns for line in lines)


def test_a_plain_terminal_gets_ascii_alone(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "C")
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_CTYPE", raising=False)
    done, lines = drawn(run)
    assert done.out.isascii()
    assert "  U1 x n1" in lines


def test_temperature_names_its_fact_and_a_node_that_does_not_answer_has_no_number(run: Path) -> None:
    done, lines = drawn(run, "--mode", "temperature")
    assert "gpu/*.temperature, hottest GPU" in done.out
    assert any(line.startswith("  U1 0 n1 ") and line.endswith(" C") for line in lines)
    doc = json.loads(rackcheck("rack", run, "--mode", "power", "--json").out)
    assert (doc["fact"], doc["unit"], doc["mode"], doc["outcome"]) == ("gpu/*.power.draw", "W", "power", "FAIL")
    for name, cell in doc["nodes"].items():
        assert (cell["value"] is None) == (cell["sign"] == "?"), name


def test_the_picture_as_a_document_has_every_node_in_a_rack_and_a_cell(run: Path) -> None:
    doc = json.loads(rackcheck("rack", run, "--json").out)
    shelves = [(panel["name"], shelf) for panel in doc["racks"] for shelf in panel["shelves"]]
    assert {node: rack for rack, shelf in shelves for node in shelf["nodes"]} == {
        "n1": "a01", "n2": "a01", "n3": "no rack",
    }  # fmt: skip
    assert {name: cell["word"] for name, cell in doc["nodes"].items()} == {
        "n1": "FAIL", "n2": "PASS", "n3": "INCOMPLETE",
    }  # fmt: skip
    assert doc["racks"][0]["shelves"][0] == {"u": 8, "height": 2, "slot": "top", "role": "storage", "nodes": []}
    assert doc["left_out"] == doc["not_told"] == []


def test_a_filter_leaves_nodes_out_and_their_places_stay(run: Path) -> None:
    _, lines = drawn(run, "--where", "!state:pass rack:a01")
    assert "1 of 3 nodes shown: !state:pass rack:a01" in lines
    assert {"  U3 . n2", "  U1 ✘ n1", ". n3", "a01  1 of 2 nodes shown"} <= set(lines)
    for output, left in (("u:3", ["n1", "n3"]), ("row:A n[2-3]", ["n1", "n3"])):
        assert json.loads(rackcheck("rack", run, "--where", output, "--json").out)["left_out"] == left


def test_a_filter_by_a_fact_unknown_on_a_node_states_it() -> None:
    done = rackcheck("rack", folder() / "os", "--where", "bmc.power.consumed>1W")
    assert done.err == "3 nodes left out: the facts in `bmc.power.consumed>1W` are unknown there\n"
    assert rackcheck("rack", folder() / "first", "--where", "gpu/*.temperature>1C").err == ""


def test_a_filter_for_findings_is_an_error_here() -> None:
    done = rackcheck("rack", folder() / "first", "--where", "rule:x")
    assert done.status == 2
    assert "rule:x" in done.err


def test_an_acceptance_is_drawn_with_the_nodes_that_no_run_has_read_yet() -> None:
    accepted("pod", "one")
    _, lines = drawn("pod")
    assert lines[lines.index("") + 1 :] == [
        "no rack  0 of 3 nodes pass", "✘ n1", "- n2", "- n3", "", "✘ 1 FAIL   - 2 not judged",
        "✘ FAIL  1 of 3 nodes: n1", "- not judged  2 of 3 nodes: n[2-3]",
        "INCOMPLETE 2 of 3 nodes, n[2-3]: not read by any run; rackcheck audit NODE (for",
        "           an acceptance, add --accept NAME)",
    ]  # fmt: skip
    assert json.loads(rackcheck("rack", "pod", "--where", "state:unknown", "--json").out)["left_out"] == ["n1"]


def test_nodes_of_a_run_without_places_stand_in_one_panel() -> None:
    _, lines = drawn(folder() / "first")
    assert [line for line in lines if line.endswith(("n1", "n2")) and "nodes" not in line] == ["✘ n1", "✔ n2"]


def test_a_node_whose_answers_a_run_has_lost_does_not_pass(tmp_path: Path) -> None:
    place = copied("first", tmp_path)
    events = [json.loads(line) for line in (place / "events.jsonl").read_text().splitlines()]
    kept = [e for e in events if not (e.get("node") == "n2" and e["event"] in {"answered", "facts", "judged"})]
    (place / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in kept))
    _, lines = drawn(place)
    assert "? n2" in lines


# What a run keeps of its racks.


def test_a_run_keeps_the_shapes_of_its_nodes_racks(tmp_path: Path) -> None:
    (tmp_path / "inventory.yaml").write_text(
        "rackcheck: 1\nracks:\n  a: { row: A, type: gb200-nvl72 }\n  b: { type: rack-42u }\n"
        "nodes:\n  here: { host: localhost, rack: a, slot: compute-01 }\n"
    )
    out = tmp_path / "run"
    done = rackcheck("audit", "-p", "linux-server", "-i", tmp_path / "inventory.yaml", "-q", "-o", out)
    assert done.status in {0, 1, 3}
    racks = stored_racks(store.find(str(out)))
    assert list(racks) == ["a"]
    assert (racks["a"].row, racks["a"].title, racks["a"].height) == ("A", "GB200 NVL72", 48)
    assert racks["a"].slots["compute-01"] == RackSlot(11, 1, "compute")
    assert "(nvswitch-tray)" in rackcheck("rack", out).out


def test_a_run_from_before_racks_were_kept_has_none(tmp_path: Path) -> None:
    place = copied("first", tmp_path)
    head = json.loads((place / "run.json").read_text())
    del head["racks"]
    (place / "run.json").write_text(json.dumps(head))
    assert stored_racks(store.find(str(place))) == {}
    assert rackcheck("rack", place).status == 1


def test_what_was_kept_is_read_back_as_it_was(run: Path) -> None:
    assert stored_racks(store.find(str(run))) == {
        "a01": Rack("a01", "A", "our own", 9, {"top": RackSlot(8, 2, "storage")})
    }


@pytest.mark.parametrize(
    "racks",
    [
        7, "a01", {"a01": {}}, [7], [[]], [None], [{**SHAPE, "name": 7}], [{**SHAPE, "height": 10**9}],
        [{**SHAPE, "height": True}], [{**SHAPE, "height": -1}], [{**SHAPE, "slots": {}}], [{**SHAPE, "title": None}],
        [{**SHAPE, "slots": [{"name": "x", "u": 0, "height": 1, "role": ""}]}],
        [{**SHAPE, "slots": [{"name": "x", "u": 1, "height": 10**12, "role": ""}]}],
        [{**SHAPE, "slots": [{"name": "x", "u": 1, "height": 1}]}], [{**SHAPE, "slots": [7] * 1001}],
        [{"name": "a01"}], [SHAPE, SHAPE],
    ],
)  # fmt: skip
def test_a_damaged_rack_is_an_error(run: Path, racks: Any) -> None:
    edited(run, racks=racks)
    with pytest.raises(UserError, match=r"run\.json is damaged"):
        stored_racks(store.find(str(run)))


def test_a_run_with_damaged_racks_is_our_user_s_to_know(run: Path) -> None:
    edited(run, racks=7)
    done = rackcheck("rack", run)
    assert (done.status, done.out) == (2, "")
    assert "run.json is damaged" in done.err


def test_what_a_stranger_s_run_calls_its_racks_moves_no_terminal(run: Path) -> None:
    nodes = json.loads((run / "run.json").read_text())["nodes"]
    for node in nodes:
        node["rack"] = "a\x1b[2J\u202e"
    slots = [{"name": "\t", "u": 9, "height": 1, "role": "\x07r"}]
    edited(
        run,
        nodes=nodes,
        racks=[{"name": "a\x1b[2J\u202e", "row": "\x1b]0;x\x07", "title": "\r\n", "height": 9, "slots": slots}],
    )
    done, _ = drawn(run)
    assert done.status == 1
    assert all(letter == "\n" or letter.isprintable() for letter in done.out)
