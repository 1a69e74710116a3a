"""No handler turns an unknown failure into a not-found, anywhere in the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import blind_not_found

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("stigmer", "organizations", "resources", "executions", "workitems", "bench")

CLASSES = """
from stigmer.core.errors import NotFound
class ThingNotFound(NotFound):
    code = "thing_not_found"
class Narrower(ThingNotFound):
    pass
Alias = Narrower
"""

PLANTED = {
    "a bare except that raises": """
def find(id):
    try:
        return load(id)
    except:
        raise ThingNotFound(id)
""",
    "Exception, a subclass of a subclass, from None": """
def find(id):
    try:
        return load(id)
    except Exception:
        raise Narrower from None
""",
    "BaseException bound to a name": """
def find(id):
    try:
        return load(id)
    except BaseException as cause:
        log(cause)
        raise errors.ThingNotFound(id) from cause
""",
    "DatabaseError of a module": """
def find(id):
    try:
        return load(id)
    except django.db.DatabaseError:
        raise ThingNotFound(id)
""",
    "a tuple that holds a broad one": """
def find(id):
    try:
        return load(id)
    except (KeyError, Exception):
        raise ThingNotFound(id)
""",
    "a broad tuple behind a name": """
FAULTS = (ValueError, DatabaseError)
def find(id):
    try:
        return load(id)
    except FAULTS:
        raise Alias(id)
""",
    "a returned refusal": """
def find(id):
    try:
        return load(id)
    except Exception:
        return ThingNotFound(id)
""",
    "a returned response of 404": """
def view(request, id):
    try:
        return answer(load(id))
    except Exception:
        return HttpResponse(status=404)
""",
    "a helper that raises it": """
def refuse(id):
    raise ThingNotFound(id)
def find(id):
    try:
        return load(id)
    except Exception:
        refuse(id)
""",
    "one nested below a condition, Django's own": """
def find(id):
    try:
        return load(id)
    except Exception as cause:
        if id:
            for attempt in range(3):
                raise Http404(id) from cause
        raise
""",
    "a refusal that is assigned first": """
def find(id):
    try:
        found = load(id)
    except Exception:
        refusal = ThingNotFound(id)
    raise refusal
""",
    "a failure that is forgotten, then missed": """
def find(id):
    try:
        found = load(id)
    except Exception:
        found = None
    if found is None:
        raise ThingNotFound(id)
    return found
""",
    "a helper that forgets, and whoever asks it": """
def look(id):
    try:
        return load(id)
    except Exception:
        return None
def find(id):
    found = look(id)
    if not found:
        raise ThingNotFound(id)
""",
    "a handler that goes on to the refusal": """
def find(id):
    try:
        return load(id)
    except Exception:
        pass
    raise ThingNotFound(id)
""",
    "a loop that tries the next": """
def find(id):
    for store in stores:
        try:
            return store.load(id)
        except Exception:
            continue
    raise ThingNotFound(id)
""",
    "suppress": """
def find(id):
    with contextlib.suppress(Exception):
        return load(id)
    raise ThingNotFound(id)
""",
    "an aliased import": """
from somewhere import ThingNotFound as Gone
from builtins import Exception as Anything
Broad = Exception
def find(id):
    try:
        return load(id)
    except Broad:
        raise Gone(id)
""",
}

INNOCENT = {
    "a narrow except": """
def find(id):
    try:
        return load(id)
    except KeyError:
        raise ThingNotFound(id)
""",
    "a broad one that says what failed": """
def find(id):
    try:
        return load(id)
    except Exception as cause:
        raise LoadFailed("failed to load") from cause
""",
    "a not-found that passes beside a broad one": """
def find(id):
    try:
        return load(id)
    except ThingNotFound:
        raise
    except Exception as cause:
        raise LoadFailed(id) from cause
""",
    "a not-found outside the handler": """
def find(id):
    try:
        found = load(id)
    except Exception:
        log()
        raise
    if found is None:
        raise ThingNotFound(id)
""",
    "a status of 500": """
def view(request, id):
    try:
        return answer(load(id))
    except Exception:
        return HttpResponse(status=500)
""",
}


def check(sample: str) -> list[str]:
    return blind_not_found.check({"classes.py": CLASSES, "sample.py": sample})


@pytest.mark.parametrize("sample", PLANTED.values(), ids=PLANTED.keys())
def test_finds_each_planted_form_and_names_file_and_line(sample: str) -> None:
    (fault,) = check(sample)

    guilty = ("found = look", "except", "with ")
    lines = [n for n, text in enumerate(sample.splitlines(), 1) if text.strip().startswith(guilty)]
    assert fault.startswith(f"sample.py:{lines[-1]}: ")


@pytest.mark.parametrize("sample", INNOCENT.values(), ids=INNOCENT.keys())
def test_lets_an_honest_handler_pass(sample: str) -> None:
    assert check(sample) == []


def test_discovers_the_not_found_classes_of_the_product() -> None:
    files = blind_not_found.sources(ROOT, FOLDERS)
    import ast

    found = blind_not_found.not_found_classes(ast.parse(text) for text in files.values())

    assert {
        "NotFound", "RouteNotFound", "ResourceNotFound", "VersionNotFound", "UnknownKind",
        "OrganizationNotFound", "MemberNotFound", "TokenNotFound", "WorkItemNotFound", "Http404",
    } <= found  # fmt: skip


def test_the_whole_source_has_none() -> None:
    files = blind_not_found.sources(ROOT, FOLDERS)

    assert len(files) > 100
    assert blind_not_found.check(files) == []
