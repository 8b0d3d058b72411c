"""A study like Pinocchio in small: items of domains with gold labels, drawn and audited by two meta-reviewers."""

from __future__ import annotations

from typing import Any

from annotate.models import Annotation, Assignment, Person, Project, Stage
from annotate.services import assigning, auditing, submitting
from annotate.services.auditing import Drawn, Labels
from annotate.stage_kinds import KINDS
from tests.factories import YES_NO, make_item, make_member, make_project, make_stage

FORM = [dict(field) for field in KINDS["audit"].fields]
# Adversarial has no third label, as in the data of Pinocchio; one stratum is short.
SIZES = {
    ("adversarial", "yes"): 6,
    ("adversarial", "no"): 4,
    ("science", "yes"): 5,
    ("science", "no"): 2,
    ("science", "not_sure"): 4,
}


class AuditStudy:
    """project, admin, reviewers and the audit stage; `labels` describes the field that gold is of."""

    def __init__(self, sizes: dict[tuple[str, str], int] = SIZES, **stage: Any) -> None:
        self.project: Project = make_project()
        self.admin = make_member(self.project, "admin")
        self.reviewers = [make_member(self.project, "meta_reviewer") for _ in range(2)]
        self.labels = make_stage(self.project, position=0, title="Labels", form=YES_NO, state="closed")
        self.stage: Stage = make_stage(
            self.project,
            **{"kind": "audit", "title": "Audit", "roles": ["meta_reviewer"], "overlap": 2, "seed": 11, "form": FORM}
            | {"position": 1, "state": "open", "order": "sequential"}
            | stage,
        )
        for (domain, label), n in sizes.items():
            for k in range(n):
                self.add(domain, label, f"{domain}-{label}-{k}")

    def add(self, domain: str, label: str, name: str, **fields: Any) -> Any:
        content = [["question", f"Is it so in {domain}, {label}, {name}?"]]
        strata = [["domain", domain]] if domain else []
        gold = {"label": [label]} if label else {}
        return make_item(self.project, content, external_id=name, gold=gold, strata=strata, **fields)

    def draw(self, k: int = 3, seed: int = 5, **more: Any) -> Drawn:
        asked = {"labels": Labels("label"), "keys": ["domain"], "by_label": True} | more
        return auditing.draw_audit(stage=self.stage, by=self.admin, k=k, seed=seed, **asked)

    def next_for(self, person: Person) -> Any:
        return assigning.claim_next(stage=self.stage, person=person)

    def say(self, assignment: Assignment, verdict: str, correction: str = "", note: str = "") -> Annotation:
        value = {"verdict": verdict} | ({"correction": correction} if correction else {})
        answer: dict[str, Any] = {"verdict": value} | ({"note": note} if note else {})
        return submitting.submit_annotation(
            assignment=assignment,
            answer=answer,
            client_key=f"{assignment.pk}-{verdict}",
            stage_version=self.stage.versions.get(is_current=True),
        )

    def audit_all(self, verdicts: Any) -> None:
        """Everybody says of every item what verdicts(reviewer number, item id) gives: a verdict, or (wrong, label)."""
        for number, person in enumerate(self.reviewers):
            while isinstance(held := self.next_for(person), Assignment):
                said = verdicts(number, held.stage_item.revision.item.external_id)
                self.say(held, *([said] if isinstance(said, str) else said))
