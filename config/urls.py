"""Every address of the site. The human side owns the root; the model side answers below it."""

from django.urls import include, path

urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("evaluation.urls")),
    # Last: no page pays for what programs ask.
    path("api/v1/", include("annotate.api.urls")),
    path("api/v1/", include("evaluation.api.urls")),
]

handler400 = "config.hostile_requests.bad_request"
