"""Parameters of methods and strategies: which there are, and their values from text or a file."""

from __future__ import annotations

import inspect
import math
import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from samekind.errors import InputError, did_you_mean
from samekind.registry import find, first_line, strategy_of, strategy_words
from samekind.user_paths import expanded, is_regular_file

KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    tuple: "a list",
}
"""Types of value that a text can express, in words."""
NONE = ("none", "null")
"""Texts that mean None, in any case of letters."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a constructor that a text can express.

    Parameters
    ----------
    kinds : types of its values, of :data:`KINDS`. choices : all values, if it takes only some.
    optional : whether it can be None. file : whether it is the path of a file that has to exist.
    line : its description in the docstring.
    """

    name: str
    kinds: tuple[type, ...]
    default: Any
    choices: tuple[Any, ...] = ()
    optional: bool = False
    element: type = str
    line: str = ""
    file: bool = False

    @property
    def words(self) -> str:
        """The values that it takes, in words.

        >>> Parameter("epochs", (int,), None, optional=True).words
        'a whole number or none'
        """
        kinds = ["a file"] if self.file else [KINDS[kind] for kind in self.kinds]
        found = [str(choice) for choice in self.choices] or kinds
        found += ["none"] if self.optional else []
        return " or ".join([*([", ".join(found[:-1])] if found[1:] else []), found[-1]])

    def read(self, given: Any) -> Any:
        """Return a value, given as text or as in a file, in the type of the parameter.

        >>> Parameter("rate", (float,), 0.1).read(1), Parameter("start", (str,), "").read(2024)
        (1, '2024')
        """
        if self.optional and (given is None or str(given).lower() in NONE):
            return None
        if self.choices:
            if given in self.choices:
                return given
            raise self._unusable(given)
        for kind in self.kinds:
            value = _converted(given, kind, self.element)
            if value is not None:
                return self._found(value) if self.file else value
        raise self._unusable(given)

    def _found(self, value: str) -> str:
        """Return the path of a file that exists, also one that begins with ~."""
        path = expanded(value)
        if not is_regular_file(path, InputError):
            raise InputError(
                f"Expected {self.name} to be {self.words}, found no file at {value!r}. Check the "
                "path."
            )
        return str(path)

    def as_json(self) -> dict[str, Any]:
        """Return everything about it as plain JSON."""
        default = list(self.default) if isinstance(self.default, tuple) else self.default
        return {
            "name": self.name,
            "type": "choice" if self.choices else self.kinds[0].__name__,
            "words": self.words,
            "optional": self.optional,
            "choices": list(self.choices),
            "default": default,
            "line": self.line,
        }

    def _unusable(self, given: Any) -> InputError:
        return InputError(f"Expected {self.name} to be {self.words}, got {given!r}.")


def parse_assignments(words: Sequence[str]) -> dict[str, Any]:
    """Parse NAME=VALUE, where VALUE is written as in TOML, or else taken as a text.

    >>> parse_assignments(["epochs=3", "start=weights.safetensors"])
    {'epochs': 3, 'start': 'weights.safetensors'}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise InputError(f"Expected --with NAME=VALUE, got {word!r}.")
        try:
            found[name.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = value
    return found


def written(value: Any) -> str:
    """Write a value as ``--with`` takes it.

    >>> written(None), written(True), written((3, 32))
    ('none', 'true', '3,32')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def parameters_of(kind: str, name: str) -> dict[str, Parameter]:
    """Return the parameters of a method or strategy that a text can express.

    >>> parameters_of("method", "live")["borders"].choices
    ('auto', 'spread', 'straight')
    """
    made = find(kind, name)
    lines = _lines(made)
    found = {}
    for each, hint in _hints(made).items():
        kinds, choices, optional, element = _kinds(hint)
        if kinds:
            default, line = _default(made, each), lines.get(each, "")
            file = Path in get_args(hint) or hint is Path
            found[each] = Parameter(each, kinds, default, choices, optional, element, line, file)
    return found


def read_parameters(
    member: str, given: Mapping[str, Any], *, kind: str = "method", absolute: bool = False
) -> dict[str, Any]:
    """Return the given parameters of a method or strategy in their types; raise on an unknown one.

    With `absolute` the paths of files no longer depend on the current folder.
    """
    known = parameters_of(kind, member) if given else {}
    for name in given:
        if name not in known:
            raise InputError(
                f"The {kind} {member!r} has no parameter {name!r}.{did_you_mean(name, known)} "
                f"It has: {', '.join(known)}. See `samekind list {member}`."
            )
    found = {name: known[name].read(value) for name, value in given.items()}
    files = [name for name in found if absolute and known[name].file and found[name] is not None]
    return {**found, **{name: str(Path(found[name]).absolute()) for name in files}}


def describe(kind: str, name: str) -> dict[str, Any]:
    """Describe a method or strategy as plain JSON: line, strategy, paper and parameters."""
    made = find(kind, name)
    found: dict[str, Any] = {"name": name, "line": first_line(kind, name), "paper": paper(made)}
    if kind == "method":
        found |= {"strategy": strategy_of(name), "strategy_words": strategy_words(name)}
    return {**found, "parameters": [p.as_json() for p in parameters_of(kind, name).values()]}


def paper(made: Any) -> str:
    """Return the references in a docstring, on one line; empty: there are none.

    >>> paper(find("method", "cc"))
    'Li et al., Contrastive Clustering, AAAI 2021, arXiv 2009.09687.'
    """
    return _plain(_section(made, "References"))


def _hints(made: Any) -> dict[str, Any]:
    """Return the types of a constructor's parameters; unknown ones are Any."""
    names = list(inspect.signature(made).parameters)
    if isinstance(made, type) and is_dataclass(made):  # its own before those of its bases
        owners = [vars(each).get("__annotations__", {}) for each in made.__mro__]
        names.sort(key=lambda name: next(k for k, own in enumerate(owners) if name in own))
    try:
        hints = get_type_hints(made if is_dataclass(made) else made.__init__)
    except (NameError, TypeError):  # one of the person's own that imports types for checkers only
        hints = {}
    return {name: hints.get(name, Any) for name in names}


def _kinds(hint: Any) -> tuple[tuple[type, ...], tuple[Any, ...], bool, type]:
    """Return the types that a text can express, choices, whether None is one, type of elements."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    kinds: list[type] = []
    choices: list[Any] = []
    element: type = str
    for part in parts:
        if get_origin(part) is Literal:
            choices += get_args(part)
            kinds.append(str)
        elif get_origin(part) is tuple and get_args(part)[0] in (int, float, str):
            kinds.append(tuple)
            element = get_args(part)[0]
        elif part is Path:
            kinds.append(str)
        elif part in KINDS and part is not tuple:
            kinds.append(part)
    unique = tuple(kind for kind in KINDS if kind in kinds)  # whole numbers before texts
    return unique, tuple(choices), type(None) in parts, element


def _converted(given: Any, kind: type, element: type) -> Any:
    """Return a value as this type; None if it is not one."""
    if kind is tuple:
        parts = given.strip("[]()").split(",") if isinstance(given, str) else given
        if not isinstance(parts, list | tuple):
            return None
        values = [_converted(part, element, element) for part in parts]
        return None if None in values else tuple(values)
    if kind is bool:
        texts = {"true": True, "false": False}
        return given if isinstance(given, bool) else texts.get(str(given).lower())
    if isinstance(given, bool):
        return None
    if kind in (int, float):
        number = _number(given, kind) if isinstance(given, str) else given
        right = isinstance(number, int | kind) and math.isfinite(number)
        return number if right else None
    return str(given) if isinstance(given, str | int | float) else None


def _number(text: str, kind: type) -> Any:
    """Return a number that is written as a text, such as .5; None: it is not one."""
    try:
        return kind(text)
    except ValueError:
        return None


def _default(made: Any, name: str) -> Any:
    if is_dataclass(made):
        of = next(field for field in fields(made) if field.name == name)
        return None if of.default is MISSING else of.default
    value = inspect.signature(made).parameters[name].default
    return None if value is inspect.Parameter.empty else value


def _lines(made: Any) -> dict[str, str]:
    """Return the description of each parameter in the docstrings of a class and its bases.

    One line of a docstring may describe several: ``a, b : both. c : the third.``
    """
    names = "|".join(map(re.escape, inspect.signature(made).parameters))
    entry = re.compile(rf"\b((?:{names})(?:, (?:{names}))*) : ")
    found: dict[str, str] = {}
    for each in inspect.getmro(made):
        parts = entry.split(_section(each, "Parameters"))
        for group, text in zip(parts[1::2], parts[2::2], strict=True):
            for name in group.split(", "):
                found.setdefault(name, _plain(text))
    return found


def _section(made: Any, title: str) -> str:
    """Return the first paragraph of a section of a docstring."""
    text = inspect.cleandoc(vars(made).get("__doc__") or "")
    _, _, rest = f"\n{text}".partition(f"\n{title}\n{'-' * len(title)}\n")
    return rest.partition("\n\n")[0]


def _plain(text: str) -> str:
    """Return text on one line, without the markup of docstrings."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"\1", text)
    return " ".join(text.replace("`", "").split())
