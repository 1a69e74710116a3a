"""Handlers that only forget the failure, and code behind them that takes it for an absence."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

STATUS = 404
Function = ast.FunctionDef | ast.AsyncFunctionDef
Broad = Callable[[ast.ExceptHandler], bool]
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def offences(tree: ast.AST, makers: frozenset[str], broad: Broad) -> list[tuple[int, str]]:
    """(line, what) for every failure that becomes nothing, and then a not-found."""
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)]
    forgetful = {f.name for f in functions if any(_gives_nothing(h) for h in _broad_in(f, broad))}
    found: list[tuple[int, str]] = []
    for function in functions:
        for handler in _broad_in(function, broad):
            found += [(handler.lineno, what) for what in _behind(function, handler, makers)]
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and _calls(node.value, forgetful):
                names = {last(target) for target in node.targets}
                found += [(node.lineno, what) for what in _tested(function, names, makers)]
            if isinstance(node, ast.With) and _suppresses(node, broad):
                after = _next(function, node)
                found += [(node.lineno, what) for what in _given(after, makers)]
    return found


def last(node: ast.AST) -> str:
    """`c` of `a.b.c`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return last(node.value) if isinstance(node, ast.Subscript) else ""


def mentions(node: ast.AST, makers: frozenset[str]) -> Iterator[str]:
    """Not-founds that this code names, and answers of 404."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name | ast.Attribute) and last(inner) in makers:
            yield last(inner)
        if (
            isinstance(inner, ast.keyword)
            and inner.arg in ("status", "status_code")
            and isinstance(inner.value, ast.Constant)
            and inner.value.value == STATUS
        ):
            yield str(STATUS)


def _broad_in(function: Function, broad: Broad) -> list[ast.ExceptHandler]:
    return [n for n in ast.walk(function) if isinstance(n, ast.ExceptHandler) and broad(n)]


def _behind(
    function: Function, handler: ast.ExceptHandler, makers: frozenset[str]
) -> Iterator[str]:
    """What is given behind a handler that goes on, and where its variables are empty."""
    names = {
        last(target)
        for node in ast.walk(handler)
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    yield from _tested(function, names, makers)
    if not any(isinstance(node, ast.Raise | ast.Return) for node in handler.body):
        (around,) = [n for n in ast.walk(function) if handler in getattr(n, "handlers", ())]
        yield from _given(_next(function, around), makers)


def _next(function: Function, node: ast.AST) -> ast.stmt | None:
    """The statement that runs behind this one; behind the last of a loop, what follows it."""
    for parent in ast.walk(function):
        for _, block in ast.iter_fields(parent):
            if isinstance(block, list) and node in block:
                rest = block[block.index(node) + 1 :]
                if rest:
                    return rest[0]
                return _next(function, parent) if isinstance(parent, (*_LOOPS, ast.With)) else None
    return None


def _given(statement: ast.stmt | None, makers: frozenset[str]) -> Iterator[str]:
    if isinstance(statement, ast.Raise | ast.Return):
        yield from mentions(statement, makers)


def _tested(function: Function, names: set[str], makers: frozenset[str]) -> Iterator[str]:
    """Not-founds given where one of these names turns out to be empty."""
    for node in ast.walk(function):
        if isinstance(node, ast.If | ast.IfExp) and names & {
            last(inner) for inner in ast.walk(node.test)
        }:
            body = node.body if isinstance(node.body, list) else [node.body]
            for statement in body:
                yield from mentions(statement, makers)


def _gives_nothing(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(node, ast.Return)
        and (node.value is None or (isinstance(node.value, ast.Constant) and not node.value.value))
        for node in ast.walk(handler)
    )


def _calls(node: ast.AST, names: Iterable[str]) -> bool:
    return isinstance(node, ast.Call) and last(node.func) in set(names)


def _suppresses(node: ast.With, broad: Broad) -> bool:
    calls = [item.context_expr for item in node.items]
    return any(
        isinstance(call, ast.Call)
        and last(call.func) == "suppress"
        and broad(ast.ExceptHandler(type=ast.Tuple(elts=call.args)))
        for call in calls
    )
