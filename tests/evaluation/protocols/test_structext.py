"""StrucText-Eval, played: three people answer the same questions, models with and without the rule, judges judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotate.services.protocols import planned_draw
from annotate.sources.mapping import ContentColumn, GoldColumn, Mapping
from evaluation.services import judging
from evaluation.services.judgements import judge_results
from tests.evaluation.protocols.play import Play, accuracy, figure, of_run
from tests.openai_server import Running

pytestmark = pytest.mark.django_db

HINT = "An edge is a line of the form father->child."
# The last gold label has more words than the score forgives: "3" is .667 of it, below the .75 that count.
GOLD = ["3", "3", "1", "2", "4", "3 edges"]
MAPPING = Mapping(
    (
        ContentColumn("question", "question"),
        ContentColumn("reference", "reference", "mono"),
        ContentColumn("hint", "rule_hint"),
    ),
    id_column="id",
    gold=(GoldColumn("answer", "answer"),),
    strata=("language", "task", "depth", "width"),
)


def records() -> list[dict[str, Any]]:
    return [
        {
            "id": f"s{n}",
            "question": f"What is the height of tree {n}?",
            "reference": "a->b\nb->c",
            "hint": HINT,
            "answer": answer,
            "language": "tree",
            "task": "Tree.Height",
            "depth": 1 + n % 2,
            "width": 1,
        }
        for n, answer in enumerate(GOLD)
    ]


def test_from_questions_to_people_models_and_judges(server: Running):
    play = Play("structext-eval")
    play.load(records(), "answers", mapping=MAPPING)

    # Three people answer all six: six, five and four are right.
    play.open("answers")
    for person, n_right in zip(play.people(3), (6, 5, 4), strict=True):
        said = {f"s{n}": answer if n < n_right else "no idea" for n, answer in enumerate(GOLD)}
        assert len(play.work("answers", person, lambda _, name, said=said: {"answer": said[name]})) == 6
    play.close("answers")
    items = play.items_of("answers", "all questions")

    # Naive: always 3. With the rule of the format, which stands in the prompt: right about the third and fourth, too.
    server.play(text="3")
    naive = play.run("naive", items, server)
    server.play(
        {"contains": "tree 2?", "behaviour": {"text": "1"}},
        {"contains": "tree 3?", "behaviour": {"text": "2"}},
        text="3",
    )
    hinted = play.run("with rule hint", items, server)
    prompts = [json.dumps(run.predictions.first().calls.get().messages) for run in (naive, hinted)]
    assert [HINT in prompt for prompt in prompts] == [False, True]
    assert naive.parameters == {"temperature": 0.95, "top_p": 0.95, "max_tokens": 2048}

    # Judges: 300 of each run are all six of each; equal answers are judged once: "3" four times, and 3, 1, 3, 2.
    judges = play.stage("judges")
    draw = judging.Draw(runs=(naive, hinted), n=planned_draw(judges).n or 0, seed=3)
    judging.draw_judge_sample(stage=judges, by=play.admin, draw=draw)
    assert judges.stage_items.count() == 8
    play.open("judges")

    def judge(content: dict[str, Any], name: str) -> dict[str, Any]:
        return {"judgement": "right" if content["answer"] == GOLD[int(name[1:])].split()[0] else "wrong"}

    (person,) = play.people(1)
    assert len(play.work("judges", person, judge)) == 8
    play.close("judges")
    shares = {one.run.name: one.judged["value"] for one in judge_results(stage=judges).runs}
    # Judges forgive the missing word: three of six, and five.
    assert shares == {"naive": pytest.approx(3 / 6), "with rule hint": pytest.approx(5 / 6)}

    report = play.report("People against models", items, [naive, hinted])
    people = figure(report, section="accuracy", row="people_mean", measure="structext_rouge_l_75")
    assert people["value"] == pytest.approx((6 + 5 + 4) / 18)
    # Of 1, 5/6 and 4/6: a sixth.
    assert people["sd"] == pytest.approx(1 / 6)
    assert of_run(report, naive) == pytest.approx(2 / 6)
    assert of_run(report, hinted) == pytest.approx(4 / 6)
    # Without the threshold "3" is two thirds of "3 edges".
    assert of_run(report, naive, "structext_rouge_l") == pytest.approx((2 + 2 / 3) / 6)
    # Who was shown the rule saw more than people did, and the report says so.
    assert report.manifest["shown"]["is_same"] is False
    assert report.manifest["shown"]["differences"]["with rule hint"]["only_model"] == ["rule_hint"]
    assert report.manifest["judged"][0]["n_judges"] == 1
    assert {one["stratum"] for one in report.figures if one["section"] == "breakdown"} == {
        "language",
        "task",
        "depth",
        "width",
    }


@pytest.mark.shared_data
def test_a_slice_of_the_public_questions_is_answered_and_reported(server: Running, shared_path):
    folder: Path = shared_path("data/structext-eval/Benchmark/0Shotbenchmark/tree")
    play = Play("structext-eval")
    found = [json.loads(path.read_text()) | {"name": path.stem} for path in sorted(folder.glob("*/*.json"))][:6]
    mapping = Mapping(
        (
            ContentColumn("Question", "question"),
            ContentColumn("Reference", "reference", "mono"),
            ContentColumn("RuleHint", "rule_hint"),
        ),
        id_column="name",
        gold=(GoldColumn("answer", "Answer"),),
    )
    play.load([one | {"Answer": str(one["Answer"])} for one in found], "answers", mapping=mapping)
    gold = play.gold("answer")
    assert len(gold) == len(found) >= 3
    play.open("answers")
    for person in play.people(3):
        assert len(play.work("answers", person, lambda _, name: {"answer": gold[name]})) == len(found)
    play.close("answers")
    items = play.items_of("answers", "public")
    server.play(text="")
    run = play.run("naive", items, server)
    report = play.report("People against models", items, [run])
    assert accuracy(report, "people_mean") == pytest.approx(1)  # 2PR / (P + R + 1e-8)
    # An empty completion is no answer: it counts 0, and is counted apart.
    assert of_run(report, run) == 0
    assert figure(report, section="outcomes", row=f"run_{run.pk}", measure="empty")["count"] == len(found)
