"""Draws a text as a QR code in SVG, so that a printed page identifies the file it was printed from."""

import io

import segno


def svg(text: str) -> str:
    """Draw a text of up to about 1,200 bytes as one SVG element with a white margin; the drawing is deterministic.

    With error correction level M the code can be read despite a fold or a stamp. Raises segno.DataOverflowError if the
    text is too long.
    """
    out = io.BytesIO()
    code = segno.make(text, error="m", boost_error=False, micro=False)
    code.save(
        out, kind="svg", xmldecl=False, svgns=True, omitsize=True, nl=False, border=4,
        dark="#000", light="#fff", svgclass=None, lineclass=None,
    )  # fmt: skip
    return out.getvalue().decode()
