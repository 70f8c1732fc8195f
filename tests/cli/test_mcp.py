"""``samekind mcp``: agents answer questions and read groups, under a name of their own."""

# ruff: noqa: F811 (fixtures are imported by their names)

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import samekind
from command_line import Cli, cli, photos, table  # noqa: F401
from samekind.cli.mcp import TOOLS, VERSIONS, serve_lines
from samekind.errors import InputError
from samekind.workspace.agent import Agent

Call = Callable[..., Any]


def exchanged(agent: Agent, *messages: Any) -> list[dict[str, Any]]:
    """What the server writes for these messages; texts are sent as they are."""
    out = io.StringIO()
    lines = [each if isinstance(each, str) else json.dumps(each) for each in messages]
    serve_lines(agent, [f"{line}\n" for line in lines], out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def request(method: str, id: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


@pytest.fixture
def agent() -> Agent:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) + 9 * (np.arange(30) % 3)[:, None]
    return Agent(samekind.Session(X), "robot")


@pytest.fixture
def call(agent: Agent) -> Call:
    def run(name: str, /, **arguments: Any) -> Any:
        (reply,) = exchanged(agent, request("tools/call", name=name, arguments=arguments))
        return reply["result"]

    return run


def test_a_client_connects_and_sees_the_tools(agent: Agent) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c"}}
    replies = exchanged(
        agent,
        request("initialize", **hello),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request("ping", 2),
        request("tools/list", 3),
        request("initialize", 4, protocolVersion="1999-01-01"),
    )
    assert [reply["id"] for reply in replies] == [1, 2, 3, 4], "notifications have no reply"
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    begun = replies[0]["result"]
    assert begun["protocolVersion"] == "2025-06-18" and "tools" in begun["capabilities"]
    assert replies[3]["result"]["protocolVersion"] == VERSIONS[0]
    tools = {tool["name"]: tool for tool in replies[2]["result"]["tools"]}
    assert tools.keys() == TOOLS.keys()
    assert all(hasattr(agent, name) for name in tools)
    assert tools["answer"]["inputSchema"]["required"] == ["number", "choice"]
    assert tools["groups"]["annotations"]["readOnlyHint"] is True


def test_answers_go_to_the_ledger_under_the_name_of_the_agent(agent: Agent, call: Call) -> None:
    shown = call("next_question")["structuredContent"]["question"]
    assert shown["items"] and {"value", "label"} <= shown["choices"][0].keys()
    after = call("answer", number=shown["number"], choice="none")
    assert after["isError"] is False
    assert after["structuredContent"]["question"]["number"] != shown["number"]
    (answer,) = agent.session.answers
    assert (answer.by, answer.choice) == ("robot", "none")
    again = call("undo")["structuredContent"]
    assert again["answers"] == 0 and agent.session.answers == ()
    assert call("undo")["isError"] is True, "it can take back only its own answers"


def test_groups_are_read_and_named(agent: Agent, call: Call) -> None:
    groups = call("groups")["structuredContent"]["groups"]
    assert sum(group["size"] for group in groups) == 30
    first = groups[0]["number"]
    listed = call("members", group=first, limit=2)["structuredContent"]
    assert listed["size"] == groups[0]["size"] and len(listed["items"]) == 2
    assert call("item", id=listed["items"][0])["structuredContent"]["group"]["number"] == first
    named = call("name_group", group=first, name="Stars")["structuredContent"]["groups"]
    assert named[0]["name"] == "Stars" and agent.session.groups[first] == "Stars"


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("answer", {"number": 1}, "'choice'"),
        ("answer", {"number": "1", "choice": "none"}, "Expected int as 'number'"),
        ("answer", {"number": 1, "choice": "none", "path": "x"}, "Unknown argument 'path'"),
        ("answer", {"number": 999, "choice": "none"}, "no question 999"),
        ("members", {"group": 99}, "no group 99"),
        ("members", {"group": 1, "limit": 10_000}, "limit from 1 to 200"),
        ("item", {"id": "../etc/passwd"}, "no item"),
    ],
)
def test_a_mistake_is_a_result_that_the_agent_can_read(
    call: Call, agent: Agent, name: str, arguments: dict[str, Any], words: str
) -> None:
    result = call(name, **arguments)
    assert result["isError"] is True and words in result["content"][0]["text"]
    assert agent.session.answers == ()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{broken", -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ('{"id": 1}', -32600),
        (request("resources/list"), -32601),
        (request("tools/call", name="rm"), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}, -32602),
    ],
)
def test_what_is_no_message_is_refused_and_the_next_one_is_answered(
    agent: Agent, message: Any, code: int
) -> None:
    refused, fine = exchanged(agent, message, request("ping", 7))
    assert refused["error"]["code"] == code and refused["error"]["message"]
    assert fine == {"jsonrpc": "2.0", "id": 7, "result": {}}


def test_pictures_are_sent_and_nothing_but_messages_is_on_standard_output(
    cli: Cli, photos: Path
) -> None:
    typed = "".join(
        json.dumps(each) + "\n"
        for each in (request("next_question"), request("tools/call", name="next_question"))
    )
    done = cli("mcp", photos, "--by", "my-agent", "--encoder", "pixels", typed=typed)
    assert done.code == 0, done.err
    _, reply = [json.loads(line) for line in done.out.splitlines()]
    pictures = [part for part in reply["result"]["content"] if part["type"] == "image"]
    assert pictures and base64.b64decode(pictures[0]["data"]).startswith(b"\x89PNG")
    assert pictures[0]["mimeType"] == "image/png"


def test_an_agent_has_a_name() -> None:
    with pytest.raises(InputError, match="name of 1 to 60"):
        Agent(samekind.Session(np.random.default_rng(0).normal(size=(9, 2))), "two\nlines")


def test_how_often_a_model_errs_is_learnt_under_its_name() -> None:
    X, kind = make_blobs(n_samples=120, centers=4, n_features=6, random_state=0)
    rng = np.random.default_rng(0)
    given = []

    class Model:
        by = "vision model"

        def answer(self, question: Any) -> str:
            right: str = question.truthful(lambda i, j: bool(kind[i] == kind[j]))
            others = [c for c in question.choices() if c not in (right, "none", "unsure")]
            wrong = bool(others) and rng.random() < 0.25
            given.append(wrong)
            return str(rng.choice(others)) if wrong else right

    found = samekind.group(X, answer=Model(), questions=50)
    assert found.report.people == {"vision model": 50}
    assert 0.15 < np.mean(given) < 0.35
    assert abs(found.report.errors["vision model"] - np.mean(given)) < 0.1
