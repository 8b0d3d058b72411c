"""An installation of its own, made, written to and looked at by processes: for tests of backup and restore.

    python -m tests.installation make | write | check CODE

`make` fills an empty database and prints a participant's code; `write` answers items for ever and prints a line for
each answer that was acknowledged; `check` prints what is there as JSON, after testing that it is whole.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import django
from django.db import transaction


@transaction.atomic
def make() -> None:
    from annotate.models import Participation
    from annotate.services import people
    from annotate.services.files import store_file
    from tests.factories import make_annotation, make_item, make_member, make_project, make_stage, make_stage_item

    project = make_project()
    admin, annotator = make_member(project, "admin"), make_member(project)
    stage = make_stage(project, overlap=2)
    for number in range(1_500):
        item = make_item(project, [["question", f"Is {number} “even”? 偶数?"]], gold={"label": ["yes"]})
        stage_item = make_stage_item(stage, item)
        if number < 30:
            make_annotation(stage_item, annotator, {"label": "yes"})
    # The factory leaves it out, and every answer that was given has one.
    Participation.objects.create(stage=stage, person=annotator, n_answered=30)
    store_file(project=project, purpose="upload", name="a.csv", media_type="text/csv", content=b"id\n1\n")
    _, code = people.new_annotator(project=project, by=admin, languages=["en"])
    print(code)


def write() -> None:
    from annotate.models import Assignment, Stage
    from annotate.services import assigning, submitting
    from tests.factories import make_member

    stage = Stage.objects.get()
    version = stage.versions.get()
    person = make_member(stage.project, languages=["en"])
    while isinstance(held := assigning.claim_next(stage=stage, person=person), Assignment):
        submitting.submit_annotation(
            assignment=held, answer={"label": "no"}, client_key=held.token, stage_version=version
        )
        print(held.token, flush=True)


def check(code: str) -> None:
    from django.apps import apps
    from django.db import DatabaseError

    from annotate.models import Annotation, Event, Stage, StoredFile
    from annotate.services import people
    from tests.annotate.queue_checks import assert_queue_is_sound
    from tests.factories import make_project

    for stage in Stage.objects.all():
        assert_queue_is_sound(stage)
    for stored in StoredFile.objects.all():
        with stored.file.open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == stored.sha256
    told: dict[str, Any] = {"tables": {}, "client_keys": list(Annotation.objects.values_list("client_key", flat=True))}
    for model in apps.get_models(include_auto_created=True):
        if model._meta.app_label in ("annotate", "evaluation"):
            rows = repr(list(model._default_manager.order_by("pk").values_list()))
            told["tables"][model._meta.label] = hashlib.sha256(rows.encode()).hexdigest()
    # The history is still append-only, people still come in, and new rows get numbers of their own.
    try:
        with transaction.atomic():
            Event.objects.update(verb="changed")
        raise AssertionError("the history can be changed")
    except DatabaseError:
        pass
    with transaction.atomic():
        told["signed_in"] = people.sign_in_with_code(code=code, address="127.0.0.1").pseudonym
        make_project(slug="one-more")
        # Looking changes nothing: what is looked at is backed up again.
        transaction.set_rollback(True)
    print(json.dumps(told))


if __name__ == "__main__":
    django.setup()
    {"make": make, "write": write, "check": check}[sys.argv[1]](*sys.argv[2:])
