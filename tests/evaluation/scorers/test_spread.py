"""Many pairs in several processes: the same scores in the same order, and no hang."""

import pytest

from evaluation.scorers import Score, get_scorer
from evaluation.scorers import registry as scorers
from evaluation.scorers.spread import PROGRESS_EVERY, ScoringFailed, score_pairs

PAIRS = [
    (f"word{number} of the answer\u2028北京", frozenset({f"word{number % 7} of gold", "other"}))
    for number in range(1200)
]


def test_children_score_as_this_process_does_and_tell_how_far_they_are():
    told = []
    scorer = get_scorer("token_f1")
    spread = score_pairs(scorer, PAIRS, n_children=2, progress=told.append)
    assert spread == score_pairs(scorer, PAIRS, n_children=0)
    assert told == [PROGRESS_EVERY, 2 * PROGRESS_EVERY]


def test_notes_come_back_with_the_scores():
    pairs = [("no table", frozenset({'{"columns": ["a"], "rows": []}'}))] * 2
    assert (
        score_pairs(get_scorer("cell_f1"), pairs, n_children=2)
        == [Score(None, "the answer cannot be read: it is a text and not a table")] * 2
    )


def test_a_child_that_ends_ends_the_scoring_with_its_last_words(monkeypatch):
    # The children know no scorer of this name.
    monkeypatch.setattr(scorers, "SCORERS", {})
    unknown = scorers.scorer("only_here")(lambda answer, gold: Score(1.0))
    with pytest.raises(ScoringFailed, match=r"only_here ended early\. .*There is no scorer 'only_here'"):
        score_pairs(unknown, PAIRS, n_children=2)


class Stopped(Exception):
    pass


def test_whoever_listens_to_the_progress_can_stop_it():
    def stop(n_scored):
        raise Stopped

    for n_children in (0, 2):
        with pytest.raises(Stopped):
            score_pairs(get_scorer("token_f1"), PAIRS, n_children=n_children, progress=stop)


def test_few_pairs_and_quick_scorers_start_no_process():
    # A process would not know this scorer, and would fail.
    quick = scorers.Scorer("not_registered", 1, lambda answer, gold: Score(1.0))
    slow = scorers.Scorer("not_registered", 1, lambda answer, gold: Score(1.0), spread_from=1201)
    assert len(score_pairs(quick, PAIRS)) == len(score_pairs(slow, PAIRS)) == 1200


def test_many_pairs_of_a_slow_scorer_do(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    slow = scorers.Scorer("not_registered", 1, lambda answer, gold: Score(1.0), spread_from=1200)
    with pytest.raises(ScoringFailed, match="not_registered ended early"):
        score_pairs(slow, PAIRS)
