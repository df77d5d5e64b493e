"""Secrets that a BMC exposes, in every odd place: after a stored audit and a capture none is in any file."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from command import rackcheck
from mockup_server import Mockup, ResourceFault

from rackcheck.model.resource import ROOT

PROFILE = """\
rackcheck: 1
profile: both
version: 1
rules:
  smt: { fact: bios.smt, is: enabled }
  systems: { count: bmc.system, is: 2 }
  healthy: { each: bmc.manager, fact: health, is: OK }
"""
SYSTEMS, MANAGERS = f"{ROOT}/Systems", f"{ROOT}/Managers"
ONE, TWO, LOST, ODD = (f"{SYSTEMS}/{name}" for name in ("1", "2", "3", "4"))
MINE, OTHER = f"{MANAGERS}/1", f"{MANAGERS}/2"

PLACES = (
    "sha256", "salt", "ipmi-key", "snmp-key", "md5-key", "community", "kg", "small-letters", "capitals", "dashes",
    "underscores", "hex-suffix", "listed", "nested", "in-a-list", "by-number", "token", "api-key", "chap", "pem",
    "url", "pair-in-words", "header-in-words", "bearer-in-words", "cookie-in-words", "json-in-words",
    "error-token", "error-bearer", "error-arguments", "error-code", "not-json", "not-json-pair", "redirect",
    "header-token", "header-cookie", "header-etag", "in-a-name", "unfinished", "busy-message",
)  # fmt: skip
SECRETS: Mapping[str, str] = {
    place: f"{0x5EC0 + number:04x}9f3ac71e{number:02x}d4b8a6f1905e7c23{number:02x}"
    for number, place in enumerate(PLACES)
}
"""One for each place: hexadecimal like hashes and keys, and unique."""


def link(uri: str) -> dict[str, str]:
    return {"@odata.id": uri}


def bodies() -> dict[str, object]:
    """A small BMC that answers all requests of the probes, and exposes secrets beside the answers."""
    planted = SECRETS
    attributes = {
        "LogicalProc": "Enabled",
        "Users.2.SHA256Password": planted["sha256"],
        "Users.2.SHA256PasswordSalt": planted["salt"],
        "Users.2.IPMIKey": planted["ipmi-key"],
        "Users.2.SHA1v3Key": planted["snmp-key"],
        "Users.2.MD5v3Key": planted["md5-key"],
        "SNMP.1.AgentCommunity": planted["community"],
        "IPMILan.1.KgKey": planted["kg"],
        "setuppassword": planted["small-letters"],
        "ADMINPASSWORD": planted["capitals"],
        "sys-passwd": planted["dashes"],
        "boot_loader_password_2": planted["underscores"],
        "UserPassword_011A": planted["hex-suffix"],
    }
    system = {
        "Id": "1", "Name": "System", "PowerState": "On", "Status": {"Health": "OK", "State": "Enabled"},
        "Bios": link(f"{ONE}/Bios"),
        "Oem": {
            "Maker": {
                "Users": [{"Name": "root", "Credentials": {"Anything": planted["nested"]}}],
                "Passwords": ["", planted["in-a-list"]],
                "PinPassword": int(planted["by-number"], 16) % 10**12,
                "SessionToken": planted["token"],
                "apiKey": planted["api-key"],
                "ChapSecret": {"CurrentValue": planted["chap"], "AllowableValues": [planted["chap"]]},
                "Text": f"-----BEGIN PRIVATE KEY-----\n{planted['pem']}\n-----END PRIVATE KEY-----",
                "Share": f"https://admin:{planted['url']}@10.0.0.1/share",
                "Last": f"mount -o user=admin,password={planted['pair-in-words']} failed",
                "Sent": f"X-Auth-Token: {planted['header-in-words']}",
                "Said": f"Authorization: Bearer {planted['bearer-in-words']}",
                "Kept": f"Set-Cookie: SESSION={planted['cookie-in-words']}; Secure",
                "Json": json.dumps({"Password": planted["json-in-words"]}),
            },
        },
    }  # fmt: skip
    values = {
        **system,
        "Id": "2",
        "Oem": {"Attributes": [{"AttributeName": "Password", "CurrentValue": planted["listed"]}]},
    }
    manager = {"Id": "1", "Name": "BMC", "ManagerType": "BMC", "Status": {"Health": "OK"}, "FirmwareVersion": "1.0"}
    return {
        ROOT: {"Id": "RootService", "Name": "Root", "Systems": link(SYSTEMS), "Managers": link(MANAGERS)},
        SYSTEMS: {"Name": "Systems", "Members": [link(uri) for uri in (ONE, TWO, LOST, ODD)]},
        MANAGERS: {"Name": "Managers", "Members": [link(MINE), link(OTHER)]},
        ONE: system,
        TWO: {**values, "Bios": link(f"{TWO}/Bios")},
        f"{ONE}/Bios": {"Id": "Bios", "Name": "BIOS", "Attributes": attributes},
        MINE: {**manager, f"password={planted['in-a-name']}": "yes"},
    }


def error(**text: object) -> bytes:
    return json.dumps({"error": {"code": "Base.1.0.GeneralError", **text}}).encode()


def faults() -> dict[str, ResourceFault]:
    planted = SECRETS
    first = {"MessageId": "Base.1.0.X", "Message": f"The header X-Auth-Token: {planted['error-token']} is not known"}
    second = {
        "Message": f"Authorization: Bearer {planted['error-bearer']}",
        "MessageArgs": [planted["error-arguments"]],
    }
    sent = {
        "X-Auth-Token": planted["header-token"],
        "Set-Cookie": f"SESSION={planted['header-cookie']}",
        "ETag": f'"token={planted["header-etag"]}"',
    }
    body = json.dumps({"Id": "2", "Name": "Other", "ManagerType": "BMC", "Status": {"Health": "OK"}}).encode()
    return {
        LOST: ResourceFault(status=403, body=error(**{"@Message.ExtendedInfo": [first]})),
        ODD: ResourceFault(status=500, body=error(**{"@Message.ExtendedInfo": [second]})),
        f"{TWO}/Bios": ResourceFault(body=f"X-Auth-Token: {planted['not-json']}".encode()),
        OTHER: ResourceFault(headers=sent, body=body),
    }


MORE: Mapping[str, ResourceFault] = {
    LOST: ResourceFault(status=400, body=error(code=f"token={SECRETS['error-code']}", message="x")),
    ODD: ResourceFault(body=f"password={SECRETS['not-json-pair']}".encode()),
    f"{TWO}/Bios": ResourceFault(status=302, headers={"Location": f"https://10.0.0.1/x?token={SECRETS['redirect']}"}),
    f"{ONE}/Bios": ResourceFault(body=f'{{"Password": "{SECRETS["unfinished"]}"'.encode()),
    OTHER: ResourceFault(status=503, body=error(message=f"password: {SECRETS['busy-message']}")),
}
"""What the same resources return at another time."""


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder, with its own name."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            yield str(path.relative_to(folder)), f"{path}\n{data.decode(errors='replace')}"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All files and output of a stored audit and a capture of such a BMC, by file."""
    folder = tmp_path_factory.mktemp("planted")
    found: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKCHECK_HOME", str(folder / "home"))
        patch.setenv("BMC_PASSWORD", "calvin")
        (folder / "both.yaml").write_text(PROFILE)
        for number, wrong in enumerate((faults(), MORE)):
            with Mockup(bodies=bodies(), faults=wrong) as bmc:
                (folder / "inventory.yaml").write_text(
                    "rackcheck: 1\ndefaults:\n  bmc: { user: root, password: 'env:BMC_PASSWORD' }\n"
                    f'nodes:\n  n1: {{ bmc: {{ url: "{bmc.url}", fingerprint: "{bmc.fingerprint}" }} }}\n'
                )
                given = ("-i", folder / "inventory.yaml")
                for command in (
                    ("audit", "-p", folder / "both.yaml", *given, "--json", "-o", folder / "out" / f"run{number}"),
                    ("capture", *given, "--planes", "bmc", "-o", folder / "out" / f"capture{number}"),
                    ("facts", "n1", *given, "--json"),
                ):
                    done = rackcheck(*command)
                    assert done.status in {0, 1, 3}, done.err
                    found[f"{command[0]}{number}"] = done.out + done.err
    return {**found, **dict(texts(folder / "out")), **dict(texts(folder / "home"))}


def test_answers_beside_the_secrets_were_kept(written: dict[str, str]) -> None:
    whole = "\n".join(written.values())
    for kept in ("Base.1.0.X", "LogicalProc", "PinPassword", "IPMILan.1.KgKey", "HTTP 403", "HTTP 302", "not JSON"):
        assert kept in whole, kept


@pytest.mark.parametrize("place", PLACES)
def test_a_planted_secret_is_in_no_file(place: str, written: dict[str, str]) -> None:
    secret = SECRETS[place]
    forms = (str(int(secret, 16) % 10**12),) if place == "by-number" else (secret, secret.upper(), secret[:24])
    assert [name for name, text in written.items() if any(form in text for form in forms)] == []
