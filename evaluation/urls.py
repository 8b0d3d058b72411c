"""The pages of the model side and the numbers."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
