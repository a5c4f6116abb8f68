# SPDX-License-Identifier: MIT
"""Headless Chromium over a pipe (DevTools protocol): what a page shows, asks for, complains of."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

PATIENCE_S = 120


class Browser:
    """Use it as a context. No name can be resolved in it, so nothing but files can be loaded."""

    def __enter__(self):
        # Dying processes of the browser may still write there while it is removed.
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        chromium = shutil.which("chromium")
        assert chromium is not None, "install chromium"
        to_browser, self.commands = os.pipe()
        self.replies, from_browser = os.pipe()
        # The protocol's pipe is descriptors 3 and 4 of the browser.
        shell = f"exec 3<&{to_browser} 4>&{from_browser}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", chromium, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-sync",
             "--disable-component-update", "--no-first-run", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.profile.name}",
             "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.watchdog = None
        self.be_patient()
        self.received, self.last_id, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.watchdog.cancel()
        self.kill()
        self.process.wait()
        self.profile.cleanup()
        os.close(self.commands)
        os.close(self.replies)

    def kill(self):
        """It has a session of its own, so all of its processes go."""
        os.killpg(self.process.pid, signal.SIGKILL)

    def be_patient(self):
        """A browser that hangs is killed some time after the last page was opened."""
        if self.watchdog:
            self.watchdog.cancel()
        self.watchdog = threading.Timer(PATIENCE_S, self.kill)
        self.watchdog.start()

    def receive(self):
        while b"\0" not in self.received:
            chunk = os.read(self.replies, 1 << 16)
            assert chunk, "the browser is gone"
            self.received += chunk
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.last_id += 1
        command = {"id": self.last_id, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.last_id:
                assert "error" not in message, (method, message)
                return message["result"]
            self.events.append(message)

    def open(self, path, width=1000, height=900, dark=False, media="screen", scripts=True):
        """Loads a file as a page of that size; what it asks for and complains of starts anew."""
        self.be_patient()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                          awaitPromise=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def press(self, key, code=None, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, text=text,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13}.get(key, 0))

    def screenshot(self, path):
        """Of the whole page, not only of what fits the window."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "scale": 1, "width":
                                  self.evaluate("document.documentElement.clientWidth"),
                                  "height": self.evaluate(
                                      "document.documentElement.scrollHeight")})
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def count_on_first_screen(self, *colours):
        """How many pixels of what fits the window have (nearly) each of these colours. The page is
        left for it."""
        picture = self.call("Page.captureScreenshot")["data"]
        self.call("Emulation.setScriptExecutionDisabled", value=False)
        self.call("Page.navigate", url="about:blank")
        return self.evaluate("""(async (picture, colours) => {
            const image = new Image();
            image.src = "data:image/png;base64," + picture;
            await image.decode();
            const canvas = Object.assign(document.createElement("canvas"),
                                         {width: image.width, height: image.height});
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            const {data} = context.getImageData(0, 0, image.width, image.height);
            const counts = colours.map(() => 0);
            for (let i = 0; i < data.length; i += 4) {
              colours.forEach((colour, c) => {
                if (colour.every((part, k) => Math.abs(part - data[i + k]) <= 12)) counts[c]++;
              });
            }
            return counts;
          })(%s, %s)""" % (json.dumps(picture), json.dumps(colours)))

    def requests(self):
        """What the page asked for beside itself and what it carries in data: URLs."""
        self.evaluate("new Promise(done => setTimeout(done, 200))")
        urls = [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls[1:] if not url.startswith("data:")]

    def complaints(self):
        """Errors and warnings on the console, exceptions among them."""
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append(str(event["params"]["args"]))
            elif event.get("method") == "Log.entryAdded":
                found.append(event["params"]["entry"]["text"])
        return found
