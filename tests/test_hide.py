"""What was told in confidence is taken out of whatever comes back, in every form in which it may come."""

import base64
import json
from urllib.parse import quote

from hypothesis import assume, given
from hypothesis import strategies as st

from rackcheck.core.hide import SHORT, Hiding


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


def test_words_too_short_to_be_told_from_others_stay() -> None:
    assert Hiding("root", "").data(b"root of all") == b"root of all"
    assert Hiding("calvin").text("was calvin.") == "was (dropped)."
