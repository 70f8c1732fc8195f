"""Someone who sorts by what the page shows, in tests in a real browser."""

from __future__ import annotations

from typing import Any

from benchmarks.page.stage import keys_to_mark

SEEN = """() => {
  const root = document.querySelector(".question");
  const ids = (box) => [...box.querySelectorAll(".item")].map((one) => one.title);
  return root && !root.classList.contains("nothing") && {
    items: [...root.querySelectorAll(".subject .item, .items .item")].map((one) => one.title),
    groups: [...root.querySelectorAll(".one-group, .belonging")].map(ids),
    choices: [...root.querySelectorAll(".group-choice, .mark")]
      .map((one) => [one.dataset.choice, ids(one)]),
    marks: root.classList.contains("marks-odd") ? "odd"
      : root.classList.contains("marks-alike") ? "alike" : "",
  };
}"""
ANSWERED = ".question [aria-pressed=true], .question [aria-checked=true]"
COUNTED = "(n) => parseInt(document.querySelector('.progress span')?.innerText ?? '') === n"


class Person:
    """Answers by key presses, looking at one thing only, as the colour."""

    def __init__(self, kinds: dict[str, str]) -> None:
        self.kinds = kinds

    def choice(self, seen: dict[str, Any]) -> list[str]:
        if seen["marks"]:
            own, alike = self.kinds[seen["groups"][0][0]], seen["marks"] == "alike"
            fits = [(int(name), self.kinds[ids[0]] == own) for name, ids in seen["choices"]]
            marked = [number for number, same in fits if same == alike]
            return [*(key for number in marked for key in keys_to_mark(number)), "Enter"]
        if seen["choices"]:
            own = self.kinds[seen["items"][0]]
            fits = [name for name, ids in seen["choices"] if self.kinds[ids[0]] == own]
            return [fits[0] if fits else "0"]
        one, other = seen["groups"] or [[item] for item in seen["items"]]
        return ["y" if self.kinds[one[0]] == self.kinds[other[0]] else "n"]

    def answer(self, page: Any, answers: int) -> None:
        """Press what is true, and wait until the page counts so many answers."""
        page.wait_for_selector(".question .choice")
        for key in self.choice(page.evaluate(SEEN)):
            page.keyboard.press(key)
        page.wait_for_function(COUNTED, arg=answers)
