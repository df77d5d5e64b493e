"""The operating system's plane: a handful of questions, and what their answers mean; pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rackcheck.core.capture import NodeCapture, Output
from rackcheck.core.collect import collect
from rackcheck.core.fact import Plane, Reason, Unknown, clean
from rackcheck.core.plan import Plan
from rackcheck.core.probe import Read, Shell
from rackcheck.core.refusal import LATE
from rackcheck.doctor import readable
from rackcheck.doctor.blind import of_plane
from rackcheck.doctor.finding import Finding, Grant, System, Trouble
from rackcheck.doctor.tools import looked_for, needed
from rackcheck.sudoers import root_probes

SECONDS = 5.0
"""How long one question may take on a node."""

CAP = 1 << 14
"""How many bytes an answer may have: of a command that only root gets an answer to, the beginning tells enough."""

FILES = 20
"""Files that may not be read and are named; what each costs is counted for all."""

PYTHON = "python3"

_REFUSED = frozenset({Reason.DENIED, Reason.UNREACHABLE})
"""Why root's part has no answer for us: others say that the command itself ran, and had nothing or much to tell."""

_WHO = (
    'echo "uid $(id -u)"; echo "user $(id -un)"; echo "kernel $(uname -sr)"; echo "sent $RACKCHECK_SENT"; '
    "sed -n 's/^PRETTY_NAME=/name /p' /etc/os-release 2>/dev/null"
)
_SUDO = '[ "$(id -u)" = 0 ] && exit 0; command -v sudo >/dev/null || { echo "no sudo"; exit 0; }; sudo -n -l'


@dataclass(frozen=True)
class Questions:
    """What doctor asks an operating system on behalf of a plan; `sudo` says whether sudo may be called there."""

    plan: Plan
    sudo: bool = True
    seconds: float = SECONDS

    @cached_property
    def tools(self) -> dict[str, tuple[str, ...]]:
        """The programs that the plan's probes call, each with the probes that call it."""
        found: dict[str, list[str]] = {}
        for probe in self.plan.probes:
            if isinstance(probe.ask, Shell):
                for tool in needed(probe.ask.command):
                    found.setdefault(tool, []).append(probe.name)
        return {tool: tuple(found[tool]) for tool in sorted(found)}

    @cached_property
    def scripts(self) -> tuple[str, ...]:
        """The probes that bring a program for the node's own python3."""
        shells = (probe for probe in self.plan.probes if isinstance(probe.ask, Shell))
        return tuple(probe.name for probe in shells if PYTHON in looked_for(str(probe.ask)))

    @cached_property
    def asked(self) -> tuple[Shell, ...]:
        """The questions, those that only root gets an answer to last."""
        shells = (probe.ask for probe in root_probes(self.plan.probes))
        root = [replace(ask, seconds=self.seconds, cap=CAP) for ask in shells if isinstance(ask, Shell)]
        return (self._looks, *self._files, *([self._sudo] if root and self.sudo else []), *dict.fromkeys(root))

    @cached_property
    def files(self) -> dict[str, tuple[str, ...]]:
        """The files that the plan's probes read, by their globs, each with the probes that read it."""
        found: dict[str, list[str]] = {}
        for probe in self.plan.probes:
            ask = probe.ask.asking(self.plan.wanted)
            if isinstance(ask, Read):
                for glob in ask.globs:
                    found.setdefault(glob, []).append(probe.name)
        return {glob: tuple(names) for glob, names in found.items()}

    @cached_property
    def _files(self) -> Mapping[Shell, Sequence[str]]:
        """Whether the files may be read: each question with the globs that it is about."""
        asked = readable.questions(tuple(self.files))
        return {Shell(text, seconds=self.seconds, cap=readable.CAP): globs for text, globs in asked}

    @cached_property
    def _sudo(self) -> Shell:
        return Shell(_SUDO, seconds=self.seconds, cap=CAP)

    @cached_property
    def _looks(self) -> Shell:
        """Who answers, which tools are missing, which python3 runs: one shell for all that cannot hang."""
        names = " ".join(self.tools) or ":"
        there = f'for t in {names}; do command -v "$t" >/dev/null 2>&1 || echo "missing $t"; done; echo "asked all"'
        python = f'p=$(command -v {PYTHON} || command -v /usr/libexec/platform-python) && "$p" -V 2>&1; :'
        return Shell(f"{_WHO}; {there}; {python}", seconds=self.seconds, cap=CAP)

    def read(self, capture: NodeCapture) -> tuple[tuple[Finding, ...], System | None, float | None]:
        """Read the answers: the findings, who answered, and our clock when the script was sent."""
        answer = capture.output(self._looks)
        if not isinstance(answer, Output) or not re.search(r"^asked all$", answer.out, re.MULTILINE):
            return (self._silent(answer),), None, None
        who = _words(answer.out)
        python = self._python(answer)
        denied = self._denied(capture)
        grant = self._grant(capture, who.get("uid", ""), denied)
        found = [*self._missing(answer.out)]
        if self.scripts and not python:
            said = "it did not answer" if python is None else ""
            found.append(Finding(Trouble.NO_PYTHON, said, (PYTHON,), self.scripts))
        if denied:
            refused = tuple(dict.fromkeys(str(p.ask) for p in root_probes(self.plan.probes) if p.name in denied))
            found.append(Finding(Trouble.NO_ROOT, grant.value, refused, tuple(denied)))
        found += self._unread(capture)
        name = who.get("name", "").strip("\"' ")
        sent = who.get("sent", "")
        system = System(name, who.get("kernel", ""), who.get("user", ""), grant, python or "", None, None)
        return tuple(found), system, float(sent) if re.fullmatch(r"[0-9]{1,12}\.[0-9]{2}", sent) else None

    def _missing(self, out: str) -> Iterable[Finding]:
        said = set(re.findall(r"^missing (\S+)$", out, re.MULTILINE))
        gone = tuple(tool for tool in self.tools if tool in said)
        if gone:
            lost = tuple(dict.fromkeys(probe for tool in gone for probe in self.tools[tool]))
            yield Finding(Trouble.NO_TOOL, "", gone, lost)

    def _unread(self, capture: NodeCapture) -> Iterable[Finding]:
        """Say which files an audit would be refused; a look that did not end tells nothing of any of them."""
        for ask, globs in self._files.items():
            refused = readable.refused(capture.output(ask), globs)
            blind = globs if isinstance(refused, Unknown) else refused.values()
            lost = tuple(dict.fromkeys(probe for glob in blind for probe in self.files[glob]))
            if isinstance(refused, Unknown):
                yield Finding(Trouble.SLOW if refused.reason is Reason.TIMEOUT else Trouble.CUT, str(refused), (), lost)
            elif refused:
                yield Finding(Trouble.NO_READ, "", tuple(refused)[:FILES], lost)

    def _silent(self, answer: Output | Unknown) -> Finding:
        """Say why our own question has no answer: then nothing is known of tools and of root's part either."""
        said = str(answer) if isinstance(answer, Unknown) else f"status {answer.status}: {answer.err.strip()}"
        reason = answer.reason if isinstance(answer, Unknown) else Reason.TIMEOUT if answer.status in LATE else None
        trouble = {Reason.TOOL_MISSING: Trouble.NO_FRAME, Reason.TIMEOUT: Trouble.SLOW}.get(reason, Trouble.CUT)  # type: ignore[arg-type]
        things = ("timeout", "head") if trouble is Trouble.NO_FRAME else ()
        return Finding(trouble, clean(said), things, of_plane(self.plan, Plane.OS))

    def _python(self, answer: Output) -> str | None:
        """Give the version of python3; empty where there is none that runs, None where it did not answer in time."""
        found = re.search(r"^Python (3\.[0-9]{1,3}(?:\.[0-9]{1,3})?)", answer.out, re.MULTILINE)
        return found[1] if found else None if answer.status in LATE else ""

    def _denied(self, capture: NodeCapture) -> dict[str, None]:
        """Name the probes of root's that would get no answer, judged as an audit judges their answers.

        A command that asks many devices may need longer than a visit gives it: that is a refusal only where sudo itself
        does not answer either.
        """
        refused = _REFUSED | ({Reason.TIMEOUT} if self._hangs(capture) else set())
        found: dict[str, None] = {}
        for probe in root_probes(self.plan.probes):
            leaves = collect((probe,), capture, "").values()
            if any(isinstance(leaf.reading, Unknown) and leaf.reading.reason in refused for leaf in leaves):
                found[probe.name] = None
        return found

    def _some(self, capture: NodeCapture, denied: dict[str, None]) -> bool:
        """Whether root told anything: where a tool or a device is missing, nobody was asked, and nothing is granted."""
        answered = (probe for probe in root_probes(self.plan.probes) if probe.name not in denied)
        leaves = (leaf for probe in answered for leaf in collect((probe,), capture, "").values())
        return any(not isinstance(leaf.reading, Unknown) for leaf in leaves)

    def _hangs(self, capture: NodeCapture) -> bool:
        """Whether sudo, where it is called, did not say in time what it grants."""
        if self._sudo not in self.asked:
            return False
        answer = capture.output(self._sudo)
        return answer.status in LATE if isinstance(answer, Output) else answer.reason is Reason.TIMEOUT

    def _grant(self, capture: NodeCapture, uid: str, denied: dict[str, None]) -> Grant:
        wanted = root_probes(self.plan.probes)
        if not wanted:
            return Grant.NOT_NEEDED
        if uid == "0":
            return Grant.ROOT
        if not self.sudo:
            return Grant.OFF
        answer = capture.output(self._sudo)
        said = answer.out if isinstance(answer, Output) else ""
        if said.startswith("no sudo"):
            return Grant.NO_PROGRAM
        if denied:
            return Grant.PART if self._some(capture, denied) else Grant.NONE
        return Grant.ALL if re.search(r"^\s+\([^)]{1,200}\) NOPASSWD: ALL$", said, re.MULTILINE) else Grant.LIST


def _words(out: str) -> dict[str, str]:
    rows = out.splitlines()[:20]
    return {word: clean(rest, 60) for word, _, rest in (row.partition(" ") for row in reversed(rows))}
