#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The status page in headless Chromium, over its debugging pipe: browser.py URL FOLDER SECONDS.

Waits until the page has polled for so long, then writes dom.html, page-light.png, page-dark.png and page-narrow.png into the
folder, and what the page has said to its console into console.txt. Status 0 if all of that could be had.
"""
import base64
import json
import os
import subprocess
import sys
import time

from time_limit import Limit

url, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
QUIET = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
         "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars").split()
START_S = 60


class Browser:
    """A browser with one page; a message each way ends with a zero byte."""

    def __init__(self):
        their_in, self.out = os.pipe()
        self.input, their_out = os.pipe()

        def become():
            # Neither may be lost while the other is put in its place.
            a, b = os.dup(their_in), os.dup(their_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            ["chromium", *QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder}/profile", "about:blank"],
            preexec_fn=become, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(f"{folder}/chromium.err", "wb"), env={**os.environ, "HOME": folder})
        os.close(their_in)
        os.close(their_out)
        self.rest, self.number, self.session, self.said = b"", 0, None, []

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.input, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.said.append(json.dumps(answer["params"]))
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, expression):
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)["result"].get("value")

    def shoot(self, name, width, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        height = self.evaluate("document.documentElement.scrollHeight")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # What is drawn by its width is drawn again.
        self.evaluate("new Promise(requestAnimationFrame)")
        wide = self.evaluate("document.documentElement.scrollWidth")
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(f"{folder}/page-{name}.png", "wb") as out:
            out.write(base64.b64decode(data))
        if wide > width:
            raise RuntimeError(f"at {width} pixels the page is {wide} wide")


browser = Browser()
try:
    target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        browser.ask(f"{domain}.enable")
    browser.ask("Page.navigate", url=url)
    limit = Limit(START_S)
    while not browser.evaluate("document.querySelectorAll('#plot path').length"):
        if limit.passed():
            break
        time.sleep(0.2)
    time.sleep(seconds)
    browser.evaluate("document.querySelector('#operations button[data-key=READ]')?.click()")
    browser.evaluate("document.querySelector('#operations button[data-key=READ]')?.focus()")
    with open(f"{folder}/dom.html", "w", encoding="utf-8") as dom:
        dom.write(browser.evaluate("document.documentElement.outerHTML"))
    browser.shoot("light", 1280, "light")
    browser.shoot("dark", 1280, "dark")
    browser.shoot("narrow", 400, "light")
    # Two polls later it still is what has the keyboard.
    polls = "performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/api/latency.json')).length"
    browser.evaluate("performance.clearResourceTimings()")
    limit = Limit(START_S)
    while browser.evaluate(polls) < 2:
        if limit.passed():
            raise RuntimeError("the page asks no more")
        time.sleep(0.2)
    focus = browser.evaluate("document.activeElement.dataset.key")
    with open(f"{folder}/console.txt", "w", encoding="utf-8") as console:
        console.write("".join(f"{line}\n" for line in browser.said))
    if focus != "READ":
        raise RuntimeError(f"the focus has gone to {focus}")
finally:
    browser.process.terminate()
    browser.process.wait()
