# SPDX-License-Identifier: MIT
"""handoff-copy, run as a stranger would: what it says, its exit codes, Ctrl-C, kill -9."""

import os
import signal
import subprocess
import time
from pathlib import Path

from lab_support import PROGRAM as HANDOFF, LabTest, needs_a_terminal
from terminal import call_at_a_terminal

PROGRAM = Path(HANDOFF).parent / "handoff-copy"


def tree(folder, files=30, bytes_each=5000):
    for number in range(files):
        path = folder / f"d{number % 5}" / f"f{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number % 256]) * bytes_each)
    if not (folder / "link").is_symlink():
        (folder / "link").symlink_to("d0/f0")


class Copy(LabTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "source"
        self.target = self.folder / "target"
        tree(self.source)

    def run_copy(self, *arguments, program=(PROGRAM,)):
        return subprocess.run([*program, *map(str, arguments)], text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    def assert_same(self):
        subprocess.run(["diff", "-r", "--no-dereference", self.source, self.target], check=True)

    def test_copies_says_what_it_did_and_prints_nothing_to_stdout(self):
        for flags in ((), ("--verify",), ("--durable", "--verify")):
            with self.subTest(flags=flags):
                subprocess.run(["rm", "-rf", self.target], check=True)
                done = self.run_copy(self.source, self.target, *flags)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"^31 files, 150 kB in [\d.]+ s, .*/s.*\n$")
                self.assert_same()

    def test_handoff_copy_is_the_same_program(self):
        done = self.run_copy(self.source, self.target, program=(HANDOFF, "copy"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_same()

    def test_lists_what_failed_copies_the_rest_and_ends_with_1(self):
        self.target.mkdir()
        done = self.run_copy(self.source, self.folder / "no\nsuch", self.target)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no\\x0asuch: open: No such file or directory\n", done.stderr)
        self.assertIn(", 1 problem above\n", done.stderr)
        self.assertTrue((self.target / "source" / "d0" / "f0").exists())

    def test_no_name_acts_on_a_terminal(self):
        for name in ("\x1b]0;taken\x07", "a\x9b2J", "a\nb", "\u202egnp", "\x7f", "\x85"):
            for arguments in ((self.folder / name, self.target),
                              (self.source, self.folder / name / "x"),
                              ("-" + name, self.source, self.target),
                              (self.source, f"--width={name}", self.target)):
                with self.subTest(arguments=arguments):
                    done = self.run_copy(*arguments)
                    self.assertIn(done.returncode, (1, 2))
                    self.assertNotRegex(done.stderr, "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
                    self.assertNotIn("a\nb", done.stderr)
        # A byte that is no UTF-8, which some terminals obey.
        done = subprocess.run([PROGRAM, os.fsencode(self.folder) + b"/a\x9b2J", self.target],
                              capture_output=True, check=False)
        self.assertIn(b"a\\x9b2J: ", done.stderr)

    def test_bad_usage_is_one_line_and_2(self):
        for arguments in ((), (self.source,), ("--durabel", self.source, self.target),
                          (self.source, self.source / "new"), (self.source, "/dev/null/x"),
                          (self.source / "d0", self.source),
                          (self.source, self.source / "d0", self.target)):
            with self.subTest(arguments=arguments):
                done = self.run_copy(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertFalse(self.target.exists())

    def test_ctrl_c_keeps_what_is_whole_and_nothing_else(self):
        tree(self.source, files=20000, bytes_each=200)
        child = subprocess.Popen([PROGRAM, self.source, self.target], stderr=subprocess.PIPE)
        time.sleep(0.05)  # somewhere in between; the test holds wherever it is
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=120)[1].decode()
        self.assertIn(child.returncode, (0, 130), said)
        if child.returncode == 130:
            self.assertIn("stopped: ", said)
        for path in self.target.rglob("f*"):
            self.assertEqual(path.stat().st_size, 200)
        self.assertEqual([p for p in self.folder.rglob("*.handoff~")], [])

    def test_a_kill_leaves_nothing_half_under_its_final_name(self):
        tree(self.source, files=20000, bytes_each=200)
        for delay in (0.02, 0.1, 0.3):
            child = subprocess.Popen([PROGRAM, self.source, self.target],
                                     stderr=subprocess.DEVNULL)
            time.sleep(delay)
            child.kill()
            if child.wait(timeout=120) == 0:
                continue
            if self.target.exists():  # killed behind its last step
                self.assertEqual(len(list(self.target.rglob("f*"))), 20000)

    @needs_a_terminal
    def test_progress_is_for_terminals(self):
        tree(self.source, files=20000, bytes_each=200)
        code, said = call_at_a_terminal("", PROGRAM, self.source, self.target,
                                        env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"})
        self.assertEqual(code, 0)
        self.assertNotIn("\x1b[2m", said)
        self.assertIn("20,001 files", said)
