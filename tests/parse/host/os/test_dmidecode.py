"""The structures of dmidecode's output: whole tables, odd words, hostile ones."""

import pytest
from recordings import shared_text

from rackcheck.model.fact import Reason, Unknown, Unreadable
from rackcheck.parse.host.os import dmidecode

END = "Handle 0x0090, DMI type 127, 4 bytes\nEnd Of Table\n\n"


def structure(*rows: str, handle: str = "0x0040") -> dmidecode.Structure:
    body = "".join(f"\t{row}\n" for row in rows)
    return dmidecode.structures(f"Handle {handle}, DMI type 17, 40 bytes\nMemory Device\n{body}\n{END}")[0]


@pytest.mark.parametrize(
    ("recording", "modules"),
    [("asrock-e3c246", 4), ("dell-c4140", 24), ("supermicro-as-4124gs-tnr", 32), ("vm-centos77", 128)],
)
def test_every_structure_of_a_recorded_table_is_read(recording: str, modules: int) -> None:
    text = shared_text(f"memory/dmidecode-{recording}.txt")
    found = dmidecode.structures(text)
    assert len(found) == text.count("\nHandle 0x")
    assert sum(s.kind == 17 for s in found) == modules
    assert found[-1].kind == dmidecode.END_OF_TABLE


def test_a_list_below_a_field_is_read_and_belongs_to_that_field() -> None:
    found = structure("Characteristics:", "\tACPI is supported", "\tUEFI is supported", "BIOS Revision: 5.14")
    assert found.lists == {"Characteristics": ("ACPI is supported", "UEFI is supported")}
    assert found.fields["BIOS Revision"] == "5.14"


def test_the_first_of_two_fields_of_one_name_counts() -> None:
    assert structure("Size: 32 GB", "Size: 64 GB").fields["Size"] == "32 GB"


def test_a_value_may_hold_a_colon_and_what_looks_like_a_handle() -> None:
    found = structure("Locator: Handle 0x0001, DMI type 17, 40 bytes", "Bus Address: 0000:e1:00.0")
    assert found.text("Locator") == "Handle 0x0001, DMI type 17, 40 bytes"
    assert found.text("Bus Address") == "0000:e1:00.0"


@pytest.mark.parametrize("word", [*sorted(dmidecode.BLANK), "x16 <OUT OF SPEC>", "UNKNOWN"])
def test_a_word_for_nothing_is_not_known(word: str) -> None:
    reading = structure(f"Rank: {word}").count("Rank")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.NOT_COLLECTED


def test_a_field_that_is_not_there_is_not_known() -> None:
    assert structure("Size: 1 GB").text("Rank") == Unknown(Reason.NOT_COLLECTED, "dmidecode 0x0040: no Rank")


def test_a_field_that_is_no_number_is_unparsable_with_its_handle() -> None:
    reading = structure("Rank: two").count("Rank")
    assert isinstance(reading, Unknown)
    assert reading.reason is Reason.UNPARSABLE
    assert "0x0040" in reading.detail


@pytest.mark.parametrize(
    ("text", "size"),
    [("32 GB", 32), ("16384 MB", 16), ("4 TB", 4096), ("64 kB", 2**-14), ("88944 bytes", 88944 / 2**30)],
)
def test_a_size_counts_in_powers_of_1024(text: str, size: float) -> None:
    assert dmidecode.gibibytes(text) == size


@pytest.mark.parametrize("text", ["32", "GB", "32 GiB", "32  GB", "-", "1.5 GB", "9" * 40 + " GB"])
def test_what_is_no_size_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        dmidecode.gibibytes(text)


def test_a_number_of_another_unit_is_unreadable() -> None:
    with pytest.raises(Unreadable, match=r"not a number of MT/s"):
        dmidecode.measured("MT/s", "MHz")("2666 ns")


@pytest.mark.parametrize(
    "text", ["", "\n", "# dmidecode 3.3\n", "Handle 0x0001, DMI type 17, 40 bytes\nMemory Device\n\n"]
)
def test_a_table_without_its_end_is_not_whole(text: str) -> None:
    with pytest.raises(Unreadable, match="no End Of Table"):
        dmidecode.structures(text)


def test_a_table_that_goes_on_after_its_end_is_not_whole() -> None:
    with pytest.raises(Unreadable, match="no End Of Table"):
        dmidecode.structures(f"{END}Handle 0x0091, DMI type 17, 40 bytes\nMemory Device\n\n")


def slots(*names: tuple[str, str]) -> list[dmidecode.Structure]:
    return [structure(f"Locator: {a}", f"Bank Locator: {b}", handle=f"0x{n:04X}") for n, (a, b) in enumerate(names)]


def keys(*names: tuple[str, str]) -> list[str]:
    return [name for name, _ in dmidecode.named(slots(*names), "Locator", "Bank Locator")]


def test_names_that_repeat_take_the_bank_along_and_at_last_the_handle() -> None:
    assert keys(("A1", "NODE 0"), ("A2", "NODE 0")) == ["A1", "A2"]
    assert keys(("DIMM 0", "P0 A"), ("DIMM 0", "P0 B")) == ["P0 A DIMM 0", "P0 B DIMM 0"]
    assert keys(("DIMM 0", "BANK 0"), ("DIMM 0", "BANK 0")) == ["DIMM 0 0x0000", "DIMM 0 0x0001"]
    assert keys(("Not Specified", "Unknown")) == ["0x0000"]


def test_a_table_of_four_megabytes_is_read_line_by_line() -> None:
    slot = "Handle 0x0040, DMI type 17, 40 bytes\nMemory Device\n\tLocator: A\n\n"
    found = dmidecode.structures(slot * (4_000_000 // len(slot)) + END)
    assert len(found) == 4_000_000 // len(slot) + 1
    assert len({name for name, _ in dmidecode.named(list(found), "Locator")}) == 2
