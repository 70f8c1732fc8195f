"""Parameters of methods: which there are, and their values from text, from a file and in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from samekind.errors import InputError
from samekind.parameters import (
    Parameter,
    describe,
    parameters_of,
    parse_assignments,
    read_parameters,
)
from samekind.registry import find, make_method, own_strategy, registered, strategy_of

HERE = "test_parameters:Plain"


class Plain:
    """A method of somebody's own.

    Parameters
    ----------
    parts : number of parts. share : of the items,
        from 0 to 1.
    sides, weights : both of them.
    rule : ``near`` or ``far``, see :class:`~samekind.clustering.Clustering`.

    References
    ----------
    Somebody, A paper,
    Somewhere 2020.
    """

    strategy = "random"

    def __init__(
        self,
        parts: int = 3,
        share: float | None = None,
        sides: tuple[int, ...] = (1, 2),
        weights: str | Path | None = None,
        rule: Literal["near", "far"] = "near",
        fast: bool = False,
        other: Any = None,
        several: Sequence[str] = (),
    ) -> None:
        self.given = {"parts": parts, "share": share, "sides": sides, "rule": rule, "fast": fast}
        self.weights = weights

    def fit(self, X: Any) -> None: ...


def test_parameters_are_read_from_the_signature_and_the_docstring() -> None:
    found = parameters_of("method", HERE)
    assert list(found) == ["parts", "share", "sides", "weights", "rule", "fast"]
    assert {name: found[name].line for name in found} == {
        "parts": "number of parts.",
        "share": "of the items, from 0 to 1.",
        "sides": "both of them.",
        "weights": "both of them.",
        "rule": "near or far, see Clustering.",
        "fast": "",
    }
    assert found["rule"].choices == ("near", "far") and found["share"].optional
    assert found["sides"].default == (1, 2) and found["sides"].element is int


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("parts=4", 4),
        ("share=.5", 0.5),
        ("share=0.5", 0.5),
        ("share=1", 1),
        ("share=None", None),
        ("sides=3,4", (3, 4)),
        ("sides=[5]", (5,)),
        ("weights=a=b.safetensors", "a=b.safetensors"),
        ("weights=2024", "2024"),
        ("weights=none", None),
        ("rule=far", "far"),
        ("fast=true", True),
        ("fast=False", False),
    ],
)
def test_texts_become_values_of_the_right_type(
    word: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a=b.safetensors", "2024"):
        (tmp_path / name).touch()
    (read,) = read_parameters(HERE, parse_assignments([word])).values()
    assert read == value and type(read) is type(value)
    again = read_parameters(HERE, json.loads(json.dumps({word.partition("=")[0]: read})))
    assert list(again.values()) == [read], "the ledger keeps JSON"


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("parts=2.5", r"Expected parts to be a whole number, got 2\.5"),
        ("parts=true", "a whole number, got True"),
        ("parts=none", "a whole number, got 'none'"),
        ("share=half", "a number or none, got 'half'"),
        ("share=nan", "a number or none"),
        ("sides=3,x", "a list"),
        ("rule=middle", "near or far, got 'middle'"),
        ("fast=1", "true or false, got 1"),
        ("weights=[1]", "a file or none"),
        ("weights=gone", "a file or none, found no file at 'gone'"),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_is_expected(word: str, wanted: str) -> None:
    with pytest.raises(InputError, match=wanted):
        read_parameters(HERE, parse_assignments([word]))


def test_a_file_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w").touch()
    assert read_parameters(HERE, {"weights": "w"}, absolute=True) == {"weights": f"{tmp_path}/w"}
    assert read_parameters(HERE, {"weights": None}, absolute=True) == {"weights": None}


def test_an_unknown_parameter_is_refused_with_those_that_exist() -> None:
    with pytest.raises(InputError, match=r"no parameter 'part'. Did you mean 'parts'\?.*share"):
        read_parameters(HERE, {"part": 1})
    with pytest.raises(InputError, match="no parameter 'other'"):
        read_parameters(HERE, {"other": 1})  # no text can express it
    for word in ("parts", "=3"):
        with pytest.raises(InputError, match="NAME=VALUE"):
            parse_assignments([word])


def test_a_method_is_made_with_its_parameters() -> None:
    model = make_method(HERE, None, {"parts": 7, "sides": [1], "fast": "true"})
    assert model.given["parts"] == 7 and model.given["sides"] == (1,) and model.given["fast"]
    assert make_method("kmeans", 4, {"n_init": 2}).get_params()["n_init"] == 2
    with pytest.raises(InputError, match=r"number of groups once, got 4 groups.*n_clusters=3"):
        make_method("kmeans", 4, {"n_clusters": 3})


@pytest.mark.parametrize("kind", ["method", "strategy"])
def test_every_parameter_of_every_member_is_described(kind: str) -> None:
    for name in registered(kind):
        for parameter in parameters_of(kind, name).values():
            assert parameter.line, (name, parameter.name)
            if parameter.default is not None:
                assert parameter.read(parameter.default) == parameter.default, (name, parameter)
            else:
                assert parameter.optional, (name, parameter.name)
        json.dumps(describe(kind, name))


def test_what_a_method_adds_stands_before_what_all_deep_methods_have() -> None:
    names = list(parameters_of("method", "idc"))
    assert names.index("profile") < names.index("epochs") < names.index("n_clusters")
    assert {"monitor", "random_state"} & set(names) == set()
    assert parameters_of("method", "pcl")["profile"].default == "paper"


def test_a_description_names_strategy_and_paper() -> None:
    found = describe("method", HERE)
    assert found["strategy"] == "random" and found["strategy_words"] == "random, Plain's own"
    assert found["paper"] == "Somebody, A paper, Somewhere 2020."
    assert describe("method", "kmeans")["strategy_words"] == "live, the default"
    assert "strategy" not in describe("strategy", "pcl")


def test_methods_ask_the_questions_of_their_papers() -> None:
    own = {name: own_strategy(name) for name in registered("method")}
    assert {name: strategy for name, strategy in own.items() if strategy} == {
        "pckmeans": "minmax",
        "cobra": "cobra",
        "cobras": "cobras",
        "pcl": "pcl",
        "occ": "csd",
        "idc": "value",
        "ncp": "posterior",
        "ncp-graph": "posterior",
    }
    for name in registered("method"):
        find("strategy", strategy_of(name))
    assert strategy_of("live") == strategy_of("dcc") == "live"


def test_a_parameter_with_one_choice_reads_well() -> None:
    assert Parameter("a", (str,), "x", choices=("x",)).words == "x"
    assert Parameter("a", (str,), "x", choices=("x", "y"), optional=True).words == "x, y or none"
