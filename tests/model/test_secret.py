"""Secrets are dropped by name before anything is stored; other values stay."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import DELL, tree

from rackcheck.model.secret import DEPTH, DROPPED, VALUES, is_clean, scrub, scrub_text, scrub_texts
from rackcheck.parse.bmc.bios_value import CURRENT, PENDING

IDRAC = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes/iDRAC.Embedded.1"


@pytest.mark.parametrize(
    "name",
    [
        *("Password", "AdminPassword", "Users.2.SHA256Password", "Users.2.SHA256PasswordSalt", "SHA256SetupPassword"),
        *("Users.2.IPMIKey", "Users.2.SHA1v3Key", "Users.2.MD5v3Key", "IPMILan.1.EncryptionKey", "AuthenticationKey"),
        *("SNMP.1.AgentCommunity", "ROCommunity", "CommunityString", "RadiusSecret", "CHAPSecret", "PrivateKey"),
        *("X-Auth-Token", "AccessToken", "Authorization", "AdministratorPassword_0117", "UefiPassword", "Passphrase"),
        *("PrivacyPassphrase", "LicenseKey", "apiKey", "Client_Secret", "bind pwd", "PasswordHash", "SystemPasswd2"),
    ],
)
def test_a_secret_is_dropped_by_its_name(name: str) -> None:
    planted = "s3cr3t-Planted-0001"
    assert scrub({name: planted}) == {name: DROPPED}
    assert planted not in json.dumps(scrub({"Oem": [{name: {"CurrentValue": planted, "AllowableValues": [planted]}}]}))
    for key in ("CurrentValue", "current_value", "PendingValue"):
        assert scrub({"Attributes": [{"AttributeName": name, key: planted}]}) == {
            "Attributes": [{"AttributeName": name, key: DROPPED}]
        }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PasswordStatus", "Unlocked"),
        ("PasswordCheck_0119", "Setup"),
        ("MinPasswordLength", 12),
        ("MaxPasswordLength", "20"),
        ("PasswordExpiration", None),
        ("AdminPassword", None),
        ("IsUefiAdminPasswordSet", False),
        ("EncryptionKeySet", True),
        ("DeleteUnusedEncryptionKeys", "Disabled"),
        ("EnableSNMPv3Passphrase", "Disabled"),
        ("Users.1.EnableSNMPv3Passphrase", "Enabled"),
        ("TpmKeyHierarchy", "Enabled"),
        ("LoadAuthentication_Key_010A", "Disabled"),
        ("SecureBootKeys", "Default"),
        ("PublicKey", "AAAAB3NzaC1yc2EAAAADAQAB1234"),
        ("SerialNumber", "CNIVC0014M0388"),
        ("BiosVersion", "1.8.2"),
        ("UUID", "4c4c4544-0035-3410-8050-c6c04f314733"),
    ],
)
def test_what_is_no_secret_stays(name: str, value: object) -> None:
    assert scrub({name: value}) == {name: value}


def test_links_stay_as_they_are() -> None:
    body = {
        "Password": {"@odata.id": "/redfish/v1/AccountService/Password"},
        "Tokens": [{"@odata.id": "/redfish/v1/Tokens/1"}],
        "Actions": {"#Bios.ChangePassword": {"target": "/redfish/v1/Systems/1/Bios/Actions/Bios.ChangePassword"}},
        "Members@odata.nextLink": "/redfish/v1/Entries?$skiptoken=2",
    }
    assert scrub(body) == body


def test_the_recorded_idrac_keeps_no_hash_and_no_key() -> None:
    folder = tree(DELL)
    found = 0
    for file in folder.rglob("index.json"):
        text = file.read_text("utf-8")
        if not any(word in text for word in ("SHA256Password", "IPMIKey", "SHA256SetupPassword")):
            continue
        kept = json.dumps(scrub(json.loads(text)))
        for word in ("SHA256Password", "SHA256PasswordSalt", "IPMIKey", "SHA1v3Key", "MD5v3Key", "SHA256SetupPassword"):
            for part in kept.split(f'{word}": ')[1:]:
                assert part.startswith((f'"{DROPPED}"', '""', "null")), part[:60]
                found += part.startswith(f'"{DROPPED}"')
    assert found >= 10


def test_a_private_key_in_any_text_is_dropped() -> None:
    text = "log: -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY----- end"
    assert scrub({"Message": text}) == {"Message": f"log: {DROPPED} end"}
    assert "MIIE" not in scrub_text(text.partition("-----END")[0])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("ro quiet rd.iscsi.password=hunter2 iommu=pt", f"ro quiet rd.iscsi.password={DROPPED} iommu=pt"),
        ("token=abc,def;x secret='two words' a=b", f"token={DROPPED} secret='{DROPPED}' a=b"),
        ('PASSWORD="a b', f'PASSWORD="{DROPPED} b'),
        ("netroot=iscsi:bob:pw@10.0.0.1:3260", f"netroot=iscsi:bob:{DROPPED}@10.0.0.1:3260"),
        ("root=cifs://u:p@h/share", f"root=cifs://u:{DROPPED}@h/share"),
        ("agent --api-token abc --verbose", f"agent --api-token {DROPPED} --verbose"),
        ('{"password": "x y", "n": null}', f'{{"password": "{DROPPED}", "n": null}}'),
        ('{"password": null, "n": 1}', '{"password": null, "n": 1}'),
        ("Password: hunter2", f"Password: {DROPPED}"),
    ],
)
def test_a_secret_in_an_output_is_dropped(text: str, kept: str) -> None:
    assert scrub_text(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "BOOT_IMAGE=/vmlinuz root=UUID=4c4c-4544 ro console=ttyS0,115200 pci=realloc=off iommu=pt hugepagesz=1G",
        "kernel.keys.maxkeys = 200",
        "min_password_length=8",
        "rd.luks.key=/etc/keyfile",
        "PasswordAuthentication=no",
        "cpu family\t: 6\nmodel name\t: Intel(R) Xeon(R)",
    ],
)
def test_an_ordinary_output_stays(text: str) -> None:
    assert scrub_text(text) == text


def test_a_body_without_end_is_cut() -> None:
    body: object = "bottom"
    for _ in range(DEPTH * 5):
        body = {"a": [body]}
    assert "bottom" not in json.dumps(scrub(body))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


@given(JSON)
def test_dropping_twice_is_dropping_once(body: object) -> None:
    once = scrub(body)
    assert scrub(once) == once


@given(st.text())
def test_a_text_is_scrubbed_once_and_for_all(text: str) -> None:
    once = scrub_text(text)
    assert scrub_text(once) == once


def test_a_long_line_is_scrubbed_in_no_time() -> None:
    for text in ('a="' * 300_000, "token" * 200_000, "://" + "a" * 10**6, "=" * 10**6, "--a " * 250_000):
        scrub_text(text)


HEADS = (
    "Bearer",
    "bas\u0131c",
    "BASIC",
    "coo\u212aie:",
    "X-Auth-Token:",
    "--token",
    "-pwd",
    "password=",
    "http://u:",
    "?a=1&token=",
)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("blank", ["", " ", "\t"])
@pytest.mark.parametrize("value", ["abcdefgh1", "abcdefgh1@host"])
def test_a_text_is_searched_in_the_same_way_whatever_stands_beside_it(head: str, blank: str, value: str) -> None:
    text = f"{head}{blank}{value}"
    beside = "- \xe9 @ basic = :"  # with these, no search is left out
    assert scrub_text(f"{beside}\n{text}") == f"{beside}\n{scrub_text(text)}"


@pytest.mark.parametrize("name", [*CURRENT, *PENDING])
def test_each_name_of_a_value_that_the_bios_reader_knows_is_one_of_the_filter(name: str) -> None:
    assert name in VALUES
    body = {"Attributes": [{"AttributeName": "AdminPassword", name: "hunter2"}]}
    assert "hunter2" not in json.dumps(scrub(body))


@pytest.mark.parametrize("name", ["AdminPasswordHint", "LicenseKey", "SNMPCommunity"])
def test_a_value_in_an_object_is_judged_by_the_name_of_its_property(name: str) -> None:
    assert "Xk7abcdefgh" not in json.dumps(scrub({name: {"CurrentValue": "Xk7abcdefgh"}}))
    assert "Enabled" in json.dumps(scrub({"PasswordHintShown": {"CurrentValue": "Enabled"}}))


PIECES = (
    *("pass", "Pass-word", "p.w_d", "TOKEN", "cook", "ie", "chap", "psk", "api_key", "PRIVATE KEY-----", "-----BEGIN "),
    *("salt", "Communit", "ies", "Bearer", "basic", "aXV0aDpzM2NyZXQ=", "user", "http://", "iscsi:", "@", "host"),
    *("=", ": ", ":", " ", "\n", "--", "-", ".", "_", "?", "&", ",", ";", '"', "'", "\\", "x1", "s3cr3t99", "_01A7"),
)
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(texts)
def test_a_text_that_is_not_searched_by_patterns_has_no_secret(text: str) -> None:
    """A text with a character outside ASCII is always searched."""
    assert scrub_text("é\n" + text) == "é\n" + scrub_text(text)


@given(st.lists(texts | st.sampled_from(["", " ", "=", "password", "token:", "= s3cr3t99"]), max_size=9).map("\n".join))
def test_the_lines_of_a_text_are_searched_as_the_text_is(text: str) -> None:
    """Only lines with a word of a secret are searched; a pair may begin on one line and end on another."""
    assert scrub_text("é\n" + text) == "é\n" + scrub_text(text)


@given(st.dictionaries(st.text("abc", max_size=3), texts, max_size=6))
def test_many_texts_are_scrubbed_as_each_of_them(given_texts: dict[str, str]) -> None:
    found = scrub_texts(given_texts)
    assert found == {name: scrub_text(text) for name, text in given_texts.items()}
    assert list(found) == list(given_texts)


bodies = st.recursive(
    texts | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=4), max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(texts, bodies, max_size=4))
def test_a_body_that_is_clean_has_nothing_to_drop(body: dict[str, object]) -> None:
    if is_clean(json.dumps(body).encode()):
        assert scrub(body) == body


def test_ordinary_bodies_are_clean() -> None:
    """Else, all bodies would be searched value by value."""
    sensor = {"@odata.id": "/redfish/v1/Chassis/1/Sensors/1", "Name": "Inlet", "Reading": 23.5, "ReadingUnits": "Cel"}
    assert is_clean(json.dumps(sensor).encode())
    assert not is_clean(json.dumps({**sensor, "P a s s": "x"}).encode())
    assert not is_clean(json.dumps({**sensor, "Name": "pässword"}).encode())
