"""The catalogue's arithmetic: integers, names, `+ - * % //` and parentheses; nothing else, nothing unbounded."""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Callable, Mapping

from kernelindex_liger.untrusted import quoted

LENGTH = 200
DEPTH = 20
LIMIT = 2**53 - 1
"""Largest magnitude of any intermediate result: what JSON keeps exact."""

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Mod: lambda a, b: a % b,
    ast.FloorDiv: lambda a, b: a // b,
}


class ExpressionError(ValueError):
    """An expression that is not in the grammar, or that has no value for the names given."""


class Expression:
    """A parsed expression.

    Raises:
        ExpressionError: if `text` is longer than 200 characters, nested deeper than 20, or not in the grammar.
    """

    def __init__(self, text: str) -> None:
        if len(text) > LENGTH:
            raise ExpressionError(f"expression of {len(text)} characters; at most {LENGTH} are allowed")
        if not text.isascii():
            # Python takes letters that look alike for one name
            raise ExpressionError(f"{text!a} holds other letters than ASCII's")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise ExpressionError(f"{text!r} is not an expression: integers, names, + - * % // ( )") from error
        self.text = text
        self.names = frozenset(_names(tree, text, DEPTH))
        self._tree = tree

    def value(self, names: Mapping[str, object]) -> int:
        """The expression's value, with names looked up in `names`.

        Raises:
            ExpressionError: for an unknown name, one that is not an integer, division by zero, or a result
                beyond ±(2^53 - 1).
        """
        return _value(self._tree, names, self.text)


@functools.cache
def parse(text: str) -> Expression:
    """`Expression(text)`, parsed once."""
    return Expression(text)


def _names(node: ast.expr, text: str, depth: int) -> set[str]:
    if depth == 0:
        raise ExpressionError(f"{text!r} is nested deeper than {DEPTH}")
    match node:
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return _names(left, text, depth - 1) | _names(right, text, depth - 1)
        case ast.Name(name):
            return {name}
        case ast.Constant(value) if type(value) is int and abs(value) <= LIMIT:
            return set()
    raise ExpressionError(f"{text!r} may hold only integers, names, + - * % // and parentheses")


def _value(node: ast.expr, names: Mapping[str, object], text: str) -> int:
    match node:
        case ast.Constant(int() as number):
            return number
        case ast.Name(name):
            value = names.get(name)
            if type(value) is not int:
                raise ExpressionError(
                    f"{name!r} in {text!r} is {quoted(value)}, not an integer"
                    if name in names
                    else f"no {name!r} for {text!r}"
                )
            return _bounded(value, text)
        case ast.BinOp(left, op, right):
            a, b = _value(left, names, text), _value(right, names, text)
            if b == 0 and isinstance(op, (ast.Mod, ast.FloorDiv)):
                raise ExpressionError(f"division by zero in {text!r}")
            return _bounded(_OPERATORS[type(op)](a, b), text)
    raise AssertionError(text)


def _bounded(value: int, text: str) -> int:
    if abs(value) > LIMIT:
        raise ExpressionError(f"{text!r} exceeds ±(2^53 - 1)")
    return value
