"""Routes of this app below /api/v1."""

from django.urls import path

from organizations.api import tokens, views

urlpatterns = [
    path("whoami", tokens.Whoami.as_view()),
    path("tokens", tokens.Tokens.as_view()),
    path("tokens/<str:id>", tokens.Token.as_view()),
    path("organizations", views.Organizations.as_view()),
    path("organizations/<str:slug>", views.Organization.as_view()),
    path("organizations/<str:slug>/members", views.Members.as_view()),
    # A principal's name may hold a slash.
    path("organizations/<str:slug>/members/<path:name>", views.Member.as_view()),
    path("organization-slugs/<str:slug>", views.SlugState.as_view()),
]
