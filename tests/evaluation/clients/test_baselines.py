"""The baselines, worked by hand."""

import random
import threading
import time
from collections import Counter

import pytest

from evaluation.clients.base import ClientError, CompletionStatus, ErrorKind, Inbox, NotAsked, NotAskedReason, Request
from evaluation.clients.baselines import (
    BASELINES,
    ChattyRandom,
    LexicalOverlap,
    MajorityLabel,
    SeededRandom,
    build_baseline,
)
from evaluation.prompts import Option, PromptInput

OPTIONS = (Option("yes", "Yes"), Option("no", "No"), Option("nse", "Not sure enough"))
INFOBOX = {
    "type": "table",
    "title": "Ada Example",
    "sections": [
        ["Personal", [["Born", "10 May 1901"], ["Children", ["Ben", "Cora"]]]],
        ["Career", [["Years active", "1920-1950"], ["Award", ""]]],
    ],
}
GRID = {"type": "grid", "columns": ["City", "Population"], "rows": [["Aston", "120"], ["Belmore", "450"]]}


def label_question(text: str = "Is water wet?") -> PromptInput:
    return PromptInput(content=[["question", text]], caption="Is it true?", kind="label", options=OPTIONS)


def table_question(text: str, table: dict = INFOBOX) -> PromptInput:
    return PromptInput(content=[["table", table], ["question", text]], caption="Your answer", kind="short_answer")


def label_requests(n: int) -> list[Request]:
    return [Request(id=f"r{i}", item_key=f"item-{i}", prompt=label_question(f"Question {i}?")) for i in range(n)]


def answers_of(baseline, requests) -> dict:
    batches = baseline.answer(Inbox.of(requests), stop=threading.Event(), until=time.monotonic() + 60)
    return dict(each for batch in batches for each in batch)


def test_majority_label_says_the_most_frequent_label_by_its_caption():
    assert MajorityLabel({"yes": 3, "nse": 5, "no": 4}).complete(label_question(), "i").text == "Not sure enough"


def test_majority_label_takes_the_first_option_of_a_tie_whatever_the_order_of_the_counts():
    assert MajorityLabel({"nse": 5, "no": 5}).complete(label_question(), "i").text == "No"
    assert MajorityLabel({"no": 5, "nse": 5}).complete(label_question(), "i").text == "No"


def test_majority_label_passes_over_labels_that_are_no_option():
    assert MajorityLabel({"maybe": 9, "no": 1}).complete(label_question(), "i").text == "No"
    assert MajorityLabel({"maybe": 9}).complete(label_question(), "i").status == CompletionStatus.EMPTY


def test_majority_label_must_be_fitted():
    with pytest.raises(ValueError, match="counts"):
        build_baseline("majority_label", seed=1, label_counts={})


def test_seeded_random_depends_neither_on_order_nor_on_chunks():
    requests = label_requests(50)
    whole = answers_of(SeededRandom(seed=7), requests)
    shuffled = random.Random(1).sample(requests, k=50)
    in_chunks = {}
    for start in range(0, 50, 8):
        in_chunks |= answers_of(SeededRandom(seed=7), shuffled[start : start + 8])
    assert in_chunks == whole


def test_seeded_random_gives_every_label_its_share_and_another_seed_other_labels():
    requests = label_requests(900)
    texts = [answer.text for answer in answers_of(SeededRandom(seed=7), requests).values()]
    counts = Counter(texts)
    # 300 expected each; the standard deviation is sqrt(900 * 1/3 * 2/3) = 14, so 5 of them are 70.
    assert counts.keys() == {option.caption for option in OPTIONS}
    assert all(abs(count - 300) < 70 for count in counts.values())
    other = [answer.text for answer in answers_of(SeededRandom(seed=8), requests).values()]
    assert 0.2 < sum(a == b for a, b in zip(texts, other, strict=True)) / 900 < 0.47  # 1/3 agree by chance


def test_seeded_random_draws_a_short_answer_from_the_tables():
    drawn = {SeededRandom(seed=1).complete(table_question("Who?"), f"item-{n}").text for n in range(100)}
    assert drawn == {"10 May 1901", "Ben", "Cora", "1920-1950"}


@pytest.mark.parametrize(
    ("question", "table", "answer"),
    [
        ("When was Ada born?", INFOBOX, "10 May 1901"),
        ("How many years was her career?", INFOBOX, "1920-1950"),  # "years" and "career" against "born"'s none
        ("Name one of her children.", INFOBOX, "Ben"),  # the first of equals
        ("Nothing of the kind", INFOBOX, "10 May 1901"),  # no overlap at all: the first value
        ("What is the population of Belmore?", GRID, "450"),  # column and row both match
        ("Which city has a population of 120?", GRID, "Aston"),
    ],
)
def test_lexical_overlap_gives_the_value_whose_key_or_row_shares_most_words(question, table, answer):
    assert LexicalOverlap().complete(table_question(question, table), "i").text == answer


def test_lexical_overlap_gives_the_option_named_in_the_text():
    assert LexicalOverlap().complete(label_question("No man is an island"), "i").text == "No"


def test_a_short_answer_without_a_table_is_empty():
    prompt = PromptInput(content=[["question", "Who?"]], caption="Your answer", kind="short_answer")
    for baseline in (SeededRandom(seed=1), LexicalOverlap()):
        assert baseline.complete(prompt, "i").status == CompletionStatus.EMPTY


def test_chatty_random_has_every_manner_in_its_share():
    chatty = ChattyRandom(seed=3)
    counts = Counter(chatty.manner(f"item-{n}") for n in range(2000))
    expected = dict(chatty.shares) | {"plain": 100 - sum(chatty.shares.values())}
    assert counts.keys() == expected.keys()
    # Share p of 2,000 has a standard deviation of at most sqrt(2000 * .4 * .6) = 22.
    assert all(abs(counts[manner] - 20 * share) < 5 * 22 for manner, share in expected.items())


def test_chatty_random_shows_every_status():
    statuses = Counter(answer.status for answer in answers_of(ChattyRandom(seed=3), label_requests(200)).values())
    assert statuses.keys() == {CompletionStatus.ANSWERED, CompletionStatus.CUT_OFF, CompletionStatus.EMPTY}


def test_chatty_random_gives_sixty_items_at_least_one_refusal_and_one_repeated_question():
    # The demonstration has 60 label items and wants completions that do not parse.
    for seed in range(20):
        manners = {ChattyRandom(seed=seed).manner(f"item-{n}") for n in range(60)}
        assert manners & {"refusal", "repeat", "wavering"}


def test_stop_ends_the_answers_and_tells_who_was_not_asked():
    stop = threading.Event()
    got = []
    for batch in SeededRandom(seed=1).answer(Inbox.of(label_requests(150)), stop=stop, until=time.monotonic() + 60):
        got += [(request_id, isinstance(outcome, NotAsked) and outcome.reason) for request_id, outcome in batch]
        stop.set()
    # They come by the hundred.
    reasons = [False] * 100 + [NotAskedReason.STOPPED] * 50
    assert got == [(f"r{n}", reason) for n, reason in enumerate(reasons)]


def test_nothing_is_answered_after_the_end_of_the_chunk():
    [batch] = SeededRandom(seed=1).answer(
        Inbox.of(label_requests(2)), stop=threading.Event(), until=time.monotonic() - 1
    )
    assert {outcome for _, outcome in batch} == {NotAsked(NotAskedReason.OUT_OF_TIME)}


def test_the_caller_is_ticked_between_answers():
    ticks = []
    list(
        SeededRandom(seed=1).answer(
            Inbox.of(label_requests(250)),
            stop=threading.Event(),
            until=time.monotonic() + 60,
            on_tick=lambda: ticks.append(1),
        )
    )
    assert len(ticks) == 3


def test_a_request_without_the_item_is_an_error_of_that_request_alone():
    got = answers_of(SeededRandom(seed=1), [Request(id=1, messages=[]), *label_requests(1)])
    assert isinstance(got[1], ClientError)
    assert got[1].kind == ErrorKind.BAD_REQUEST
    assert got["r0"].status == CompletionStatus.ANSWERED


@pytest.mark.parametrize("name", sorted(BASELINES))
def test_each_baseline_is_built_by_name_and_signs_with_name_and_version(name):
    baseline = build_baseline(name, seed=1, label_counts={"yes": 1})
    assert baseline.complete(label_question(), "i").model == f"{name}/1"
