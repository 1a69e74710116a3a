"""Tests of TypeIDs."""

import pytest

from stigmer.core.ids import is_id, new_id

KNOWN = "wi_01h455vb4pex5vsknk084sn02q"


def test_makes_ids_that_it_knows() -> None:
    found = new_id("wi")

    assert is_id("wi", found)
    assert len(found) == len("wi_") + 26


def test_makes_ids_in_the_order_of_time() -> None:
    made = [new_id("wi") for _ in range(500)]

    assert len(set(made)) == 500
    assert made[0][:11] <= made[-1][:11]


@pytest.mark.parametrize(
    "text",
    [
        "", "wi_", KNOWN.upper(), KNOWN[:-1], KNOWN + "a", f" {KNOWN}", f"{KNOWN}\n",
        KNOWN.replace("wi_", "we_"), KNOWN.replace("wi_", "wi-"), "wi_81h455vb4pex5vsknk084sn02q",
        "wi_01h455vb4pex5vsknk084sn02u", "wi_01h455vb4pex5vsknk084sn02i", "wi_" + "\x00" * 26,
        "wi_" + "\u0660" * 26,
    ],
)  # fmt: skip
def test_does_not_take_another_form_for_an_id(text: str) -> None:
    assert not is_id("wi", text)


def test_takes_the_canonical_form() -> None:
    assert is_id("wi", KNOWN)
