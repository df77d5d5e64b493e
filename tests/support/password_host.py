"""An SSH host that takes passwords."""

import contextlib
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paramiko
from paramiko.server import InteractiveQuery

from rackcheck.transport.ssh import run
from rackcheck.transport.ssh_config import Target
from rackcheck.transport.wire import ShellLimits


@dataclass
class PasswordHost(paramiko.ServerInterface):
    """Accepts users by password or by the answer to one prompt; runs their commands in `sh`."""

    password: str
    takes: str = "password"
    questions: int = 1
    loud: bool = False
    asked: list[str] = field(default_factory=list)

    def get_allowed_auths(self, username: str) -> str:
        return self.takes

    def check_auth_none(self, username: str) -> int:
        return paramiko.common.AUTH_FAILED

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self.asked.append("key")
        return paramiko.common.AUTH_FAILED

    def check_auth_password(self, username: str, password: str) -> int:
        self.asked.append("password")
        right = "password" in self.takes and password == self.password
        return paramiko.common.AUTH_SUCCESSFUL if right else paramiko.common.AUTH_FAILED

    def check_auth_interactive(self, username: str, submethods: str) -> Any:
        self.asked.append("interactive")
        prompts = [("Password: ", False), ("Token: ", False)][: self.questions]
        return InteractiveQuery("", "", *prompts)

    def check_auth_interactive_response(self, responses: list[str]) -> int:
        return paramiko.common.AUTH_SUCCESSFUL if responses == [self.password] else paramiko.common.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.common.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        threading.Thread(target=self._run, args=(channel, command.decode()), daemon=True).start()
        return True

    def _run(self, channel: paramiko.Channel, command: str) -> None:
        given = b""
        while chunk := channel.recv(1 << 16):
            given += chunk
        done = subprocess.run(["sh", "-c", command], input=given, capture_output=True, check=False)
        # The loud host uses the password as its kernel's name.
        release = os.uname().release.encode()
        channel.sendall(done.stdout.replace(release, self.password.encode()) if self.loud else done.stdout)
        channel.send_exit_status(done.returncode)
        channel.close()


@contextlib.contextmanager
def password_host(folder: Path, host: PasswordHost) -> Iterator[tuple[int, Path]]:
    """Serve until the block ends; yields the port and a known_hosts file."""
    folder.mkdir()
    key = paramiko.ECDSAKey.generate()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        known = folder / "known_hosts"
        known.write_text(f"[127.0.0.1]:{port} {key.get_name()} {key.get_base64()}\n")

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    line, _ = listener.accept()
                    transport = paramiko.Transport(line)
                    transport.add_server_key(key)
                    with contextlib.suppress(paramiko.SSHException, EOFError):
                        transport.start_server(server=host)

        threading.Thread(target=serve, daemon=True).start()
        yield port, known


def login(folder: Path, host: PasswordHost, password: str, *keys: str) -> Any:
    with password_host(folder, host) as (port, known):
        target = Target("127.0.0.1", port, "audit", keys, (str(known),), password=password)
        return run(target, "echo hello\n", ShellLimits(deadline=20))
