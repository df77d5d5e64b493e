"""The output of a command that was run once for every device."""

from collections.abc import Mapping

from rackcheck.model.fact import Reason, Unknown, Unreadable, clean
from rackcheck.model.refusal import refusal
from rackcheck.model.regex import regex

_HEAD = regex(r"==> ([^\n]{1,255}) <==\n")
_END = regex(r"\n<== ([0-9]{1,3})\n")


def each(answer: str, *, ok: tuple[int, ...] = (0,)) -> Mapping[str, str | Unknown]:
    """Return the output for each device, or why there is none; raises Unreadable if the output was cut."""
    found: dict[str, str | Unknown] = {}
    at = 0
    while at < len(answer):
        head = _HEAD.match(answer, at)
        end = _END.search(answer, head.end() - 1) if head is not None else None
        if head is None or end is None:
            raise Unreadable(f"not a device's name and its command's output: {clean(answer[at : at + 80])!r}")
        status, message = int(end[1]), answer[head.end() : end.start()]
        if status == 126 and not message:
            found[head[1]] = Unknown(Reason.NOT_COLLECTED, "not run: the device's name begins with a dash")
        else:
            # The message shows which program refused: messages of sudo are in the output, like all other errors.
            found[head[1]] = message if status in ok else refusal(status, message, root=True, seconds=0)
        at = end.end()
    return found
