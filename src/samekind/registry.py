"""Find strategies, methods and encoders by name, or by "package.module:Class"."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from samekind.errors import InputError, MissingExtra, UnknownName

REGISTRIES: dict[str, tuple[str, str]] = {
    "strategy": ("samekind.strategies", "STRATEGIES"),
    "method": ("samekind.clusterers", "CLUSTERERS"),
    "encoder": ("samekind.encoders", "ENCODERS"),
}

TORCH_LATER = ("samekind.clusterers.ncp", "samekind.strategies.value")
"""Modules that need torch only when they compute."""


def registered(kind: str) -> Mapping[str, str]:
    """All members of a registry: name to "package.module:Class"."""
    module, attribute = REGISTRIES[kind]
    found: Mapping[str, str] = getattr(import_module(module), attribute)
    return found


def find(kind: str, name: str) -> Any:
    """The class behind a registered name, or behind "package.module:Class".

    Parameters of a strategy or encoder may follow its name.

    >>> find("strategy", "random").__name__, find("strategy", "random(tries=3)")().tries
    ('Random', 3)
    """
    if kind != "method" and name.endswith(")"):
        from samekind.parameters import read_parameters

        name, given = split_call(name)
        return partial(find(kind, name), **read_parameters(name, given, kind=kind))
    known = registered(kind)
    target = name if ":" in name else known.get(name)
    if target is None:
        raise UnknownName(kind, name, known)
    module, _, attribute = target.partition(":")
    if module.startswith(TORCH_LATER) and find_spec("torch") is None:
        raise MissingExtra(f"The {kind} {name!r}", "train")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        if getattr(problem, "name", None) == "torch":
            raise MissingExtra(f"The {kind} {name!r}", "train") from problem
        raise InputError(
            f"{target!r} cannot be used as a {kind}: {problem}. Give it as package.module:Class."
        ) from problem


def with_parameters(name: str, given: Mapping[str, Any]) -> str:
    """Write a name with parameters, as :func:`find` reads it.

    >>> with_parameters("random", {"tries": 3})
    'random(tries=3)'
    """
    return f"{name}({', '.join(f'{k}={json.dumps(v)}' for k, v in given.items())})"


def split_call(name: str) -> tuple[str, dict[str, Any]]:
    """Split a name from the parameters that follow it.

    >>> split_call("value(hard=true, keep=[1, 2])")
    ('value', {'hard': True, 'keep': [1, 2]})
    """
    base, _, inner = name.removesuffix(")").partition("(")
    try:
        return base, tomllib.loads(f"given = {{{inner}}}")["given"]
    except tomllib.TOMLDecodeError as problem:
        raise InputError(
            f"Expected parameters as NAME=VALUE in {name!r}, as in random(tries=3)."
        ) from problem


def make_method(
    name: str, n_groups: int | None = None, parameters: Mapping[str, Any] | None = None
) -> Any:
    """Create a method with its parameters, which may be given as texts.

    The number of groups is one of them, if it is known and the method takes it.
    """
    from inspect import signature

    from samekind.parameters import read_parameters

    method = find("method", name)
    if not callable(getattr(method, "fit", None)):
        raise TypeError("it has no method fit")
    given = read_parameters(name, parameters or {})
    if n_groups is None:
        return method(**given)
    if "n_clusters" not in signature(method).parameters:
        raise InputError(
            f"Expected no number of groups, because the method {name!r} finds it itself, got "
            f"{n_groups}. Omit the number, or choose another method."
        )
    if "n_clusters" in given:
        raise InputError(
            f"Expected the number of groups once, got {n_groups} groups and the parameter "
            f"n_clusters={given['n_clusters']}. Omit one of them."
        )
    return method(n_clusters=n_groups, **given)


def weighs_blocks(method: str) -> bool:
    """Whether a method takes several vectors per item and weighs them by the answers.

    >>> weighs_blocks("live"), weighs_blocks("kmeans")
    (True, False)
    """
    from inspect import signature

    return "blocks" in signature(find("method", method)).parameters


def with_blocks(method: Any, blocks: Sequence[Any]) -> Any:
    """Tell a method which columns of the vectors belong together, if it weighs them."""
    if hasattr(method, "get_params") and "blocks" in method.get_params():
        pairs = [(block.start, block.stop) for block in blocks]
        method.set_params(blocks=pairs if len(pairs) > 1 else None)
    return method


def own_strategy(method: str) -> str | None:
    """The strategy that belongs to a method, such as that of its paper; None: it has none.

    >>> own_strategy("cobras"), own_strategy("kmeans")
    ('cobras', None)
    """
    named: str | None = getattr(find("method", method), "strategy", None)
    return named


def strategy_of(method: str) -> str:
    """The strategy that is used with a method unless another is named.

    >>> strategy_of("cobras"), strategy_of("kmeans")
    ('cobras', 'live')
    """
    default: str = import_module(REGISTRIES["strategy"][0]).DEFAULT
    return own_strategy(method) or default


def strategy_words(method: str) -> str:
    """Say which strategy is used with a method unless another is named, and why.

    >>> strategy_words("cobras"), strategy_words("kmeans")
    ("cobras, COBRAS's own", 'live, the default')
    """
    own = own_strategy(method) is not None
    reason = f"{find('method', method).__name__}'s own" if own else "the default"
    return f"{strategy_of(method)}, {reason}"


def first_line(kind: str, name: str) -> str:
    """The first line of a member's docstring, read from its file: nothing heavy is imported.

    Found by a pattern, not by `ast.parse`: that fails at times in Python 3.11 when two threads
    parse at once (CPython issue 106905), and the page asks for these lines from many threads.

    >>> first_line("method", "cc")
    'CC: contrast of items and of groups, no answers in training; the result still honours them.'
    """
    module, _, attribute = registered(kind).get(name, name).partition(":")
    spec = find_spec(module)
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    docstring = rf'^class {attribute}\b[^:]*:(?: *#.*)?\s*r?"""(.*?)\s*(?:\n|""")'
    found = re.search(docstring, source, re.MULTILINE)
    if found:
        return found[1]
    return (find(kind, name).__doc__ or "").strip().splitlines()[0]
