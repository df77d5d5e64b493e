"""Recorded and made-up outputs of lspci."""

from recordings import shared_text

from rackcheck.parse.host.pcie import lspci
from rackcheck.parse.host.pcie.lspci import PciFunction


def recorded(name: str) -> dict[str, PciFunction]:
    """A recording with the end of lspci's output: some recordings lack the last empty line."""
    text = shared_text(f"pcie/lspci-vvvx-cap-{name}.txt").rstrip("\n")
    return {function.address: function for function in lspci.functions(f"{text}\n\n")}


ROOT_PORT = """\
0000:15:01.0 PCI bridge [0604]: Intel Corporation Device [8086:352a] (rev 04) (prog-if 00 [Normal decode])
\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- DisINTx-
\tStatus: Cap+ 66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-
\tCapabilities: {}
\tKernel driver in use: pcieport

"""


def capable(*lines: str, title: str = "Express (v2) Endpoint, MSI 00") -> PciFunction:
    """A function with one capability that has these lines."""
    body = "".join(f"\n\t\t{line}" for line in lines)
    (found,) = lspci.functions(ROOT_PORT.format(f"[40] {title}{body}"))
    return found
