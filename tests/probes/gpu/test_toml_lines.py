"""TOML with one value a line: values by table and key; values that span lines are not read."""

from hypothesis import given
from hypothesis import strategies as st

from rackcheck_probes.gpu.nvidia_container import values

SETTINGS = """\
#accept-nvidia-visible-devices-as-volume-mounts = false
accept-nvidia-visible-devices-envvar-when-unprivileged = true
supported-driver-capabilities = "compat32,compute,display"

[nvidia-container-cli]
no-cgroups = false # as root
environment = []
#debug = "/var/log/nvidia-container-toolkit.log"

[nvidia-container-runtime.modes.cdi] # by name
default-kind = 'nvidia.com'
  mode = "cdi"
"""


def test_a_key_stands_below_its_table_and_a_comment_sets_nothing() -> None:
    assert values(SETTINGS) == {
        "accept-nvidia-visible-devices-envvar-when-unprivileged": "true",
        "nvidia-container-cli.no-cgroups": "false",
        "nvidia-container-runtime.modes.cdi.default-kind": "nvidia.com",
        "nvidia-container-runtime.modes.cdi.mode": "cdi",
    }


def test_the_last_of_two_values_of_one_key_is_returned() -> None:
    assert values("a = 1\n[t]\na = 2\na = 3\n") == {"a": "1", "t.a": "3"}


def test_a_value_whose_quotes_do_not_match_is_left_out() -> None:
    assert values('a = "x\'\nb = \'y\nc = "z"\n') == {"c": "z"}


@given(st.text() | st.text(alphabet="[]ab.=\"' #\n\\0"))
def test_nonsense_gives_words_or_nothing(content: str) -> None:
    found = values(content)
    assert all(key and not set(value) & set("\"' #\n") for key, value in found.items())
    assert len(found) <= len(content.splitlines())
