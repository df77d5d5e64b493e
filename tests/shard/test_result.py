"""The file of a result: what was written is read, and no damage gives an answer that was not written."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import depth
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackcheck.base.user_error import UserError
from rackcheck.inventory import Node
from rackcheck.model.capture import PLANES, BmcCapture, BurnCapture, Capture, NodeCapture, Output
from rackcheck.model.fact import Plane, Reason, Unknown
from rackcheck.run.event import Answered
from rackcheck.run.raw_reply import raw_bytes
from rackcheck.shard.document import Shard
from rackcheck.shard.result import LONGEST, Part, ResultReader, ResultWriter, captured, of_earlier_attempt, part_of

SHARD = Shard(
    "0" * 64, "20261120T100000Z-00000", 1, 2, "1", "1" * 64, ("kernel.release",), (), frozenset({Plane.OS, Plane.BMC}),
    tuple(Node(f"n{number}", host=f"10.0.0.{number}") for number in range(1, 9)),
)  # fmt: skip

replies = st.one_of(
    st.none(),
    st.builds(
        lambda out, status: NodeCapture({"uname": Output(out=out, err="", status=status)}),
        st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.integers(0, 255),
    ),
    st.builds(lambda word: BmcCapture({"/redfish/v1": {"Id": word}}), st.text()),
    st.builds(lambda lines: BurnCapture(tuple({"k": "noise", "said": line} for line in lines)), st.lists(st.text())),
)  # fmt: skip


def answer(number: int, reply: Capture | None) -> Answered:
    plane = PLANES[type(reply)] if reply is not None else Plane.OS
    trouble = Unknown(Reason.TIMEOUT, "silent\n\t") if reply is None else None
    return Answered(f"n{number}", plane, "2026-11-20T10:00:00Z", trouble, reply)


def written(path: Path, answers: list[Answered]) -> None:
    with ResultWriter(SHARD, path) as writer:
        writer.begin(())
        for each in answers:
            writer.write(each)
        writer.finish()


def read(path: Path, most: int = 32) -> tuple[list[Part], str]:
    with ResultReader(path) as reader:
        found = list(reader.parts(most))
        return found, reader.damage


@given(st.lists(replies, max_size=6))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, given_replies: list[NodeCapture]) -> None:
    path = tmp_path_factory.mktemp("result") / "1"
    answers = [answer(number, reply) for number, reply in enumerate(given_replies, start=1)]
    written(path, answers)
    found, damage = read(path)
    assert damage == ""
    assert [replace(captured(part), digest="") for part in found] == answers
    for part, before in zip(found, answers, strict=True):
        after = captured(part).capture
        assert (after and raw_bytes(after)) == (before.capture and raw_bytes(before.capture))
    assert not part_of(path).exists()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "1"
    written(path, [answer(n, BmcCapture({"/redfish/v1": {"Id": "x" * n * 40}})) for n in range(1, 7)])
    return path


def damaged(whole: Path) -> Iterator[tuple[str, bytes]]:
    data = whole.read_bytes()
    random = Random(5)
    for at in depth.first(40, random.sample(range(len(data)), min(400, len(data)))):
        yield f"cut at {at}", data[:at]
        yield f"bit at {at}", data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]
    plain = gzip.decompress(data)
    for at in depth.first(40, random.sample(range(len(plain)), 400)):
        yield f"inside at {at}", gzip.compress(plain[:at] + bytes([plain[at] ^ 1]) + plain[at + 1 :])
    lines = plain.splitlines(keepends=True)
    yield "without an answer", gzip.compress(b"".join([*lines[:3], *lines[4:]]))
    yield "without an end", gzip.compress(b"".join(lines[:-1]))


def test_a_damaged_file_gives_only_answers_that_were_written_and_names_the_damage(whole: Path, tmp_path: Path) -> None:
    before, _ = read(whole)
    count = 0
    for name, data in damaged(whole):
        path = tmp_path / "1"
        path.write_bytes(data)
        try:
            found, damage = read(path)
        except UserError:
            continue
        count += 1
        assert all(part in before for part in found), name
        assert damage or found == before, name
    assert count > 40


def test_a_file_that_unpacks_to_more_than_its_answers_may_take_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "1"
    written(path, [])
    head = gzip.decompress(path.read_bytes()).splitlines(keepends=True)[0]
    path.write_bytes(gzip.compress(head + b"0" * (LONGEST + 10)))
    found, damage = read(path)
    assert (found, "damaged" in damage) == ([], True)
    written(tmp_path / "2", [answer(n % 8 + 1, None) for n in range(40)])
    found, damage = read(tmp_path / "2", 10)
    assert (len(found), damage) == (11, "it has more than 10 answers")


@pytest.mark.parametrize(
    "data",
    [b"", b"text", gzip.compress(b""), gzip.compress(b"{}\n"), gzip.compress(b"[1]\n")],
    ids=["empty", "text", "nothing", "object", "list"],
)
def test_another_file_is_no_result(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(data)
    with pytest.raises(UserError, match="is not the result of a shard"):
        ResultReader(tmp_path / "1")


def test_an_attempt_that_broke_off_gives_its_whole_answers(tmp_path: Path) -> None:
    path = tmp_path / "1"
    assert list(of_earlier_attempt(SHARD, path)) == []
    with ResultWriter(SHARD, path) as writer:
        writer.begin(())
        writer.write(answer(1, BmcCapture({"/redfish/v1": {"Id": "1"}})))
        kept = part_of(path).read_bytes()
        writer.write(answer(2, None))
    for data in (kept, part_of(path).read_bytes()[:-9]):
        part_of(path).write_bytes(data)
        assert [part.answer.node for part in of_earlier_attempt(SHARD, path)][:1] == ["n1"]
    assert list(of_earlier_attempt(replace(SHARD, number=2), path)) == [], "that of another shard"
    assert part_of(path).stat().st_mode & 0o077 == 0 or path.exists()
