# SPDX-License-Identifier: MIT
"""The manual pages: one for each command, which groff reads without a word, and where they go."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from lab_support import PROGRAM, SOURCE, LabTest

BUILD = Path(PROGRAM).parent
PAGES = BUILD / "share" / "man" / "man1"
TOOL = SOURCE / "tools" / "man_pages"
GROFF = ("groff", "-man", "-ww", "-z", "-Tascii")


def commands():
    said = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^  ([\w-]+) ", said.split("Subcommands:")[1], re.MULTILINE)


def groff_of(path):
    done = subprocess.run([*GROFF, path], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


class ManPages(LabTest):
    def test_each_command_has_a_page(self):
        self.assertGreater(len(commands()), 8)
        self.assertEqual([name for name in ("handoff", *(f"handoff-{each}" for each in commands()))
                          if not (PAGES / f"{name}.1").exists()], [])

    def test_a_page_has_what_the_help_has(self):
        page = (PAGES / "handoff-run.1").read_text()
        said = self.run_lab("run", "--help").stdout
        options = re.findall(r"^  (?:-\w,)?(--[\w-]+)", said, re.MULTILINE)
        self.assertGreater(len(options), 10)
        self.assertEqual([option for option in options
                          if "\\fB" + option.replace("-", "\\-") not in page], [])
        for title in ("NAME", "SYNOPSIS", "ARGUMENTS", "OPTIONS", "EXAMPLES", "EXIT STATUS",
                      "SEE ALSO"):
            self.assertIn(f"\n.SH {title}\n", page)

    @unittest.skipUnless(shutil.which("groff"), "groff is missing: install groff-base")
    def test_groff_reads_them_without_a_word(self):
        for path in sorted(PAGES.glob("*.1")):
            self.assertEqual(groff_of(path), "", path)
        broken = self.folder / "broken.1"
        broken.write_text((PAGES / "handoff.1").read_text() + ".NOSUCH macro\n")
        self.assertIn("NOSUCH", groff_of(broken))

    def test_they_are_installed(self):
        subprocess.run(["cmake", "--install", BUILD, "--component", "doc", "--prefix", self.folder],
                       capture_output=True, check=True)
        self.assertEqual({path.name for path in self.folder.glob("share/man/man1/*.1")},
                         {path.name for path in PAGES.glob("*.1")})

    def test_a_program_that_fails_is_named(self):
        done = subprocess.run([sys.executable, TOOL, "--into", self.folder, "/bin/false"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "man_pages: /bin/false --help ends with 1: \n")
