"""The document that describes the API: complete, without warnings, and true of what the API does."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.api.schema import document
from tests.api_client import ApiClient, body_of
from tests.factories import make_run
from tests.openapi_values import TEXT, Values, as_json_schema
from tests.test_permissions import API_DOORS, make_world

# So many requests for each operation: some ten seconds in all.
REQUESTS = 20


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def test_it_is_made_without_a_warning_and_valid(tmp_path):
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yaml"))


@pytest.mark.django_db
def test_it_is_served_to_everybody_and_says_what_every_door_is_for():
    response = Client().get(reverse("api:api-schema"))
    assert response["Content-Type"] == "application/vnd.oai.openapi+json"
    described = json.loads(response.content)
    assert len(operations(described)) == sum(len(door.methods) for door in API_DOORS.values())
    for path, method, operation in operations(described):
        first = operation["description"].split("\n")[0]
        assert "scope" in operation["description"] or "Any token" in operation["description"], path
        assert first.endswith("."), f"{method} {path}: {first}"
        assert operation["security"] == [{"token": []}]
        assert "default" in operation["responses"]
    assert len({operation["operationId"] for *_, operation in operations(described)}) == len(operations(described))


@dataclass(frozen=True)
class Sent:
    """address: below the root. asked: the query. body: what is sent as JSON. upload: the rest of a file of items."""

    address: str
    asked: dict[str, Any]
    body: Any
    upload: bytes


def requests_of(
    path: str, operation: dict[str, Any], values: Values, places: dict[str, Any]
) -> st.SearchStrategy[Sent]:
    """Requests for one operation. places: what stands in the address for each of its parameters, most of the time."""
    inputs = operation.get("parameters", [])
    in_path = [one["name"] for one in inputs if one["in"] == "path"]
    in_query = {one["name"]: values.of(one["schema"], one["name"]) for one in inputs if one["in"] == "query"}
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")

    def address(odd: Any) -> str:
        filled = {name: places[name] for name in in_path}
        if odd is not None and in_path:
            filled[in_path[-1]] = odd
        return path.format(**filled)

    return st.builds(
        Sent,
        address=st.sampled_from([*[None] * 16, "nowhere", 0, 2**63, 10**30]).map(address),
        asked=st.fixed_dictionaries({}, optional=in_query) | st.dictionaries(TEXT, TEXT, max_size=2),
        body=values.body(schema) if schema else st.just({}),
        upload=st.binary(max_size=60) | TEXT.map(str.encode),
    )


def check(response: Any, operation: dict[str, Any], described: dict[str, Any]) -> None:
    """The response is one that the document describes."""
    status = response.status_code
    assert status < 500
    if status == 404 and response["Content-Type"].startswith("text/html"):
        return  # an address of no pattern: the site's page for that
    told = operation["responses"]["default" if status >= 400 else str(status)]
    if status == 204:
        assert response.content == b""
    elif "application/json" in told["content"]:
        schema = told["content"]["application/json"]["schema"]
        jsonschema.validate(response.json(), as_json_schema(described, schema))
    else:
        assert body_of(response)


@pytest.mark.django_db
def test_whatever_is_sent_nothing_breaks_and_the_document_is_true():
    """Requests made from the document itself. No 500, errors in their one form, successes as they are described."""
    described = json.loads(document())
    here = make_world()
    item_set = here.run.item_set_id
    draft = make_run(here.stage, here.run.item_set)
    places = {
        "slug": here.project.slug,
        "project": here.project.slug,
        "stage": here.stage.slug,
        "stage_slug": here.stage.slug,
        "token": here.assignment.token,
        "job_id": here.import_job.pk,
        "endpoint_id": here.endpoint.pk,
        "report_id": here.report.pk,
        "export_id": here.export.pk,
        "feed_id": here.feed.pk,
        "resolution_id": here.resolution.pk,
        "question_id": here.question.pk,
        "flag_id": here.annotation.pk,
        "pseudonym": here.viewer.pseudonym,
        "invite_id": here.invite.pk,
        "name": "report.json",
    }
    known = {
        "stage": [here.stage.slug],
        "item_set": [item_set],
        "endpoint": [here.endpoint.pk],
        "runs": [[here.run.pk]],
        "primary_run": [here.run.pk],
        "field": ["label"],
        "primary_scorer": ["label_accuracy"],
        "kind": ["answers", "items"],
        "format": ["exact", "xlsx"],
        "form_version": [here.stage.versions.get().pk],
        "answer": [{"label": "yes"}, {"label": ["yes"]}, {"label": {"a": 1}}],
        "client_key": ["a-key"],
        "languages": [["en"]],
        "shown_keys": [["question"]],
    }
    values = Values(described, known)
    annotator, admin = ApiClient(here.annotator), ApiClient(here.admin)
    statuses: Counter[int] = Counter()

    def send_many(path: str, method: str, operation: dict[str, Any]) -> None:
        program = annotator if path.startswith(("/api/v1/work/", "/api/v1/assignments/")) else admin
        uploads = "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
        run_id = here.run.pk if method == "get" else draft.pk
        held = here.judged if path.endswith(("/votes/", "/decide/")) else here.assignment

        @settings(
            max_examples=REQUESTS,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(requests_of(path, operation, values, places | {"run_id": run_id, "token": held.token}))
        def send(sent: Sent) -> None:
            with transaction.atomic():
                if uploads:
                    file = SimpleUploadedFile("items.csv", b"id,question\n1," + sent.upload)
                    response = program.upload(sent.address, file=file)
                elif method == "get":
                    response = program.get(sent.address, **sent.asked)
                else:
                    response = program.send(method, sent.address, sent.body)
                check(response, operation, described)
                transaction.set_rollback(True)
            statuses[response.status_code] += 1

        send()

    for path, method, operation in operations(described):
        send_many(path, method, operation)
    # The requests were no noise: a good part of them was understood, and every kind of refusal was met.
    assert {200, 201, 202, 204, 404, 409, 422} <= statuses.keys(), statuses
    assert statuses[200] > 100, statuses
    assert statuses.total() > 400, statuses
