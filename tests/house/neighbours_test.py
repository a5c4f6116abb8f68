# SPDX-License-Identifier: MIT
"""tools/beside_neighbours: how often it runs what, what it says of a failure, what it leaves.

The build is a folder with tests that are lines of shell.
"""

import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "beside_neighbours"


class BesideNeighbours(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def run_tests(self, **tests):
        """The exit code and the output with these tests, each a line of shell."""
        self.build.joinpath("CTestTestfile.cmake").write_text("".join(
            f'add_test({name} "sh" "-c" "echo >> {self.build}/{name}.runs; {line}")\n'
            for name, line in tests.items()))
        done = subprocess.run([TOOL, self.build], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def runs(self, name):
        return len(self.build.joinpath(f"{name}.runs").read_text().splitlines())

    def test_short_ones_often_and_long_ones_some_times(self):
        code, output = self.run_tests(short="true", long="sleep 2")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.runs("short"), 51)
        self.assertEqual(self.runs("long"), 6)

    def test_names_may_have_a_plus(self):
        code, output = self.run_tests(**{"seam_g++": "true", "also": "true"})
        self.assertEqual(code, 0, output)
        self.assertEqual(self.runs("seam_g++"), 51)
        self.assertEqual(self.runs("also"), 51)

    def test_a_test_that_fails_now_and_then_is_found(self):
        code, output = self.run_tests(
            steady="true", rare=f"test $(wc -l < {self.build}/rare.runs) -ne 30 || "
            "{ echo it happened; false; }")
        self.assertNotEqual(code, 0)
        self.assertIn("it happened", output)
        self.assertEqual(self.runs("rare"), 30)

    def test_a_test_that_always_fails_is_found(self):
        code, output = self.run_tests(broken="echo said why; false")
        self.assertNotEqual(code, 0)
        self.assertIn("said why", output)

    def test_no_tests_are_a_failure(self):
        code, output = self.run_tests()
        self.assertNotEqual(code, 0)
        self.assertIn("no test", output.lower())

    def test_two_neighbours_are_busy_meanwhile_and_then_gone(self):
        count = "ps -eo pid,args | grep -c '[b]eside_neighbours.*" + self.build.name + "'"
        code, output = self.run_tests(seen=f"{count} > {self.build}/processes")
        self.assertEqual(code, 0, output)
        # The tool, and two copies of it that loop.
        self.assertGreaterEqual(int(self.build.joinpath("processes").read_text()), 3)
        left = subprocess.run(["sh", "-c", count], capture_output=True, text=True, check=False)
        self.assertEqual(int(left.stdout), 0)


if __name__ == "__main__":
    unittest.main()
