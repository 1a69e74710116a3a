"""Work items for the console's tests, made by the product's own operations."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from stigmer.core.callers import Act
from tests import factories
from workitems import operations
from workitems.states import Visibility


@dataclass
class Open:
    """Opens items; answers their ids."""

    act: Callable[..., Act]

    def __call__(
        self,
        title: str = "Fix the door",
        *,
        owner: str = "alice",
        tenant: str = "acme",
        external_key: str = "",
        visibility: str = "tenant",
        surface: str = "api",
        now: datetime | None = None,
    ) -> str:
        made = operations.create_work_item(
            tenant=tenant,
            title=title,
            external_key=external_key,
            visibility=Visibility(visibility),
            by=self.act(owner, surface=surface),
            now=now or factories.now(),
            facts={},
        )
        return made.view.item.id


def move(item: str, action: str, version: int = 1, *, by: str = "alice", **more: Any) -> None:
    """Move the item along its lifecycle, as somebody else than the page's reader."""
    operations.transition(
        item=item,
        action=action,
        expected_state_version=version,
        by=factories.act(by),
        now=factories.now(),
        facts={},
        **more,
    )


def say(item: str, text: str, *, by: str = "alice", params: dict[str, Any] | None = None) -> None:
    """Append an intent."""
    operations.append_intent(
        item=item, text=text, params=params, by=factories.act(by), now=factories.now(), facts={}
    )
