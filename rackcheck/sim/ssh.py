"""Simulates a node's SSH server: handshake, host key and login are real, and outputs of commands are from a capture."""

import io
import logging
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field

import paramiko
from paramiko.common import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED,
    OPEN_SUCCEEDED,
)

from rackcheck.model.capture import Output
from rackcheck.sim import burn
from rackcheck.sim.certificate import SshKey
from rackcheck.sim.command_lookup import WELCOME
from rackcheck.sim.shell import SimShell

SCRIPT = 4 << 20
"""Maximum size of a script, in bytes."""

logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # no messages for clients that leave early


@dataclass
class SshNode:
    """One node's SSH server: its login and its shell. `execs` lists the commands that were run.

    `load` simulates a burn-in on the node; without `load`, the node has no python3.
    """

    shell: SimShell
    host_key: SshKey
    user: str
    login: SshKey | None
    latency: float = 0.0
    load: burn.SimBurnin | None = None
    connections: int = 0
    execs: list[str] = field(default_factory=list)

    def serve(self, line: socket.socket) -> None:
        """Serve one connection until it ends."""
        self.connections += 1
        transport = _Line(line)
        transport.local_version = "SSH-2.0-OpenSSH_8.9p1 rackcheck-sim"
        transport.add_server_key(paramiko.Ed25519Key(file_obj=io.StringIO(self.host_key.private)))
        try:
            transport.start_server(server=_Doorman(self))
            transport.join()
        except (paramiko.SSHException, EOFError):
            pass  # the client left before the key exchange was complete
        finally:
            transport.close()

    def run(self, channel: paramiko.Channel, command: str) -> None:
        """Run one command; `sh -s` reads its script from standard input."""
        self.execs.append(command)
        _released(channel)
        size = burn.payload_size(command)
        try:
            if size is not None:
                answer = burn.run(channel, size, self.load)
            else:
                answer = self._script(channel) if command == "sh -s" else self.shell.command(command)
            if self.latency:
                threading.Event().wait(self.latency)
            self._say(channel, answer)
        except (OSError, EOFError):
            pass  # the client left before the end
        finally:
            with suppress(EOFError):
                channel.close()

    def greet(self, channel: paramiko.Channel) -> None:
        """Print a message for a login without a command, and close the channel."""
        _released(channel)
        try:
            self._say(channel, Output(0, WELCOME.replace("\n", "\r\n")))
        except (OSError, EOFError):
            pass  # the client left before the end
        finally:
            with suppress(EOFError):
                channel.close()

    @staticmethod
    def _say(channel: paramiko.Channel, answer: Output) -> None:
        channel.sendall(answer.out.encode("utf-8", "surrogateescape"))
        channel.sendall_stderr(answer.err.encode("utf-8", "surrogateescape"))
        channel.send_exit_status(answer.status)

    def _script(self, channel: paramiko.Channel) -> Output:
        script = bytearray()
        while len(script) < SCRIPT and (chunk := channel.recv(1 << 16)):
            script += chunk
        try:
            return Output(0, self.shell.run(script.decode()).decode("utf-8", "surrogateescape"))
        except ValueError as error:
            return Output(2, "", f"sh: a simulated node runs single commands and rackcheck's own script: {error}\n")


class _Line(paramiko.Transport):
    """A connection on which no output of a command is sent before the reply to the client's request."""

    def __init__(self, line: socket.socket) -> None:
        super().__init__(line)
        self.output_sent = threading.Event()

    def _send_user_message(self, data: paramiko.Message) -> None:
        super()._send_user_message(data)  # type: ignore[misc]  # not in paramiko's type hints
        self.output_sent.set()


def _hold(channel: paramiko.Channel) -> None:
    """Block output until the reply is sent; paramiko sends it only after the handler of the request has returned."""
    if isinstance(channel.transport, _Line):
        channel.transport.output_sent.clear()


def _released(channel: paramiko.Channel) -> None:
    """Wait until the reply is sent, for a second at most, because a client need not request a reply."""
    if isinstance(channel.transport, _Line):
        channel.transport.output_sent.wait(1.0)


class _Doorman(paramiko.ServerInterface):
    """Allows one user with one key to log in and run commands."""

    def __init__(self, node: SshNode) -> None:
        self._node = node

    def get_allowed_auths(self, username: str) -> str:  # noqa: ARG002  the signature of paramiko
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        login = self._node.login
        ours = login is not None and f"{key.get_name()} {key.get_base64()}" == login.public
        known = ours and username == self._node.user
        return AUTH_SUCCESSFUL if known else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return OPEN_SUCCEEDED if kind == "session" else OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        text = command.decode("utf-8", "replace")
        _hold(channel)
        threading.Thread(target=self._node.run, args=(channel, text), daemon=True, name="exec").start()
        return True

    def check_channel_pty_request(
        self, channel: paramiko.Channel, term: bytes, width: int, height: int,  # noqa: ARG002
        pixelwidth: int, pixelheight: int, modes: bytes,  # noqa: ARG002
    ) -> bool:  # fmt: skip
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        _hold(channel)
        threading.Thread(target=self._node.greet, args=(channel,), daemon=True, name="shell").start()
        return True
