"""A node's standard error: read beside the answer and dropped, except for its end where there is no answer."""

from pathlib import Path

import pytest
from sshd import serving

from rackcheck.model.fact import Reason
from rackcheck.model.question import Shell
from rackcheck.probe.answers import split
from rackcheck.probe.script import compose
from rackcheck.transport import ssh
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.wire import ShellLimits, ShellReply

MARK = "0123456789abcdef" * 2
ASK = (Shell("echo here"),)


def reply_of(folder: Path, force: str) -> ShellReply:
    """The answer of a node that runs this command instead of ours."""
    with serving(folder / "node", force=force) as node:
        target = Target("127.0.0.1", node.port, "", keys=(str(node.key),), known_hosts=(str(node.known_hosts),))
        return ssh.run(target, compose(ASK, MARK), ShellLimits(deadline=20.0))


def test_a_flood_on_standard_error_costs_no_answer(tmp_path: Path) -> None:
    reply = reply_of(tmp_path, "head -c 16777216 /dev/zero >&2; sh -s")
    answer = split(reply.raw, ASK, MARK, reply.cut)
    assert answer.whole, reply.cut


@pytest.mark.parametrize("before", ["", "yes | head -c 300000 >&2; "], ids=["alone", "after a flood"])
def test_a_node_that_only_complains_is_unreachable_with_its_last_words(tmp_path: Path, before: str) -> None:
    reply = reply_of(tmp_path, f"{before}echo 'This account is not available.' >&2; exit 1")
    assert reply.raw == b""
    assert reply.cut.reason is Reason.UNREACHABLE
    assert reply.cut.detail.endswith("it printed: This account is not available.")
    assert len(reply.cut.detail) < 100
