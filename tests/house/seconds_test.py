# SPDX-License-Identifier: MIT
"""tools/seconds: what counts to which room, what was not built this time, and the sums.

The logs are made up: ninja's of two presets, and ctest's of one run.
"""

import subprocess
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "seconds"
BEFORE, SINCE, AFTER = 1000, 2000, 3000


def ninja_log(*files):
    """Of (seconds, when it was written, output)."""
    return "# ninja log v5\n" + "".join(
        f"500\t{500 + seconds * 1000}\t{when * 10**9}\t{output}\tabc\n"
        for seconds, when, output in files)


def test_log(*tests):
    """Of (folder, name, seconds)."""
    return "Start testing: now\n" + "".join(
        f'1/9 Testing: {name}\n1/9 Test: {name}\nCommand: "x" "y"\nDirectory: {folder}\n'
        f"Output:\n----\nTest time: none\n<end of output>\nTest time = {seconds:6.2f} sec\n----\n"
        for folder, name, seconds in tests)


class Seconds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)

    def write(self, path, text):
        path = self.build / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_tool(self, *presets):
        done = subprocess.run([TOOL, self.build, str(SINCE), "77", *presets], capture_output=True,
                              text=True, check=True)
        return done.stdout

    def rows(self, *presets):
        """{row: its numbers}"""
        lines = self.run_tool(*presets).splitlines()[3:]
        return {line.split()[0]: line.split()[1:] for line in lines}

    def test_a_room_has_its_sources_and_its_tests(self):
        self.write("debug/.ninja_log", ninja_log(
            (1, AFTER, "CMakeFiles/handoff.dir/src/pool/a.cpp.o"),
            (2, AFTER, "CMakeFiles/handoff_explored.dir/src/pool/a.cpp.o"),
            (4, AFTER, "tests/unit/CMakeFiles/unit_pool.dir/Unity/unity_0_cxx.cxx.o"),
            (8, AFTER, "tests/unit/unit_pool"),
            (16, AFTER, "tests/unit/CMakeFiles/unit_team.dir/team/a_test.cpp.o"),
            (32, AFTER, "tests/house/CMakeFiles/alone.dir/alone/handoff/pool/a.hpp.cpp.o"),
            (64, AFTER, "lab/harness/CMakeFiles/lab.dir/a.cpp.o"),
            (65, AFTER, "libexec/handoff/tasks.tbb"),
            (128, AFTER, "libhandoff.a")))
        self.write("Testing/Temporary/LastTest.log", test_log(
            (self.build.resolve() / "debug/tests/unit", "unit_pool", 3),
            (self.build.resolve() / "debug/tests/house", "house.tidy", 5),
            (self.build.resolve() / "tsan/tests/house", "house.tidy", 1000)))
        self.assertEqual(self.rows("debug"), {
            "lab": ["129", "129"], "library": ["128", "128"], "house": ["32", "5", "37"],
            "pool": ["15", "3", "18"], "team": ["16", "16"], "all": ["320", "8", "328"]})

    def test_presets_stand_side_by_side_and_what_took_most_comes_first(self):
        self.write("debug/.ninja_log", ninja_log((1, AFTER, "tests/unit/unit_sync")))
        self.write("tsan/.ninja_log", ninja_log((2, AFTER, "tests/unit/unit_sync"),
                                                (7, AFTER, "tests/unit/unit_event")))
        self.write("Testing/Temporary/LastTest.log", test_log(
            (self.build.resolve() / "tsan/tests/unit", "unit_sync", 3)))
        self.assertEqual(self.run_tool("debug", "tsan"), (
            "77 s in all. Seconds of work:\n"
            "                     debug          tsan           all\n"
            "               build  test   build  test\n"
            "event                            7                   7\n"
            "sync               1             2     3             6\n"
            "all                1             9     3            13\n"))

    def test_only_what_was_built_this_time_counts_and_once(self):
        self.write("debug/.ninja_log", ninja_log((100, BEFORE, "tests/unit/unit_sync"),
                                                 (10, AFTER, "tests/unit/unit_event"),
                                                 (3, AFTER, "tests/unit/unit_event")))
        self.write("Testing/Temporary/LastTest.log", test_log())
        self.assertEqual(self.rows("debug"), {"event": ["3", "3"], "all": ["3", "3"]})

    def test_a_missing_log_is_a_failure(self):
        with self.assertRaises(subprocess.CalledProcessError):
            self.run_tool("debug")


if __name__ == "__main__":
    unittest.main()
