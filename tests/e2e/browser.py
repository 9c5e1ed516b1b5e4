#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The status page in headless Chromium, over its debugging pipe: browser.py URL FOLDER SECONDS.

Waits until the page has polled for SECONDS, then writes dom.html, page-light.png, page-dark.png, page-narrow.png and
page-phone.png into FOLDER, and the page's console into console.txt. Fails if a part of the page scrolls
sideways or is cut off in any of these widths. Status 0 on success.
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
# Elements that scroll sideways or exceed the right edge.
SIDEWAYS = """[...document.querySelectorAll("body *")].filter((node) =>
    (node.scrollWidth > node.clientWidth && /auto|scroll/.test(getComputedStyle(node).overflowX)) ||
    node.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
    .map((node) => `${node.tagName} ${node.id} ${node.textContent.slice(0, 40)}`)"""

# What functions of the page return: each expression and its value. A minute ends at 100000.
POINTS = "[{t: 1, calls: 5, errors: {IO: 5}}, {t: 99000, calls: 10, errors: {NOENT: 5%s}}]"
GROWN = "growth({calls: 5, requestBytes: 90, replyBytes: 7, statuses: {NOENT: 3, IO: 1}, whole: [1, %s]}, %s, [1, 2])"
OLD = "{calls: 2, requestBytes: 30, replyBytes: 7, statuses: {NOENT: 1, IO: 1}, whole: [1, 0]}"
EXPECTED = {
    "[0, 0.0004, 0.054, 0.0999, 0.206, 1].map(percent).join()": "<0.1 %,<0.1 %,5.4 %,10 %,21 %,100 %",
    "[1, 3, 1000, 1001, 600 * 1024].map(roundBytes).join()": "1,5,1000,1024,1024000",
    "flow(3 * 1024 * 1024)": "3.0 MiB/s",
    f"JSON.stringify({GROWN % (3, OLD)})":
        '{"calls":3,"requestBytes":60,"replyBytes":0,"errors":{"NOENT":2},"p50":1.4142135623730951,"p99":1.9861849908740716}',
    f"Object.values({GROWN % (3, 'undefined')}.errors).join()": "3,1",
    # The service has started again.
    f"JSON.stringify({GROWN % (-1, OLD)})": '{"calls":0,"requestBytes":0,"replyBytes":0,"errors":{},"p50":null,"p99":null}',
    f"{GROWN % (3, OLD.replace('2', '6'))}.calls": 0,
    "before = {at: 100000, answer: {services: {}}}, errorShare([])": "0",
    f"errorShare({POINTS % ''}).outerHTML": '<span class="" title="NOENT: 5">50 % NOENT</span>',
    f"errorShare({POINTS % ', IO: 1'}).outerHTML": '<span class="warn" title="NOENT: 5, IO: 1">60 % IO</span>',
    "refusals.set('x', [{t: 1, n: 2}, {t: 50000, n: 5}, {t: 99000, n: 9}]), refusedLately('x').textContent": "4",
    "refusals.set('x', [{t: 1, n: 2}, {t: 99000, n: 9}]), refusedLately('x')": "0",
    # A service of that name has started again.
    "remember({services: {}}, [{name: 'x', refused: {a: 1, b: 2}}], 100000), refusals.get('x').length": 1,
    "remember({services: {}}, [{name: 'x', refused: {a: 1, b: 3}}], 102000), refusedLately('x').textContent": "1",
    "showStatus({...last.status, host: 'a.example', problems: []}), document.title": "a.example – rpcrdma-proxy",
    "$('host').textContent": "rpcrdma-proxy on a.example",
    "$('status').firstChild.outerHTML": '<div class="state good">no problems</div>',
    "showProblems([]), $('problems-section').hidden": True,
    "showStatus({...last.status, host: null, problems: [{severity: 'notice'}]}), document.title":
        "127.0.0.1 – rpcrdma-proxy",
    "$('status').textContent.includes('no problems')": False,
    "showStatus({...last.status, host: 'a', problems: [{severity: 'critical'}, {severity: 'warning'}]}), document.title":
        "(2) a – rpcrdma-proxy",
    "showProblems([{id: 'i', severity: 'critical', service: 's', text: 't', cure: 'c'}, {id: 'j', severity: 'notice', "
    "service: null, text: '<b>', cure: ''}]), $('problems').innerHTML":
        '<li data-id="i"><span class="state bad">s: t</span><span class="cure">What to do: c</span></li>'
        '<li data-id="j"><span class="state unknown">&lt;b&gt;</span></li>',
    "$('problems-section').hidden": False,
}


class Browser:
    """A browser with one page. A zero byte ends each message in both directions."""

    def __init__(self):
        their_in, self.out = os.pipe()
        self.input, their_out = os.pipe()

        def become():
            # Duplicate both first: one of them may have the number 3 or 4.
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

    def show(self, width, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        height = self.evaluate("document.documentElement.scrollHeight")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # What is drawn by its width is drawn again.
        self.evaluate("new Promise(requestAnimationFrame)")

    def check_fit(self, width):
        wide = self.evaluate("document.documentElement.scrollWidth")
        sideways = self.evaluate(SIDEWAYS)
        if wide > width:
            raise RuntimeError(f"at {width} pixels the page is {wide} wide")
        if sideways:
            raise RuntimeError(f"at {width} pixels these scroll sideways or are cut off: {sideways}")

    def shoot(self, name, width, scheme):
        self.show(width, scheme)
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(f"{folder}/page-{name}.png", "wb") as out:
            out.write(base64.b64decode(data))
        self.check_fit(width)


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
    browser.shoot("phone", 320, "dark")
    # Both sides of each width at which the layout changes.
    for edge in (600, 601, 960, 961, 1180, 1181):
        browser.show(edge, "light")
        browser.check_fit(edge)
    # Two polls later it still is what has the keyboard.
    polls = "performance.getEntriesByType('resource').filter((entry) => entry.name.endsWith('/api/latency.json')).length"
    browser.evaluate("performance.clearResourceTimings()")
    limit = Limit(START_S)
    while browser.evaluate(polls) < 2:
        if limit.passed():
            raise RuntimeError("the page asks no more")
        time.sleep(0.2)
    wrong = {text: found for text, value in EXPECTED.items() if (found := browser.evaluate(text)) != value}
    focus = browser.evaluate("document.activeElement.dataset.key")
    with open(f"{folder}/console.txt", "w", encoding="utf-8") as console:
        console.write("".join(f"{line}\n" for line in browser.said))
    if wrong:
        raise RuntimeError(f"functions of the page return {wrong}")
    if focus != "READ":
        raise RuntimeError(f"the focus has gone to {focus}")
finally:
    browser.process.terminate()
    browser.process.wait()
