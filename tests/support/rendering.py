"""Documents rendered in each format."""

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, get_args, get_origin

from hypothesis import strategies as st

from rackcheck.report import annex, junit, markdown, record
from rackcheck.report.record_schema import FORMS, optional, shapes
from rackcheck.report.report_model import Dossier


def rendered(dossier: Dossier) -> dict[str, str]:
    """Every machine-readable rendering, by name."""
    text = record.text(dossier)
    digest = record.digest(text)
    found = {"report.json": text, "junit.xml": junit.text(dossier, digest), "report.md": markdown.text(dossier, digest)}
    return {**found, **annex.files(dossier)}


# JSON has one spelling for a surrogate pair and for the character that it encodes.
TEXTS = st.text(st.characters(), max_size=8).map(lambda text: str(json.loads(json.dumps(text))))


def built(shape: Any) -> st.SearchStrategy[Any]:
    """Values of a type of the model, generated from the type alone."""
    inner = optional(shape)
    if inner is not None:
        return st.none() | built(inner)
    if is_dataclass(shape):
        assert isinstance(shape, type)
        fields: dict[str, st.SearchStrategy[Any]] = {}
        for name, held in shapes(shape).items():
            form = FORMS.get((shape, name))
            fields[name] = built(held) if form is None else st.from_regex(form.replace("$", r"\Z"))
        return st.builds(shape, **fields)
    if get_origin(shape) is tuple:
        args = get_args(shape)
        return st.lists(built(args[0]), max_size=2).map(tuple) if args[-1] is ... else st.tuples(*map(built, args))
    if get_origin(shape) is Mapping:
        return st.dictionaries(*map(built, get_args(shape)), max_size=2)
    if issubclass(shape, Enum):
        return st.sampled_from(list(shape))
    plain: dict[type, st.SearchStrategy[Any]] = {
        str: TEXTS, int: st.integers(-9, 1 << 40), bool: st.booleans(), bytes: st.binary(max_size=5)
    }  # fmt: skip
    return plain[shape]


DOSSIERS: st.SearchStrategy[Dossier] = built(Dossier)
