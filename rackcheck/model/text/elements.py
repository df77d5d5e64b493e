"""XML output of a tool, as plain elements: limited in size, depth and number, and without custom entities."""

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from rackcheck.model.fact import Reason, Unreadable, clean

MOST_CHARACTERS = 8 << 20
MOST_ELEMENTS = 200_000
MOST_DEPTH = 32
MOST_TEXT = 4096
_PIECE = 1 << 16


@dataclass(slots=True)
class Element:
    """One element: its text without surrounding white space, and its children by name."""

    name: str
    text: str = ""
    children: dict[str, list["Element"]] = field(default_factory=dict)

    def every(self, name: str) -> list["Element"]:
        """Return the children with a name, in document order."""
        return self.children.get(name, [])

    def only(self, name: str) -> "Element | None":
        """Return the only child with a name, None if there is none; raises Unreadable if there are several."""
        found = self.every(name)
        if len(found) > 1:
            raise Unreadable(f"{len(found)} elements {clean(name)!r} in {clean(self.name)!r}, expected 1")
        return found[0] if found else None


class _Builder:
    """Builds the elements from the callbacks of expat; attributes, comments and other XML constructs are left out."""

    def __init__(self) -> None:
        self.top = Element("")
        self.open = [self.top]
        self.elements = 0

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS or len(self.open) > MOST_DEPTH:
            raise Unreadable(f"more than {MOST_ELEMENTS} elements, or more than {MOST_DEPTH} levels of elements")
        parent, element = self.open[-1], Element(name)
        parent.text = parent.text.strip()
        parent.children.setdefault(name, []).append(element)
        self.open.append(element)

    def end(self, _name: str) -> None:
        element = self.open.pop()
        element.text = element.text.strip()

    def text(self, piece: str) -> None:
        element = self.open[-1]
        if element.text or not piece.isspace():  # expat may pass a text in several pieces, cut anywhere
            element.text += piece
            if len(element.text) > MOST_TEXT:
                raise Unreadable(f"more than {MOST_TEXT} characters in one {clean(element.name)!r}", Reason.TOO_LARGE)


def _refused(*_given: object) -> NoReturn:
    raise Unreadable("XML that declares or uses custom entities")


def _doctype(_name: str, _system: str | None, _public: str | None, has_internal_subset: bool) -> None:
    if has_internal_subset:  # external entities are never fetched; an internal subset could declare any entity
        _refused()


def elements(text: str) -> Element:
    """Parse a whole document and return its root; an element's text is all text outside its children, concatenated.

    Raises Unreadable if the document is cut, malformed or too large, or if it may declare or use custom entities.
    """
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"{len(text)} characters of XML, more than {MOST_CHARACTERS}", Reason.TOO_LARGE)
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")  # whatever encoding the document declares: it was decoded when it was read
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _doctype
    parser.SkippedEntityHandler = _refused
    try:
        for at in range(0, len(text), _PIECE):
            parser.Parse(text[at : at + _PIECE].encode("utf-8", "replace"), False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise Unreadable(f"not whole XML: {error}") from error
    (found,) = builder.top.children.values()
    return found[0]
