"""The error for a node that is not in the inventory names the nearest one, or those in it."""

from pathlib import Path

import pytest

from rackcheck import inventory
from rackcheck.base.user_error import UserError


@pytest.mark.parametrize(
    ("named", "text"),
    [
        ("n1", "no node n1 in {file}; it has dgx[01-18],head"),
        ("heat", "no node heat in {file}; did you mean head?"),
        ("@role:login,n1", "no node n1 in {file}; it has dgx[01-18],head"),
    ],
)
def test_a_missing_node_is_reported_with_those_that_exist(tmp_path: Path, named: str, text: str) -> None:
    file = tmp_path / "i.yaml"
    file.write_text('rackcheck: 1\nnodes: { "dgx[01-18]": { host: x }, head: { host: y, role: login } }\n')
    with pytest.raises(UserError) as error:
        inventory.choose([named], file)
    assert str(error.value) == text.format(file=file)


def test_nodes_whose_names_do_not_fold_do_not_fill_the_screen(tmp_path: Path) -> None:
    file = tmp_path / "i.yaml"
    names = ", ".join(f'"{"abcdefghij"[n % 10] * (n // 10 + 3)}": {{ host: x }}' for n in range(200))
    file.write_text(f"rackcheck: 1\nnodes: {{ {names} }}\n")
    with pytest.raises(UserError) as error:
        inventory.choose(["0-0"], file)
    assert len(str(error.value)) < 300 + len(str(file))
