"""Signing a bundle: one changed byte anywhere is reported with its file's name, and only accepted keys count."""

import base64
import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from command import Done
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from keys import keygen
from places import ROOT

from rackcheck.base.user_error import UserError
from rackcheck.cli import guarded
from rackcheck.cli.sign import sign as sign_command
from rackcheck.cli.verify import verify as verify_command
from rackcheck.signoff import signing
from rackcheck.signoff.signing import (
    BundleFault,
    Signers,
    Unsound,
    Verification,
    bundles,
    files,
    manifest,
    signers,
    sshsig,
    statement,
)
from rackcheck.signoff.signing.statement import Statement

TIME = datetime(2026, 11, 21, 10, 0, 0, tzinfo=UTC)
LATER = datetime(2026, 11, 22, tzinfo=UTC)
HEAD = {
    "rackcheck": 1,
    "bundle": "pod7",
    "kind": "run",
    "level": "full",
    "time": "2026-11-21T09:00:00Z",
    "version": "0",
}
FILES = {
    "report.html": b"<html>PASS</html>\n",
    "report.pdf": bytes(range(256)),
    "report.json": b'{"rackcheck":1,"report":{"tally":{"outcome":"PASS"}}}\n',
    "empty.csv": b"",
    "Bericht für Pod 7.md": b"# Pod 7\n",
    "runs/20261121/events.jsonl": b'{"event":"run started"}\n',
    "runs/20261121/raw/00.json.gz": b"\x1f\x8b\x00",
    "profile/h100.yaml": b"rackcheck: 1\n",
}
KEYS = {"jo": ("ed25519",), "site": ("ecdsa",), "old": ("rsa", "-b", "2048"), "stranger": ("ed25519",)}


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys")
    for name, kind in KEYS.items():
        keygen("-q", "-t", *kind, "-N", "", "-C", f"{name}@site.example", "-f", folder / name)
    return folder


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return made(tmp_path / "pod7")


@pytest.fixture
def signed(bundle: Path, keys: Path) -> Path:
    """A bundle with two signatures by two keys."""
    signing.sign(bundle, keys / "jo", "integrator", "Jo Doe", TIME)
    signing.sign(bundle, keys / "site", "customer", "Sam Roe", TIME)
    return bundle


def made(folder: Path, **head: str) -> Path:
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    record = hashlib.sha256(FILES["report.json"]).hexdigest()
    (folder / "bundle.json").write_text(json.dumps({**HEAD, "record": record, **head}) + "\n")
    manifest.write(folder)
    return folder


def of(keys: Path, *names: str) -> Signers:
    return signers.from_keys(keys / f"{name}.pub" for name in names)


def checked(folder: Path, keys: Path) -> Verification:
    return signing.verify(folder, of(keys, "jo", "site"))


def allowed(keys: Path, *lines: tuple[str, str, str]) -> Signers:
    """An allowed signers file of principals, options and key names."""
    words = [
        f"{who} {options} {' '.join((keys / f'{name}.pub').read_text().split()[:2])}" for who, options, name in lines
    ]
    return Signers("".join(f"{line}\n" for line in words).encode())


def troubles(found: Verification) -> dict[str, str]:
    return {signature.party: signature.trouble for signature in found.signatures}


def run(command: click.Command, *words: object) -> Done:
    """Run one command as the command line does."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = guarded(lambda: command.main([str(word) for word in words], standalone_mode=False))
    return Done(status, out.getvalue(), err.getvalue())


def test_what_was_signed_is_verified_with_party_name_principal_key_and_time(signed: Path, keys: Path) -> None:
    found = checked(signed, keys)
    assert (found.reason(2), found.faults, found.files, found.bundle) == ("", (), len(FILES) + 1, "pod7")
    customer, integrator = found.signatures
    assert (integrator.party, integrator.name, integrator.time) == ("integrator", "Jo Doe", "2026-11-21T10:00:00Z")
    assert (integrator.principal, integrator.kind) == ("jo@site.example", "ED25519")
    assert (customer.principal, customer.kind) == ("site@site.example", "ECDSA")
    listed = subprocess.run(["ssh-keygen", "-lf", keys / "jo.pub"], capture_output=True, text=True, check=True).stdout
    assert integrator.fingerprint == listed.split()[1]


@pytest.mark.parametrize("name", ["jo", "site", "old"])
def test_ed25519_ecdsa_and_rsa_keys_sign(bundle: Path, keys: Path, name: str) -> None:
    signature = signing.sign(bundle, keys / name, "integrator", "Jo", TIME)
    (found,) = signing.verify(bundle, of(keys, name)).signatures
    assert (found.trouble, found.kind, found.fingerprint) == ("", signature.kind, signature.fingerprint)


def test_the_manifest_is_what_sha256sum_reads_sorted_by_bytes_and_without_itself(signed: Path) -> None:
    done = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=signed, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    named = [line[66:] for line in (signed / "SHA256SUMS").read_bytes().splitlines()]
    assert named == sorted(name.encode() for name in (*FILES, "bundle.json"))


def test_a_manifest_is_the_same_bytes_again_and_its_digest_is_returned(bundle: Path) -> None:
    before = (bundle / "SHA256SUMS").read_bytes()
    assert manifest.write(bundle) == hashlib.sha256(before).hexdigest()
    assert (bundle / "SHA256SUMS").read_bytes() == before


def test_a_statement_is_one_line_of_canonical_json(signed: Path) -> None:
    data = (signed / "signatures" / "integrator.json").read_bytes()
    doc = json.loads(data)
    assert data == json.dumps(doc, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    digest = hashlib.sha256((signed / "SHA256SUMS").read_bytes()).hexdigest()
    assert doc == {
        "rackcheck": 1, "bundle": "pod7", "level": "full", "manifest": digest, "party": "integrator", "name": "Jo Doe",
        "time": "2026-11-21T10:00:00Z",
    }  # fmt: skip


# --- one changed byte -------------------------------------------------------------------------------------------------


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def named(found: Verification) -> str:
    return " ".join(str(fault) for fault in found.faults)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_changed_byte_in_any_file_is_reported_by_that_files_name(
    signed: Path, keys: Path, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([name for name in everything(signed) if name != "empty.csv"]))
    path = signed / name
    whole = path.read_bytes()
    at, mask = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(1, 255))
    path.write_bytes(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
    found = checked(signed, keys)
    path.write_bytes(whole)
    assert name in named(found), (name, at, mask)
    assert found.reason(1)
    assert len(found.faults) == 1, "one changed byte is one fault"


@pytest.mark.parametrize("name", ["SHA256SUMS", "bundle.json", "signatures/integrator.json"])
def test_every_byte_of_the_files_that_carry_the_signature_counts(bundle: Path, keys: Path, name: str) -> None:
    signing.sign(bundle, keys / "jo", "integrator", "Jo Doe", TIME)
    ours = of(keys, "jo")
    path = bundle / name
    whole = path.read_bytes()
    for at in range(0, len(whole), 5 if name == "SHA256SUMS" else 1):  # of the long one a sample
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        found = signing.verify(bundle, ours)
        assert name in named(found), at
        assert len(found.faults) == 1, (at, found.faults)
    path.write_bytes(whole)
    assert not signing.verify(bundle, ours).reason(1)


@pytest.mark.parametrize("name", ["jo", "site", "old"])
def test_every_bit_of_a_signature_counts(bundle: Path, keys: Path, name: str) -> None:
    signing.sign(bundle, keys / name, "integrator", "Jo", TIME)
    path = bundle / "signatures" / "integrator.json.sig"
    whole = path.read_bytes()
    passed = 0
    for at in range(len(whole)):
        for mask in (1, 2, 4, 0x20, 0x80):
            flipped = whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :]
            try:
                sshsig.check(flipped)
            except ValueError:
                continue
            passed += 1
            if mask != 1:
                continue
            path.write_bytes(flipped)
            assert "signatures/integrator.json.sig" in named(signing.verify(bundle, of(keys, name))), (at, mask)
    assert passed, "the format check refuses everything: ssh-keygen never ran"


def test_what_is_in_a_signature_and_not_signed_has_one_form(signed: Path, keys: Path) -> None:
    """The ssh-keygen of OpenSSH 9.2 accepts every one of these."""
    path = signed / "signatures" / "integrator.json.sig"
    whole = path.read_bytes()
    first, *lines, last = whole.splitlines()
    blob = base64.b64decode(b"".join(lines))
    cut = blob.index(b"rackcheck-report") + len("rackcheck-report")
    variants = {
        "version": sshsig.armour(blob[:6] + bytes(4) + blob[10:]),
        "lines": b"\n".join([first, base64.b64encode(blob), last]) + b"\n",
        "blank": whole.replace(b"\n-----END", b" \n-----END"),
        "after": whole + b"anything\n",
        "reserved": sshsig.armour(blob[:cut] + b"\0\0\0\1x" + blob[cut + 4 :]),
    }
    assert sshsig.armour(blob) == whole
    for what, data in variants.items():
        path.write_bytes(data)
        (fault,) = checked(signed, keys).faults
        assert fault.path == "signatures/integrator.json.sig", what


def test_spare_bits_of_the_armour_are_refused() -> None:
    head = b"SSHSIG\0\0\0\1"
    fields = (b"key", b"rackcheck-report", b"", b"sha512", b"x")
    blob = head + b"".join(len(part).to_bytes(4) + part for part in fields)
    text = sshsig.armour(blob)
    sshsig.check(text)
    padded = re.search(rb"(.)(=+)\n-----END", text)
    assert padded, "a length without padding tests nothing"
    spare = text.replace(padded[0], bytes([padded[1][0] + 1]) + padded[0][1:])
    assert base64.b64decode(b"".join(spare.splitlines()[1:-1])) == blob
    with pytest.raises(ValueError, match="form"):
        sshsig.check(spare)


@given(st.binary(max_size=300))
def test_nonsense_is_no_signature_and_no_statement(data: bytes) -> None:
    for text in (data, sshsig.armour(data), sshsig.armour(b"SSHSIG\0\0\0\1" + data)):
        with pytest.raises(ValueError, match=r"\w"):
            sshsig.check(text)
    with pytest.raises(ValueError, match="is not a valid signature statement"):
        statement.decode(data)


SOUND = Statement("pod7", "full", "0" * 64, "integrator", "Jo", "2026-11-21T10:00:00Z")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"rackcheck":1', '"rackcheck":1.0'),
        ('"rackcheck":1', '"rackcheck":true'),
        ('"rackcheck":1', '"rackcheck":2'),
        ('"rackcheck":1', '"rackcheck":1,"rackcheck":1'),
        ('"Jo"', "5"),
        ('"Jo"', '"\\u004ao"'),
        ('"Jo"', '""'),
        ('"Jo"', '"Jo\\u001b[2J"'),
        ('"Jo"', '"Jo\\ud800"'),
        ('"Jo"', f'"{"J" * 201}"'),
        ('"pod7"', '"pod7\\n"'),
        ('"integrator"', '"../x"'),
        ("2026-11-21", "2026-13-21"),
        ("2026-11-21", "1026-11-21"),
        ('{"bundle"', '{ "bundle"'),
        ("}\n", "}"),
        ("0000000000", "00000g0000"),
    ],
)
def test_a_statement_has_one_spelling(old: str, new: str) -> None:
    data = SOUND.encode()
    assert statement.decode(data) == SOUND
    changed = data.replace(old.encode(), new.encode(), 1)
    assert changed != data
    with pytest.raises(ValueError, match=r"is not a valid signature statement|has an invalid party"):
        statement.decode(changed)


# --- files that come, go and turn into something else -----------------------------------------------------------------


def test_an_added_file_a_removed_file_and_exchanged_files_are_reported(signed: Path, keys: Path) -> None:
    (signed / "profile" / "extra.yaml").write_text("x")
    (signed / "report.pdf").unlink()
    html, doc = signed / "report.html", signed / "report.json"
    one, two = html.read_bytes(), doc.read_bytes()
    html.write_bytes(two)
    doc.write_bytes(one)
    assert checked(signed, keys).faults == (
        BundleFault("profile/extra.yaml", "is not in SHA256SUMS"),
        BundleFault("report.html", "changed"),
        BundleFault("report.json", "changed"),
        BundleFault("report.pdf", "is missing"),
    )


def test_an_empty_folder_is_nobodys_harm(signed: Path, keys: Path) -> None:
    (signed / "runs" / "empty" / "deeper").mkdir(parents=True)
    assert not checked(signed, keys).reason(2)


def test_a_link_is_reported_even_where_it_leads_to_the_same_bytes(signed: Path, keys: Path, tmp_path: Path) -> None:
    shutil.copy(signed / "report.html", tmp_path / "twin")
    (signed / "report.html").unlink()
    (signed / "report.html").symlink_to(tmp_path / "twin")
    assert checked(signed, keys).faults == (BundleFault("report.html", "is a symbolic link, not a plain file"),)


def test_a_folder_swapped_for_a_link_is_reported_once(signed: Path, keys: Path, tmp_path: Path) -> None:
    (signed / "runs").rename(tmp_path / "elsewhere")
    (signed / "runs").symlink_to(tmp_path / "elsewhere")
    assert checked(signed, keys).faults == (BundleFault("runs", "is a symbolic link, not a plain file"),)


def test_a_fifo_a_socket_or_a_folder_in_a_files_place_causes_no_waiting(signed: Path, keys: Path) -> None:
    for name in (
        "report.html",
        "report.json",
        "report.pdf",
        "signatures/customer.json",
        "signatures/integrator.json.sig",
    ):
        (signed / name).unlink()
    os.mkfifo(signed / "report.html")
    (signed / "report.json").mkdir()
    with socket.socket(socket.AF_UNIX) as other:
        here = Path.cwd()
        os.chdir(signed)  # a socket's path must be short
        try:
            other.bind("report.pdf")
        finally:
            os.chdir(here)
    os.mkfifo(signed / "signatures" / "customer.json")
    (signed / "signatures" / "integrator.json.sig").mkdir()
    values = {fault.path: fault.what for fault in checked(signed, keys).faults}
    assert values == {
        "report.html": "is a FIFO, not a plain file",
        "report.json": "is missing",
        "report.pdf": "is a socket, not a plain file",
        "signatures/customer.json": "is a FIFO, not a plain file",
        "signatures/integrator.json.sig": "is missing",
    }


@pytest.mark.parametrize(
    "name", ["SHA256SUMS", "bundle.json", "signatures/integrator.json", "signatures/customer.json.sig"]
)
def test_the_files_that_carry_the_signature_are_no_links_either(
    signed: Path, keys: Path, tmp_path: Path, name: str
) -> None:
    (signed / name).rename(tmp_path / "twin")
    (signed / name).symlink_to(tmp_path / "twin")
    assert f"{name} is a symbolic link, not a plain file" in named(checked(signed, keys))
    (signed / name).unlink()
    assert f"{name} is missing" in named(checked(signed, keys))


def test_signatures_behind_a_link_do_not_count(signed: Path, keys: Path, tmp_path: Path) -> None:
    (signed / "signatures").rename(tmp_path / "elsewhere")
    (signed / "signatures").symlink_to(tmp_path / "elsewhere")
    found = checked(signed, keys)
    assert found.faults == (BundleFault("signatures", "is not a plain folder"),)
    assert found.signatures == ()


def test_other_files_among_the_signatures_are_reported(signed: Path, keys: Path) -> None:
    for name in ("notes.txt", "Jo.json", "integrator.json.sig.old", "auditor.json"):
        (signed / "signatures" / name).write_text("{}")
    rows = [str(fault) for fault in checked(signed, keys).faults]
    assert [line.split()[0] for line in rows] == [
        "signatures/Jo.json", "signatures/integrator.json.sig.old", "signatures/notes.txt",
        "signatures/auditor.json.sig",
    ]  # fmt: skip


def test_a_thousand_signatures_are_not_checked(signed: Path, keys: Path) -> None:
    for number in range(1000):
        (signed / "signatures" / f"p{number}.json").write_text("{}")
        (signed / "signatures" / f"p{number}.json.sig").write_text("")
    found = checked(signed, keys)
    assert (found.signatures, named(found)) == ((), "signatures contains more than 64 signatures")


HOSTILE = [b"a\nb", b"back\\slash", b"tab\there", b"esc\x1b[2J", b"\xff\xfe", b"ret\rurn"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_no_manifest_can_hold_is_refused_when_written_and_reported_when_found(
    bundle: Path, keys: Path, name: bytes
) -> None:
    signing.sign(bundle, keys / "jo", "integrator", "Jo", TIME)
    place = os.fsencode(bundle) + b"/" + name
    os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
    (fault,) = checked(bundle, keys).faults
    assert (fault.path.encode("utf-8", "surrogateescape"), fault.what) == (name, "is not in SHA256SUMS")
    done = run(verify_command, bundle, "--key", keys / "jo.pub")
    assert done.status == 4
    assert all(letter.isprintable() or letter == "\n" for letter in done.out)
    assert len(done.out.splitlines()) == 3
    assert json.loads(run(verify_command, bundle, "--key", keys / "jo.pub", "--json").out)["verified"] is False
    shutil.rmtree(bundle / "signatures")
    with pytest.raises(UserError, match="cannot make a manifest"):
        manifest.write(bundle)


def test_links_and_devices_are_refused_when_a_manifest_is_written(bundle: Path) -> None:
    (bundle / "link").symlink_to("report.html")
    with pytest.raises(UserError, match="link is a symbolic link, not a plain file"):
        manifest.write(bundle)
    (bundle / "link").unlink()
    os.mkfifo(bundle / "pipe")
    with pytest.raises(UserError, match="pipe is a FIFO"):
        manifest.write(bundle)


def test_a_manifest_that_is_a_link_is_replaced_and_not_written_through(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (bundle / "SHA256SUMS").unlink()
    (bundle / "SHA256SUMS").symlink_to(tmp_path / "precious")
    manifest.write(bundle)
    assert (tmp_path / "precious").read_text() == "precious"
    assert manifest.faults(bundle) == ()


def test_a_manifest_is_not_written_over_a_signature(signed: Path) -> None:
    with pytest.raises(UserError, match="is signed"):
        manifest.write(signed)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda d: d[:-1], "is damaged at its end"),
        (lambda d: d + b"\n", "is damaged in line 10"),
        (lambda d: d.replace(b"  bundle", b" bundle"), "is damaged in line 2"),
        (lambda d: d.replace(b"  report.html", b"  ../report.html"), "is damaged in line 5"),
        (lambda d: d.replace(b"  report.html", b"  /etc/passwd"), "is damaged in line 5"),
        (lambda d: d.replace(b"  report.html", b"  ./report.html"), "is damaged in line 5"),
        (lambda d: d.replace(b"  report.html", b"  SHA256SUMS"), "is damaged in line 5"),
        (lambda d: d.replace(b"  report.html", b"  report.html\r"), "is damaged in line 5"),
        (lambda d: d.splitlines(keepends=True)[0] * 2, "is damaged in line 2"),
        (lambda d: b"".join(reversed(d.splitlines(keepends=True))), "is damaged in line 2"),
        (lambda d: d.upper(), "is damaged in line 1"),
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_reported_by_its_line(bundle: Path, damage: Callable[[bytes], bytes], text: str) -> None:
    whole = (bundle / "SHA256SUMS").read_bytes()
    (bundle / "SHA256SUMS").write_bytes(damage(whole))
    faults = manifest.faults(bundle)
    assert faults == (BundleFault("SHA256SUMS", text),)


def test_a_bundle_full_of_foreign_files_is_reported_in_bounds(signed: Path, keys: Path) -> None:
    (signed / "junk").mkdir()
    for number in range(1500):
        (signed / "junk" / f"{number:04}").touch()
    found = checked(signed, keys)
    assert len(found.faults) == manifest.SHOWN + 1
    assert "only 1000 are listed" in str(found.faults[-1])
    done = run(verify_command, signed, "--key", keys / "jo.pub")
    assert (done.status, len(done.out.splitlines())) == (4, 2 + 20 + 1 + 1)


def test_a_deep_tree_is_reported_and_not_followed_to_its_end(signed: Path, keys: Path) -> None:
    here = Path.cwd()
    os.chdir(signed)
    try:
        for _ in range(1500):
            Path("dddd").mkdir()
            os.chdir("dddd")
    finally:
        os.chdir(here)
    (fault,) = checked(signed, keys).faults
    assert fault.what == "cannot be read: File name too long"
    subprocess.run(["rm", "-rf", signed], check=True)


def test_a_large_file_is_read_in_pieces(bundle: Path) -> None:
    with (bundle / "large").open("wb") as file:
        file.truncate(256 << 20)
    tracemalloc.start()
    manifest.write(bundle)
    assert manifest.faults(bundle) == ()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


def test_a_file_of_holes_is_no_file_of_a_bundle(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    with (bundle / "report.pdf").open("wb") as file:
        file.truncate((1 << 20) + 1)
    (fault,) = manifest.faults(bundle)
    assert (fault.path, fault.what.startswith("has more than")) == ("report.pdf", True)


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that any user may enter."""
    place = Path(tempfile.mkdtemp(prefix="rackcheck-test-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


def test_an_unreadable_file_is_reported_and_never_passed(open_place: Path, keys: Path) -> None:
    bundle = made(open_place / "pod7")
    signing.sign(bundle, keys / "jo", "integrator", "Jo", TIME)
    ours = of(keys, "jo")
    (bundle / "report.pdf").chmod(0)
    (bundle / "runs").chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        found = signing.verify(bundle, ours)
    finally:
        if root:
            os.seteuid(0)
        (bundle / "runs").chmod(0o755)
    denied = "cannot be read: Permission denied"
    assert found.faults == (BundleFault("report.pdf", denied), BundleFault("runs", denied))


# --- who signed -------------------------------------------------------------------------------------------------------


def test_an_unsigned_bundle_is_not_verified(bundle: Path, keys: Path) -> None:
    done = run(verify_command, bundle, "--key", keys / "jo.pub")
    assert (done.status, done.out) == (4, "NOT VERIFIED: the bundle is not signed\n")


def test_a_key_that_was_not_passed_does_not_count_and_is_reported(signed: Path, keys: Path) -> None:
    found = signing.verify(signed, of(keys, "stranger"))
    assert troubles(found) == dict.fromkeys(("customer", "integrator"), "its key is not among your signers")
    assert found.faults == ()
    assert "no signature is accepted" in found.reason(1)


def test_one_known_key_is_enough_where_one_is_required_and_the_unknown_one_is_not_counted(
    signed: Path, keys: Path
) -> None:
    found = signing.verify(signed, of(keys, "jo"))
    assert (found.keys, found.reason(1)) == (1, "")
    assert found.reason(2) == "1 key has signed the bundle, and 2 are required"
    done = run(verify_command, signed, "--key", keys / "jo.pub")
    assert done.status == 0
    assert re.search(r"^\? customer .*its key is not among your signers$", done.out, re.MULTILINE)
    assert done.out.endswith(f"Verified: 1 signature by 1 key over {len(FILES) + 1} files of pod7\n")


def test_one_key_for_two_parties_counts_once(bundle: Path, keys: Path) -> None:
    for party in ("integrator", "customer"):
        signing.sign(bundle, keys / "jo", party, "Jo", TIME)
    done = run(verify_command, bundle, "--key", keys / "jo.pub", "--require", 2)
    assert done.status == 4
    assert "customer and integrator signed with the same key" in done.out
    assert "NOT VERIFIED: 1 key has signed the bundle, and 2 are required" in done.out
    assert run(verify_command, bundle, "--key", keys / "jo.pub").status == 0


def test_one_key_in_two_certificates_counts_once(bundle: Path, keys: Path, tmp_path: Path) -> None:
    keygen("-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "ca")
    for serial, party in enumerate(("integrator", "customer"), start=1):
        key = tmp_path / party
        for end in ("", ".pub"):
            shutil.copy(keys / f"jo{end}", f"{key}{end}")
        key.chmod(0o600)
        keygen("-q", "-s", tmp_path / "ca", "-I", party, "-n", f"{party}@site", "-z", serial, f"{key}.pub")
        with agent(tmp_path, key):
            signing.sign(bundle, tmp_path / f"{party}-cert.pub", party, "Jo", TIME)
    words = " ".join((tmp_path / "ca.pub").read_text().split()[:2])
    found = signing.verify(bundle, Signers(f"*@site cert-authority {words}\n".encode()))
    assert troubles(found) == {"customer": "", "integrator": ""}
    assert {s.principal for s in found.signatures} == {"customer@site", "integrator@site"}
    assert found.keys == 1


class agent:  # noqa: N801  reads as a with statement
    """An ssh-agent of our own that holds one key."""

    def __init__(self, place: Path, key: Path) -> None:
        self.place, self.key = Path(tempfile.mkdtemp(prefix="rk-")) / "agent", key
        self.before = os.environ.get("SSH_AUTH_SOCK")

    def __enter__(self) -> None:
        self.process = subprocess.Popen(["ssh-agent", "-D", "-a", self.place], stdout=subprocess.DEVNULL)
        while not self.place.exists():
            assert self.process.poll() is None
        os.environ["SSH_AUTH_SOCK"] = str(self.place)
        subprocess.run(["ssh-add", "-q", self.key], check=True, stderr=subprocess.DEVNULL)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.place.parent)
        os.environ.pop("SSH_AUTH_SOCK")
        if self.before is not None:
            os.environ["SSH_AUTH_SOCK"] = self.before


def test_an_agents_key_signs_by_its_public_half(bundle: Path, keys: Path, tmp_path: Path) -> None:
    shutil.copy(keys / "jo.pub", tmp_path / "token.pub")
    with pytest.raises(UserError, match="cannot sign with"):
        signing.sign(bundle, tmp_path / "token.pub", "integrator", "Jo", TIME)
    with agent(tmp_path, keys / "jo"):
        signing.sign(bundle, tmp_path / "token.pub", "integrator", "Jo", TIME)
    assert not signing.verify(bundle, of(keys, "jo")).reason(1)


def test_a_statement_of_another_bundle_is_reported(signed: Path, keys: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "pod8", bundle="pod8")
    signing.sign(other, keys / "jo", "auditor", "Jo", TIME)
    for end in ("", ".sig"):
        shutil.copy(other / "signatures" / f"auditor.json{end}", signed / "signatures")
    found = checked(signed, keys)
    assert found.faults == (BundleFault("signatures/auditor.json", "was made for another bundle: pod8 (full)"),)
    assert found.reason(1)


def test_a_statement_over_another_state_of_the_same_bundle_is_reported(
    signed: Path, keys: Path, tmp_path: Path
) -> None:
    other = made(tmp_path / "again", time="2026-11-21T09:30:00Z")
    signing.sign(other, keys / "jo", "auditor", "Jo", TIME)
    for end in ("", ".sig"):
        shutil.copy(other / "signatures" / f"auditor.json{end}", signed / "signatures")
    (fault,) = checked(signed, keys).faults
    assert fault == BundleFault(
        "signatures/auditor.json", "signs another manifest of this bundle than the other signatures"
    )


def test_a_signature_under_another_partys_name_is_reported(signed: Path, keys: Path) -> None:
    place = signed / "signatures"
    for end in ("", ".sig"):
        shutil.copy(place / f"integrator.json{end}", place / f"auditor.json{end}")
    (fault,) = checked(signed, keys).faults
    assert fault == BundleFault("signatures/auditor.json", "contains the statement of integrator, not of auditor")
    shutil.copy(place / "customer.json.sig", place / "auditor.json.sig")
    (fault,) = checked(signed, keys).faults
    assert str(fault).startswith("signatures/auditor.json.sig does not match signatures/auditor.json")


def test_a_file_and_its_manifest_changed_together_are_reported_as_the_manifest(signed: Path, keys: Path) -> None:
    (signed / "report.json").write_bytes(b'{"outcome":"FAIL"}\n')
    (signed / "signatures").rename(signed.parent / "kept")
    manifest.write(signed)
    (signed.parent / "kept").rename(signed / "signatures")
    found = checked(signed, keys)
    assert [fault.path for fault in found.faults] == ["SHA256SUMS"]
    assert "changed since customer and integrator signed it" in str(found.faults[0])
    done = run(verify_command, signed, "--key", keys / "jo.pub")
    assert "NOT VERIFIED: SHA256SUMS changed" in done.out.splitlines()[-1]


def test_a_changed_manifest_is_reported_even_without_a_known_signer(signed: Path, keys: Path) -> None:
    whole = (signed / "SHA256SUMS").read_bytes()
    (signed / "SHA256SUMS").write_bytes(whole.replace(b"report.html", b"report.htmk"))
    found = signing.verify(signed, of(keys, "stranger"))
    assert [fault.path for fault in found.faults] == ["SHA256SUMS"]


def test_a_strangers_signature_lends_a_changed_manifest_no_weight(signed: Path, keys: Path) -> None:
    (signed / "report.html").write_bytes(b"{}")
    (signed / "signatures").rename(signed.parent / "kept")
    manifest.write(signed)
    signing.sign(signed, keys / "stranger", "auditor", "Eve", TIME)
    for path in (signed.parent / "kept").iterdir():
        path.rename(signed / "signatures" / path.name)
    found = checked(signed, keys)
    assert [fault.path for fault in found.faults] == ["SHA256SUMS"]
    assert (found.good, bool(found.reason(1))) == ((), True)


def test_a_signature_made_for_something_else_does_not_count(signed: Path, keys: Path) -> None:
    place = signed / "signatures"
    (place / "integrator.json.sig").unlink()
    keygen("-q", "-Y", "sign", "-n", "git", "-f", keys / "jo", place / "integrator.json")
    (fault,) = checked(signed, keys).faults
    assert str(fault) == "signatures/integrator.json.sig is made for another namespace than rackcheck-report"


def test_a_principal_comes_from_the_allowed_signers_file(signed: Path, keys: Path) -> None:
    ours = allowed(keys, ("jo@pod.example", "", "jo"), ("*@site.example,sam@x", 'namespaces="rackcheck-*"', "site"))
    found = signing.verify(signed, ours)
    assert [s.principal for s in found.signatures] == ["*@site.example", "jo@pod.example"]
    assert found.reason(2) == ""


def test_a_key_allowed_for_another_namespace_does_not_count(signed: Path, keys: Path) -> None:
    found = signing.verify(signed, allowed(keys, ("jo@x", 'namespaces="git"', "jo")))
    assert troubles(found)["integrator"].startswith("its key is not among your signers")


WINDOWS = [
    ('valid-after="20261101Z",valid-before="20261201Z"', ""),
    ('valid-before="20261121120000Z"', "is not at the time of this check"),
    ('valid-after="20261121120000Z"', "was not at the signature's stated time"),
    ('valid-after="20270101Z"', "is not among your signers"),
    ('valid-before="20260101Z"', "is not among your signers"),
]


@pytest.mark.parametrize(("window", "text"), WINDOWS)
def test_a_key_has_to_be_valid_both_at_the_claimed_time_and_at_ours(
    signed: Path, keys: Path, window: str, text: str
) -> None:
    """A thief of an expired key could claim any time; only a time that the signer cannot set counts."""
    found = signing.verify(signed, allowed(keys, ("jo@x", window, "jo")), LATER)
    trouble = troubles(found)["integrator"]
    assert text in trouble
    assert bool(trouble) == bool(text)
    assert "/" not in trouble, "a temporary folder's name"


def test_the_user_may_state_since_when_the_bundle_existed(signed: Path, keys: Path, tmp_path: Path) -> None:
    words = allowed(keys, ("jo@x", 'valid-before="20200102Z"', "jo")).text
    (tmp_path / "signers").write_bytes(words)
    shutil.rmtree(signed / "signatures")
    signing.sign(signed, keys / "jo", "integrator", "Jo", datetime(2020, 1, 1, tzinfo=UTC))
    late = run(verify_command, signed, "--allowed-signers", tmp_path / "signers")
    assert (late.status, "is not at the time of this check" in late.out) == (4, True)
    early = ("--at", "2020-01-01T12:00:00Z")
    assert run(verify_command, signed, "--allowed-signers", tmp_path / "signers", *early).status == 0


def test_the_hour_of_a_window_does_not_depend_on_this_machines_zone(
    signed: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = allowed(keys, ("jo@x", 'valid-after="202611210930Z",valid-before="202611211030Z"', "jo"))
    for zone in ("UTC", "America/Los_Angeles", "Asia/Kolkata"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found = signing.verify(signed, ours, TIME)
        assert troubles(found)["integrator"] == "", zone
    monkeypatch.undo()
    time.tzset()


def test_a_comment_of_a_key_is_no_pattern_and_no_option(signed: Path, keys: Path, tmp_path: Path) -> None:
    words = (keys / "jo.pub").read_text().split()[:2]
    (tmp_path / "evil.pub").write_text(f"{' '.join(words)} * cert-authority \x1b[2J ssh-ed25519\n")
    done = run(verify_command, signed, "--key", tmp_path / "evil.pub")
    assert done.status == 0
    assert "\x1b" not in done.out
    assert "\\x1b[2J" in done.out


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "contains no public key"),
        (b"nonsense\n", "not a public key"),
        (b"ssh-ed25519 AAAA\n", "not a public key"),
        (b"ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==\n", "not a public key"),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----\n", "is a private key"),
        (b"\xff\xfe\n", "is not UTF-8"),
    ],
)
def test_a_file_without_a_public_key_is_a_user_error(signed: Path, tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "k.pub").write_bytes(content)
    done = run(verify_command, signed, "--key", tmp_path / "k.pub")
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert text in done.err


# --- signing ----------------------------------------------------------------------------------------------------------


def test_nothing_is_signed_that_does_not_match_its_manifest(bundle: Path, keys: Path) -> None:
    (bundle / "report.html").write_bytes(b"<html>FAIL</html>\n")
    done = run(sign_command, bundle, "--key", keys / "jo")
    assert done.status == 4
    assert done.out.splitlines()[-1] == "NOT SIGNED: report.html changed"
    assert not (bundle / "signatures").exists()


def test_signing_beside_a_statement_for_another_manifest_is_refused(signed: Path, keys: Path) -> None:
    (signed / "report.html").write_bytes(b"other")
    (signed / "signatures").rename(signed.parent / "kept")
    manifest.write(signed)
    (signed.parent / "kept").rename(signed / "signatures")
    with pytest.raises(Unsound, match="SHA256SUMS is not the one that customer signed"):
        signing.sign(signed, keys / "old", "auditor", "Jo", TIME)


def test_a_party_signs_once(signed: Path, keys: Path) -> None:
    before = {path.name: path.read_bytes() for path in (signed / "signatures").iterdir()}
    done = run(sign_command, signed, "--key", keys / "old")
    assert (done.status, "has signed" in done.err, "is never overwritten" in done.err) == (2, True, True)
    assert {path.name: path.read_bytes() for path in (signed / "signatures").iterdir()} == before


def test_a_file_changed_since_a_party_signed_is_named_if_it_signs_again(signed: Path, keys: Path) -> None:
    before = {path.name: path.read_bytes() for path in (signed / "signatures").iterdir()}
    (signed / "report.html").write_bytes(b"<html>PASS, all of it</html>\n")
    done = run(sign_command, signed, "--key", keys / "old")
    assert (done.status, done.out.splitlines()[-1]) == (4, "NOT SIGNED: report.html changed")
    assert {path.name: path.read_bytes() for path in (signed / "signatures").iterdir()} == before


@pytest.mark.parametrize("party", ["", "Jo", "../x", "a b", "-a", "a" * 41, "a.json"])
def test_a_party_has_a_plain_name(bundle: Path, keys: Path, party: str) -> None:
    with pytest.raises(UserError, match="a party's name has"):
        signing.sign(bundle, keys / "jo", party, "Jo", TIME)


@pytest.mark.parametrize("name", ["", " Jo", "J\no", "\x1b[2J", "J" * 201, "Jo\u202e"])
def test_a_signer_has_a_name_that_can_be_shown(bundle: Path, keys: Path, name: str) -> None:
    with pytest.raises(UserError, match="the signer's name"):
        signing.sign(bundle, keys / "jo", "integrator", name, TIME)


def test_the_signers_name_is_the_keys_comment_unless_set(bundle: Path, keys: Path) -> None:
    run(sign_command, bundle, "--key", keys / "jo")
    run(sign_command, bundle, "--key", keys / "site", "--as", "customer", "--name", "José Doe")
    assert [s.name for s in checked(bundle, keys).signatures] == ["José Doe", "jo@site.example"]


def test_a_key_with_a_passphrase_and_no_terminal_is_one_clear_error(bundle: Path, tmp_path: Path) -> None:
    keygen("-q", "-t", "ed25519", "-N", "secret", "-C", "jo", "-f", tmp_path / "locked")
    code = (
        "import sys; from rackcheck.cli import guarded; from rackcheck.cli.sign import sign;"
        "sys.exit(guarded(lambda: sign.main(sys.argv[1:], standalone_mode=False)))"
    )
    clean = {
        name: value for name, value in os.environ.items() if name not in {"DISPLAY", "SSH_ASKPASS", "SSH_AUTH_SOCK"}
    }
    done = subprocess.run(
        [sys.executable, "-c", code, str(bundle), "--key", str(tmp_path / "locked")],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, start_new_session=True, env=clean, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert "passphrase" in done.stderr
    assert "ssh-add" in done.stderr
    assert not (bundle / "signatures").exists()


@pytest.mark.parametrize("content", [b"", b"no key\n", b"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"])
def test_a_key_that_is_none_is_one_clear_error(bundle: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "k").write_bytes(content)
    (tmp_path / "k").chmod(0o600)
    done = run(sign_command, bundle, "--key", tmp_path / "k", "--name", "Jo")
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "cannot sign with" in done.err


def test_keys_that_are_not_there_are_one_clear_error(signed: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    commands = (
        (sign_command, "--as", "auditor", "--key", gone),
        (verify_command, "--key", gone),
        (verify_command, "--allowed-signers", gone),
    )
    for command, *words in commands:
        done = run(command, signed, *words)
        assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
        assert str(gone) in done.err


def test_without_ssh_keygen_both_commands_state_which_package_has_it(
    signed: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    commands = (
        (sign_command, "--key", keys / "old", "--as", "auditor"),
        (verify_command, "--key", keys / "jo.pub"),
    )
    for command, *words in commands:
        done = run(command, signed, *words)
        assert (done.status, done.out) == (2, "")
        assert "openssh-client" in done.err


# --- finding, copies, the command line --------------------------------------------------------------------------------


def test_a_bundle_is_found_by_folder_and_by_name_and_the_nearest_name_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RACKCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no bundle pod7; rackcheck report"):
        bundles.find("pod7")
    kept = made(bundles.folder() / "pod7")
    made(bundles.folder() / "pod7-customer", level="customer")
    assert bundles.names() == ["pod7", "pod7-customer"]
    assert bundles.find("pod7") == kept
    assert bundles.find(str(kept)) == kept
    with pytest.raises(UserError, match=r"no bundle pod8; did you mean pod7\?"):
        bundles.find("pod8")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="is not a bundle"):
        bundles.find("empty")
    for text in ("", "..", "a\0b", "x" * 5000):
        with pytest.raises(UserError):
            bundles.find(text)


def test_a_redacted_copy_belongs_to_the_full_bundle_whose_manifest_it_names(
    signed: Path, keys: Path, tmp_path: Path
) -> None:
    digest = hashlib.sha256((signed / "SHA256SUMS").read_bytes()).hexdigest()
    copy = made(tmp_path / "copy", level="customer", full=digest)
    signing.sign(copy, keys / "jo", "integrator", "Jo", TIME)
    words = ("--key", keys / "jo.pub")
    done = run(verify_command, copy, *words, "--full", signed)
    assert (done.status, done.out.splitlines()[-1]) == (
        0,
        f"Verified: 1 signature by 1 key over {len(FILES) + 1} files of pod7 (customer copy)",
    )
    other = made(tmp_path / "other", time="2026-11-21T11:00:00Z")
    done = run(verify_command, copy, *words, "--full", other)
    assert (done.status, "belongs to a full bundle other than" in done.out) == (4, True)
    done = run(verify_command, signed, *words, "--full", copy)
    assert (done.status, "names no full bundle" in done.out) == (4, True)


def test_verify_shows_a_line_for_each_signature_and_ends_in_the_verdict(signed: Path, keys: Path) -> None:
    done = run(verify_command, signed, "--key", keys / "jo.pub", "--key", keys / "site.pub", "--require", 2)
    assert (done.status, done.err) == (0, "")
    customer, integrator, verdict, last = done.out.splitlines()  # into a pipe, a line for each
    assert verdict == "Verdict: PASS  of pod7"
    found = "✔ integrator  Jo Doe  jo@site.example  ED25519 SHA256:"
    assert integrator.startswith((found, found.replace("✔", "+")))
    assert integrator.endswith("  2026-11-21T10:00:00Z by the signer's clock")
    assert "  ECDSA SHA256:" in customer
    assert last == f"Verified: 2 signatures by 2 keys over {len(FILES) + 1} files of pod7"


def failed(folder: Path, outcome: str) -> Path:
    """A bundle whose report has another verdict than PASS."""
    record = json.dumps({"rackcheck": 1, "report": {"tally": {"outcome": outcome}}}).encode()
    bundle = made(folder, record=hashlib.sha256(record).hexdigest())
    (bundle / "report.json").write_bytes(record)
    manifest.write(bundle)
    return bundle


@pytest.mark.parametrize("outcome", ["FAIL", "INCOMPLETE"])
def test_a_verdict_that_is_no_pass_is_signed_with_a_reason_alone_and_verify_shows_both(
    tmp_path: Path, keys: Path, outcome: str
) -> None:
    bundle = failed(tmp_path / "pod8", outcome)
    refused = run(sign_command, bundle, "--key", keys / "jo")
    assert refused.status == 2
    assert f"the verdict of {bundle} is {outcome}; to sign it as it is, add --as-is REASON" in refused.err
    assert not (bundle / "signatures").exists()
    done = run(sign_command, bundle, "--key", keys / "jo", "--as-is", "a cable follows, T-1")
    assert done.status == 0, done.err
    assert "as it is: a cable follows, T-1" in done.out
    found = run(verify_command, bundle, "--key", keys / "jo.pub")
    assert found.status == 0
    assert f"Verdict: {outcome}  of pod7" in found.out
    assert "as it is: a cable follows, T-1" in found.out
    document = json.loads(run(verify_command, bundle, "--key", keys / "jo.pub", "--json").out)
    assert (document["outcome"], document["signatures"][0]["as_is"]) == (outcome, "a cable follows, T-1")


def test_the_reason_is_part_of_what_is_signed(tmp_path: Path, keys: Path) -> None:
    bundle = failed(tmp_path / "pod8", "FAIL")
    signing.sign(bundle, keys / "jo", "integrator", "Jo", TIME, "a cable follows")
    words = bundle / "signatures" / "integrator.json"
    words.write_bytes(words.read_bytes().replace(b"a cable", b"a rack!"))
    (found,) = checked(bundle, keys).signatures
    assert "one of the two files was changed" in found.trouble


@pytest.mark.parametrize("reason", ["\x1b[2J", "x" * 201, "two\nlines"])
def test_a_reason_is_one_line_of_plain_text(tmp_path: Path, keys: Path, reason: str) -> None:
    bundle = failed(tmp_path / "pod8", "FAIL")
    with pytest.raises(UserError, match="a reason has 1 to 200 characters"):
        signing.sign(bundle, keys / "jo", "integrator", "Jo", TIME, reason)


@pytest.mark.parametrize("record", [b"", b"[]", b'{"report": {}}', b'{"report":{"tally":{"outcome":"FINE"}}}'])
def test_a_report_without_a_verdict_is_not_signed(tmp_path: Path, keys: Path, record: bytes) -> None:
    bundle = made(tmp_path / "pod8", record=hashlib.sha256(record).hexdigest())
    (bundle / "report.json").write_bytes(record)
    manifest.write(bundle)
    with pytest.raises(signing.Unsound, match=r"report\.json has no verdict"):
        signing.sign(bundle, keys / "jo", "integrator", "Jo", TIME, "so be it")


def test_a_pass_is_signed_without_the_reason_of_a_script(bundle: Path, keys: Path) -> None:
    assert signing.sign(bundle, keys / "jo", "integrator", "Jo", TIME, "whatever it is").as_is == ""


def test_a_word_that_is_party_signer_and_key_is_shown_once(bundle: Path, keys: Path) -> None:
    signing.sign(bundle, keys / "jo", "customer", "customer", TIME)
    found = signing.verify(bundle, allowed(keys, ("customer", "", "jo")))
    assert found.signatures[0].principal == "customer"
    (bundle.parent / "allowed").write_bytes(allowed(keys, ("customer", "", "jo")).text)
    done = run(verify_command, bundle, "--allowed-signers", bundle.parent / "allowed")
    assert done.out.count("customer") == 1, done.out


def test_verify_names_the_changed_file_last(signed: Path, keys: Path) -> None:
    (signed / "report.html").write_bytes(b"")
    done = run(verify_command, signed, "--key", keys / "jo.pub")
    assert (done.status, done.out.splitlines()[-1]) == (4, "NOT VERIFIED: report.html changed")


def test_verify_gives_one_json_document_the_same_each_time(signed: Path, keys: Path) -> None:
    words = (signed, "--key", keys / "jo.pub", "--json")
    done = run(verify_command, *words)
    doc = json.loads(done.out)
    assert (doc["verified"], doc["keys"], doc["bundle"], doc["files"]) == (True, 1, "pod7", len(FILES) + 1)
    assert [s["trouble"] for s in doc["signatures"]] == ["its key is not among your signers", ""]
    assert run(verify_command, *words).out == done.out


def test_verify_requires_whose_signatures_count(signed: Path, keys: Path) -> None:
    for words in ((), ("--key", keys / "jo.pub", "--allowed-signers", keys / "jo.pub")):
        done = run(verify_command, signed, *words)
        assert (done.status, "name the trusted signers" in done.err) == (2, True)


def test_verifying_changes_nothing(signed: Path, keys: Path) -> None:
    def state() -> list[tuple[Path, int, int]]:
        return sorted((p, p.stat().st_mtime_ns, p.stat().st_size) for p in signed.rglob("*"))

    before = state()
    for path in signed.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    checked(signed, keys)
    assert state() == before


# --- the stock tools --------------------------------------------------------------------------------------------------

PAGE = ROOT / "docs" / "guide" / "signing.md"


def stock() -> str:
    """The commands in the page for a reader without rackcheck."""
    found = re.search(r"^```sh\n(sha256sum .*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def shell(folder: Path, script: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["sh", "-e", "-c", script], cwd=folder, capture_output=True, text=True, check=False)


def test_the_commands_of_the_page_verify_with_stock_tools_alone(signed: Path, keys: Path) -> None:
    public = " ".join((keys / "jo.pub").read_text().split()[:2])
    (signed.parent / "allowed_signers").write_text(f"jo@site.example {public}\n")
    done = shell(signed, stock())
    assert done.returncode == 0, done.stderr
    assert "report.html: OK" in done.stdout
    assert 'Good "rackcheck-report" signature for jo@site.example' in done.stdout


@pytest.mark.parametrize("name", ["report.html", "SHA256SUMS", "signatures/integrator.json"])
def test_the_commands_of_the_page_fail_where_a_byte_changed(signed: Path, keys: Path, name: str) -> None:
    public = " ".join((keys / "jo.pub").read_text().split()[:2])
    (signed.parent / "allowed_signers").write_text(f"jo@site.example {public}\n")
    whole = (signed / name).read_bytes()
    (signed / name).write_bytes(whole[:1] + bytes([whole[1] ^ 1]) + whole[2:])
    assert shell(signed, stock()).returncode != 0


def test_a_record_that_is_not_the_one_the_head_names_is_neither_signed_nor_verified(bundle: Path, keys: Path) -> None:
    other = made(bundle, record="0" * 64)
    with pytest.raises(signing.Unsound, match=r"report\.json does not have the SHA-256 in"):
        signing.sign(other, keys / "jo", "integrator", "Jo", TIME)
    assert not (other / "signatures").exists()


def test_a_signer_with_a_key_that_another_party_used_is_reported(bundle: Path, keys: Path) -> None:
    first = run(sign_command, bundle, "--key", keys / "jo", "--as", "integrator")
    second = run(sign_command, bundle, "--key", keys / "jo", "--as", "customer")
    assert "counts once" not in first.err
    assert "integrator already signed with this key, which counts once" in second.err
