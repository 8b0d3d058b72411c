"""Every address of the site. The human side owns the root; the model side answers below it."""

from django.urls import URLResolver, include, path
from django.urls.resolvers import RoutePattern
from django.views.i18n import set_language


class LoadedWhenAsked(URLResolver):
    """Addresses with a namespace that are imported by the first request for one of them, and by no page.

    The first page that writes an address has Django look through all of them; those of a namespace are looked up in
    it alone, so nothing is lost where they are passed over.
    """

    def _populate(self) -> None:
        pass


urlpatterns = [
    path("", include("annotate.urls")),
    path("", include("evaluation.urls")),
    path("language/", set_language, name="language"),
    # A fifth of a web process, and a quarter of its start.
    LoadedWhenAsked(RoutePattern("api/v1/"), "config.api_urls", app_name="api", namespace="api"),
]

handler400 = "config.hostile_requests.bad_request"
