"""A bill of materials: every row has one result, no unread part is called missing, invalid input gives one error."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import rackcheck
from hypothesis import given, settings
from hypothesis import strategies as st
from rack_runs import folder

from rackcheck.base.user_error import UserError
from rackcheck.model.catalogue import Kind, Type
from rackcheck.model.fact import Absent, Class, Plane, Reading, Reason, Unknown
from rackcheck.model.tree import Leaf, Tree
from rackcheck.report.delivered import parts
from rackcheck.report.hardware import compared, versions
from rackcheck.report.report_model import Billed
from rackcheck.signoff import bom
from rackcheck.signoff.bom import Bom, BomLine

DENIED = Unknown(Reason.DENIED, "sudo")
TEXT = Kind(Type.TEXT, "", cls=Class.IDENTITY)
STATE = Kind(Type.TEXT, "", cls=Class.CONFIG)
NO_GPU = Unknown(Reason.NOT_COLLECTED, "this BMC lists no GPU")
LISTING = Kind(Type.COLLECTION, "")


def tree(silent: Sequence[Plane] = (), /, **readings: Reading) -> Tree:
    """Facts of a node of which both planes were read: `gpu` is a collection, `gpu_0` the serial of gpu/0, `node` that of the node, `bmc_1` of its BMC."""
    leaves = {}
    for name, reading in readings.items():
        item, _, key = name.partition("_")
        path = {"node": "node.serial", "bmc": f"bmc.system/{key}.serial"}.get(
            item, f"{item}/{key}.serial" if key else item
        )
        kind = TEXT if path.endswith(".serial") else LISTING
        leaves[path] = Leaf(reading, kind, Plane.BMC if item in {"bmc", "psu"} else Plane.OS, "")
    for plane in {Plane.OS, Plane.BMC} - set(silent):
        leaves[f"{plane.value}.state"] = Leaf("read", STATE, plane, "")
    if Plane.BMC not in silent:
        leaves["bmc.gpu"] = Leaf(NO_GPU, LISTING, Plane.BMC, "")
    return Tree(leaves, dict.fromkeys(silent, DENIED))


def ordered(*lines: tuple[str, str, str, str]) -> Bom:
    """A bill of node, item, kind and serial."""
    rows = (BomLine(n, node, item, kind, "", "", serial) for n, (node, item, kind, serial) in enumerate(lines, start=2))
    return Bom("bill.csv", "0" * 64, tuple(rows))


def held(trees: dict[str, Tree], *lines: tuple[str, str, str, str], never: Sequence[str] = ()) -> list[tuple[str, str]]:
    found = compared(ordered(*lines), list(parts(trees)), trees, never)
    return [(d.kind, d.serial) for d in found.differences]


GPU = ("n1", "", "gpu", "A1")


# ---- what is held against what ---------------------------------------------------------------------------------------


def test_what_is_where_the_bill_has_it_is_no_difference() -> None:
    trees = {"n1": tree(gpu=("0", "1"), gpu_0="A1", gpu_1="B1")}
    assert held(trees, GPU, ("", "gpu/1", "", "B1")) == []


def test_missing_needs_every_serial_of_its_kind_read() -> None:
    whole = tree(gpu=("0",), gpu_0="B1")
    assert held({"n1": whole}, GPU) == [("missing", "A1"), ("extra", "B1")]
    assert held({"n1": tree(gpu=Absent())}, GPU) == [("missing", "A1")]


@pytest.mark.parametrize(
    "unread",
    [
        tree(gpu=("0", "1"), gpu_0="B1", gpu_1=DENIED),
        tree(gpu=("0", "1"), gpu_0="B1", gpu_1=Absent()),
        tree(gpu=("0", "1"), gpu_0="B1"),
        tree(gpu=DENIED, gpu_0="B1"),
        tree([Plane.OS]),
        tree(nic=("0",), nic_0="B1"),
        tree(),
    ],
    ids=["a serial", "an unknown serial", "a fact", "the list", "a silent plane", "another kind", "nothing"],
)
def test_an_unsearchable_part_is_unread(unread: Tree) -> None:
    assert ("unread", "A1") in held({"n1": unread}, GPU)
    assert ("unread", "A1") in held({"n0": tree(gpu=Absent()), "n1": unread}, ("", "", "gpu", "A1"))


def test_doubt_of_one_kind_is_no_doubt_of_another() -> None:
    board: dict[str, Reading] = {"bmc.system": ("1",), "bmc_1": DENIED, "psu": DENIED}
    values = {"n1": tree(gpu=("0",), gpu_0="B1", **board)}
    assert ("missing", "A1") in held(values, GPU)
    assert ("missing", "A1") in held(values, ("", "", "gpu", "A1"))
    assert ("unread", "A1") in held(values, ("n1", "", "bmc.system", "A1"))
    silent = {"n1": tree([Plane.OS], **board)}
    assert held(silent, GPU) == [("unread", "A1")]
    assert ("unread", "A1") in held(values | {"n2": silent["n1"]}, ("", "", "gpu", "A1"))


@pytest.mark.parametrize(("run", "text"), [("first", "missing"), ("bmc", "unread")])
def test_a_gpu_on_no_node_is_missing_where_all_were_read_and_unread_where_none_was(
    run: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path))
    (tmp_path / "bill.csv").write_text("node,kind,serial\nn1,gpu,NONE1\n,gpu,NONE2\nn3,psu,NONE3\n")
    words = ("--bill", tmp_path / "bill.csv", "--format", "json", "-o", "-", "-q")
    done = rackcheck("report", folder() / run, *words)
    found = json.loads(done.out)["report"]
    boards = [p for p in found["parts"] if p["item"] == "bmc.system/HGX_Baseboard_0"]
    assert boards
    assert {p["serial"] for p in boards} == {""}, "the baseboard reports no serial number"
    values = {d["serial"]: d["kind"] for d in found["bill"]["differences"] if d["line"]}
    assert values == {"NONE1": text, "NONE2": "unread", "NONE3": "unread"}  # the BMC of n3 did not answer


def test_a_node_that_was_never_read_may_hold_what_is_missing_elsewhere() -> None:
    trees = {"n1": tree(gpu=Absent())}
    anywhere = ("", "", "gpu", "A1")
    assert held(trees, anywhere) == [("missing", "A1")]
    assert held(trees, anywhere, never=["n2"]) == [("unread", "A1")]
    assert held(trees, ("n2", "", "gpu", "A1"), never=["n2"]) == [("unread", "A1")]
    assert held({}, anywhere) == [("unread", "A1")]


def test_a_row_without_a_kind_cannot_be_missing() -> None:
    assert held({"n1": tree(gpu=Absent())}, ("n1", "", "", "A1")) == [("unread", "A1")]
    assert held({"n1": tree(gpu=Absent())}, ("n1", "gpu/7", "", "A1")) == [("missing", "A1")]
    assert held({"n1": tree(node="B1")}, ("n1", "node", "", "A1")) == [("missing", "A1"), ("extra", "B1")]


def test_what_is_elsewhere_has_moved_and_is_no_extra() -> None:
    trees = {"n1": tree(gpu=("0",), gpu_0="B1"), "n2": tree(gpu=("0",), gpu_0="A1")}
    assert held(trees, GPU, ("n2", "", "gpu", "B1")) == [("moved", "A1"), ("moved", "B1")]
    assert held(trees, ("n1", "gpu/1", "", "B1"), ("n2", "", "", "A1")) == [("moved", "B1")]


def test_a_bill_of_an_earlier_release_names_a_gpu_by_its_index_which_is_no_position() -> None:
    gpus: dict[str, Reading] = {"gpu": ("module-3", "module-5"), "gpu_module-3": "A1", "gpu_module-5": "B1"}
    today = {"n1": tree(**gpus)}
    assert held(today, ("n1", "gpu/0", "", "A1"), ("n1", "gpu/1", "", "B1")) == []
    assert held(today, ("n2", "gpu/0", "", "A1"), ("n1", "gpu/1", "", "B1")) == [("moved", "A1")]
    assert held(today, ("n1", "gpu/module-5", "", "A1"), ("n1", "gpu/1", "", "B1")) == [("moved", "A1")]
    assert held(today, ("n1", "nic/0", "", "A1"), ("n1", "gpu/1", "", "B1")) == [("moved", "A1")]


def test_one_part_reported_by_two_planes_is_one_part() -> None:
    trees = {"n1": tree(node="S1", **{"bmc.system": ("1",)}, bmc_1="S1")}
    assert held(trees, ("n1", "node", "system", "S1")) == []
    assert held(trees, ("n1", "", "", "S1")) == []
    assert held(trees | {"n2": tree(node="T1", bmc_1="T1")}, ("n1", "", "system", "S1")) == [("extra", "T1")]


def test_a_duplicate_serial_on_the_machines_is_reported() -> None:
    trees = {"n1": tree(gpu=("0", "1"), gpu_0="A1", gpu_1="A1"), "n2": tree(gpu=("0",), gpu_0="A1")}
    found = compared(ordered(GPU), list(parts(trees)), trees).differences
    assert [(d.node, d.item, d.said) for d in found] == [
        ("n1", "gpu/1", "found twice"),
        ("n2", "gpu/0", "found twice"),
    ]


def test_another_part_number_with_the_right_serial_does_not_match_and_a_models_name_is_no_matter() -> None:
    leaves = {**tree(gpu=("0",), gpu_0="A1").leaves, "gpu/0.part_number": Leaf("692-2G 520", TEXT, Plane.OS, "")}
    trees = {"n1": Tree(leaves)}

    def against(number: str, kind: str = "gpu") -> tuple[int, list[str]]:
        one = Bom("b", "", (BomLine(2, "n1", "", kind, "as it is sold", number, "A1"),))
        found = compared(one, list(parts(trees)), trees)
        return found.matched, [d.said for d in found.differences]

    assert against("692-2g  520") == (1, [])
    assert against("") == (1, [])
    assert against("900-1") == (0, ["the bill has part number 900-1, the part reports 692-2G 520"])
    assert against("", "psu") == (0, ["the bill has kind psu, the part reports GPU"])


def test_zeros_lost_by_a_spreadsheet_are_reported_as_such_and_a_number_it_made_is_refused(tmp_path: Path) -> None:
    trees = {"n1": tree(gpu=("0",), gpu_0="00650001")}
    one = Bom("b", "", (BomLine(2, "n1", "gpu/0", "gpu", "", "", "650001"),))
    (billed,) = compared(one, list(parts(trees)), trees).differences
    assert (billed.kind, billed.said) == ("unread", "the bill may have lost leading zeros: n1 gpu/0 reports 00650001")
    (tmp_path / "b.csv").write_text("serial\n6.50001E+11\n")
    with pytest.raises(UserError, match=r"b.csv:2: serial 6.50001E\+11: converted to a number by a spreadsheet"):
        bom.load(tmp_path / "b.csv")


def test_a_serial_that_reads_like_one_of_our_words_is_a_serial() -> None:
    (part,) = parts({"n1": tree(gpu_0="not read (denied)")})
    assert (part.serial, dict(part.other)) == ("not read (denied)", {})
    (part,) = parts({"n1": tree(gpu_0=DENIED)})
    assert (part.serial, part.no_serial.partition("; ")[0]) == ("", "serial number not read from the OS (denied: sudo)")


SERIALS = st.sampled_from(["A1", "B1", "C1", ""])
READINGS: st.SearchStrategy[Reading] = st.sampled_from(["A1", "B1", "C1", "D1", DENIED, Absent()])
LISTS: st.SearchStrategy[Reading] = st.sampled_from([("0", "1"), ("0", "1"), ("0",), DENIED, Absent()])


@st.composite
def machines(draw: st.DrawFn) -> Tree:
    values: dict[str, Reading] = {
        name: draw(READINGS) for name in ("gpu_0", "gpu_1", "psu_0", "node", "bmc_1") if draw(st.integers(0, 3))
    }
    values |= {name: draw(LISTS) for name in ("gpu", "psu") if draw(st.integers(0, 3))}
    return tree(draw(st.sampled_from([[], [], [Plane.BMC], [Plane.OS, Plane.BMC]])), **values)


@settings(max_examples=400)
@given(
    st.dictionaries(st.sampled_from(["n1", "n2"]), machines()),
    st.lists(
        st.tuples(
            st.sampled_from(["", "n1", "n2", "n3"]), st.sampled_from(["", "gpu/0", "node"]),
            st.sampled_from(["", "gpu", "psu", "system", "fan", "nonsense of/theirs"]), SERIALS,
        ),
        unique_by=lambda line: line[3] or line,
    ),
)  # fmt: skip
def test_every_row_ends_in_exactly_one_place(trees: dict[str, Tree], lines: list[tuple[str, str, str, str]]) -> None:
    listed = list(parts(trees))
    found = compared(ordered(*lines), listed, trees)
    rows = Counter(d.line for d in found.differences if d.line)
    assert found.matched + rows.total() == found.rows == len(lines)
    assert set(rows.values()) <= {1}
    assert {d.kind for d in found.differences if d.line} <= {"missing", "moved", "swapped", "unread"}
    extra = [d for d in found.differences if not d.line]
    assert all(d.kind == "extra" and any((p.node, p.item) == (d.node, d.item) for p in listed) for d in extra)
    assert not {d.serial for d in found.differences if d.kind == "missing"} & {p.serial for p in listed}


@settings(max_examples=400)
@given(machines(), st.sampled_from(["gpu", "psu"]), st.data())
def test_knowing_less_never_turns_a_thing_into_missing(node: Tree, kind: str, data: st.DataObject) -> None:
    def state(value: Tree) -> list[Billed]:
        found = compared(ordered(("n1", "", kind, "Z1")), list(parts({"n1": value})), {"n1": value})
        return [d for d in found.differences if d.line]

    (before,) = state(node)
    gone = data.draw(st.sets(st.sampled_from(sorted(node.leaves) or ["none"])))
    blind = {p: Leaf(DENIED, leaf.kind, leaf.plane, "") if p in gone else leaf for p, leaf in node.leaves.items()}
    (after,) = state(Tree(blind, node.silent))
    assert after.kind in {before.kind, "unread"}


def test_versions_of_a_node_that_was_never_read_are_not_known() -> None:
    kind = Kind(Type.VERSION, "", scheme="dotted", cls=Class.VERSION)
    trees = {"n1": Tree({"driver.version": Leaf("1", kind, Plane.OS, "")})}
    (alone,) = versions(trees)
    (with_other,) = versions(trees, ["n2"])
    assert alone.even
    assert not with_other.even
    assert with_other.groups == (("1", ("n1",)), ("", ("n2",)))


def version(reading: Reading) -> Tree:
    return Tree({"d.version": Leaf(reading, Kind(Type.VERSION, "", scheme="dotted", cls=Class.VERSION), Plane.OS, "")})


@pytest.mark.parametrize("silent", [Tree({}, {Plane.OS: DENIED}), version(DENIED)], ids=["a plane", "a fact"])
def test_what_all_that_answered_have_not_is_no_component_whoever_was_silent(silent: Tree) -> None:
    trees = {"n1": version(Absent()), "n2": version(Absent()), "n3": silent}
    assert list(versions(trees, ["n4"])) == []
    (alone,) = versions({**trees, "n2": version("1")})
    assert alone.groups == (("1", ("n2",)), ("absent", ("n1",)), ("", ("n3",)))


def test_different_reasons_why_a_version_is_not_known_are_named_and_counted() -> None:
    trees = {f"n{n}": version(Unknown(reason)) for n, reason in enumerate([Reason.TIMEOUT, Reason.TIMEOUT])}
    (same,) = versions(trees)
    assert same.why == "timeout"
    trees |= {"n7": version(DENIED), "n8": version("1")}
    (two,) = versions(trees, ["n9"])
    assert two.why == "timeout; denied: sudo; never read"
    (more,) = versions(trees | {"n5": version(Unknown(Reason.UNREACHABLE))}, ["n9"])
    assert more.why == "timeout; unreachable; denied: sudo; and 1 more"


# ---- the file --------------------------------------------------------------------------------------------------------


def load(folder: Path, text: str | bytes) -> Bom:
    file = folder / "bill.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return bom.load(file)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_what_a_spreadsheet_writes_is_read(tmp_path: Path, mark: str, end: str, begin: str) -> None:
    rows = [
        ["Node", "Part Number", "SERIAL", "note"],
        ["n1", '"1, 2; 3"', " A ", ""],
        [],
        ["", "", "B", '"two\nlines"'],
    ]
    text = begin + end.join(mark.join(row) for row in rows)
    found = load(tmp_path, text)
    assert [(line.node, line.part_number, line.serial) for line in found.lines] == [
        ("n1", "1, 2; 3", "A"),
        ("", "", "B"),
    ]
    assert found.digest == hashlib.sha256(text.encode()).hexdigest()  # as sha256sum prints it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs the column `serial`"),
        ("node,serail\n", "did you mean serial?"),
        ("serial,serial\n", "appears twice"),
        ("node\nn1\n", "needs the column `serial`"),
        ("serial,node\nA\n", "bill.csv:2: 1 cells; the header has 2"),
        ("serial,node\nA,n1\nB,n1\nA,n2\n", "bill.csv:4: serial A appears twice; first at row 2"),
        ("serial,item\nA,gpu/0\nA,gpu/1\n", "bill.csv:3: serial A appears twice; first at row 2"),
        ("serial,item\nA,node\nA,node\n", "bill.csv:3: serial A appears twice; first at row 2"),
        ("serial,kind\nA,transceiver\nA,transceiver\n", "bill.csv:3: serial A appears twice; first at row 2"),
        ("serial,items,notes,vendor\n", "no column 'items'"),
        ('serial\n"A\n', "not CSV"),
        ("serial\n" + "A" * 200_000 + "\n", "not CSV"),
        ("serial,item\nA,GPU 3\n", "bill.csv:2: item 'GPU 3' is not a fact path"),
        (b"serial\n\xff\xfe\n", "not UTF-8 text"),
        (b"s\x00erial\n", "no "),
    ],
)
def test_nonsense_is_one_error_with_its_row(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(UserError) as error:
        load(tmp_path, text)
    assert message in str(error.value)


def test_a_system_and_its_chassis_may_have_one_serial_number(tmp_path: Path) -> None:
    found = load(tmp_path, "node,item,serial\nn1,node,A\nn1,bmc.system/DGX,A\nn1,bmc.chassis/DGX,A\n")
    assert [line.serial for line in found.lines] == ["A", "A", "A"]


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="character device"):
        bom.load(Path("/dev/zero"))
    with pytest.raises(UserError, match="more than 16 MiB"):
        load(tmp_path, b"serial\n" * (bom.SIZE // 7 + 1))


@settings(max_examples=300)
@given(
    st.one_of(
        st.text(alphabet="serial,;\t\"'\n\r nodA01\ufeff\x00", max_size=60),
        st.text(max_size=60),
        st.binary(max_size=60),
    )
)
def test_any_bytes_are_a_bill_or_one_error(tmp_path_factory: pytest.TempPathFactory, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    for begin in (b"", b"serial\n", b"serial;node;kind\n"):
        try:
            load(tmp_path_factory.getbasetemp(), begin + data)
        except UserError as error:
            assert str(error)
