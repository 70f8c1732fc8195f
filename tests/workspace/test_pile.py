"""A request: what is chosen for the person, and what the ledger remembers of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from piles import clouds
from samekind.errors import InputError
from samekind.ledger.fold import last_header
from samekind.protocols import Event
from samekind.workspace.pile import Request


@pytest.fixture
def request_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    monkeypatch.setenv("SAMEKIND_HOME", str(tmp_path / "home"))
    np.save(tmp_path / "clouds.npy", clouds(40)[0])
    return Request(str(tmp_path / "clouds.npy"))


def opened(request: Request) -> tuple[Request, object]:
    request = request.remembered()
    return request, request.session(request.pile(request.items()), request.store()).clusterer


def test_a_session_opened_again_has_the_same_learner(request_of: Request) -> None:
    wish = replace(request_of, method="kmeans", parameters={"n_init": "2", "tol": ".5"})
    _, first = opened(wish)
    assert last_header(request_of.store(), "main")["settings"]["parameters"] == {
        "n_init": 2,
        "tol": 0.5,
    }
    again, second = opened(request_of)
    assert again.method == "kmeans" and again.parameters == {"n_init": 2, "tol": 0.5}
    assert second.get_params() == first.get_params()  # type: ignore[attr-defined]
    assert first.get_params()["n_init"] == 2  # type: ignore[attr-defined]
    more, third = opened(replace(request_of, parameters={"n_init": 3}))
    assert more.parameters == {"n_init": 3, "tol": 0.5}
    assert third.get_params()["tol"] == 0.5  # type: ignore[attr-defined]


def test_another_method_forgets_the_parameters_and_the_strategy(request_of: Request) -> None:
    opened(replace(request_of, method="kmeans", strategy="random", parameters={"n_init": 2}))
    kept, _ = opened(replace(request_of, method="kmeans"))
    assert kept.strategy == "random" and kept.parameters == {"n_init": 2}
    other, _ = opened(replace(request_of, method="pckmeans"))
    assert (other.method, other.strategy, other.parameters) == ("pckmeans", "minmax", {})


def test_parameters_of_another_version_are_left_out_with_a_notice(request_of: Request) -> None:
    opened(replace(request_of, method="kmeans", parameters={"n_init": 2}))
    header = last_header(request_of.store(), "main")
    settings = {**header["settings"], "parameters": {"n_init": 2, "n_tries": 3, "tol": "small"}}
    request_of.store().append("main", Event("opened", {**header, "settings": settings}, 0.0))
    said: list[str] = []
    again, _ = opened(replace(request_of, on_notice=said.append))
    assert again.parameters == {"n_init": 2}
    left_out = [words for words in said if "left out" in words]
    assert len(left_out) == 2 and "'n_tries'" in left_out[0] and "tol" in left_out[1]


def test_a_ledger_without_parameters_stays_as_it_was(request_of: Request) -> None:
    opened(request_of)
    settings = last_header(request_of.store(), "main")["settings"]
    assert settings == {"encoder": None, "method": "live", "strategy": "live", "groups": None}


def test_the_strategy_of_a_named_method_is_chosen_and_said_once(request_of: Request) -> None:
    said: list[str] = []
    wish = replace(request_of, method="cobras", on_notice=said.append)
    assert opened(wish)[0].strategy == "cobras"
    assert [words for words in said if "Strategy" in words] == ["Strategy: cobras, COBRAS's own."]
    said.clear()
    assert opened(replace(wish, method=None))[0].strategy == "cobras"
    opened(replace(request_of, orientation="other", on_notice=said.append))
    assert not [words for words in said if "Strategy" in words]


def test_wrong_parameters_fail_before_anything_is_read(request_of: Request) -> None:
    with pytest.raises(InputError, match=r"no parameter 'trust'\. Did you mean 'trusting'"):
        replace(request_of, path="nowhere.npy", parameters={"trust": True}).remembered()
    with pytest.raises(InputError, match="no parameter"):
        replace(request_of, path="nowhere.npy", parameters={"trust": True}).items()
