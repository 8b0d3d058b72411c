"""The OpenAI-compatible client against a real server that misbehaves."""

import itertools
import json
import threading
import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from evaluation.clients.base import (
    MAX_BODY_BYTES,
    ClientError,
    Completion,
    CompletionStatus,
    ErrorKind,
    Inbox,
    NotAsked,
    NotAskedReason,
    Outcome,
    Request,
    RequestId,
)
from evaluation.clients.openai import (
    FAILURES_IN_A_ROW,
    OpenAIClient,
    kind_of_status,
    read_completion,
    request_body,
    retry_after_seconds,
    text_request_body,
)
from evaluation.clients.pace import Ended, Meter, Pace
from tests.openai_server import Running, serving

KEY = "canary-0123456789-abcdefghij"


def make_client(server: Running, **changes: object) -> OpenAIClient:
    settings = {
        "base_url": server.base_url,
        "model": "small",
        "api_key": KEY,
        "allowed_private": frozenset({server.host_and_port}),
        "concurrency": 1,
        "call_seconds": 5.0,
    }
    return OpenAIClient(**(settings | changes))


def make_requests(*texts: str) -> list[Request]:
    return [Request(id=position, messages=[{"role": "user", "content": text}]) for position, text in enumerate(texts)]


def outcomes(client: OpenAIClient, *texts: str, seconds: float = 60.0) -> dict[RequestId, Outcome]:
    inbox = Inbox.of(make_requests(*texts))
    batches = client.answer(inbox, stop=threading.Event(), until=time.monotonic() + seconds)
    answered = [each for batch in batches for each in batch]
    assert len(answered) == len(texts), "every request has exactly one outcome"
    return dict(answered)


def outcome(client: OpenAIClient, text: str = "Is it true?") -> Outcome:
    return outcomes(client, text)[0]


def error_of(client: OpenAIClient) -> ClientError:
    error = outcome(client)
    assert isinstance(error, ClientError)
    assert len(error.message) <= 500
    assert KEY not in error.message
    return error


# What works


CHAT_LOGPROBS = {"content": [{"token": "Yes", "logprob": -0.5, "top_logprobs": [{"token": "No", "logprob": -1.0}]}]}
TEXT_LOGPROBS = {"tokens": ["Yes"], "token_logprobs": [-0.5], "top_logprobs": [{"No": -1.0}]}


@pytest.mark.parametrize(
    ("takes_chats", "asked", "sent", "told"),
    [
        (True, {"logprobs": True, "top_logprobs": 3}, {"logprobs": True, "top_logprobs": 3}, CHAT_LOGPROBS),
        (True, {"logprobs": True}, {"logprobs": True}, CHAT_LOGPROBS),
        (False, {"logprobs": True, "top_logprobs": 3}, {"logprobs": 3}, TEXT_LOGPROBS),
        (False, {"logprobs": True}, {"logprobs": 0}, TEXT_LOGPROBS),
    ],
)
def test_log_probabilities_are_asked_for_in_the_words_of_each_protocol(server, takes_chats, asked, sent, told):
    server.play(text="Yes", logprobs=told)
    client = make_client(server, takes_chats=takes_chats)
    inbox = Inbox.of([Request(id=0, messages=[{"role": "user", "content": "Is it?"}], parameters=asked)])
    ((_, completion),) = next(iter(client.answer(inbox, stop=threading.Event(), until=time.monotonic() + 60)))
    assert isinstance(completion, Completion)
    assert completion.logprobs == [("Yes", -0.5, [("No", -1.0)])]
    body = server.calls()[0]["asked"]
    assert {name: body[name] for name in ("logprobs", "top_logprobs") if name in body} == sent


@pytest.mark.parametrize("told", [{"content": "?"}, {"content": [{"token": "Yes"}]}, {}])
def test_a_completion_stands_whatever_its_log_probabilities_are(server, told):
    server.play(text="Yes", logprobs=told)
    completion = outcome(make_client(server))
    assert isinstance(completion, Completion)
    assert (completion.text, completion.logprobs) == ("Yes", None)


def test_a_completion_comes_with_its_circumstances(server):
    server.play(text=" Yes, it is.\n", latency_ms=50)
    completion = outcome(make_client(server))
    assert isinstance(completion, Completion)
    assert completion.text == " Yes, it is.\n"
    assert completion.status == CompletionStatus.ANSWERED
    assert (completion.prompt_tokens, completion.completion_tokens) == (11, 3)
    assert (completion.model, completion.http_status, completion.response_id) == ("small", 200, "call-0")
    assert 50 <= completion.latency_ms < 5000


def test_the_server_gets_model_messages_parameters_and_key(server):
    request = Request(id="a", messages=[{"role": "user", "content": "Ça va ? 你好"}], parameters={"temperature": 0})
    list(make_client(server).answer(Inbox.of([request]), stop=threading.Event(), until=time.monotonic() + 60))
    [call] = server.calls()
    assert call["text"] == "Ça va ? 你好"
    assert call["asked"] == {"model": "small", "temperature": 0, "stream": False}
    assert call["headers"]["Authorization"] == f"Bearer {KEY}"


def test_an_endpoint_without_key_gets_no_authorization(server):
    outcome(make_client(server, api_key=""))
    assert "Authorization" not in server.calls()[0]["headers"]


def test_the_key_stays_out_of_repr(server):
    assert KEY not in repr(make_client(server))


@pytest.mark.parametrize("name", ["model", "messages", "prompt", "stream", "n"])
@pytest.mark.parametrize("body", [request_body, text_request_body])
def test_a_parameter_cannot_replace_what_is_ours(name, body):
    with pytest.raises(ValueError, match=name):
        body("small", Request(id=1, messages=[{"role": "user", "content": "?"}], parameters={name: 2}))


def test_a_server_of_the_older_protocol_goes_on_from_the_text(server):
    server.play(text=" Paris", finish_reason="length")
    completion = outcome(make_client(server, takes_chats=False), "The capital of France is")
    assert isinstance(completion, Completion)
    assert (completion.text, completion.finish_reason, completion.status) == (" Paris", "length", "cut_off")
    assert (completion.prompt_tokens, completion.completion_tokens) == (11, 3)
    (call,) = server.calls()
    assert (call["text"], "messages" in call["asked"]) == ("The capital of France is", False)


def test_a_text_and_a_chat_of_the_same_shape_are_told_apart():
    text = json.dumps({"choices": [{"text": "yes", "finish_reason": "stop"}]}).encode()
    assert read_completion(text, latency_ms=1, takes_chats=False).text == "yes"
    with pytest.raises(ValueError, match="message"):
        read_completion(text, latency_ms=1)
    for wrong in ({"text": None}, {"text": 3}, {"message": {"content": "yes"}}):
        with pytest.raises(ValueError, match="text"):
            read_completion(json.dumps({"choices": [wrong]}).encode(), latency_ms=1, takes_chats=False)


def test_many_requests_are_in_flight_at_once_but_no_more_than_allowed(server):
    # 40 calls of 200 ms, 10 at a time, take at least 4 x 200 ms; one at a time would take 8 s.
    server.play(latency_ms=200)
    started = time.monotonic()
    got = outcomes(make_client(server, concurrency=10), *[f"question {n}" for n in range(40)])
    seconds = time.monotonic() - started
    assert all(isinstance(each, Completion) for each in got.values())
    assert 0.8 <= seconds < 4.0
    spans = [(call["arrived"], call["finished"]) for call in server.calls()]
    most = max(sum(a <= moment < b for a, b in spans) for moment, _ in spans)
    assert 5 <= most <= 10


def test_a_call_begins_only_when_its_turn_has_come(server):
    pace = Pace(5)
    began = time.monotonic()
    pace.in_turn([(began + 0.1 * n, 0.1) for n in range(5)])
    outcomes(make_client(server, concurrency=5, pace=pace), *"abcde")
    arrived = [call["arrived"] for call in server.calls()]
    assert len(arrived) == 5
    assert arrived[-1] - arrived[0] >= 0.35
    assert pace.take_ended() == [Ended(14, 0.1)] * 5


def test_places_that_are_taken_away_are_not_used(server):
    server.play(latency_ms=100)
    pace = Pace(6)
    inbox = Inbox.of(make_requests(*map(str, range(24))))
    got = 0
    for batch in make_client(server, concurrency=6, pace=pace).answer(
        inbox, stop=threading.Event(), until=time.monotonic() + 60
    ):
        got += len(batch)
        pace.allow(1, lasts_until=float("inf"))
    assert got == 24
    calls = server.calls()
    last = calls[-4:]
    # Some were under way when the places were taken; the last four went one after another.
    assert all(later["arrived"] >= earlier["finished"] - 0.01 for earlier, later in itertools.pairwise(last))


def test_a_share_that_ran_out_sends_nothing_until_it_is_renewed(server):
    pace = Pace(1, lasts_until=time.monotonic() - 1)
    inbox = Inbox.of(make_requests("a"))
    renewed: list[bool] = []

    def renew() -> None:
        renewed.append(server.calls() == [])
        pace.allow(1, lasts_until=float("inf"))

    [batch] = make_client(server, pace=pace).answer(
        inbox, stop=threading.Event(), until=time.monotonic() + 60, on_tick=renew
    )
    assert isinstance(batch[0][1], Completion)
    assert renewed[0] is True


def test_requests_may_be_added_while_the_client_works(server):
    inbox = Inbox(make_requests("a"))
    got: list[RequestId] = []
    for batch in make_client(server).answer(inbox, stop=threading.Event(), until=time.monotonic() + 60):
        got += [request_id for request_id, _ in batch]
        if len(got) < 3:
            assert inbox.add([Request(id=f"later {len(got)}", messages=[{"role": "user", "content": "b"}])])
        else:
            inbox.close()
    assert got == [0, "later 1", "later 2"]
    assert not inbox.add(make_requests("too late"))


def test_nothing_is_sent_once_the_budget_is_spent(server):
    meter = Meter(input_price=Decimal(1), output_price=Decimal(2))
    # A completion of the server counts 11 tokens in and 3 out: 17 millionths each.
    meter.limit(money=Decimal("0.00003"), tokens=None)
    got = outcomes(make_client(server, meter=meter), *"abcde")
    assert len(server.calls()) == 2
    assert [got[n] for n in (2, 3, 4)] == [NotAsked(NotAskedReason.BUDGET_SPENT)] * 3


def test_a_budget_that_cannot_be_watched_counts_as_spent(server):
    server.play(usage=None)
    meter = Meter()
    meter.limit(money=None, tokens=1000)
    outcomes(make_client(server, meter=meter), *"abc")
    assert len(server.calls()) == 1
    assert meter.is_blind


# Empty, cut off, refused: told apart from answers


@pytest.mark.parametrize("nothing", ["", " \n", None])
def test_an_empty_completion_is_no_answer(server, nothing):
    server.play(text=nothing)
    assert outcome(make_client(server)).status == CompletionStatus.EMPTY


@pytest.mark.parametrize("text", ["The answer is", ""])
def test_a_completion_at_the_token_limit_is_cut_off(server, text):
    server.play(text=text, finish_reason="length")
    assert outcome(make_client(server)).status == CompletionStatus.CUT_OFF


def test_a_filtered_completion_is_a_refusal(server):
    server.play(text="", finish_reason="content_filter")
    assert outcome(make_client(server)).status == CompletionStatus.REFUSED


# Errors, each of its own kind


@pytest.mark.parametrize(
    ("status", "kind", "heals", "stops_run"),
    [
        (400, ErrorKind.BAD_REQUEST, False, False),
        (401, ErrorKind.AUTH, False, True),
        (402, ErrorKind.AUTH, False, True),
        (403, ErrorKind.AUTH, False, True),
        (404, ErrorKind.NOT_FOUND, False, True),
        (408, ErrorKind.TIMEOUT, True, False),
        (413, ErrorKind.BAD_REQUEST, False, False),
        (429, ErrorKind.RATE_LIMITED, True, False),
        (500, ErrorKind.SERVER_ERROR, True, False),
        (503, ErrorKind.SERVER_ERROR, True, False),
        (204, ErrorKind.BAD_RESPONSE, False, False),
    ],
)
def test_each_status_has_its_kind(server, status, kind, heals, stops_run):
    server.play(status=status, message="no luck")
    error = error_of(make_client(server))
    assert (error.kind, error.heals, error.stops_run) == (kind, heals, stops_run)
    assert error.http_status == status
    if status != 204:
        assert error.message == f"HTTP {status}: no luck"


def test_a_spent_quota_is_no_rate_limit():
    assert kind_of_status(429, "You exceeded your current quota, please check your plan") == ErrorKind.AUTH


def test_retry_after_is_given_back_and_not_slept(server):
    server.play(status=429, retry_after="120")
    started = time.monotonic()
    error = error_of(make_client(server))
    assert error.kind == ErrorKind.RATE_LIMITED
    assert error.retry_after == 120.0
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("Mon, 01 Jan 2024 00:02:00 GMT", 120.0),
        ("Sun, 31 Dec 2023 23:00:00 GMT", 0.0),  # long past
        ("999999999", 86_400.0),
        ("-3", 0.0),
        ("inf", 86_400.0),
        ("nan", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert retry_after_seconds({"Retry-After": value}, now=datetime(2024, 1, 1, tzinfo=UTC)) == seconds


def test_a_hanging_server_meets_the_total_deadline(server):
    server.play(mode="hang")
    started = time.monotonic()
    error = error_of(make_client(server, call_seconds=0.5))
    assert error.kind == ErrorKind.TIMEOUT
    assert error.heals
    assert error.latency_ms >= 500
    assert time.monotonic() - started < 3


def test_a_dripping_body_meets_the_total_deadline(server):
    # Each byte arrives in time; only a deadline for the whole call ends this.
    server.play(mode="drip")
    assert error_of(make_client(server, call_seconds=0.5)).kind == ErrorKind.TIMEOUT


def test_an_endless_body_is_broken_off_at_4_mib(server):
    server.play(mode="endless")
    error = error_of(make_client(server))
    assert error.kind == ErrorKind.BAD_RESPONSE
    assert "4 MiB" in error.message


def test_a_body_of_4_mib_is_read_and_one_byte_more_is_not(server):
    server.play(size=MAX_BODY_BYTES)
    assert isinstance(outcome(make_client(server)), Completion)
    server.play(size=MAX_BODY_BYTES + 1)
    assert error_of(make_client(server)).kind == ErrorKind.BAD_RESPONSE


def test_a_compressed_body_is_not_unpacked(server):
    server.play(headers=[["Content-Encoding", "gzip"]], body="a bomb")
    error = error_of(make_client(server))
    assert error.kind == ErrorKind.BAD_RESPONSE
    assert "compressed" in error.message


def test_a_connection_closed_half_way_heals(server):
    server.play(mode="drop")
    error = error_of(make_client(server))
    assert error.kind == ErrorKind.CONNECTION
    assert error.heals


def test_an_endpoint_that_is_down_heals():
    with serving() as gone:
        client = make_client(gone)
    error = error_of(client)
    assert error.kind == ErrorKind.CONNECTION
    assert error.heals


def test_a_redirect_is_refused_and_the_key_does_not_follow(server):
    server.play(status=307, location=f"{server.url}/v1/elsewhere?key={KEY}")
    error = error_of(make_client(server))
    assert error.kind == ErrorKind.REDIRECT
    assert error.stops_run
    assert len(server.calls()) == 1


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<html>Welcome</html>", "not JSON"),
        ('{"choices": [{"message": {"content": "Ye', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1, 2]", "a JSON list"),
        ("{}", "no choices"),
        ('{"choices": []}', "no choices"),
        ('{"choices": {"0": 1}}', "no choices"),
        ('{"choices": [{"text": "Yes"}]}', "no choices"),
        ('{"choices": [{"message": {"content": 5}}]}', "neither text nor null"),
        ('{"error": {"message": "overloaded"}}', "overloaded"),
    ],
)
def test_a_body_of_another_shape_is_a_bad_response(server, body, complaint):
    server.play(body=body)
    error = error_of(make_client(server))
    assert error.kind == ErrorKind.BAD_RESPONSE
    assert not error.heals
    assert complaint in error.message


def test_an_error_in_the_clothes_of_a_success_is_read_as_the_error_it_is(server):
    server.play(body='{"error": {"message": "upstream is busy", "code": 502}}')
    error = error_of(make_client(server))
    assert (error.kind, error.http_status) == (ErrorKind.SERVER_ERROR, 502)


def test_keys_echoed_by_the_server_are_taken_out(server):
    server.play(status=401, message=f"Incorrect API key provided: {KEY[:12]}***, full: {KEY}. Bearer {KEY}")
    error = error_of(make_client(server))
    assert "Incorrect API key provided" in error.message
    assert KEY[:8] not in error.message


def test_a_long_error_is_cut_to_500_characters(server):
    server.play(status=500, message="x" * 100_000)
    assert len(error_of(make_client(server)).message) == 500


def test_what_no_database_stores_is_replaced_and_said():
    body = json.dumps({"choices": [{"message": {"content": "Y\x00e\ud800s"}, "finish_reason": "stop"}]}).encode()
    completion = read_completion(body, latency_ms=1)
    assert completion.text == "Y\ufffde\ufffds"
    assert completion.altered


def test_reasoning_is_kept_apart_from_the_text():
    message = {"content": [{"type": "text", "text": "Yes"}], "reasoning_content": "Let me see."}
    completion = read_completion(json.dumps({"choices": [{"message": message}]}).encode(), latency_ms=1)
    assert (completion.text, completion.reasoning) == ("Yes", "Let me see.")


@pytest.mark.parametrize("count", [-1, 2**31, 1.5, "11", True, None])
def test_a_token_count_that_is_none_is_not_stored(count):
    body = {"choices": [{"message": {"content": "Yes"}}], "usage": {"prompt_tokens": count, "completion_tokens": 3}}
    completion = read_completion(json.dumps(body).encode(), latency_ms=1)
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, 3)


# When to stop asking


@pytest.mark.parametrize("status", [401, 404])
def test_what_will_not_heal_ends_the_chunk_after_one_call(server, status):
    server.play(status=status)
    got = outcomes(make_client(server), "a", "b", "c")
    assert isinstance(got[0], ClientError)
    assert [got[1], got[2]] == [NotAsked(NotAskedReason.RUN_STOPPED)] * 2
    assert len(server.calls()) == 1


def test_a_long_retry_after_holds_the_rest_back_unasked(server):
    server.play({"contains": "a", "behaviour": {"status": 429, "retry_after": "60"}})
    got = outcomes(make_client(server), "a", "b")
    assert isinstance(got[0], ClientError)
    assert isinstance(got[1], NotAsked)
    assert got[1].reason == NotAskedReason.HELD_BACK
    assert got[1].retry_after >= 60
    assert len(server.calls()) == 1


def test_a_short_retry_after_is_waited_out(server):
    server.play({"contains": "a", "behaviour": {"status": 429, "retry_after": "1"}})
    got = outcomes(make_client(server), "a", "b")
    assert isinstance(got[0], ClientError)
    assert isinstance(got[1], Completion)
    first, second = server.calls()
    assert second["arrived"] - first["finished"] >= 0.99


def test_a_server_that_is_down_does_not_use_up_every_attempt(server):
    server.play(status=500)
    got = outcomes(make_client(server), *[f"question {n}" for n in range(20)])
    assert len(server.calls()) == FAILURES_IN_A_ROW
    assert sum(isinstance(each, ClientError) for each in got.values()) == FAILURES_IN_A_ROW
    held_back = [each for each in got.values() if isinstance(each, NotAsked)]
    assert {each.reason for each in held_back} == {NotAskedReason.HELD_BACK}
    assert all(each.retry_after > 0 for each in held_back)


def test_single_failures_do_not_stop_a_chunk(server):
    server.play({"contains": "bad", "behaviour": {"status": 500}})
    texts = ["bad" if n % 2 else "good" for n in range(4 * FAILURES_IN_A_ROW)]
    got = outcomes(make_client(server), *texts)
    assert [isinstance(got[n], Completion) for n in range(len(texts))] == [text == "good" for text in texts]


def test_stop_finishes_what_is_in_flight_and_sends_nothing_more(server):
    server.play(latency_ms=200)
    stop = threading.Event()
    got: dict[RequestId, Outcome] = {}
    inbox = Inbox.of(make_requests(*"abcdef"))
    for batch in make_client(server, concurrency=2).answer(inbox, stop=stop, until=time.monotonic() + 60):
        got |= dict(batch)
        stop.set()
    assert len(got) == 6
    asked = [each for each in got.values() if isinstance(each, Completion)]
    assert len(asked) == len(server.calls()) <= 4
    assert {each for each in got.values() if not isinstance(each, Completion)} == {NotAsked(NotAskedReason.STOPPED)}


def test_nothing_is_sent_that_could_not_be_finished_in_time(server):
    got = outcomes(make_client(server, call_seconds=5.0), "a", "b", seconds=4.0)
    assert set(got.values()) == {NotAsked(NotAskedReason.OUT_OF_TIME)}
    assert server.calls() == []


def test_leaving_the_loop_cancels_the_calls_in_flight(server):
    server.play({"contains": "slow", "behaviour": {"mode": "hang"}})
    answers = make_client(server, concurrency=2, call_seconds=30).answer(
        Inbox.of(make_requests("fast", "slow")), stop=threading.Event(), until=time.monotonic() + 60
    )
    assert [request_id for request_id, _ in next(answers)] == [0]
    started = time.monotonic()
    answers.close()
    assert time.monotonic() - started < 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("model-calls")]


def test_an_address_outside_the_rule_is_refused_before_anything_is_sent(server):
    got = outcomes(make_client(server, allowed_private=frozenset()), "a", "b")
    assert got[0].kind == ErrorKind.REFUSED_ADDRESS
    assert got[0].stops_run
    assert server.host_and_port in got[0].message
    assert got[1] == NotAsked(NotAskedReason.RUN_STOPPED)
    assert server.calls() == []


def test_a_name_that_changes_its_address_is_asked_for_only_once(server):
    # Public at the first look, private at the second: the connection must go to what was judged.
    looks: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        looks.append(host)
        return ["127.0.0.1"] if len(looks) == 1 else ["169.254.169.254"]

    port = server.host_and_port.rpartition(":")[2]
    client = make_client(
        server,
        base_url=f"http://models.test:{port}/v1",
        allowed_private=frozenset({f"models.test:{port}"}),
        resolve=rebinding,
        concurrency=3,
    )
    got = outcomes(client, *"abcdef")
    assert all(isinstance(each, Completion) for each in got.values())
    assert looks == ["models.test"]
    assert server.calls()[0]["headers"]["Host"] == f"models.test:{port}"


def test_a_name_without_address_is_told_once_and_holds_the_rest_back(server):
    async def nobody(host: str, port: int) -> list[str]:
        raise OSError("no such host")

    got = outcomes(make_client(server, base_url="https://models.test/v1", resolve=nobody), "a", "b")
    assert got[0].kind == ErrorKind.CONNECTION
    assert got[1].reason == NotAskedReason.HELD_BACK


def test_proxies_of_the_environment_are_not_used(server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    assert isinstance(outcome(make_client(server)), Completion)
