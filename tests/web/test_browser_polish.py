"""Polishing in a real browser: which learner would train, and with which parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from browsing import Served, expect, fits_width, needs_browser
from places import ROOT
from samekind.simulation.loop import run
from samekind.simulation.people import Truth

AXE = ROOT / "page" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = needs_browser


@pytest.fixture
def form(served: Served, open_page: Callable[..., Any]) -> Any:
    """The form of an orientation with enough answers, on a phone."""
    assert served.workspace is not None
    session = served.workspace.session()
    run(session, Truth(np.arange(len(session.collection)) % 3), 14)
    return open_page(served, "/polish", ready=".polish-form", phone=True, is_mobile=False)


def test_the_learner_follows_the_method_and_its_parameters(form: Any) -> None:
    learner = form.locator(".learner")
    expect(learner).to_have_text("Trains: live, then gentle FixMatch")
    form.select_option("select[name=method]", "occ")
    expect(learner).to_have_text("Trains: OCC, repaired")
    expect(form.locator(".paper")).to_contain_text("arXiv 2211.00409")
    form.click("summary:has-text('Advanced')")
    form.select_option("select[name=profile]", "paper")
    expect(learner).to_have_text("Trains: OCC, from learnt features")
    form.select_option("select[name=profile]", "fast")
    expect(learner).to_have_text("Trains: SimCLR + head + FixMatch")
    form.fill("input[name=epochs]", "many")
    expect(form.locator(".advanced .notice")).to_contain_text("a number or none, got 'many'")
    expect(form.locator(".polish-form button")).to_be_disabled()
    form.fill("input[name=epochs]", "2")
    expect(form.locator(".polish-form button")).to_be_enabled()
    form.select_option("select[name=method]", "fixmatch")
    expect(learner).to_have_text("Trains: FixMatch, gentle")
    assert form.locator("input[name=epochs]").input_value() == "", "another method, other values"
    fits_width(form)


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: `make page` installs it")
def test_the_parameters_break_no_rule_of_accessibility(form: Any) -> None:
    form.select_option("select[name=method]", "pcl")
    form.click("summary:has-text('Advanced')")
    form.evaluate(AXE.read_text())
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
    found = form.evaluate(
        "rules => axe.run('.polish', {runOnly: {type: 'tag', values: rules}})", rules
    )
    assert found["passes"]
    assert [(one["id"], one["nodes"][0]["html"][:150]) for one in found["violations"]] == []
