"""The pages of the human side."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
