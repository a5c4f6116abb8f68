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

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from terminal import terminals_exist

PROGRAM = os.environ["HANDOFF_PROGRAM"]
SOURCE = Path(os.environ["HANDOFF_SOURCE"])
SCHEMA = json.loads((SOURCE / "lab" / "schema" / "result-1.schema.json").read_text())
# There is a small lab too (few_contenders.txt).
whole_lab = unittest.skipUnless(os.environ["HANDOFF_LAB_CONTENDERS"] == "all",
                                "needs more contenders than a small lab has")
needs_a_terminal = unittest.skipUnless(terminals_exist(), "no terminal can be made here")
DEEP = os.environ.get("HANDOFF_TEST_DEEP") == "1"
MISBEHAVING = Path(PROGRAM).parent / "libexec" / "handoff" / "misbehaving.json"

# A small cell, no search for a library's best setting. Tests run beside each other, so the machine
# is always disturbed; --no-probe keeps that out of the rows. And the smallest measurement of it.
CELL = ("run", "matmul", "--set", "n=64", "--set", "kernel=ikj", "--quick", "--no-probe")
SMALL = (*CELL, "--launches", "1")
# A burst a launch, no longer than one operation: its answer is looked at like any other.
NO_TIME = ("--time-budget", "1e-9")
ONCE = ("--quick", "--no-probe", "--launches", "1", *NO_TIME)


def settings(parameters):
    return [word for name, value in parameters.items() for word in ("--set", f"{name}={value}")]


def processes_in(folder):
    """Those that run in a folder: contenders and their workers inherit it."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd") == str(folder.resolve()):
                found.append(int(name))
        except OSError:  # it has ended since
            continue
    return found


def children_of(process):
    try:
        return list(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
    except OSError:
        return []


def valid(result):
    """A result that follows the schema."""
    jsonschema.validate(result, SCHEMA)
    return result


def faults_in(text):
    """The rows of a result file that say why the program did not end with 0; or the text."""
    try:
        rows = json.loads(text)["rows"]
    except (ValueError, KeyError, TypeError):
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

    def write(self, name, what):
        """A file in the folder: a text as it is, all else as JSON."""
        (self.folder / name).write_text(what if isinstance(what, str) else json.dumps(what))
        return name

    def start(self, *command, **how):
        """A process in the folder that is gone after the test."""
        process = subprocess.Popen([*map(str, command)], **{
            "cwd": self.folder, "text": True, "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **how})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def burn(self, cpus=1):
        """Other programs that take so many CPUs."""
        return [self.start(sys.executable, "-c", "while True: pass") for _ in range(cpus)]

    def run_lab(self, *arguments, environment=None, exit_code=None):
        """What it said; None: it may end with any exit code."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **(environment or {})})
        if exit_code is not None:
            self.assertEqual(done.returncode, exit_code, done.stderr + faults_in(done.stdout))
        return done

    def json_of(self, *arguments, exit_code=0):
        return json.loads(self.run_lab(*arguments, "--json", exit_code=exit_code).stdout)

    def result_of(self, *arguments, exit_code=0):
        """The result file that a run wrote to stdout."""
        return valid(self.json_of(*arguments, exit_code=exit_code))

    def result_in(self, name="result.json"):
        return valid(json.loads((self.folder / name).read_text()))

    def assert_refused(self, *arguments, mentions=()):
        """Exit 2, one line on stderr with these words, nothing on stdout, and no other file than
        before."""
        before = self.files()
        done = self.run_lab(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "", arguments)
        self.assertEqual(len(done.stderr.splitlines()), 1, (arguments, done.stderr))
        self.assertTrue(done.stderr.startswith("handoff: "), done.stderr)
        for words in mentions:
            self.assertIn(words, done.stderr)
        self.assertEqual(self.files(), before)

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


class ScenarioTest(LabTest):
    """Of one scenario."""

    scenario = ""

    def result(self, *arguments, exit_code=0, how=ONCE, **parameters):
        return self.result_of("run", self.scenario, *arguments, *settings(parameters), *how,
                              exit_code=exit_code)

    def rows(self, *arguments, **how):
        return self.result(*arguments, **how)["rows"]

    def by_name(self, *arguments, **how):
        return {row["contender"]: row for row in self.rows(*arguments, **how)}

    def assert_found(self, reasons, *arguments, **how):
        """Each of these contenders that cheat is wrong, for such a reason."""
        rows = self.rows("--manifest", MISBEHAVING, "--contenders", ",".join(reasons), *arguments,
                         exit_code=1, **how)
        self.assertEqual({row["contender"] for row in rows}, set(reasons))
        for row in rows:
            self.assertEqual(row["status"], "wrong", row)
            self.assertRegex(row["reason"], reasons[row["contender"]], row)
        return rows
