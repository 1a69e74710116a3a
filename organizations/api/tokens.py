"""Doors of the caller itself: who it is, and its tokens."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.authentication import BaseAuthentication

from organizations import queries
from organizations.api.paging import page
from organizations.api.schemas import (
    CreateToken,
    NewTokenAnswer,
    PageQuery,
    TokenPage,
    WhoamiAnswer,
    new_token_answer,
    token_answer,
    whoami_answer,
)
from organizations.errors import TokenNotFound
from organizations.operations import tokens as operations
from stigmer.core.errors import PermissionDenied
from stigmer.http.authentication import SessionAuthentication, TokenAuthentication
from stigmer.http.pagination import TimeAndId
from stigmer.http.views import Call, Door, door, reply

TOKEN = {
    "id": "tok_01jjwz3k8nf2m9v4c7x6t5q0ra",
    "name": "laptop",
    "created_at": "2026-01-31T09:30:00.000000Z",
    "expires_at": None,
}


class Whoami(Door):
    """`/whoami`"""

    @door(
        summary="Who the token belongs to",
        answer=WhoamiAnswer,
        statuses={200: "The principal with its memberships of now."},
        surfaces=True,
        example={
            "principal": "alice",
            "principal_id": "prn_01jjwz3k8nf2m9v4c7x6t5q0ra",
            "kind": "human",
            "platform_admin": False,
            "memberships": [{"organization": "acme", "role": "owner"}],
        },
    )
    def get(self, call: Call) -> HttpResponse:
        return reply(whoami_answer(call.caller))


class Tokens(Door):
    """`/tokens`"""

    def get_authenticators(self) -> list[BaseAuthentication]:
        # A person signs in to the console and gets a first token; every other call needs one.
        if self.request.method == "POST":
            return [TokenAuthentication(), SessionAuthentication()]
        return [TokenAuthentication()]

    @door(
        summary="List your tokens",
        query=PageQuery,
        answer=TokenPage,
        statuses={200: "One page, newest first, without the secrets."},
        example={"items": [TOKEN], "next_cursor": None, "schema_version": "stigmer/v1"},
    )
    def get(self, call: Call) -> HttpResponse:
        return page(
            call,
            lambda after: queries.tokens(call.caller, after=after),
            token_answer,
            shape=TimeAndId,
            position=lambda row: (row.created_at, row.id),
            list="tokens",
        )

    @door(
        summary="Create a token",
        body=CreateToken,
        answer=NewTokenAnswer,
        statuses={201: "Created; the secret is told only here."},
        refusals=(PermissionDenied,),
        rate="writes",
        example=TOKEN | {"token": "stigmer_…"},
    )
    def post(self, call: Call) -> HttpResponse:
        token, secret = operations.create_token(
            principal=call.caller.name,
            name=call.body.name,
            expires_at=call.body.expires_at or None,
            by=call.act(),
            now=call.now,
        )
        return reply(new_token_answer(token, secret), 201, Cache_Control="no-store")


class Token(Door):
    """`/tokens/{id}`"""

    @door(
        summary="Revoke a token",
        answer=None,
        statuses={204: "Revoked; it is worthless from now on."},
        refusals=(TokenNotFound,),
        rate="writes",
    )
    def delete(self, call: Call, id: str) -> HttpResponse:
        operations.revoke_token(id=id, by=call.act(), now=call.now)
        return reply(None, 204)
