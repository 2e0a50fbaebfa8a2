"""Decides which requests are answered: only those of this machine's browser that has the token, from our own pages."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from starlette.datastructures import MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE_METHODS = ("GET", "HEAD")
START = "/start"
LONGEST_PATH = 600
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, a form of our own would be sent with the origin "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
# A page that leads on, instead of a redirect: the next request then comes from our own page, so that the browser sends
# the cookie even if the address was followed from another site, such as a terminal in a browser.
ENTRANCE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>betalike</title>
<link rel="icon" href="/static/icon.svg"><meta http-equiv="refresh" content="0;url=/"></head>
<body><p><a href="/">Open betalike</a></p></body></html>"""


@dataclass
class Keys:
    """The secrets of a run: a token that opens the page once, and the session that it is exchanged for."""

    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def exchange(self, given: str) -> bool:
        """Return whether this is the token; it is then used up."""
        if self.token is None or not hmac.compare_digest(self.token.encode(), given.encode()):
            return False
        self.token = None
        return True


class Guard:
    """Middleware that refuses requests of other sites, other names of this machine, and anyone without the session."""

    def __init__(self, app: ASGIApp, port: int, keys: Keys, is_read_only: bool = False) -> None:
        self.app, self.keys, self.is_read_only = app, keys, is_read_only
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self.cookie = f"betalike-{port}"  # browsers share cookies between ports

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; every answer has the headers that protect the page."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer: ASGIApp = self._refusal(scope) or self._entrance(scope) or self.app
        await answer(scope, receive, send_protected)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return why a request is refused; None if it is not."""
        host, origin = _headers(scope, b"host"), _headers(scope, b"origin")
        if len(host) != 1 or host[0] not in self.hosts:
            return _forbidden("This address is not the one that betalike listens on.")
        if len(scope["path"]) > LONGEST_PATH:
            return PlainTextResponse("This address is too long.\n", status_code=414)
        is_safe = scope["method"] in SAFE_METHODS
        if origin != [f"http://{host[0]}"] and (origin or not is_safe):
            return _forbidden("This request comes from another site.")
        if scope["path"] == START:
            return None
        if any(site not in ("same-origin", "none") for site in _headers(scope, b"sec-fetch-site")):
            return _forbidden("This request comes from another site.")
        if not self._has_session(scope):
            return _forbidden("This page needs the address that `betalike web` printed when it started. It opens once.")
        if self.is_read_only and not is_safe:
            return _forbidden("This page is shown read-only: nothing can be changed.")
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """Return the page that takes the token and gives the session; None for any other page."""
        if scope["path"] != START:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if not self._has_session(scope) and not self.keys.exchange(given):
            return _forbidden("This address was used already, or is not the one that `betalike web` printed.")
        page = HTMLResponse(ENTRANCE)
        page.set_cookie(self.cookie, self.keys.session, httponly=True, samesite="strict", path="/")
        return page

    def _has_session(self, scope: Scope) -> bool:
        """Return whether the cookie is there; those of other programs of this machine may have any form."""
        parts = [part.strip().partition("=") for text in _headers(scope, b"cookie") for part in text.split(";")]
        given = [value for name, _, value in parts if name == self.cookie]
        return any(hmac.compare_digest(value.encode(), self.keys.session.encode()) for value in given)


def _headers(scope: Scope, wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]


def _forbidden(reason: str) -> Response:
    return PlainTextResponse(f"{reason}\n", status_code=403)
