"""Finds handlers that turn any failure into "there is no such thing".

A broad `except` may not raise, return or otherwise map to a not-found: a fault of the store would
then be told as an absence, and callers act on absences.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests import blind_blanks as blanks
from tests.blind_blanks import last as _last
from tests.blind_blanks import mentions

# Where a class is not ours, its own name says that it stands for an absence.
FOREIGN = frozenset({"Http404", "HttpResponseNotFound", "DoesNotExist", "ObjectDoesNotExist"})
# `DatabaseError` and what is above it; ours that are no narrower are found by `_names`.
BROAD = frozenset({"Exception", "BaseException", "DatabaseError", "Error", "StandardError"})
ROOTS = frozenset({"NotFound", "RouteNotFound"})
STATUS = 404


def not_found_classes(trees: Iterable[ast.AST]) -> frozenset[str]:
    """The names of every class below a not-found, and of what imports and assigns call them."""
    bases: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases.setdefault(node.name, set()).update(_last(base) for base in node.bases)
            elif isinstance(node, ast.ImportFrom | ast.Import):
                for alias in node.names:
                    if alias.asname:
                        bases.setdefault(alias.asname, set()).add(alias.name.rpartition(".")[2])
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
                for target in node.targets:
                    bases.setdefault(_last(target), set()).add(_last(node.value))
    known = set(ROOTS | FOREIGN)
    while grown := {name for name, above in bases.items() if above & known} - known:
        known |= grown
    return frozenset(known)


def broad_names(trees: Iterable[ast.AST]) -> frozenset[str]:
    """The broad exceptions, and the names that stand for one or for a tuple with one."""
    names = set(BROAD)
    assigned = [
        (_last(target), node.value)
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    while grown := {name for name, value in assigned if name and _is_broad(value, names)} - names:
        names |= grown
    return frozenset(names)


def offences(path: str, tree: ast.AST, missing: frozenset[str], broad: frozenset[str]) -> list[str]:
    """`path:line: …` for every blind handler in this file."""
    makers = missing | _functions_that_give(tree, missing)
    found = [
        (handler.lineno, what)
        for handler in _broad_handlers(tree, broad)
        for what in _first(_answers(handler, makers))
    ]
    found += blanks.offences(tree, makers, lambda handler: _is_broad(handler.type, broad))
    return [
        f"{path}:{line}: a broad except answers with a not-found ({what})"
        for line, what in sorted(dict(found).items())
    ]


def check(files: dict[str, str]) -> list[str]:
    """The offences in these sources, whose classes and names are looked at together."""
    trees = {path: ast.parse(source, path) for path, source in files.items()}
    missing = not_found_classes(trees.values())
    broad = broad_names(trees.values())
    return [fault for path, tree in trees.items() for fault in offences(path, tree, missing, broad)]


def sources(root: Path, folders: Iterable[str]) -> dict[str, str]:
    """Every Python file of the product."""
    found = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    return {str(path.relative_to(root)): path.read_text() for path in found}


def _is_broad(node: ast.AST | None, broad: Iterable[str]) -> bool:
    if node is None:
        return True
    if isinstance(node, ast.Tuple | ast.List):
        return any(_is_broad(item, broad) for item in node.elts)
    if isinstance(node, ast.Starred):
        return _is_broad(node.value, broad)
    if isinstance(node, ast.BinOp):
        return _is_broad(node.left, broad) or _is_broad(node.right, broad)
    return _last(node) in set(broad)


def _broad_handlers(tree: ast.AST, broad: frozenset[str]) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type, broad):
            yield node


def _functions_that_give(tree: ast.AST, missing: frozenset[str]) -> frozenset[str]:
    """Functions of this file that raise or return a not-found, also through one another."""
    functions = {
        node.name: node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    known: set[str] = set()
    while grown := {
        name
        for name, node in functions.items()
        if name not in known and any(_always(node.body, missing | known))
    }:
        known |= grown
    return frozenset(known)


def _always(body: list[ast.stmt], makers: Iterable[str]) -> Iterator[str]:
    """What a function gives whatever happens: its outermost raise or return."""
    for statement in body:
        if isinstance(statement, ast.Raise | ast.Return | ast.Expr):
            yield from mentions(statement, frozenset(makers))


def _answers(handler: ast.AST, makers: frozenset[str]) -> Iterator[str]:
    body = handler.body if isinstance(handler, ast.ExceptHandler) else [handler]
    for statement in body:
        yield from _in(statement, makers)


def _in(node: ast.AST, makers: frozenset[str]) -> Iterator[str]:
    """Not-founds that this code makes; a narrower except inside it is another handler's affair."""
    if isinstance(node, ast.Try):
        for part in (*node.body, *node.orelse, *node.finalbody):
            yield from _in(part, makers)
        return
    if isinstance(node, ast.If) and _asks_for(node.test, makers):
        for part in node.orelse:
            yield from _in(part, makers)
        return
    if isinstance(node, ast.stmt) and not hasattr(node, "body"):
        yield from mentions(node, makers)
        return
    for child in ast.iter_child_nodes(node):
        yield from _in(child, makers) if isinstance(child, ast.stmt) else mentions(child, makers)


def _asks_for(test: ast.AST, makers: frozenset[str]) -> bool:
    """Whether a test tells a known not-found from everything else, which is then no blind one."""
    return (
        isinstance(test, ast.Call)
        and _last(test.func) == "isinstance"
        and len(test.args) == 2
        and _last(test.args[1]) in makers
    )


def _first(found: Iterator[str]) -> list[str]:
    return [next_one for next_one in [next(found, None)] if next_one is not None]
