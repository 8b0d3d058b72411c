"""The addresses below /api/v1/, of both sides."""

from django.urls import include, path

urlpatterns = [
    path("", include("annotate.api.urls")),
    path("", include("evaluation.api.urls")),
]
