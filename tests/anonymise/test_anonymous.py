"""Stand-ins: equal for equal values, of the same form, and without any part of the original."""

import ipaddress
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings import leaves, os_probes, ours, recorded

from rackcheck.anonymise.captures import Anonymous
from rackcheck.anonymise.identities import ALIKE, Identities, logins, named, of_capture, of_facts, together
from rackcheck.anonymise.stand_in import Dice
from rackcheck.model.capture import BmcCapture, NodeCapture, Output
from rackcheck.model.fact import Class, Reason, Unknown
from rackcheck.model.tree import Tree

SALT = b"a salt for these tests only"
SERIAL, MAC, UUID = "MT2333VS00104", "a0:88:c2:00:01:04", "5a1c0001-00a1-4d00-8000-00000000abcd"
NOTHING = Identities()
HEX = st.text("0123456789abcdef", min_size=12, max_size=12)


def hiding(found: Identities = NOTHING, nodes: tuple[str, ...] = ("dgx01", "dgx02")) -> Anonymous:
    return Anonymous(list(nodes), together([found, named(nodes)]), SALT)


def learnt(*texts: str) -> Identities:
    return of_capture(NodeCapture(files={f"/{n}": text for n, text in enumerate(texts)}))


def test_a_node_is_called_by_its_number_wherever_it_is_named() -> None:
    text = hiding(named(["dgx02.pod7.example.com"])).text(
        "dgx01 DGX02\nhttps://dgx01-bmc/redfish dgx02.pod7.example.com dgx012 xdgx01"
    )
    words = text.split()
    assert words[:3] == ["node1", "NODE2", "https://node1-bmc/redfish"]
    assert re.fullmatch(r"node2\.[a-z]{3}[0-9]\.[a-z]{7}\.[a-z]{3}", words[3])
    assert words[4:] == ["dgx012", "xdgx01"], "these are other machines' names"


@pytest.mark.parametrize("name", ["r1-c2-node001", "a-b-storage", "gpu_07-rack3", "x1000c0s1b0n0", "n1-gpu", "01-dgx"])
def test_a_name_of_several_words_is_found_inside_of_others(name: str) -> None:
    anonymous = hiding(nodes=("dgx01", name))
    made = anonymous.text(f"at {name}, https://{name}/x {name}-bmc {name.upper()}:/e a/{name}/b (s3-{name})")
    assert made == "at node2, https://node2/x node2-bmc NODE2:/e a/node2/b (s3-node2)"


@pytest.mark.parametrize("name", ["node1", "cpu0", "localhost", "mlx5_0", "nvme3"])
def test_a_node_that_is_called_as_the_kernel_calls_things_does_not_spoil_them(name: str) -> None:
    anonymous = hiding(nodes=("a0815", name))
    path = f"/sys/devices/system/node/{name}/x"
    assert anonymous.text(path) == path
    assert anonymous.text(f"{name}\n") == "node2\n", "where the file contains nothing else, it is the node's name"


def test_the_name_that_a_node_gives_itself_has_the_nodes_own_stand_in() -> None:
    found = together([named(["localhost", "vm", "login.pod7.example.com", "dgx02"])])
    own = {"vm": "localhost", "login.pod7.example.com": "dgx01", "dgx02": "dgx01", "localhost": "dgx02"}
    anonymous = Anonymous(["localhost", "dgx01", "dgx02"], found, SALT, own)
    assert anonymous.text("vm\n") == "node1\n"
    assert re.fullmatch(r"node2\.[a-z]{3}[0-9]\.[a-z]{7}\.[a-z]{3}", anonymous.text("login.pod7.example.com"))
    assert anonymous.text("dgx02") == "node3", "a name of another node stays with that node"
    assert anonymous.text("a vm is in it") == "a vm is in it", "it is too short to be distinguished from a word"


@pytest.mark.parametrize(
    "line",
    [
        "[    0.407407] Serial: 8250/16550 driver, 4 ports, IRQ sharing enabled",
        "[    0.407407] kernel: Serial: 8250/16550 driver, 4 ports, IRQ sharing enabled",
        "<6>[    0.407407][    T1] Serial: 8250/16550 driver, 4 ports, IRQ sharing enabled",
    ],
)
def test_a_driver_of_serial_ports_has_no_serial_number(line: str) -> None:
    log = f"[    0.1] x\n{line}\n[    2.1] usb 1-1: SerialNumber: {SERIAL}\n"
    anonymous = hiding(learnt(log))
    assert line in anonymous.text(log)
    assert SERIAL not in anonymous.text(log)
    assert SERIAL not in hiding(learnt(f"Serial: {SERIAL}\n")).text(f"Serial: {SERIAL}\n")


def test_a_serial_keeps_its_form_and_is_the_same_on_both_planes() -> None:
    host = NodeCapture(commands={"dmidecode": Output(0, f"\tSerial Number: {SERIAL}\n")}, files={"/serial": SERIAL})
    bmc = BmcCapture({"/redfish/v1": {"SerialNumber": SERIAL, "Name": f"of {SERIAL}/2", "Up": SERIAL.lower()}})
    anonymous = hiding(of_capture(host))
    made, body = anonymous.capture(host), anonymous.capture(bmc)
    assert isinstance(made, NodeCapture)
    assert isinstance(body, BmcCapture)
    stand_in = made.files["/serial"]
    assert re.fullmatch(r"[A-Z]{2}[0-9]{4}[A-Z]{2}[0-9]{5}", stand_in)
    assert stand_in != SERIAL
    assert made.commands == {"dmidecode": Output(0, f"\tSerial Number: {stand_in}\n")}
    assert body.bodies["/redfish/v1"] == {
        "SerialNumber": stand_in, "Name": f"of {stand_in}/2", "Up": stand_in.lower()
    }  # fmt: skip


def test_one_hardware_address_is_one_in_every_spelling() -> None:
    anonymous = hiding(learnt(f"link/ether {MAC}"))
    spellings = [MAC, MAC.upper(), MAC.replace(":", "-"), "a088.c200.0104", "a088c2000104", "enxa088c2000104"]
    made = [anonymous.text(each) for each in spellings]
    assert re.fullmatch(r"a0:88:c2(:[0-9a-f]{2}){3}", made[0])
    bare = made[0].replace(":", "")
    assert made[1:] == [
        made[0].upper(), made[0].replace(":", "-"), f"{bare[:4]}.{bare[4:8]}.{bare[8:]}", bare, f"enx{bare}"
    ]  # fmt: skip
    assert "000104" not in "".join(made).replace(":", "").replace("-", "").replace(".", "")


def test_an_address_without_letters_is_one_address_alone_and_in_a_line() -> None:
    anonymous = hiding(
        of_capture(BmcCapture({"/x": {"SerialNumber": "00:11:22:33:44:55", "WWN": "00:00:00:00:00:00"}}))
    )
    alone, *inside = anonymous.text("00:11:22:33:44:55"), anonymous.text("at 00:11:22:33:44:55 it is")
    assert inside == [f"at {alone} it is"]
    assert alone.startswith("00:11:22:")
    assert anonymous.text("00:00:00:00:00:00") == "00:00:00:00:00:00", "it belongs to no device"


def test_a_serial_of_twelve_hexadecimal_digits_loses_its_first_half_as_well() -> None:
    serial = "233242BE0C46"  # a drive's, whose first digit would make it a multicast address
    anonymous = hiding(of_capture(BmcCapture({"/x": {"SerialNumber": serial, "AssetTag": "A088C2000104", "MAC": MAC}})))
    assert anonymous.text(serial)[:6] != serial[:6]
    assert anonymous.text(serial) == anonymous.text(serial.lower()).upper()
    assert anonymous.text("A088C2000104").lower() == anonymous.text(MAC).replace(":", "")
    for group in ("01:00:5e:00:00:fb", "33:33:00:00:00:01", "01:80:c2:00:00:0e", "ff:ff:ff:ff:ff:ff"):
        assert anonymous.text(group) == group


def test_addresses_that_are_made_of_a_hardware_address_are_made_of_its_stand_in() -> None:
    anonymous = hiding(learnt(MAC, "GUID: 0xa088c20300000104"))
    own = anonymous.text(MAC).replace(":", "")[6:]
    assert anonymous.text("0xa088c20300000104") == f"0xa088c20300{own}"
    assert anonymous.text("a088:c203:0000:0104").replace(":", "") == f"a088c20300{own}"
    full = anonymous.text("fe80:0000:0000:0000:a288:c2ff:fe00:0104")
    assert full.replace(":", "") == f"fe80000000000000a288c2fffe{own}"
    assert anonymous.text("fe80::a288:c2ff:fe00:104") == str(ipaddress.IPv6Address(full))
    gid = anonymous.text("fe80:0000:0000:0000:a088:c203:0000:0104")
    assert gid.replace(":", "") == f"fe80000000000000a088c20300{own}"


def test_a_mapped_address_is_the_stand_in_of_the_address() -> None:
    anonymous = hiding()
    made = ipaddress.IPv6Address(anonymous.text("0000:0000:0000:0000:0000:ffff:0a29:0007"))
    assert str(made.ipv4_mapped) == anonymous.text("10.41.0.7")


def test_networks_stay_together_and_kinds_of_addresses_stay_what_they_are() -> None:
    anonymous = hiding()
    one, two, net, other = (anonymous.text(a) for a in ("10.41.0.1", "10.41.0.2/16", "10.41.0.0/16", "10.42.0.1"))
    assert two.endswith("/16")
    network = ipaddress.ip_network(net)
    assert ipaddress.ip_address(one) in network
    assert ipaddress.ip_interface(two).ip in network
    assert ipaddress.ip_address(other) not in network
    assert "10.41." not in f"{one} {two} {net}"
    for text in ("127.0.0.1", "255.255.0.0", "224.0.0.251", "0.0.0.0", "::1", "::", "ff02::1"):
        assert anonymous.text(f"at {text} it is") == f"at {text} it is"
    for text in ("192.168.7.9", "172.20.3.4", "169.254.0.17", "100.70.1.2", "10.1.2.3"):
        made = ipaddress.ip_address(anonymous.text(text))
        assert made.is_private is ipaddress.ip_address(text).is_private
        assert made.is_link_local is ipaddress.ip_address(text).is_link_local
        assert str(made) != text


@given(st.sets(st.integers(0, 2**32 - 1), max_size=40))
def test_no_two_addresses_have_one_stand_in(numbers: set[int]) -> None:
    dice = Dice(SALT)
    made = {dice.ipv4(str(ipaddress.IPv4Address(number))) for number in numbers}
    assert len(made) == len(numbers)


@given(st.sets(HEX, max_size=60))
def test_no_two_hardware_addresses_have_one_stand_in(digits: set[str]) -> None:
    dice = Dice(SALT, digits)
    made = {dice.mac(each) for each in digits}
    assert len(made) == len(digits)
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in made)


@given(st.sets(st.from_regex(r"[A-Z]{2}[0-9]{4}", fullmatch=True), max_size=60))
def test_no_two_serials_have_one_stand_in_and_none_is_anothers_own(serials: set[str]) -> None:
    words = {serial.casefold() for serial in serials}
    dice = Dice(SALT, words)
    made = {dice.word(word) for word in words}
    assert len(made) == len(words)
    assert not made & words


def test_another_salt_gives_other_stand_ins() -> None:
    one, two = (Dice(salt).uuid("5a1c000100a14d008000000000000001") for salt in (SALT, b"another"))
    assert one != two
    assert Dice(SALT).uuid("5a1c000100a14d008000000000000001") == one


def test_ids_stay_ids() -> None:
    anonymous = hiding(learnt(f"GPU UUID: GPU-{UUID}"))
    made = anonymous.text(f"GPU-{UUID}")
    assert re.fullmatch(r"GPU-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}", made)
    assert anonymous.text(UUID.replace("-", "")) == made.removeprefix("GPU-").replace("-", "")
    assert anonymous.text("00000000-0000-0000-0000-000000000000") == "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    "text",
    [
        "0000:17:00.0", "00000000:1B:00.0", "pci:v000010DEd00002330sv000010DEsd000016C1bc03sc02i00",
        "0x000000d010000000 0x000000d01fffffff 0x000000000014220c", "nvidia-550.90.07", "12.550.90.07",
        "getty@tty1.service", "hmac-sha2-256-etm@openssh.com", "std::string a::b()", "2026-11-21T08:00:00Z 12:34:56",
        "5.15.0-1053-nvidia #54~22.04.1-Ubuntu SMP", "F8 06 08 00 FF FB EB BF", "/redfish/v1/Chassis/DGX/Sensors?$skip=75",
        "intel_iommu=on iommu=pt audit=1 pci=realloc=off", "24.10.OFED.24.10.1.1.4.1", "0204.0201.0202",
        "MLNX_OFED_LINUX-23.10-1.1.9.0", "io.containerd.grpc.v1.cri", "net.core.somaxconn", "rd.driver.blacklist=x", "fs.inotify.max", "libc.so.xz nvidia.ko.xz",
        "NIC.Integrated.1-1-1 Disk.Bay.2:Enclosure.Internal.0-1", "#Chassis.v1_17_0.Chassis", "dbus-org.resolve1.service",
        "/opt/maker.tool.thing/x", "unix:///run/x.sock", "5.15.0-1053.el9.x", "\\_SB.PC00.RP01.PXSX", "http://localhost:80",
    ],
)  # fmt: skip
def test_text_that_names_no_machine_is_kept(text: str) -> None:
    assert hiding(learnt(f"serial: {SERIAL}", MAC)).text(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("at nas01.corp.example.com, not here", r"at [a-z]{3}[0-9]{2}\.[a-z]{4}\.[a-z]{7}\.[a-z]{3}, not here"),
        ("mgs.pod7.lan@tcp:/fs", r"[a-z]{3}\.[a-z]{3}[0-9]\.[a-z]{3}@tcp:/fs"),
        ("https_proxy=http://jdoe@proxy:3128/", r"https_proxy=http://[a-z]{4}@[a-z]{5}:3128/"),
        ("https://dgx01-bmc.example.com/redfish", r"https://node1-bmc\.[a-z]{7}\.[a-z]{3}/redfish"),
        ("Reason=broken [jdoe@2026-11-21T08:00:00]", r"Reason=broken \[[a-z]{4}@2026-11-21T08:00:00\]"),
        ("10.41.0.1-10.41.0.9", r"10\.[0-9]+\.0\.[0-9]+-10\.[0-9]+\.0\.[0-9]+"),
    ],
)  # fmt: skip
def test_host_and_person_names_are_hidden_even_when_not_listed(text: str, left: str) -> None:
    made = hiding().text(text)
    assert re.fullmatch(left, made), made
    assert not re.search(r"nas01|mgs|pod7|example|corp|jdoe|//proxy|@proxy|10\.41\.|\.[19]\b", made)


def test_a_host_has_one_stand_in_with_its_domain_and_alone() -> None:
    mounts = "nas01:/export /home nfs4 rw 0 0\n/dev/sda1 / ext4 rw 0 0\n"
    found = of_capture(NodeCapture(files={"/etc/resolv.conf": "search corp.example.com\n", "/proc/mounts": mounts}))
    anonymous = hiding(found)
    short, whole, domain = map(anonymous.text, ("nas01", "nas01.corp.example.com", "corp.example.com"))
    assert whole == f"{short}.{domain}"
    assert not {"nas01", "corp", "example"} & {*whole.split(".")}
    assert anonymous.text(mounts) == mounts.replace("nas01", short)


def test_logins_are_removed_from_error_texts() -> None:
    anonymous = hiding(logins(["jdoe", "nvidia", "root", ""]))
    why = anonymous.unknown(Unknown(Reason.DENIED, "jdoe is not in the sudoers file; jdoe@dgx01: user nvidia, root"))
    assert re.fullmatch(
        r"([a-z]{4}) is not in the sudoers file; \1@node1: user [a-z]{6}, root", why.detail
    )  # fmt: skip
    assert not re.search("jdoe|nvidia", why.detail)
    host = anonymous.capture(NodeCapture({"x": Output(1, "nvidia", "for jdoe: no")}))
    assert isinstance(host, NodeCapture)
    (answer,) = host.commands.values()
    assert isinstance(answer, Output)
    assert answer.out == "nvidia", "a login may be a program's name, and readers look for that"
    assert "jdoe" not in answer.err


def test_no_address_is_its_own_stand_in() -> None:
    for number in range(20):
        dice = Dice(f"salt {number}".encode())
        assert all(dice.ipv4(f"10.41.0.{n}") != f"10.41.0.{n}" for n in range(1, 255))
        assert all(dice.ipv4(f"10.0.0.{n}") != f"10.0.0.{n}" for n in range(1, 255))


def test_a_stand_in_is_nobodys_own_address() -> None:
    devices = frozenset(f"a088c2{n:06x}" for n in range(0, 1 << 24, 64))  # 1 of a maker's 64
    dice = Dice(SALT, devices)
    assert not {dice.mac(mac) for mac in sorted(devices)[:500]} & devices


def test_a_version_in_a_file_of_its_own_stays_and_a_hardware_address_never_does() -> None:
    capture = NodeCapture(files={"/sys/module/vsock/version": "1.0.2.0-k\n", "/x/fw_version": f"{MAC}\n"})
    made = hiding(of_capture(capture)).capture(capture)
    assert isinstance(made, NodeCapture)
    assert made.files["/sys/module/vsock/version"] == "1.0.2.0-k\n"
    assert MAC not in made.files["/x/fw_version"]


def test_the_kernels_own_spelling_of_an_address_is_that_of_its_stand_in() -> None:
    def digits(text: str) -> bytes:
        return ipaddress.ip_address(anonymous.text(text)).packed

    route = "Iface\tDestination\tGateway \tFlags\neth0\t00000000\t0129290A\t0003\t00FFFFFF\n"
    route6 = "20010db8000000000000000000290001 40 00000000000000000000000000000000 00 x\n"
    tcp = "  0: 0729290A:07E8 0100007F:0016 01 00000000:00000000 00:00000000 0\n"
    tcp6 = "  0: B80D0120000000000000000001002900:07E8 00000000000000000000000000000000:0000 0A 0\n"
    host = NodeCapture(
        {"grep x /proc/net/tcp6": Output(0, tcp6)},
        files={"/proc/net/route": route, "/proc/net/ipv6_route": route6, "/proc/net/tcp": tcp, "/other": tcp},
    )
    anonymous = hiding()
    made = anonymous.capture(host)
    assert isinstance(made, NodeCapture)
    assert digits("10.41.41.1") != bytes((10, 41, 41, 1))
    assert made.files["/proc/net/route"] == route.replace("0129290A", digits("10.41.41.1")[::-1].hex().upper())
    assert made.files["/proc/net/tcp"] == tcp.replace("0729290A", digits("10.41.41.7")[::-1].hex().upper())
    six = digits("2001:db8::29:1")
    assert six.hex() != "20010db8000000000000000000290001"
    assert made.files["/proc/net/ipv6_route"] == route6.replace("20010db8000000000000000000290001", six.hex())
    turned = b"".join(six[at : at + 4][::-1] for at in (0, 4, 8, 12)).hex().upper()
    (answer,) = made.commands.values()
    assert isinstance(answer, Output)
    assert answer.out == tcp6.replace("B80D0120000000000000000001002900", turned)
    assert made.files["/other"] == tcp, "eight digits are an address in the kernel's tables alone"


def is_address(reading: object) -> bool:
    """Whether a fact of another class than identity holds an address or an id, such as a time server or a boot id."""
    if not isinstance(reading, str):
        return False
    try:
        ipaddress.ip_address(reading)
    except ValueError:
        return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", reading) is not None
    return True


def test_anonymising_a_recording_changes_only_identifiers() -> None:
    probes = os_probes()
    changed = 0
    for place in ours():
        capture, _ = recorded(place)
        probe = probes[place.parent.name]
        plain = leaves(probe, capture)
        anonymous = hiding(together([of_capture(capture), of_facts(Tree(plain, {}))]))
        anonymised = anonymous.capture(capture)
        assert isinstance(anonymised, NodeCapture)
        made = leaves(probe, anonymised)
        assert plain.keys() == made.keys(), place
        for path, leaf in plain.items():
            last = path.rpartition(".")[2]
            if leaf.kind.cls is not Class.IDENTITY or (last in ALIKE and last != "port"):
                assert made[path].reading == leaf.reading or is_address(leaf.reading), (place, path)
            else:
                assert type(made[path].reading) is type(leaf.reading), (place, path)
                changed += made[path].reading != leaf.reading
    assert changed > 20


def test_a_version_that_looks_like_an_address_stays_where_it_is_known_to_be_one() -> None:
    found = Identities(alike=frozenset({"20.1.2.3", "02f6.3190.abcd"}))
    assert hiding(found).text("20.1.2.3 02f6.3190.abcd") == "20.1.2.3 02f6.3190.abcd"
    assert "20.1.2.3" not in hiding().text("20.1.2.3")
    body = BmcCapture({"/redfish/v1": {"MeVersion": "4.4.4.202", "Address": "4.4.4.203"}})
    (made,) = hiding(of_capture(body)).json([*body.bodies.values()])
    assert made["MeVersion"] == "4.4.4.202"
    assert made["Address"] != "4.4.4.203"


def test_people_and_places_of_a_body_are_hidden_whatever_they_are_called() -> None:
    body = {
        "AssetTag": "7", "UserName": "jdoe", "SerialNumber": 12345, "Model": "DGXH100",
        "Location": {"PostalAddress": {"Building": "12", "City": "Springfield"}, "Latitude": 12.5,
                     "PartLocation": {"ServiceLabel": "SXM1"}, "Contacts": [{"EmailAddress": "jo.doe@example.com"}]},
    }  # fmt: skip
    made = hiding().json(body)
    assert re.fullmatch("[0-9]", made["AssetTag"])
    assert made["AssetTag"] != "7"
    assert re.fullmatch("[a-z]{4}", made["UserName"])
    assert 10_000 <= made["SerialNumber"] <= 99_999
    assert made["SerialNumber"] != 12345
    assert made["Model"] == "DGXH100"
    where = made["Location"]
    assert where["PartLocation"] == {"ServiceLabel": "SXM1"}
    assert where["Latitude"] == 0
    assert not {"12", "Springfield"} & {*where["PostalAddress"].values()}
    assert re.fullmatch(r"[a-z]{2}\.[a-z]{3}@[a-z]{7}\.com", where["Contacts"][0]["EmailAddress"])
    assert "jo.doe" not in str(made)


def test_a_home_folder_is_nobodys() -> None:
    made = hiding().text("key=/home/jdoe/.ssh/id_ed25519 /root/x")
    assert re.fullmatch(r"key=/home/[a-z]{4}/\.ssh/id_ed25519 /root/x", made)
    assert "jdoe" not in made


def test_questions_and_globs_stay_and_files_that_a_glob_found_may_be_renamed() -> None:
    host = NodeCapture(
        commands={f"cat /x/{SERIAL}": Unknown(Reason.DENIED, "dgx01 says no")},
        globs={"/sys/class/net/*/address": None, "/dgx01": None},
        files={"/sys/class/net/enxa088c2000104/address": f"{MAC}\n", "/dgx01": "x"},
        refused={"/sys/class/net/dgx02/address": Unknown(Reason.DENIED, "of 10.1.2.3")},
    )
    made = hiding(of_capture(host)).capture(host)
    assert isinstance(made, NodeCapture)
    assert [*made.commands] == [f"cat /x/{SERIAL}"]
    assert made.commands[f"cat /x/{SERIAL}"] == Unknown(Reason.DENIED, "node1 says no")
    assert [*made.globs] == ["/sys/class/net/*/address", "/dgx01"]
    (name, content), (literal, _) = made.files.items()
    assert name == f"/sys/class/net/enx{content.strip().replace(':', '')}/address"
    assert literal == "/dgx01"
    assert [*made.refused] == ["/sys/class/net/node2/address"]


@given(st.text(max_size=200))
def test_any_text_can_be_read_and_lines_stay_lines(text: str) -> None:
    anonymous = hiding(learnt(f"serial: {SERIAL}\nserial: 4711\n", MAC))
    assert anonymous.text(text).count("\n") == text.count("\n")
    of_capture(NodeCapture(files={"/x": text}))


def test_a_host_that_a_device_is_described_by_is_hidden_as_any_other() -> None:
    found = together([named(["gpuhost77"]), Identities(alike=frozenset({"gpuhost77"}))])
    anonymous = Anonymous(["n01"], found, SALT, {"gpuhost77": "n01"})
    assert anonymous.text("gpuhost77\n") == "node1\n"
    assert anonymous.text("May 1 gpuhost77 kernel: up") == "May 1 node1 kernel: up"


@pytest.mark.parametrize(
    "line",
    [
        "mpt3sas_cm0: sas_addr(0x{})", "enclosure logical id(0x{})", "port wwpn {}", "naa.{}", "eui.{} up", "node_guid 0x{}",
        "nguid: {}",
    ],
)  # fmt: skip
def test_a_name_as_wide_as_the_world_is_hidden_however_it_is_introduced(line: str) -> None:
    text = line.format("500605b00f3b1b2c")
    made = hiding(learnt(text)).text(text)
    assert "500605b00f3b1b2c" not in made
    assert re.fullmatch(re.escape(line).replace(r"\{\}", "[0-9a-f]{16}"), made), made


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Vendor SN: MT2208X01234", "MT2208X01234"), ("S/N: MT2208X01234", "MT2208X01234"),
        ("Serial#: MT2208X01234", "MT2208X01234"), ('{"sn": "MT2208X01234"}', "MT2208X01234"),
        ("NodeName=rackhost9 Arch=x86_64", "rackhost9"), ("NodeAddr=rackhost9.pod", "rackhost9"),
        ("//filer7/jobs /jobs cifs rw 0 0", "filer7"), ("jo@filer7:/srv /srv fuse.sshfs rw 0 0", "filer7"),
        ("rd.iscsi.initiator=iqn.2004-10.com.ubuntu:01:4f7a9b3c", "4f7a9b3c"),
    ],
)  # fmt: skip
def test_serials_hosts_and_qualified_names_are_found_by_what_introduces_them(text: str, value: str) -> None:
    made = hiding(learnt(text + "\n")).text(text + "\n")
    assert value not in made
    assert len(made) == len(text) + 1


def test_identity_property_names_are_recognised_in_plural_and_short_forms() -> None:
    body = {
        "SerialNumbers": ["MT2208X01234"], "NVMeSerials": ["S6CSNA0T1"], "BoardSN": "1650000000001",
        "Mac": "B8599F112233", "MACAddresses": ["b8599f112234"], "Contact": {"Name": "x", "Info": "call Jo Doe"},
    }  # fmt: skip
    made = str(hiding().json(body))
    for value in ("MT2208X01234", "S6CSNA0T1", "1650000000001", "B8599F112233", "b8599f112234", "Jo Doe"):
        assert value not in made


def test_a_note_beside_a_property_is_nobodys_address() -> None:
    body = {"Members@odata.count": 2, "@odata.id": "/x", "Note": "ask jane.doe@example.org or Members@odata.count"}
    capture = BmcCapture({"/redfish/v1": body})
    made = Anonymous(["n1"], of_capture(capture), SALT).capture(capture)
    assert isinstance(made, BmcCapture)
    kept = made.bodies["/redfish/v1"]
    assert not isinstance(kept, Unknown)
    assert {"Members@odata.count", "@odata.id"} <= kept.keys()
    assert "jane" not in str(kept)
