"""The event stream of a work item."""

from __future__ import annotations

from functools import partial

import msgspec
from django.http import HttpResponse

from stigmer.core.callers import Caller
from stigmer.http import streams
from stigmer.http.errors import StreamsElsewhere
from stigmer.http.fields import UNSET, UnsetType
from stigmer.http.schemas import Query
from stigmer.http.streams import EVENT_STREAM, Batch, StreamDoor, frame
from stigmer.http.views import Call, door
from workitems import queries
from workitems.api import answers, paging, showing
from workitems.errors import WorkItemNotFound
from workitems.states import LIFECYCLE

PAGE = 200


class EventStreamQuery(Query, kw_only=True):
    """Where to go on in the events; a `Last-Event-ID` wins."""

    after_seq: paging.Counter | UnsetType = UNSET


class Follow:
    """The events of an item behind a cursor, up to the one that ends it."""

    __slots__ = ("after", "item", "viewer")

    def __init__(self, viewer: Caller, item: str, after: int) -> None:
        self.viewer, self.item, self.after = viewer, item, after

    def read(self) -> Batch:
        """The events since the last read. Raises WorkItemNotFound."""
        over = queries.readable(self.viewer, self.item).state in LIFECYCLE.terminal
        found = queries.events(self.viewer, self.item, self.after, PAGE + 1)
        more = len(found) > PAGE
        del found[PAGE:]
        last = next((n for n, row in enumerate(found) if row.to_state in LIFECYCLE.terminal), None)
        if last is not None:
            del found[last + 1 :]
        elif over and not more:
            # The cursor stands behind the last event already.
            return Batch([], ended=True)
        if found:
            self.after = found[-1].seq
        frames = [frame(msgspec.json.encode(showing.event_of(row)), row.seq) for row in found]
        return Batch(frames, ended=last is not None, more=more)


class EventStream(StreamDoor):
    """Follow what happens to a work item."""

    @door(
        summary="Follow the events of a work item",
        query=EventStreamQuery,
        answer=answers.Event,
        gate=queries.readable,
        statuses={200: "The events behind the cursor and what follows, until the item ends."},
        refusals=(WorkItemNotFound, StreamsElsewhere),
        media=EVENT_STREAM,
        resumes=True,
    )
    def get(self, call: Call, item: str) -> HttpResponse:
        queries.readable(call.caller, item)
        last = streams.last_event_id(call)
        after = paging.behind(call.query.after_seq) if last is None else last
        source = Follow(call.caller, item, after)
        return streams.follow(
            call, f"work-item:{item}", source, partial(queries.readable, item=item)
        )
