"""People who answer over HTTP, each with a key for each answer, and send again until it is acknowledged."""

from __future__ import annotations

import http.client
import json
import threading
from dataclasses import dataclass, field
from typing import Any, Self

from annotate.models import Assignment, Person, Stage
from annotate.services import resolving
from annotate.services.exporting import answer_rows
from evaluation.services.recounting import recount
from tests.annotate.queue_checks import assert_queue_is_sound
from tests.api_client import make_api_token

LABELS = ("yes", "no", "not_sure")


@dataclass
class PeopleAtWork:
    """Threads that work until the queue has nothing for them; `with` waits for them.

    acknowledged: (pseudonym, item) -> the label whose answer the server said it has. n_failed: requests without a word
    of what became of them.
    """

    port: int
    stage: Stage
    people: list[Person]
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    n_failed: int = 0
    errors: list[str] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        for person in self.people:
            token = make_api_token(person, ("work",))
            thread = threading.Thread(target=self._work, args=(person.pseudonym, token))
            self._threads.append(thread)
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if kind is not None:
            self._stop.set()
        for thread in self._threads:
            thread.join(timeout=120)
        self._stop.set()

    @property
    def n_acknowledged(self) -> int:
        return len(self.acknowledged)

    def _work(self, pseudonym: str, token: str) -> None:
        ask = f"/api/v1/work/{self.stage.project.slug}/{self.stage.slug}/next/"
        told = self._sent(token, ask, {})
        while told and not self._stop.is_set():
            held = told["held"]
            if held is None:
                if told["nothing_left"]["kind"] != "all_taken":
                    return
                self._stop.wait(0.1)
                told = self._sent(token, ask, {})
                continue
            item = held["item"]["id"]
            label = LABELS[hash((pseudonym, item)) % len(LABELS)]
            answer = {"form_version": held["form"]["version"], "client_key": held["token"], "answer": {"label": label}}
            told = self._sent(token, f"/api/v1/assignments/{held['token']}/submit/", answer)
            if told:
                if (pseudonym, item) in self.acknowledged:
                    self.errors.append(f"{pseudonym} was given {item} twice")
                self.acknowledged[pseudonym, item] = label

    def _sent(self, token: str, address: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the server says, however often it has to be asked; nothing when we are to stop."""
        while not self._stop.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            try:
                headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                connection.request("POST", address, json.dumps(body), headers)
                response = connection.getresponse()
                told = response.read()
                if response.status < 300:
                    return json.loads(told)
                if response.status < 500:
                    self.errors.append(f"{response.status} {told[:300]!r}")
                    return {}
            except (OSError, http.client.HTTPException):
                pass  # whether it was stored nobody knows: the same again, with the same key
            finally:
                connection.close()
            self.n_failed += 1
            self._stop.wait(0.05)
        return {}


def assert_nothing_was_lost(people: PeopleAtWork) -> None:
    """Every acknowledged answer is exported exactly once, no other is, every number is right and nothing is held."""
    stage = people.stage
    assert people.errors == []
    head, *rows = answer_rows(project=stage.project)
    exported = [dict(zip(head, row, strict=True)) for row in rows]
    answers = [row for row in exported if row["status"] in ("counted", "surplus", "superseded", "excluded")]
    assert len(answers) == len(people.acknowledged)
    assert {(row["person"], row["item"]): row["answer.label"] for row in answers} == people.acknowledged
    assert not Assignment.objects.filter(state="leased").exists()
    assert_queue_is_sound(stage)
    resolving.resolve_due()
    assert [str(difference) for difference in recount(repair=False)] == []
