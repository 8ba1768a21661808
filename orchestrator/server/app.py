"""The web application: the page, its files and the stream of what happens, for who may read."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.files import open_within
from orchestrator.reporting.site.folder import INDEX
from orchestrator.reporting.site.front import SERVED, served_page
from orchestrator.server.access import Access
from orchestrator.server.hub import MOST_VIEWERS, Hub

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    # Data are scripts: without it, a page from elsewhere could load them.
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_FILE = re.compile(r"(?:app|data|vendor)(?:/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){1,3}")
_TYPES = {".js": "text/javascript", ".css": "text/css"}
_FOR_EVER = "private, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages that are served, from the folder of a site that is brought up to date meanwhile."""

    site: Path

    def index(self) -> str | None:
        """Return the page, or None while there is none."""
        content = self._content(self.site, INDEX)
        return None if content is None else served_page(content.decode("utf-8", "replace"))

    def file(self, path: str) -> bytes | None:
        """Return a file of the site or of the live view, and nothing from elsewhere."""
        if path.startswith("served/"):
            return self._content(SERVED, path.removeprefix("served/"))
        return self._content(self.site, path) if _FILE.fullmatch(path) else None

    @staticmethod
    def _content(folder: Path, path: str) -> bytes | None:
        try:
            with open_within(folder, path) as file:
                return file.read()
        except (OSError, ValueError):
            return None


def application(pages: Pages, hub: Hub, access: Access, touched: Callable[[], None]) -> ASGIApp:
    """Return the application. `touched` is called when a viewer comes, or the page is asked for."""

    async def index(request: Request) -> Response:
        del request
        touched()
        text = pages.index()
        if text is None:
            return PlainTextResponse("The site is being written. Load this page again in a moment.\n", 503)
        return Response(text, media_type="text/html", headers={"Cache-Control": "no-store"})

    async def events(request: Request) -> Response:
        if hub.viewers >= MOST_VIEWERS:
            return PlainTextResponse(f"{MOST_VIEWERS} pages follow already; close one.\n", 503)
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        touched()
        stream = hub.stream(request.headers.get("last-event-id", ""))
        return StreamingResponse(stream, media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def file(request: Request) -> Response:
        path = request.path_params["path"]
        content = pages.file(path)
        if content is None:
            return PlainTextResponse("There is no such file.\n", 404)
        kept = _FOR_EVER if path.startswith("data/") or request.url.query else "no-cache"
        tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
        headers = {"Cache-Control": kept, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=_TYPES.get(Path(path).suffix, "text/plain"), headers=headers)

    routes = [Route("/", index), Route(f"/{INDEX}", index), Route("/events", events), Route("/{path:path}", file)]
    return Guard(Starlette(routes=routes), access)


class Guard:
    """The door of the application: who may not read gets nothing but the reason."""

    def __init__(self, within: ASGIApp, access: Access) -> None:
        self._within = within
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] != "http":  # there are no sockets here; the server itself says when it begins and ends
            if scope["type"] == "lifespan":
                await self._within(scope, receive, send)
            return
        headers, query = Headers(scope=scope), QueryParams(scope["query_string"])
        refused, is_new = self._judged(scope, headers, query)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_encoded(_HEADERS)]
                if is_new:
                    cookie = f"{self._access.cookie}={self._access.cookie_value}; Path=/; HttpOnly; SameSite=Strict"
                    message["headers"].append((b"set-cookie", cookie.encode()))
            await send(message)

        answer = self._within if refused is None else PlainTextResponse(refused[1], refused[0])
        await answer(scope, receive, guarded)

    def _judged(self, scope: Scope, headers: Headers, query: QueryParams) -> tuple[tuple[int, str] | None, bool]:
        """Return the reason to refuse a request, or None, and true if it brings the token itself."""
        refused: tuple[int, str] | None = None
        is_new = self._access.has_token(query.get("token", ""))
        cookie = cookie_parser(headers.get("cookie", "")).get(self._access.cookie, "")
        is_page = headers.get("sec-fetch-mode", "navigate") == "navigate"
        if not self._access.answers_to(headers.get("host", "")):
            refused = 421, "This server is asked for by the address that it listens at.\n"
        elif scope["method"] not in {"GET", "HEAD"}:
            refused = 405, "Here is only something to read.\n"
        elif headers.get("sec-fetch-site", "none") in {"cross-site", "same-site"} and not is_page:
            refused = 403, "Pages from elsewhere may not read here.\n"
        elif self._access.token and not is_new and not self._access.has_cookie(cookie):
            refused = 401, "Open the address with its ?token=… that `orchestrator serve` has printed.\n"
        return refused, is_new and refused is None


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
