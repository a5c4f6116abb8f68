# SPDX-License-Identifier: MIT
"""The scenario of the bare machine: each metric has its figure, and a wrong answer is found."""

import os

from lab_support import MISBEHAVING, ScenarioTest


class BareMachine(ScenarioTest):
    scenario = "machine"

    def by_metric(self, *arguments, **how):
        return {row["metric"]: row for row in self.rows(*arguments, **how)}

    def on_one_cpu(self):
        """What is started from now on may use one CPU."""
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})

    def test_each_metric(self):
        rows = self.by_metric()
        self.assertEqual({metric: (row["status"], row["items_per_op"], row["unit"])
                          for metric, row in rows.items()},
                         {"cache_miss": ("ok", 20000, "ns"), "line_transfer": ("ok", 20000, "ns"),
                          "system_call": ("ok", 10000, "ns")}, rows)
        for row in rows.values():
            self.assertEqual(row["contender"], "limit.bare")
            self.assertGreater(row["median"], 1, row)

    def test_on_one_cpu_no_line_goes_anywhere(self):
        self.on_one_cpu()
        row = self.by_metric("--metrics", "line_transfer")["line_transfer"]
        self.assertEqual((row["status"], row["reason"]),
                         ("unavailable", "it needs two CPUs; this process may use one"))
        self.assertEqual(self.by_metric("--metrics", "system_call")["system_call"]["status"], "ok")

    def test_a_wrong_answer_is_found(self):
        rows = self.by_metric("--manifest", MISBEHAVING, "--contenders", "limit.misreads",
                              exit_code=1)
        self.assertEqual({row["status"] for row in rows.values()}, {"wrong"})
        self.assertRegex(rows["cache_miss"]["reason"],
                         r"^after 20000 loads its result is 0, not \d+$")
        self.assertEqual(rows["line_transfer"]["reason"],
                         "after 20000 ways of a line its result is 1, not 20000")
        self.assertEqual(rows["system_call"]["reason"], "did 9999 calls, asked for were 10000")
