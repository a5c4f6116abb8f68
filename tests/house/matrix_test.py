# SPDX-License-Identifier: MIT
"""tools/matrix and its page name the same cells, and the same tests that qemu leaves out."""

import fnmatch
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "matrix"
TEST = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)


def run(*arguments):
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def rows(heading):
    """What stands as code in the first cell of each row below a heading of the page."""
    section = (ROOT / "docs" / "guide" / "machines.md").read_text().split(heading, 1)[1]
    first = re.findall(r"^\| (`[^|]*`) \|", section.split("\n## ", 1)[0], re.MULTILINE)
    return [re.findall(r"`([^`]*)`", cell) for cell in first]


def names_nothing(pattern, tests):
    return not any(fnmatch.fnmatch(test, pattern) for test in tests)


class Matrix(unittest.TestCase):
    def test_the_page_has_its_cells(self):
        code, output, _ = run("--cells")
        self.assertEqual(code, 0)
        self.assertEqual(output.split(), [cell for [cell] in rows("# Machines and compilers")])

    def test_an_unknown_cell_is_refused(self):
        code, output, error = run("aarch64", "armhff")
        self.assertEqual((code, output), (2, ""))
        self.assertIn("unknown cell 'armhff'; known: aarch64 armhf", error)

    def test_it_leaves_out_what_the_page_says(self):
        written = [name for row in rows("## What qemu cannot run") for name in row]
        self.assertEqual(run("--left-out"), (0, ":".join(written) + "\n", ""))
        tests = {f"{suite}.{name}" for path in (ROOT / "tests").rglob("*_test.cpp")
                 for suite, name in TEST.findall(path.read_text())}
        tests |= {f"examples.{path.stem}" for path in (ROOT / "examples").glob("*.cpp")}
        self.assertEqual([each for each in written if names_nothing(each, tests)], [])

    def test_a_pattern_of_no_test_is_found(self):
        self.assertTrue(names_nothing("Pool.*Gone", {"Pool.Here", "Team.Gone"}))
        self.assertFalse(names_nothing("Pool.*", {"Pool.Here"}))


if __name__ == "__main__":
    unittest.main()
