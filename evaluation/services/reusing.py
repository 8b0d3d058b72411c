"""Answers from the store: at temperature 0 the same request may be answered by what an earlier run was told.

Only where a run asks for it, only from the same endpoint and for the same repeat, never from the run itself (its
repeats would all be copies), and never without saying so: the call names the one its completion was taken from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from django.db.models import F, Q

from evaluation.clients.base import Completion, Request, RequestId
from evaluation.models import Call, Endpoint, Run


def request_hash(endpoint: Endpoint, request: Request) -> str:
    """SHA-256 of everything that is sent and of where it goes; empty for a request that is left to chance."""
    if endpoint.provider != Endpoint.Provider.OPENAI or request.parameters.get("temperature") != 0:
        return ""
    sent = {
        "base_url": endpoint.base_url,
        "model": endpoint.model,
        "messages": list(request.messages),
        "parameters": dict(request.parameters),
    }
    if endpoint.protocol != Endpoint.Protocol.CHAT:
        sent["protocol"] = endpoint.protocol
    return hashlib.sha256(json.dumps(sent, sort_keys=True).encode()).hexdigest()


def stored_completions(run: Run, requests: Sequence[Request]) -> dict[RequestId, tuple[Completion, int]]:
    """For each request that was answered before: the newest completion, and the call that it stands in."""
    if not run.reuses_answers:
        return {}
    by_hash = {digest: request for request in requests if (digest := request_hash(run.endpoint, request))}
    repeats = {request.id: request.item_key.rpartition("#")[2] for request in requests}
    earlier = (
        Call.objects.filter(
            request_hash__in=by_hash, error_kind="", reused_from=None, prediction__run__endpoint=run.endpoint
        )
        # What a provider says of a refusal beside the text is not stored: such a call is made anew.
        .exclude(Q(prediction__run=run) | Q(completion="") | Q(prediction__state="refused"))
        .annotate(repeat=F("prediction__repeat"))
        .defer("messages")
        .order_by("pk")
    )
    found: dict[tuple[str, str], Call] = {(call.request_hash, str(call.repeat)): call for call in earlier}
    stored: dict[RequestId, tuple[Completion, int]] = {}
    for request in requests:
        call = found.get((request_hash(run.endpoint, request), repeats[request.id]))
        if call is not None:
            stored[request.id] = _completion_of(call), call.pk
    return stored


def _completion_of(call: Call) -> Completion:
    return Completion(
        text=call.completion,
        reasoning=call.reasoning,
        finish_reason=call.finish_reason,
        prompt_tokens=call.prompt_tokens,
        completion_tokens=call.completion_tokens,
        logprobs=call.logprobs,
        model=call.server_model,
        http_status=call.http_status,
    )
