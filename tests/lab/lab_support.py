# SPDX-License-Identifier: MIT
"""What the lab's tests share: the program, and ways to start it and to look at what came out."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))  # terminal

PROGRAM = os.environ["HANDOFF_PROGRAM"]
SOURCE = Path(os.environ["HANDOFF_SOURCE"])
SCHEMA = json.loads((SOURCE / "lab" / "schema" / "result-1.schema.json").read_text())
# There is a small lab too (few_contenders.txt).
whole_lab = unittest.skipUnless(os.environ["HANDOFF_LAB_CONTENDERS"] == "all",
                                "needs more contenders than a small lab has")
MISBEHAVING = Path(PROGRAM).parent / "libexec" / "handoff" / "misbehaving.json"

# A small cell, no search for a library's best setting. Tests run beside each other, so the machine
# is always disturbed; --no-probe keeps that out of the rows. And the smallest measurement of it.
CELL = ("run", "matmul", "--set", "n=64", "--set", "kernel=ikj", "--quick", "--no-probe")
SMALL = (*CELL, "--launches", "1")
# A burst a launch, no longer than one operation: its answer is looked at like any other.
NO_TIME = ("--time-budget", "1e-9")
ONCE = ("--quick", "--no-probe", "--launches", "1", *NO_TIME)


def faults_in(text):
    """The rows of a result file that say why the program did not end with 0; or the text."""
    try:
        rows = json.loads(text)["rows"]
    except (ValueError, KeyError):
        return text
    return "\n".join(json.dumps(row) for row in rows if row["status"] != "ok")


def small_build(folder, wanted):
    """The program below `folder`, in a build that has those contenders only of which wanted(entry)
    is true, and the probe. What it measures takes as long as they do."""
    built = Path(PROGRAM).parent / "libexec" / "handoff"
    libexec = Path(folder) / "libexec" / "handoff"
    libexec.mkdir(parents=True)
    for path in built.iterdir():
        if path.is_dir():
            (libexec / path.name).symlink_to(path)
    for name in ("contenders.json", "canaries.json"):
        entries = json.loads((built / name).read_text())["contenders"]
        kept = [entry for entry in entries if entry["scenario"] == "probe" or wanted(entry)]
        (libexec / name).write_text(json.dumps({"contenders": kept}))
    return Path(shutil.copy(PROGRAM, folder))


class LabTest(unittest.TestCase):
    """Runs the program in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_lab(self, *arguments, environment=None):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **(environment or {})})

    def result_of(self, *arguments, exit_code=0):
        """The result file that a run wrote to stdout."""
        done = self.run_lab(*arguments, "--json")
        self.assertEqual(done.returncode, exit_code, done.stderr + faults_in(done.stdout))
        return json.loads(done.stdout)

    def assert_refused(self, *arguments, mentions=(), leaves=()):
        """Exit 2, one line on stderr with these words, nothing on stdout, no other file left."""
        done = self.run_lab(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "", arguments)
        self.assertEqual(len(done.stderr.splitlines()), 1, (arguments, done.stderr))
        self.assertTrue(done.stderr.startswith("handoff: "), done.stderr)
        for words in mentions:
            self.assertIn(words, done.stderr)
        self.assertEqual(self.files(), sorted(leaves))

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())
