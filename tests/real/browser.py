"""A headless Chromium, driven over a pipe (--remote-debugging-pipe): no package beside Debian's `chromium`, and no port.

It collects all that a page complains of: errors and warnings of the console, exceptions, violations of its policy, and every request but that
for the page itself.
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

_SECONDS = 60


def path():
    """None where there is no Chromium."""
    return shutil.which("chromium")


class BrowserError(Exception):
    """One line."""


class Browser:
    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="heapsift-chromium-", dir="/var/tmp")
        command_end, self._out = os.pipe()
        self._in, answer_end = os.pipe()
        # Chromium reads from 3 and writes to 4.
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$0" "$@" 3<&%d 4>&%d' % (command_end, answer_end), path(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--user-data-dir=" + self._profile, "--remote-debugging-pipe",
             "about:blank"],
            pass_fds=(command_end, answer_end), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(command_end)
        os.close(answer_end)
        self._number, self._text, self._session, self.complaints, self.requests, self._events = 0, b"", None, [], [], []
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(one for one in targets if one["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(domain + ".enable")

    def close(self):
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self._profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def show(self, width, height=900, dark=False, script=True):
        """From now on."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._call("Emulation.setScriptExecutionDisabled", value=not script)

    def open(self, file):
        self._events = [event for event in self._events if event != "Page.loadEventFired"]
        self._call("Page.navigate", url="file://" + os.path.abspath(file))
        deadline = time.monotonic() + _SECONDS
        while "Page.loadEventFired" not in self._events:
            self._read(deadline)

    def run(self, expression):
        """What an expression of JavaScript is, also where the page's own scripts are off."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError("%s: %s" % (expression[:80], answer["exceptionDetails"]["text"]))
        return answer["result"].get("value")

    def press(self, key, text=None):
        code = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}.get(key, 0)
        more = {"text": text} if text else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **more)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self._call("Input.insertText", text=text)

    def picture(self):
        """PNG, of the whole page down to 6,000 pixels."""
        height = min(6000, self.run("document.documentElement.scrollHeight"))
        width = self.run("innerWidth")
        return base64.b64decode(self._call("Page.captureScreenshot", captureBeyondViewport=True,
                                           clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})["data"])

    def pdf(self):
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def _call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _SECONDS
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]

    def _read(self, deadline):
        while b"\0" not in self._text:
            if not select.select([self._in], [], [], max(0, deadline - time.monotonic()))[0]:
                raise BrowserError("Chromium does not answer")
            part = os.read(self._in, 1 << 16)
            if not part:
                raise BrowserError("Chromium has ended")
            self._text += part
        line, _, self._text = self._text.partition(b"\0")
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, event):
        if method:
            self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append("exception: " + event["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append("console: %s" % event["args"])
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append("log: " + event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
