"""Items with their gold labels, and the frozen sets of them."""

from __future__ import annotations

from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import for_readers
from annotate.api.base import ApiView
from annotate.api.paging import PageQuery, page_of
from annotate.models import ApiToken, Gold, Item, ItemRevision, ItemSet
from annotate.services.item_list import items_of
from annotate.views.doors import project_read_by

READ = ApiToken.Scope.READ


class Items(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[for_readers.ItemQuery], responses=page_of(for_readers.Item))
    def get(self, request: Request, slug: str) -> Response:
        """The items of a project in the order of their import, each with its newest content and gold labels."""
        project = project_read_by(self.person, slug)
        asked = self.asked(for_readers.ItemQuery)
        rows = items_of(project=project, show=asked.get("show", ""), starts_with=asked.get("starts_with", ""))
        if "id" in asked:
            rows = rows.filter(external_id=asked["id"])
        visible = Item.objects.visible_to(self.person).filter(pk__in=rows)
        current = ItemRevision.objects.filter(is_current=True)
        golds = Gold.objects.filter(is_current=True).order_by("field", "label_set")
        visible = visible.select_related("root", "parent", "key").prefetch_related(
            Prefetch("revisions", current, to_attr="current_revisions"),
            Prefetch("golds", golds, to_attr="current_golds"),
        )
        found, following = self.take_page(visible, asked)
        for item in found:
            (item.current,) = item.current_revisions
        return Response({"next": following, "results": for_readers.Item(found, many=True).data})


class ItemSets(ApiView):
    scopes = {"GET": READ}

    @extend_schema(parameters=[PageQuery], responses=page_of(for_readers.ItemSet))
    def get(self, request: Request, slug: str) -> Response:
        """The frozen sets of a project, newest first: runs and reports name one of them."""
        project = project_read_by(self.person, slug)
        rows = ItemSet.objects.visible_to(self.person).filter(project=project)
        return self.page(rows, for_readers.ItemSet, newest_first=True)
