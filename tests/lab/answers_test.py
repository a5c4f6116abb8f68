# SPDX-License-Identifier: MIT
"""Every contender that is built gives right answers in all cells of a quick run: what a whole check
asks of the lab. A deep run has all contenders, and looks at each scenario closer."""

import json
import unittest
from pathlib import Path

from lab_support import ONCE, PROGRAM, SCENARIOS_OF_COMMANDS, LabTest

# Small cells of scenarios whose others take minutes: not all contenders have one there.
LESS = {
    "files": ("--metrics", "append,random_read,random_write"),
    "matmul": ("--set", "n=64", "--set", "kernel=ikj"),
}
LISTED = json.loads((Path(PROGRAM).parent / "libexec/handoff/contenders.json").read_text())


class Answers(LabTest):
    def test_all_are_right(self):
        scenarios = {entry["scenario"] for entry in LISTED["contenders"]} - SCENARIOS_OF_COMMANDS
        self.assertGreater(len(scenarios), 10)
        for scenario in sorted(scenarios):
            with self.subTest(scenario):
                rows = self.result_of("run", scenario, *LESS.get(scenario, ()),
                                      *ONCE)["rows"]
                right = {row["contender"] for row in rows
                         if row["status"] in ("ok", "noisy", "uncalibrated")}
                built = {entry["name"] for entry in LISTED["contenders"]
                         if entry["scenario"] == scenario and entry["executable"]}
                self.assertEqual(right, built & {row["contender"] for row in rows})
                self.assertTrue(any(name.startswith("own.") for name in right)
                                or scenario == "machine", right)
                self.assertEqual([row for row in rows if row["status"] in ("wrong", "failed")], [])


if __name__ == "__main__":
    unittest.main()
