"""The guides to the JSON API show what the server sends and takes."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from documented import DOCUMENTS, blocks
from places import ROOT
from samekind.strategies.placement.placement import Placement
from samekind.workspace.workspace import Workspace

PAGE = ROOT / "docs" / "how-to" / "own-page.md"


def shown(language: str) -> list[str]:
    return [block.text for block in blocks(PAGE) if block.language == language]


def calls(page: Path) -> list[tuple[str, Any]]:
    """The calls of curl on a page."""
    lines = [line for block in blocks(page) for line in block.commands()]
    return [asked(line) for line in lines if line.startswith("curl")]


def asked(command: str) -> tuple[str, Any]:
    """The path and the data of a call of curl."""
    words = shlex.split(command)
    assert words[0] == "curl"
    path = next(word.partition("8765")[2] for word in words if word.startswith("localhost"))
    return path, json.loads(words[words.index("-d") + 1]) if "-d" in words else None


def missing(documented: Any, sent: Any, place: str = "") -> list[str]:
    """Return the keys that are documented but not sent; ``...`` stands for more."""
    if isinstance(documented, list) and isinstance(sent, list) and documented and sent:
        return missing(documented[0], sent[0], f"{place}[0]")
    if not (isinstance(documented, dict) and isinstance(sent, dict)):
        return []
    keys = [key for key in documented if key != "..."]
    lost = [f"{place}.{key}" for key in keys if key not in sent]
    deeper = [missing(documented[key], sent[key], f"{place}.{key}") for key in keys if key in sent]
    return lost + [name for names in deeper for name in names]


@pytest.fixture
def client(
    make_workspace: Callable[..., Workspace], client_for: Callable[[Workspace], TestClient]
) -> TestClient:
    return client_for(make_workspace(strategy=Placement()))


def test_the_json_of_a_page_of_your_own_is_what_the_server_sends(client: TestClient) -> None:
    ask, answer = calls(PAGE)
    documented, refused = (json.loads(text) for text in shown("json"))
    sent = client.get(ask[0]).json()
    assert missing(documented, sent) == []
    assert sent["question"]["kind"] == documented["question"]["kind"]
    number = sent["question"]["number"]
    replied = client.post(answer[0], json={**answer[1], "number": number})
    assert replied.status_code == 200, replied.text
    assert missing(documented, replied.json()["now"]) == []
    assert replied.json()["now"]["question"]["number"] != number
    wrong = client.post(answer[0], json={"number": number + 1, "choice": "yes"}).json()
    assert missing(refused, wrong) == []
    assert wrong["error"]["type"] == refused["error"]["type"]


def test_the_calls_of_every_guide_work(client: TestClient) -> None:
    """A question is asked before it is answered, on each page, in the order of its calls."""
    pages = [path for path in DOCUMENTS if calls(path)]
    assert {page.stem for page in pages} >= {"own-page", "agents"}
    for page in pages:
        number = 0
        for path, data in calls(page):
            if data is None:
                reply = client.get(path)
                number = (reply.json().get("question") or {}).get("number", number)
            else:
                reply = client.post(path, json={**data, "number": number})
            assert reply.status_code == 200, f"{page.name}: {path}: {reply.text}"


def test_every_route_of_the_guide_exists(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()["paths"]
    rows = re.findall(r"^\| (`(?:GET|POST|PUT|DELETE) .*?) \|", PAGE.read_text(), flags=re.M)
    named = [route for row in rows for route in re.findall(r"`([A-Z]+) (\S+?)(?:\?\S*)?`", row)]
    assert len(named) > 20
    for method, path in named:
        anonymous = re.sub(r"\{\w+\}", "{}", path)
        known = {re.sub(r"\{\w+\}", "{}", each): each for each in described}
        assert path == "/api/openapi.json" or method.lower() in described[known[anonymous]], path
