"""What a page does wrong without anybody seeing it: policy violations, script errors, requests that fail."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request, Response, WebError

# The event also tells of violations that never reach the console.
REPORT_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  window.reportViolation(`${event.violatedDirective} refused ${event.blockedURI} in ${event.sourceFile}`))"""
# Chromium's and htmx's own words for a failed request, which is counted as one already.
FAILED_REQUEST = re.compile(
    r"^(Failed to load resource: |Response Status Error Code |htmx:(afterRequest|sendError|timeout|sendAbort)\b)"
)

# The page was left, or htmx asked anew, before the answer came: nobody waits for it.
LEFT_BEHIND = "net::ERR_ABORTED"


class Faults:
    """Collects the faults of every page it watches; a test announces those it provokes, as patterns."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._announced: list[str] = []

    def watch(self, context: BrowserContext) -> None:
        context.expose_binding("reportViolation", lambda source, text: self.found.append(f"violation: {text}"))
        context.add_init_script(REPORT_VIOLATIONS)
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)
        context.on("requestfailed", self._on_failed)
        context.on("response", self._on_response)

    def announce(self, *patterns: str) -> None:
        """Faults of these patterns are the test's own doing, and each has to happen."""
        self._announced += patterns

    def unannounced(self) -> list[str]:
        return [fault for fault in self.found if not any(re.search(pattern, fault) for pattern in self._announced)]

    def missing(self) -> list[str]:
        return [pattern for pattern in self._announced if not any(re.search(pattern, fault) for fault in self.found)]

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not FAILED_REQUEST.match(message.text):
            self.found.append(f"console: {message.text}")

    def _on_error(self, error: WebError) -> None:
        self.found.append(f"script: {error.error}")

    def _on_failed(self, request: Request) -> None:
        if request.failure != LEFT_BEHIND:
            self.found.append(f"failed: {request.method} {_path(request.url)} {request.failure}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.found.append(f"{response.status}: {response.request.method} {_path(response.url)}")


def _path(url: str) -> str:
    return urlsplit(url).path
