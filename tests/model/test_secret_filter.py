"""Secrets are removed from all answers, in every form in which they may appear."""

import base64
import json
from urllib.parse import quote

from hypothesis import assume, given
from hypothesis import strategies as st

from rackcheck.model.secret_filter import SHORT, Hiding


@given(st.text(min_size=SHORT, max_size=40), st.text(max_size=8))
def test_no_form_of_a_secret_is_left(secret: str, user: str) -> None:
    assume(secret not in "(dropped)")
    hiding = Hiding(secret, user=user)
    once = json.dumps(secret)[1:-1]
    for form in (
        secret.encode(),
        once.encode(),
        json.dumps(once)[1:-1].encode(),
        json.dumps(secret, ensure_ascii=False)[1:-1].encode(),
        quote(secret, safe="").encode(),
        base64.b64encode(secret.encode()),
        base64.b64encode(f"{user}:{secret}".encode()),
    ):
        assert hiding.data(b"<" + form + b">") == b"<(dropped)>"


def escapes(text: str) -> st.SearchStrategy[str]:
    """A text as some JSON writer spells it: each character bare, or by its number."""

    def spelt(character: str) -> st.SearchStrategy[str]:
        units = character.encode("utf-16-be").hex()
        number = "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))
        bare = json.dumps(character, ensure_ascii=False)[1:-1]
        return st.sampled_from([bare, number, number.upper().replace("\\U", "\\u")])

    return st.tuples(*map(spelt, text)).map("".join)


@given(st.data(), st.text(st.characters(codec="utf-8"), min_size=SHORT, max_size=20))
def test_no_spelling_of_json_lets_a_secret_through(data: st.DataObject, secret: str) -> None:
    assume(secret not in "(dropped)")
    written = data.draw(escapes(secret))
    assert Hiding(secret).json(json.loads(f'{{"{written}": ["{written}"]}}')) == {"(dropped)": ["(dropped)"]}
    assert secret not in Hiding(secret).text(written + "\\")
    if "\\" in written:
        assert Hiding(secret).text(written) == "(dropped)"


def test_the_slash_of_php_and_the_ampersand_of_go_are_known() -> None:
    hiding = Hiding("S3cr&t/<pass>word")
    assert hiding.text('x "S3cr\\u0026t\\/\\u003cpass\\u003eword"') == 'x "(dropped)"'


def test_one_more_secret_is_hidden_beside_the_others() -> None:
    hiding = Hiding("calvin-calvin").also("a-token-of-theirs")
    assert hiding.text("calvin-calvin a-token-of-theirs") == "(dropped) (dropped)"
    assert hiding.also("a-token-of-theirs") is hiding


def test_words_too_short_to_be_recognisable_stay() -> None:
    assert Hiding("root", "").data(b"root of all") == b"root of all"
    assert Hiding("calvin").text("was calvin.") == "was (dropped)."
