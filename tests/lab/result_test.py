# SPDX-License-Identifier: MIT
"""The result file against its schema, and the page in a real browser."""

import json
import re
import shutil
import statistics
import struct
import subprocess
import tempfile
import unittest
import zlib
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import numpy as np

from lab_support import MISBEHAVING, PROGRAM, SOURCE, LabTest

OWN_COLOUR = (0x00, 0x67, 0xB8)  # of own bars on a light page
SCHEMA = json.loads((SOURCE / "lab" / "schema" / "result-1.schema.json").read_text())
ARGUMENTS = ("run", "matmul", "--set", "n=64", "--set", "kernel=ikj,tile", "--quick",
             "--launches", "2", "--seed", "5", "--output", "results.json", "--page", "page.html",
             "--manifest", MISBEHAVING, "--contenders",
             "own.*,seed.*,peer.eigen,limit.fma,peer.nothing,peer.absent")


CANARY = ('<img src="http://picture.example/x.png">'
          '<link rel="stylesheet" href="https://style.example/x.css">')


class ResultFile(LabTest):
    @classmethod
    def setUpClass(cls):
        """One measurement for all tests, which only read it."""
        kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(kept.cleanup)
        done = subprocess.run([PROGRAM, *ARGUMENTS], cwd=kept.name, text=True, capture_output=True)
        assert done.returncode == 1, done.stderr
        cls.tables = done.stdout
        cls.result = json.loads((Path(kept.name) / "results.json").read_text())
        cls.page = (Path(kept.name) / "page.html").read_text()

    def test_it_follows_the_schema(self):
        jsonschema.validate(self.result, SCHEMA)
        statuses = {row["status"] for row in self.result["rows"]}
        self.assertEqual(statuses, {"ok", "wrong", "unavailable"})

    def test_the_schema_refuses_what_it_should(self):
        broken = []
        for path, value in [(("schema",), 2), (("rows", 0, "status"), "fine"),
                            (("rows", 0, "kind"), "other"), (("rows", 0, "median"), "fast"),
                            (("rows", 0, "better"), "bigger"), (("rows", 0, "samples"), 3)]:
            copy = json.loads(json.dumps(self.result))
            inner = copy
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            broken.append(copy)
        no_time = json.loads(json.dumps(self.result))
        for row in no_time["rows"]:
            if row["status"] == "wrong":
                row["samples"] = [1.0]
        for copy in [*broken, no_time]:
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(copy, SCHEMA)

    def test_its_figures_fit_together(self):
        for row in self.result["rows"]:
            if row["status"] != "ok":
                continue
            self.assertEqual(len(row["launches"]), 2)
            self.assertEqual([v for bursts in row["launches"] for v in bursts], row["samples"])
            medians = [statistics.median(bursts) for bursts in row["launches"]]
            self.assertAlmostEqual(statistics.median(medians), row["median"], places=9)
            self.assertLessEqual(row["low"], row["median"])
            self.assertLessEqual(row["median"], row["high"])
            self.assertGreater(row["wall_ns_per_op"], 0)
            self.assertGreater(row["cpu_ns_per_op"], 0)
        environment = self.result["environment"]
        self.assertEqual(environment["seed"], 5)
        self.assertIn("--seed", environment["command_line"])
        self.assertGreaterEqual(environment["budget"]["width"], 1)
        self.assertEqual(environment["contender_variables"].keys() - {"OPENBLAS_CORETYPE"}, set())

    def test_the_tables_show_every_row(self):
        for row in self.result["rows"]:
            self.assertIn(row["contender"], self.tables)

    def test_the_page_asks_for_nothing_and_runs_nothing(self):
        class Page(HTMLParser):
            references, scripts = [], []

            def handle_starttag(self, tag, attributes):
                for name, value in attributes:
                    if name in ("src", "href", "srcset", "action", "data", "xlink:href"):
                        self.references.append(value)
                    if name.startswith("on"):
                        self.scripts.append(name)
                if tag == "script":
                    self.scripts.append(dict(attributes).get("type"))

        page = Page()
        page.feed(self.page)
        self.assertEqual(page.references, ["data:,"])  # no icon, and no question for one
        self.assertEqual(page.scripts, ["application/json"])
        self.assertNotRegex(self.page, r"url\(|@import")

    def test_the_page_holds_the_result(self):
        text = re.search(r'id="results">(.*)</script>', self.page, re.DOTALL).group(1)
        self.assertEqual(json.loads(text), self.result)
        for row in self.result["rows"]:
            self.assertIn(row["contender"], self.page)
        self.assertIn("did nothing: the answer was left untouched", self.page)

    def test_a_browser_shows_the_chart_and_sends_nothing(self):
        pixels, requests = self.browse(self.page)
        own = (pixels[:, :, :3] == OWN_COLOUR).all(axis=2).sum()
        self.assertGreater(own, 1000, "no bar of ours in the chart")
        self.assertEqual(requests, [])

    def test_the_browser_would_report_a_page_that_asks_for_something(self):
        _, requests = self.browse(f"<!DOCTYPE html><title>canary</title>{CANARY}")
        self.assertEqual(sorted(requests),
                         ["http://picture.example/x.png", "https://style.example/x.css"])

    def browse(self, text):
        """The screenshot of a page, and the URLs it asked for, by the browser's own log."""
        chromium = shutil.which("chromium")
        self.assertIsNotNone(chromium, "install chromium")
        page, picture, log = (self.folder / name for name in ["page.html", "page.png", "net.json"])
        page.write_text(text)
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-first-run", "--hide-scrollbars", "--window-size=1000,2400",
             f"--user-data-dir={self.folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--log-net-log={log}", f"--screenshot={picture}", page.as_uri()],
            check=True, capture_output=True, timeout=300)
        return read_png(picture), requests_of_the_page(json.loads(log.read_text()))


def requests_of_the_page(log):
    """Those that the browser makes for itself have no initiating origin."""
    started = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    jobs = [event["params"] for event in log["events"]
            if event["type"] == started and "url" in event.get("params", {})]
    return [job["url"] for job in jobs
            if job["initiator"] != "not an origin" and not job["url"].startswith("data:")]


def read_png(path):
    """An 8-bit RGB or RGBA picture as rows x columns x channels."""
    data = path.read_bytes()
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and colour in (2, 6), (depth, colour)
    channels = 3 if colour == 2 else 4
    compressed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            compressed += data[at + 8:at + 8 + length]
        at += length + 12
    lines = np.frombuffer(zlib.decompress(compressed), np.uint8).reshape(height, -1)
    return unfilter(lines[:, 0], lines[:, 1:].astype(np.int64), channels).reshape(
        height, width, channels)


def unfilter(filters, lines, channels):
    """Undoes PNG's line filters, each of which predicts a byte from those to the left and above."""
    above = np.zeros(lines.shape[1], np.int64)
    for kind, line in zip(filters, lines):
        if kind == 2:
            line += above
        elif kind == 1:
            for channel in range(channels):
                line[channel::channels] = np.cumsum(line[channel::channels])
        elif kind in (3, 4):
            for i in range(len(line)):
                left = line[i - channels] if i >= channels else 0
                corner = above[i - channels] if i >= channels else 0
                line[i] += (left + above[i]) // 2 if kind == 3 else paeth(left, above[i], corner)
                line[i] &= 255
        line &= 255
        above = line
    return lines


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


if __name__ == "__main__":
    unittest.main()
