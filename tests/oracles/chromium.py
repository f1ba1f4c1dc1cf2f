"""Headless Chromium, as the tests of pages drive it: over its debugging protocol, without network."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
VARIABLE = "IRLINT_CHROMIUM"

#: It looks up no host, and starts nothing of its own in the background.
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
)

#: So many seconds may a step take.
LIMIT = 120


def executable() -> str | None:
    """The browser that an environment variable names, or one that is installed."""
    return os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """A page that is open; ``inside`` are its workers and frames: what each is, and its session."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.inside: list[tuple[str, str]] = []
        self.numbers = count(1)
        self.answers: dict[int, asyncio.Future[Any]] = {}
        self.errors: list[str] = []
        self.reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async for message in self.socket:
            event = message.json()
            if event.get("id") in self.answers:
                self.answers.pop(event["id"]).set_result(event)
            elif event.get("method") == "Target.attachedToTarget":
                self.inside.append((event["params"]["targetInfo"]["type"], event["params"]["sessionId"]))
            elif event.get("method") == "Log.entryAdded":
                self.errors.append(event["params"]["entry"]["text"])
            elif event.get("method") == "Runtime.exceptionThrown":
                self.errors.append(str(event["params"]["exceptionDetails"]))

    async def ask(self, method: str, session: str = "", **params: Any) -> Any:
        """The answer to a command of the protocol; raises RuntimeError where it is an error."""
        number = next(self.numbers)
        answer = self.answers[number] = asyncio.get_running_loop().create_future()
        await self.socket.send_json(
            {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        )
        found = await asyncio.wait_for(answer, LIMIT)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']}")
        return found["result"]

    async def value(self, expression: str, session: str = "") -> Any:
        """What an expression of JavaScript gives, or what it was rejected with."""
        found = await self.ask(
            "Runtime.evaluate", session, expression=expression, awaitPromise=True, returnByValue=True
        )
        return found["result"].get("value", found["result"].get("description"))

    async def until(self, expression: str, *wanted: str) -> str:
        """Waits until an expression gives one of some texts; raises TimeoutError where it never does."""
        for _ in range(LIMIT * 20):
            found = await self.value(expression)
            if found in wanted:
                return str(found)
            await asyncio.sleep(0.05)
        raise TimeoutError(f"{expression} is {found!r}")

    async def choose(self, selector: str, files: list[Path]) -> None:
        """Gives files to an input."""
        root = (await self.ask("DOM.getDocument"))["root"]["nodeId"]
        node = (await self.ask("DOM.querySelector", nodeId=root, selector=selector))["nodeId"]
        await self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])


@asynccontextmanager
async def opened(browser: str, address: str, profile: Path) -> AsyncIterator[Tab]:
    """A page in a browser of its own."""
    import aiohttp

    with subprocess.Popen(
        [browser, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            port = await _port(profile / "DevToolsActivePort")
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    [target] = [each for each in await answer.json() if each["type"] == "page"]
                async with session.ws_connect(target["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    tab = Tab(socket)
                    for method in ("Page.enable", "Runtime.enable", "DOM.enable", "Log.enable"):
                        await tab.ask(method)
                    await tab.ask("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=False, flatten=True)
                    await tab.ask("Page.navigate", url=address)
                    yield tab
                    tab.reading.cancel()
        finally:
            process.terminate()


async def _port(file: Path) -> int:
    for _ in range(LIMIT * 20):
        if file.exists() and (lines := file.read_text("utf-8").splitlines()):
            return int(lines[0])
        await asyncio.sleep(0.05)
    raise TimeoutError("the browser does not start")
