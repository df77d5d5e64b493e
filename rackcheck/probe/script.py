"""One POSIX script for all questions to a node.

The script is sent on standard input of `sh -s` and leaves nothing on the node. All commands run in parallel, each with
its own timeout and size cap, and with empty standard input. A process prints only while it holds the single token,
which it takes from a pipe, so that answers are never mixed. Each answer is printed between marks that are random for
each run, so that an answer that was cut in transit counts as missing, not as short.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rackcheck.model.question import Read, Shell
from rackcheck.model.regex import regex

NodeQuestion = Shell | Read

# The token is one line in a pipe. The shell opens both ends of the pipe (descriptor 7): a process takes the token by
# reading the line, and returns the token by writing the line. A command writes its output to descriptor 9; the last
# bytes of its errors are kept. Its status and its errors follow the output, with a mark at their end: an answer without
# that mark was cut.
# A question whose devices or program are missing is answered without running its command, with the question's own
# fallback text if it has one: most machines have few of the programs. One shell looks for all programs, under a
# timeout, since a folder of PATH may hang. Questions without a program do not wait for that shell; if the shell fails,
# all questions run.
# Files in a /sys that is not mounted, or that this login may not enter, are not read: they would appear to be absent.
# SIGPIPE is ignored while an answer is printed: if the token's holder died, the others on the node would wait forever.
_FRAME = """\
LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin:/usr/local/sbin; export PATH
unset ENV BASH_ENV CDPATH m M S
m={mark} none= have=
{shut}S=; for i in /sys:/sys/devices /proc/sys:/proc/sys/kernel; do [ -d "${{i#*:}}" ] || S="$S ${{i%%:*}}"; done
say() {{
trap '' PIPE
read -r t <&7
printf '%s\\n' "$1"
echo >&7
}}
own() {{
n=$1 t=$2 c=$3 q=$4 k=$5 p=$6 w=$7 d=y a=; shift 7
if [ -n "$S" ] && shut "$q" && {{ [ "$w" != '{nothing}' ] || [ ! -d "$i" ] || [ -x "$i" ]; }}; then a="1=$e" w=
elif [ -z "$S" ] || [ "$w" != '{nothing}' ]; then
[ $# = 0 ] || {{ d=; for f; do [ ! -e "$f" ] || {{ d=y; break; }}; done; }}
case $p in +*) p=${{p#+}}; [ -z "$ROOT" ] || case $have in *"!$p!"*) p=-;; esac;; esac
if [ -z "$d" ]; then a=0=
elif [ "$p" != - ]; then case $have in *"/$p/"*) ;; *"!$p!"*) a="126=sh: $p: Permission denied" w=;;
*) a="127=sh: $p: not found"; [ -z "$w" ] || a=0=;; esac; fi
fi
[ -z "$a" ] || {{ none="$none
$m<$n
${{w:+$w
}}$m:$a$m.$m;"; return; }}
{{ {{ timeout -k 2 "$t" sh -c "$q" </dev/null 2>&1 >&9 7>&- 9>&-; printf '%s:%s=' "$m" "$?" >&9; }} |
tail -c "$k"; printf '%s.' "$m"; }} 9>&1 |
{{ o=$(head -c $((c + k + 128))); case $w$o in '{nothing}'*|*"$m."*) ;; *) o=;; esac; say "
$m<$n
$o$m;"; }} &
}}
lane() {{
n=$1 t=$2 c=$3; shift 3
{{ M=$m S=$S timeout -k 2 "$t" sh -c '{lane}' sh "$@" </dev/null 2>/dev/null 7>&-; printf '%s@%s\\n' "$m" "$?"; }} |
{{ o=$(head -c "$c"); say "$o
$m~$n."; }} &
}}
echo | {{
exec 7<>/proc/self/fd/0 </dev/null
for f in timeout head tail; do command -v $f >/dev/null || {{ printf '\\n%s!timeout\\n' "$m"; exit 0; }}; done
{jobs}
say "$none"
wait
printf '\\n%s>%s\\n' "$m" {count}
}}
"""

# Tests whether a question reads files of a kernel filesystem that is not accessible; sets the reason.
_SHUT = """\
shut() {
for i in $S; do case "$i $1" in "/sys "*[!c]/sys/*|"/proc/sys "*/proc/sys/*) e="sh: $i: is not mounted"
[ ! -d "$i" ] || [ -x "$i" ] || e="sh: $i: Permission denied"; return 0;; esac; done
return 1
}
"""

_HAVE = """\
have=$(timeout -k 2 5 sh -c 'IFS=:; for f; do if command -v "$f" >/dev/null; then printf "/%s/" "$f"
else for d in $PATH; do [ ! -e "$d/$f" ] || printf "!%s!" "$f"; done; fi; done' sh {programs} 7>&-) || have=/{all}/ ;"""

# Quick questions run one after the other in the shell of their lane. The shell gets the mark from a variable that
# it does not export, because its arguments are visible to other users.
_LANE = f"""\
m=$M; unset M; exec 3>&1
{_SHUT}while [ $# -gt 0 ]; do
printf "\\n%s<%s\\n" "$m" "$1"
if [ -n "$S" ] && shut "$2"; then s=1; else e=$(eval "$2" 2>&1 >&3 3>&-); s=$?; fi
printf "%s:%s=%.4000s%s.\\n" "$m" "$s" "$e" "$m"
shift 2
done"""

LANES = 3
"""Number of shells that run the quick questions: if one shell hangs, at most a third of the questions is lost."""

# sudo is called for each command separately, so a grant of the listed commands is enough.
_SUDO = """if [ "$(id -u)" = 0 ]; then ROOT=; else ROOT='sudo -n'; fi; export ROOT\n"""
_NO_SUDO = "ROOT=; export ROOT\n"


# A name that begins with a dash would be an option of the command: the command is not run; the item gets status 126.
_EACH = """\
for f in {globs}; do
[ -e "$f" ] || continue
i=${{f##*/}}
printf '==> %s <==\\n' "$i"
case $i in -*) (exit 126);; *) ({command}) 2>&1;; esac
printf '\\n<== %s\\n' "$?"
done"""


# The shell has no status of a command in a pipe: it is printed to descriptor 3.
_NEWEST = "exec 8>&1; s=$({{ {{ ({command}); echo $? >&3; }} | tail -c {most} >&8; }} 3>&1); exit $s"


# In a folder that may be entered but not listed, a glob stays literal, and `head` reports a missing file.
_HIDDEN = """
s=$?
for d in {folders}; do [ ! -d "$d" ] || [ -r "$d" ] || echo "hidden $d" >&2; done
exit $s"""


def compose(questions: Iterable[NodeQuestion], mark: str, *, sudo: bool = True) -> str:
    """Return the script; `mark` is 32 random hex digits; without `sudo`, commands for root run as the login user."""
    questions = tuple(questions)
    needs, jobs = _jobs(questions)
    root = (_SUDO if sudo else _NO_SUDO) if needs else ""
    return root + _FRAME.format(mark=mark, jobs=jobs, count=len(questions), lane=_LANE, shut=_SHUT, nothing=NOTHING)


@lru_cache(maxsize=16)
def _jobs(questions: tuple[NodeQuestion, ...]) -> tuple[bool, str]:
    """Return whether any question is asked as root, and the part of the script that is the same for all nodes."""
    needs = any(isinstance(question, Shell) and question.root for question in questions)
    quick = lanes(questions)
    apart = [index for index in range(len(questions)) if not any(index in lane for lane in quick)]
    looks = {index: _look(questions[index]) for index in apart}
    programs = dict.fromkeys(look.program for look in looks.values() if look.program)
    jobs = [_lane(number, {index: questions[index] for index in lane}) for number, lane in enumerate(quick)]
    jobs += [_own(index, questions[index], looks[index]) for index in apart if not looks[index].program]
    if programs:
        jobs.append(_HAVE.format(programs=" ".join(programs), all="/".join(programs)))
    jobs += [_own(index, questions[index], looks[index]) for index in apart if looks[index].program]
    return needs, "\n".join(jobs)


def lanes(questions: Sequence[NodeQuestion]) -> tuple[tuple[int, ...], ...]:
    """Return the indexes of the questions of each lane: quick questions in up to LANES lanes, then named lanes.

    A lane is a shell that runs its questions one after another, with one time limit and one size limit for all of them.
    """
    asked = {index: question for index, question in enumerate(questions) if isinstance(question, Shell)}
    quick = [index for index, question in asked.items() if question.quick]
    named = dict.fromkeys(question.lane for question in asked.values() if question.lane)
    return (
        *(tuple(quick[number::LANES]) for number in range(min(LANES, len(quick)))),
        *(tuple(index for index, question in asked.items() if question.lane == name) for name in named),
    )


def _lane(number: int, asked: Mapping[int, NodeQuestion]) -> str:
    seconds, cap = max(q.seconds for q in asked.values()), sum(q.cap for q in asked.values())
    words = " ".join(f"{index} {shlex.quote(_command(question))}" for index, question in asked.items())
    return f"lane {number} {seconds:g} {cap} {words} ;"


def _own(index: int, question: NodeQuestion, look: "_Look") -> str:
    words = (
        f"{index} {question.seconds:g} {question.cap} {shlex.quote(_command(question))}",
        f"{kept(question)} {_root(question)}{look.program or '-'} {shlex.quote(look.without)} {look.places}",
    )
    return f"own {' '.join(words)} ;"


def _root(question: NodeQuestion) -> str:
    """Return `+` if a question runs as root (root may run programs that the login user may not); else an empty text."""
    return "+" if isinstance(question, Shell) and question.root else ""


def kept(question: NodeQuestion) -> int:
    """Return how many bytes of a question's errors are kept.

    The number is large for files: an unreadable file whose error message was cut off would count as missing.
    """
    return 1 << 18 if isinstance(question, Read) else 4096


def _command(question: NodeQuestion) -> str:
    if isinstance(question, Shell):
        command = f"$ROOT {question.command}" if question.root else question.command
        if question.newest:
            return _NEWEST.format(command=command, most=question.cap - 1)
        return (
            _EACH.format(globs=_globs(question.each.split()), command=command.replace("{}", '"$i"'))
            if question.each
            else command
        )
    # Globs come from probes and profiles: everything except glob characters is quoted.
    asked = f"head -v -c {question.cap + kept(question) + 128} -- {_globs(question.globs)}"
    folders = " ".join(map(shlex.quote, dict.fromkeys(filter(None, map(folder, question.globs)))))
    return asked + _HIDDEN.format(folders=folders) if folders else asked


@lru_cache(maxsize=4096)
def folder(glob: str) -> str:
    """Return the folder that must be listed to expand a glob, if permissions could prevent that; else an empty text.

    The folders of /sys and /proc can be listed by every login.
    """
    start = re.split(r"[*?\[]", glob, maxsplit=1)[0]
    return "" if start == glob or start.startswith(("/sys/", "/proc/")) else start.rpartition("/")[0]


_NAME = r"(?P<program>[a-z][\w.+-]*)"
_PLAIN = regex(rf"{_NAME}(?: [^|&;<>()$`\\\"'\n]*)?(?: && echo '-- end --')?")
_OR_ELSE = regex(
    rf"if (?:command -v {_NAME} >/dev/null|\[ -[de] (?P<place>/[\w/.-]+) \]); "
    r"then [^\n]*; else echo '?(?P<without>[\w \[\]]+)'?; fi"
)
_OR_ENDS = regex(rf"command -v {_NAME} >/dev/null \|\| \{{ echo '[^'\n]+' >&2; exit 127; \}}\n.*", re.DOTALL)


@dataclass(frozen=True)
class _Look:
    """What a question needs on the node (a program, a file, a folder), and the answer if the node does not have it."""

    program: str = ""
    without: str = ""
    places: str = ""


NOTHING = "nothing is there"
"""The answer to a question about kernel files whose folders do not exist."""


def _look(question: NodeQuestion) -> _Look:
    """Return the programs, files and devices that a question needs on the node.

    A plain command needs its program; a script needs the program or file that it tests first; a command that runs for
    each device needs at least one device; a question for files needs at least one of their folders.
    """
    if isinstance(question, Read):
        folders = list(dict.fromkeys(re.split(r"[^/]*[*?\[]", glob, maxsplit=1)[0] for glob in question.globs))
        few = len(folders) <= FEW and all(folder.startswith(("/sys/", "/proc/")) for folder in folders)
        return _Look("", NOTHING, " ".join(map(shlex.quote, folders)) if few else "")
    looks = _PLAIN.fullmatch(question.command) or _OR_ELSE.fullmatch(question.command)
    looks = looks or _OR_ENDS.fullmatch(question.command)
    values = looks.groupdict(default="") if looks else {}
    places = _globs(question.each.split()) if question.each else values.get("place", "")
    return _Look(values.get("program", ""), values.get("without", ""), places)


FEW = 8
"""Maximum number of folders whose existence is tested before a question for their files is run."""


def _globs(globs: Iterable[str]) -> str:
    return " ".join(map(_quote_glob, globs))


def _quote_glob(glob: str) -> str:
    parts = re.split(r"(\*|\?|\[[0-9A-Za-z-]+\])", glob)
    return "".join(part if index % 2 else shlex.quote(part) if part else "" for index, part in enumerate(parts))
