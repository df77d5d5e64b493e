"""A text as a QR code, drawn as SVG: so that a printed page leads back to the file it was printed from."""

import io

import segno


def svg(text: str) -> str:
    """Draw a text of at most some 1,200 bytes as one SVG element with its white margin; same text, same drawing.

    Error correction M survives a fold or a stamp. Raises segno.DataOverflowError on a longer text.
    """
    out = io.BytesIO()
    code = segno.make(text, error="m", boost_error=False, micro=False)
    code.save(
        out, kind="svg", xmldecl=False, svgns=True, omitsize=True, nl=False, border=4,
        dark="#000", light="#fff", svgclass=None, lineclass=None,
    )  # fmt: skip
    return out.getvalue().decode()
