"""Equal answers are split once, and a kept one is exactly what splitting it again would give."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck.model.capture import NodeCapture, Output
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Read, Shell
from rackcheck.model.recently_used import LARGEST
from rackcheck.probe import answers
from rackcheck.probe.kept_answers import ENTRY, KeptAnswers

MARK = "0123456789abcdef0123456789abcdef"
WHY = Unknown(Reason.TIMEOUT, "the connection was cut")
WORDS = (Shell("uname"), Shell("lsmod"), Read("/proc/a", "/proc/b*"))

texts = st.lists(
    st.sampled_from(["a", "password=s3cr3t99", "==> /proc/a <==", "==> /proc/b1 <==", "é", "\n", "", "x" * 40])
).map("\n".join)


def output(frames: list[tuple[str, str, int]]) -> bytes:
    """The output of a node's script with these answers: text, errors and status of each question."""
    parts = [
        f"\n{MARK}<{index}\n{out}{MARK}:{status}={err}{MARK}."
        for index, (out, err, status) in enumerate(frames)
    ]  # fmt: skip
    return f"{''.join(parts)}\n{MARK}>{len(frames)}\n".encode()


@given(st.lists(st.tuples(texts, texts, st.sampled_from([0, 1, 124])), min_size=3, max_size=3))
def test_an_answer_that_was_kept_is_what_it_would_be_alone(frames: list[tuple[str, str, int]]) -> None:
    raw = output(frames)
    again = answers.split(raw, WORDS, MARK, WHY)
    fresh = answers.split(
        raw, tuple(Shell(q.command) if isinstance(q, Shell) else Read(*q.globs) for q in WORDS), MARK, WHY
    )
    assert again == answers.split(raw, WORDS, MARK, WHY) == fresh
    assert again.whole
    assert isinstance(again.capture.commands["uname"], Output)
    assert "s3cr3t99" not in str(again.capture.to_json())


def capture(text: str) -> NodeCapture:
    return NodeCapture(commands={"lsmod": Output(0, text, "")})


def test_only_the_same_question_status_output_and_errors_are_the_same_answer() -> None:
    kept, made = KeptAnswers(), list[str]()

    def ask(question: Shell, status: int, out: bytes, err: bytes, name: str) -> NodeCapture:
        def make() -> NodeCapture:
            made.append(name)
            return capture(name)

        return kept.capture(question, status, out, err, 100, make)

    one, other = Shell("lsmod"), Shell("uname")
    assert ask(one, 0, b"ab", b"c", "first") is ask(one, 0, b"ab", b"c", "again")
    ask(other, 0, b"ab", b"c", "question")
    ask(one, 1, b"ab", b"c", "status")
    ask(one, 0, b"a", b"bc", "moved from the output to the errors")
    ask(one, 0, b"ab", b"d", "errors")
    assert made == ["first", "question", "status", "moved from the output to the errors", "errors"]


def test_the_memory_for_kept_answers_is_bounded_and_the_oldest_goes_first() -> None:
    kept, made, question = KeptAnswers(LARGEST * 2 * ENTRY), list[int](), Shell("lsmod")

    def ask(number: int, size: int = 0) -> None:
        def make() -> NodeCapture:
            made.append(number)
            return capture(str(number))

        kept.capture(question, 0, str(number).encode(), b"", size, make)

    for number in range(20):  # there is room for 16
        ask(number)
    ask(19)
    ask(0)
    ask(99, size=2 * ENTRY)  # larger than what one may take
    ask(99, size=2 * ENTRY)
    assert made == [*range(20), 0, 99, 99]
