"""Scripts run in the shells of this machine."""

import shutil
import subprocess
from collections.abc import Sequence

from rackcheck.model.capture import Output
from rackcheck.model.fact import Reason, Unknown
from rackcheck.model.question import Read, Shell
from rackcheck.probe.answers import Split, split
from rackcheck.probe.script import compose

MARK = "0123456789abcdef" * 2


CUT = Unknown(Reason.UNREACHABLE, "the line was cut")


SHELLS = [shell for shell in (["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]


def raw(questions: Sequence[Shell | Read], shell: Sequence[str] = ("sh",), user: int | None = None) -> bytes:
    script = compose(questions, MARK).encode()
    done = subprocess.run([*shell, "-s"], input=script, capture_output=True, check=False, user=user, cwd="/")
    return done.stdout


def run(*questions: Shell | Read, shell: Sequence[str] = ("sh",), user: int | None = None) -> Split:
    return split(raw(questions, shell, user), questions, MARK, CUT)


def out(result: Split, command: str) -> str:
    answer = result.capture.commands[command]
    assert isinstance(answer, Output), answer
    return answer.out
