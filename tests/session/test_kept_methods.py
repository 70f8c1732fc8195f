"""What a ledger keeps of a method, so that a session that is opened again goes on with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import samekind
from piles import clouds
from samekind import KMeans, Live
from samekind.session import Session

X = clouds(60)[0]


@pytest.mark.parametrize("count", [np.int64(3), np.int8(3), np.uint32(3)], ids=repr)
def test_a_number_of_groups_from_numpy_is_kept_in_the_ledger(tmp_path: Path, count: Any) -> None:
    begun = (
        samekind.group(X, n_groups=count).session,
        Session(X, clusterer=Live(count)),
        Session(X, clusterer=KMeans(n_clusters=count)),
    )
    for session in begun:
        assert session.settings["parameters"] == {"n_clusters": 3}
        session.save(tmp_path / "a.session")
        for again in (Session.load(tmp_path / "a.session"), Session(X, store=session.store)):
            assert again.clusterer.get_params()["n_clusters"] == 3
            assert np.array_equal(again.labels, session.labels)
