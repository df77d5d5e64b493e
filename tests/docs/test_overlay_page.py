"""What `docs/guide/profiles.md` shows for one profile over another is what rackcheck prints for the same files."""

import re
from pathlib import Path

import pytest
from command import rackcheck
from places import ROOT

PAGE = ROOT / "docs" / "guide" / "profiles.md"
FORM = r"^```yaml\n((?:(?!```).)*)^```\n\n {4}rackcheck (profile diff [^\n]*)\n\n```text\n((?:(?!```).)*)^```$"
SECTION = PAGE.read_text(encoding="utf-8").partition("## One profile over another\n")[2].partition("\n## ")[0]
EXAMPLES = re.findall(FORM, SECTION, re.MULTILINE | re.DOTALL)


def test_every_kind_of_overlay_has_its_example() -> None:
    files = "".join(example[0] for example in EXAMPLES)
    assert len(EXAMPLES) == 6
    assert all(word in files for word in ("at-most:", "fact:", "any:", "drop:", "params:", "include:"))


@pytest.mark.parametrize(("file", "words", "text"), EXAMPLES)
def test_an_overlay_of_the_page_behaves_as_the_page_states(
    file: str, words: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.yaml").write_text(file)
    done = rackcheck(*words.split())
    assert done.status == 1, done.err
    assert done.out.split("\n", 2)[2] == text, "after the two lines that name A and B"
