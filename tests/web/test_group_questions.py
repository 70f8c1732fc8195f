"""Questions about groups through HTTP: their fields, and the choices that they accept."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from samekind.workspace.workspace import Workspace

pytestmark = pytest.mark.parametrize("workspace", ["about groups"], indirect=True)


def asked(client: TestClient) -> dict[str, Any]:
    return dict(client.get("/api/question").json()["question"])


def tell(client: TestClient, choice: str) -> Any:
    return client.post("/api/answers", json={"number": asked(client)["number"], "choice": choice})


def test_two_groups_come_apart_and_also_as_one_list(client: TestClient) -> None:
    question = asked(client)
    assert (question["kind"], question["many"]) == ("same-groups", False)
    assert [len(part) for part in question["parts"]] == [5, 3]
    assert question["items"] == [item for part in question["parts"] for item in part]
    assert [choice["value"] for choice in question["choices"]] == ["same", "different", "unsure"]
    assert tell(client, "same").status_code == 200


def test_doubtful_items_come_with_their_numbers_and_keys(client: TestClient) -> None:
    tell(client, "unsure")
    question = asked(client)
    assert (question["kind"], question["many"]) == ("odd-ones", True)
    assert [len(part) for part in question["parts"]] == [5]
    choices = question["choices"]
    assert [choice["value"] for choice in choices] == ["none", *map(str, range(1, 13)), "unsure"]
    assert [choice["keys"][0] for choice in choices] == ["Enter", *"1234567890-=", "u"]
    assert [len(choice["exemplars"]) for choice in choices] == [0, *[1] * 12, 0]
    assert choices[0]["label"] == "All belong"
    assert question["prompt"] == "These look like this group. Tap those that are not."
    assert question["marking"] == {
        "belong": False, "word": "is not", "one": "1 is not", "several": "{} are not",
    }  # fmt: skip


@pytest.mark.parametrize("choice", ["2,5", "12", "none", "1,2,3,4,5,6,7,8,9,10,11,12", "unsure"])
def test_several_are_named_in_one_answer(client: TestClient, choice: str) -> None:
    tell(client, "unsure")
    reply = tell(client, choice)
    assert reply.status_code == 200, reply.text
    (told, _) = client.get("/api/answers").json()["answers"]
    assert told["choice"] == choice
    again = client.post("/api/answers", json={"number": told["number"], "choice": choice})
    assert again.json()["now"]["progress"]["answers"] == 2, "sent twice, it counts once"


def test_an_answer_is_listed_with_its_choices_and_can_be_changed(client: TestClient) -> None:
    tell(client, "unsure")
    tell(client, "2,5")
    (told, _) = client.get("/api/answers").json()["answers"]
    assert told["label"] == "2 are not"
    changed = client.put(f"/api/answers/{told['number']}", json={"choice": "none"})
    assert changed.status_code == 200
    assert client.get("/api/answers").json()["answers"][0]["label"] == "All belong"


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("5,2", "Name each number once, in ascending order, with commas and no spaces: '2,5'."),
        ("2,13", "Expected numbers from 1 to 12, got 13."),
        ("same", "join several numbers by commas, as in '1,2'."),
    ],
)
def test_an_invalid_choice_gets_the_usual_error(
    client: TestClient, choice: str, message: str
) -> None:
    tell(client, "unsure")
    reply = tell(client, choice)
    assert reply.status_code == 422
    assert reply.json()["error"]["type"] == "AnswerError"
    assert reply.json()["error"]["message"].endswith(message)
    assert client.get("/api/progress").json()["answers"] == 1


def test_the_prompt_of_a_grid_names_its_group(workspace: Workspace, client: TestClient) -> None:
    tell(client, "unsure")
    session = workspace.session()
    group = asked(client)["parts"][0]
    label = int(session.clustering.labels[session.positions(group[0]["id"])])
    session.rename(label, "Stars")
    assert asked(client)["prompt"] == "These look like “Stars”. Tap those that are not."
    tell(client, "1")
    (told, _) = client.get("/api/answers").json()["answers"]
    assert told["question"]["prompt"] == "Which of these do not belong?"
    assert told["label"] == "1 is not"
