"""Names: given with an answer, to a kind in a list, or to a group; kept, undone and read again."""

from __future__ import annotations

import pytest

from at_once import just_before
from breeds import KINDS, breeds, until_all_groups
from samekind.errors import AnswerError, NameTaken
from samekind.ledger.store import MemoryStore
from samekind.questions import WhichGroup
from samekind.session import Session
from samekind.simulation.people import Truth


def next_question(session: Session, *, new: bool) -> tuple[int, WhichGroup]:
    """Answer truly until all groups are shown and the item is of a new kind, or is not."""
    while True:
        number, question = until_all_groups(session)
        choice = Truth(KINDS).answer(question)
        if (choice == "none") == new:
            return number, question
        session.tell(number, choice)


def test_a_group_is_started_and_named_in_one_act_that_is_undone_as_one() -> None:
    session = breeds(store := MemoryStore())
    number, question = next_question(session, new=True)
    session.tell(number, "none", name="  Beagles  and more ")
    session.tell(number, "none", name="Beagles and more")  # sent again
    assert session.naming.of_kind(question.item) == "Beagles and more"
    assert "Beagles and more" not in session.clustering.names.values()  # it has no group yet
    session.refit()
    group = int(session.clustering.labels[question.item])
    assert session.clustering.names[group] == "Beagles and more"
    again = breeds(store)
    assert again.clustering.names == session.clustering.names
    assert session.undo() == number
    assert session.naming.of_kind(question.item) == ""
    assert session.clustering.names == {}
    assert breeds(store).clustering.names == {}


def test_changing_the_answer_that_named_a_group_takes_the_name_back() -> None:
    session = breeds(MemoryStore())
    number, question = next_question(session, new=True)
    session.tell(number, "none", name="Beagles")
    session.edit(number, "1")
    assert session.naming.of_kind(question.item) == ""


def test_a_kind_is_named_by_one_of_its_items_and_the_later_name_counts() -> None:
    session = breeds(store := MemoryStore())
    number, question = next_question(session, new=False)
    session.tell(number, Truth(KINDS).answer(question))
    session.refit()
    first = question.groups[0][0]
    group = int(session.clustering.labels[first])
    session.naming.name_kind(first, "Hounds")
    session.catch_up()
    assert session.clustering.names == {group: "Hounds"}
    session.rename(group, "Dogs")
    assert session.clustering.names == {group: "Dogs"}
    assert {session.naming.of_kind(item) for item in question.groups[0]} == {"Dogs"}
    session.naming.name_kind(first, "")
    assert session.naming.of_kind(first) == ""
    assert breeds(store).clustering.names == {}


def test_a_name_is_refused_where_no_group_is_meant_or_another_group_has_it() -> None:
    session = breeds(MemoryStore())
    asked = session.ask()
    assert asked is not None
    for choice in ("none", "unsure"):
        with pytest.raises(AnswerError, match="Expected a name only with an answer that puts"):
            session.tell(asked.number, choice, name="Beagles")
    number, question = next_question(session, new=True)
    session.naming.name_kind(question.groups[2][0], "Beagles")
    with pytest.raises(AnswerError, match="There is a group 'Beagles' already"):
        session.tell(number, "none", name="beagles")
    session.tell(number, "none", name="Pugs")
    assert [a.number for a in session.answers][-1] == number


def test_of_two_servers_that_give_two_groups_one_name_the_second_is_refused() -> None:
    store = MemoryStore()
    here, there = breeds(store), breeds(store)
    first, second = here.clustering.numbers[:2]
    just_before(store, "named", lambda: there.rename(first, "hounds"))
    with pytest.raises(NameTaken, match="There is a group “Hounds” already"):
        here.naming.name_group(second, " Hounds ", free=True)
    here.catch_up()
    assert here.clustering.names == there.clustering.names | {first: "hounds"}
    here.rename(second, "hounds")  # a program may
    assert here.clustering.names == {first: "hounds", second: "hounds"}


def test_a_new_group_is_not_named_as_one_that_was_named_on_another_server_meanwhile() -> None:
    store = MemoryStore()
    here, there = breeds(store), breeds(store)
    number, question = next_question(here, new=True)
    there.catch_up()
    other = question.groups[2][0]
    just_before(store, "told", lambda: there.naming.name_kind(other, "Beagles"))
    with pytest.raises(AnswerError, match="There is a group 'Beagles' already"):
        here.tell(number, "none", name="beagles")
    assert number not in {answer.number for answer in here.answers}, "nothing was saved"
