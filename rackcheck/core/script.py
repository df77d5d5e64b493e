"""One POSIX script for all questions to a node, and its output split back into answers.

The script travels on standard input of `sh -s` and leaves nothing behind. Every command runs at the same time as
the others, under its own timeout and byte cap, with nothing on its standard input. Its answer is printed in one
piece, between marks that are random for each run, by whoever holds the one token in a pipe: answers never mix, and
an answer that was cut on its way is missing, not short.
"""

import bisect
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rackcheck.core.capture import NodeCapture, Output, merge, named
from rackcheck.core.fact import Reason, Unknown
from rackcheck.core.probe import Read, Shell
from rackcheck.core.read import SILENT, covering, matching
from rackcheck.core.refusal import LATE

Question = Shell | Read

# The token is one line in a pipe that the shell opens for itself at both ends: reading it takes it, writing gives it
# back. A command's status has a way of its own (8), beside its output (9) and its complaints (6), of which the last
# bytes are kept: what a killed command's children still print cannot push it out.
# A question about devices that are not there, or to a program that is not, is answered without asking it, in its own
# words where it has some for that: most machines have few of the programs, and looking for one costs no process.
# SIGPIPE is ignored while an answer is printed: a holder that died would leave the others waiting on the node.
_FRAME = """\
LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin:/usr/local/sbin; export PATH
unset ENV BASH_ENV CDPATH
m={mark}
r() {{
n=$1 t=$2 c=$3 q=$4 k=$5 p=$6 w=$7 d=y a=0; shift 7
[ $# = 0 ] || {{ d=; for f; do [ ! -e "$f" ] || {{ d=y; break; }}; done; }}
[ -z "$d" ] || [ "$p" = - ] || command -v "$p" >/dev/null || {{ d=; [ -n "$w" ] || a=127; }}
if [ -z "$d" ]; then case $a in 0) o="${{w:+$w
}}$m:0=$m.";; *) o="$m:127=sh: $p: not found$m.";; esac
else o=$(
{{ e=$(
{{ s=$(
{{ {{ timeout -k 2 "$t" sh -c "$q" </dev/null 2>&6 6>&- 7>&- 8>&- 9>&-; echo "$?" >&8; }} | head -c "$c" >&9; }} 8>&1
); printf '%s' "$m:$s=" >&9; }} 6>&1 | tail -c "$k"
); }} 9>&1
printf '%s' "$e$m." )
fi
trap '' PIPE
read -r t <&7
printf '\\n%s<%s\\n%s\\n' "$m" "$n" "$o"
echo >&7
}}
l() {{
n=$1 t=$2 c=$3; shift 3
o=$(
{{ s=$(
{{ {{ printf '%s\\n' "$m" | timeout -k 2 "$t" sh -c '{lane}' sh "$@" 2>/dev/null 7>&- 8>&- 9>&-; echo "$?" >&8; }} |
head -c "$c" >&9; }} 8>&1
); printf '\\n%s~%s:%s\\n' "$m" "$n" "$s"; }} 9>&1
)
trap '' PIPE
read -r t <&7
printf '%s\\n' "$o"
echo >&7
}}
echo | {{
exec 7<>/proc/self/fd/0 </dev/null
for f in timeout head tail; do command -v $f >/dev/null || {{ printf '\\n%s!timeout\\n' "$m"; exit 0; }}; done
{jobs}
wait
printf '\\n%s>%s\\n' "$m" {count}
}}
"""

# Quick questions, and those of a lane, follow each other in one shell, which learns the mark from its input: its words
# can be seen by others.
_LANE = """\
read -r m; exec </dev/null 3>&1
while [ $# -gt 0 ]; do
printf "\\n%s<%s\\n" "$m" "$1"
e=$(eval "$2" 2>&1 >&3 3>&-); s=$?
printf "%s:%s=%.4000s%s.\\n" "$m" "$s" "$e" "$m"
shift 2
done"""

LANES = 3
"""Shells that the quick questions share: one that hangs costs a third of them at most."""

# What needs root is asked for command by command: where only a list of commands is granted, that list suffices.
_SUDO = """if [ "$(id -u)" = 0 ]; then ROOT=; else ROOT='sudo -n'; fi; export ROOT\n"""
_NO_SUDO = "ROOT=; export ROOT\n"


# A name that begins with a dash would be an option of the command: it is not asked, and its item says so by a status.
_EACH = """\
for f in {globs}; do
[ -e "$f" ] || continue
i=${{f##*/}}
printf '==> %s <==\\n' "$i"
case $i in -*) (exit 126);; *) ({command}) 2>&1;; esac
printf '\\n<== %s\\n' "$?"
done"""


# A folder that may be entered and not listed leaves a glob as it is, and `head` then says that there is no such file.
_HIDDEN = """
s=$?
for d in {folders}; do [ ! -d "$d" ] || [ -r "$d" ] || echo "hidden $d" >&2; done
exit $s"""


def compose(questions: Iterable[Question], mark: str, *, sudo: bool = True) -> str:
    """Write the script; `mark` is 32 random hexadecimal digits; without `sudo`, root's questions go as we are."""
    questions = tuple(questions)
    needs = any(isinstance(question, Shell) and question.root for question in questions)
    quick = lanes(questions)
    jobs = [
        f"r {index} {question.seconds:g} {question.cap} {shlex.quote(_command(question))} {_complaints(question)} "
        f"{' '.join(_program(question))} &"
        for index, question in enumerate(questions)
        if not any(index in lane for lane in quick)
    ]
    jobs += [_lane(number, {index: questions[index] for index in lane}) for number, lane in enumerate(quick)]
    root = (_SUDO if sudo else _NO_SUDO) if needs else ""
    return root + _FRAME.format(mark=mark, jobs="\n".join(jobs), count=len(questions), lane=_LANE)


def lanes(questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """Share out the quick questions, then put those of each lane together; by their places in the list."""
    asked = {index: question for index, question in enumerate(questions) if isinstance(question, Shell)}
    quick = [index for index, question in asked.items() if question.quick]
    named = dict.fromkeys(question.lane for question in asked.values() if question.lane)
    return (
        *(tuple(quick[number::LANES]) for number in range(min(LANES, len(quick)))),
        *(tuple(index for index, question in asked.items() if question.lane == name) for name in named),
    )


def _lane(number: int, asked: Mapping[int, Question]) -> str:
    seconds, cap = max(q.seconds for q in asked.values()), sum(q.cap for q in asked.values())
    words = " ".join(f"{index} {shlex.quote(_command(question))}" for index, question in asked.items())
    return f"l {number} {seconds:g} {cap} {words} &"


def _complaints(question: Question) -> int:
    """Give how many bytes of complaints are kept: a file that `head` complained of must not look like one not there."""
    return 1 << 18 if isinstance(question, Read) else 4096


def _command(question: Question) -> str:
    if isinstance(question, Shell):
        command = f"$ROOT {question.command}" if question.root else question.command
        return (
            _EACH.format(globs=_globs(question.each.split()), command=command.replace("{}", '"$i"'))
            if question.each
            else command
        )
    # Globs are ours and a profile's: everything but the glob signs is quoted.
    asked = f"head -v -c {question.cap} -- {_globs(question.globs)}"
    folders = " ".join(map(shlex.quote, dict.fromkeys(filter(None, map(_folder, question.globs)))))
    return asked + _HIDDEN.format(folders=folders) if folders else asked


def _folder(glob: str) -> str:
    """Name the folder that a glob has listed, where somebody's rights could be in the way; the kernel's are open."""
    start = re.split(r"[*?\[]", glob, maxsplit=1)[0]
    return "" if start == glob or start.startswith(("/sys/", "/proc/")) else start.rpartition("/")[0]


_NAME = r"(?P<program>[a-z][\w.+-]*)"
_PLAIN = re.compile(rf"{_NAME}(?: [^|&;<>()$`\\\"'\n]*)?")
_OR_ELSE = re.compile(
    rf"if (?:command -v {_NAME} >/dev/null|\[ -[de] (?P<place>/[\w/.-]+) \]); "
    r"then [^\n]*; else echo '?(?P<without>[\w \[\]]+)'?; fi"
)
_OR_ENDS = re.compile(rf"command -v {_NAME} >/dev/null \|\| \{{ echo '[^'\n]+' >&2; exit 127; \}}\n.*", re.DOTALL)


def _program(question: Question) -> Iterator[str]:
    """Name the program without which there is nothing to ask, `-` if there is none, and what is said then, if anything.

    It is the program that a plain command is of, or the one that a script looks for before it does anything else. Then
    come the globs of the devices that it is asked of, or the place that a script looks for.
    """
    command = question.command if isinstance(question, Shell) else ""
    looks = _PLAIN.fullmatch(command) or _OR_ELSE.fullmatch(command) or _OR_ENDS.fullmatch(command)
    said = looks.groupdict() if looks else {}
    yield said.get("program") or "-"
    yield shlex.quote(said.get("without", ""))
    if said.get("place"):
        yield said["place"]
    if isinstance(question, Shell) and question.each:
        yield _globs(question.each.split())


def _globs(globs: Iterable[str]) -> str:
    return " ".join(map(_quote_glob, globs))


def _quote_glob(glob: str) -> str:
    parts = re.split(r"(\*|\?|\[[0-9A-Za-z-]+\])", glob)
    return "".join(part if index % 2 else shlex.quote(part) if part else "" for index, part in enumerate(parts))


@dataclass(frozen=True)
class Split:
    """What came out of a node's script; `whole` when its end came too."""

    capture: NodeCapture
    whole: bool


def split(raw: bytes, questions: Iterable[Question], mark: str, why: Unknown) -> Split:
    """Read a node's output; questions whose answer did not come through are unknown for the reason `why`."""
    asked = list(questions)
    text = raw.decode("utf-8", "surrogateescape")
    if f"\n{mark}!timeout\n" in text:
        missing = Unknown(Reason.TOOL_MISSING, "timeout, head or tail is not on this node")
        return Split(merge(_unanswered(q, missing) for q in asked), whole=True)
    answers = dict(_frames(text, mark))
    ended = {int(n): int(status) for n, status in re.findall(rf"\n{mark}~([0-9]{{1,3}}):([0-9]{{1,3}})\n", text)}
    lost = {i: _lost(asked, lane, ended[n]) for n, lane in enumerate(lanes(asked)) if n in ended for i in lane}
    captures = [
        _answered(question, answers[index]) if index in answers else _unanswered(question, lost.get(index, why))
        for index, question in enumerate(asked)
    ]
    return Split(merge(captures), whole=f"\n{mark}>{len(asked)}\n" in text)


def _lost(asked: Sequence[Question], lane: Sequence[int], status: int) -> Unknown:
    """Say why a question of a lane has no answer though the lane has ended: who was before it took all its time."""
    if status in LATE:
        return Unknown(Reason.TIMEOUT, f"no answer within {max(asked[i].seconds for i in lane):g} s, with others")
    if status in {0, 141}:
        return Unknown(Reason.TOO_LARGE, f"more than {sum(asked[i].cap for i in lane)} bytes, with others")
    return Unknown(Reason.NOT_COLLECTED, f"its shell ended with status {status}")


_INDEX, _STATUS = re.compile(r"<([0-9]{1,6})\n"), re.compile(r":([0-9]{1,3})=")


def _frames(text: str, mark: str) -> Iterator[tuple[int, Output]]:
    """Find the whole frames in one pass: a node that prints marks by the million must not have us search as often."""
    pieces = text.split(mark)
    for before, said, ended, after in zip(pieces, pieces[1:], pieces[2:], pieces[3:], strict=False):
        index, status = _INDEX.match(said), _STATUS.match(ended)
        if index and status and before.endswith("\n") and after.startswith(".\n"):
            yield int(index[1]), Output(int(status[1]), said[index.end() :], ended[status.end() :])


def _unanswered(question: Question, why: Unknown) -> NodeCapture:
    if isinstance(question, Shell):
        return NodeCapture(commands={named(question.command): why})
    return NodeCapture(globs=dict.fromkeys(question.globs, why))


def _answered(question: Question, output: Output) -> NodeCapture:
    # The shell drops bytes of zero, so a cut answer may be short; what wrote on after the cut died of it (141).
    full = len(output.out.encode("utf-8", "surrogateescape")) >= question.cap or output.status == 141
    large = Unknown(Reason.TOO_LARGE, f"more than {question.cap} bytes")
    if isinstance(question, Shell):
        return NodeCapture(commands={named(question.command): large if full else output})
    contents = dict(_contents(output.out, question))
    complaints = list(_complained(output.err, question))
    told = sorted({*contents, *(path for path, _ in complaints)})
    refused = dict(_refused(complaints))
    trouble: Unknown | None = None
    if full:
        trouble = large
    elif output.status in LATE:
        trouble = Unknown(Reason.TIMEOUT, f"no answer within {question.seconds:g} s")
    elif output.status not in {0, 1}:
        trouble = Unknown(Reason.NOT_COLLECTED, f"head ended with status {output.status}")
    if trouble is not None and contents:
        contents.popitem()  # cut somewhere
    if trouble is None and len(output.err.encode("utf-8", "surrogateescape")) >= _complaints(question) - 1:
        trouble = Unknown(Reason.TOO_LARGE, "more complaints than were kept")
    for path in refused:
        contents.pop(path, None)
    if trouble is None:
        refused |= {glob: SILENT for glob in question.globs if not _told(glob, told)}
    return NodeCapture(globs=dict.fromkeys(question.globs, trouble), files=contents, refused=refused)


def _contents(out: str, question: Read) -> Iterator[tuple[str, str]]:
    """Take `head -v` apart; a header that names no file we asked for is a line of the file before it."""
    name, start = "", 0
    asked = covering(question.globs)
    for match in re.finditer(r"(?:\A|\n)==> ([^\n]+) <==\n", out):
        if asked.fullmatch(match[1]):
            if name:
                yield name, out[start : match.start()]
            name, start = match[1], match.end()
    if name:
        yield name, out[start:]


_WORDS: Mapping[str, Reason] = {
    "Permission denied": Reason.DENIED,
    "Operation not permitted": Reason.DENIED,
}

_NO_FILE = frozenset({"No such file or directory", "Not a directory", "Is a directory"})


def _complained(err: str, question: Read) -> Iterator[tuple[str, str]]:
    """Read what `head` complains of, file by file; what it says of files that nobody asked for is passed over."""
    pattern = re.compile(
        r"^head: (?:cannot open |error reading )?'?(/[^\n]*?)'?(?: for reading)?: ([^\n:]+)$", re.MULTILINE
    )
    hidden = frozenset(re.findall(r"^hidden (/[^\n]+)$", err, re.MULTILINE))
    yield from ((glob, "Permission denied") for glob in question.globs if _folder(glob) in hidden)
    asked, literal = covering(question.globs), frozenset(question.globs)
    for path, complaint in pattern.findall(err):
        if path in literal or asked.fullmatch(path):
            yield path, complaint


def _refused(complaints: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Unknown]]:
    """Give why files could not be read; a file that is not there is no refusal."""
    for path, complaint in complaints:
        if complaint not in _NO_FILE:
            yield path, Unknown(_WORDS.get(complaint, Reason.NOT_COLLECTED), complaint)


def _told(glob: str, told: Sequence[str]) -> bool:
    """Whether anything was said of a glob: one that matches no file stays as it is, and `head` complains of it so."""
    at = bisect.bisect_left(told, glob)
    return told[at : at + 1] == [glob] or next(matching(told, glob), None) is not None
