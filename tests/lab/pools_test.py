# SPDX-License-Identifier: MIT
"""The scenarios of pools: every contender's tasks each ran once, and one that cheats is found."""

import json

from lab_support import ONCE, ScenarioTest, whole_lab

MEASURED = ("ok", "noisy", "uncalibrated")


class PoolTest(ScenarioTest):
    def assert_all_right(self, rows):
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(row["status"], (*MEASURED, "unavailable"), row)


class Tasks(PoolTest):
    scenario = "tasks"

    def test_tasks_each_metric(self):
        rows = self.rows("--set", "count=1000", "--contenders",
                         "own.*,limit.*,peer.*")
        self.assert_all_right(rows)
        self.assertEqual({row["metric"] for row in rows},
                         {"fire_and_forget", "future", "spread", "balance", "crowded", "ping",
                          "run_and_wait", "run_then_wait", "first_use", "idle_cpu"})
        for row in rows:
            if row["status"] not in MEASURED:
                continue
            if row["metric"] == "balance":  # of two threads the one that ran less
                self.assertTrue(0 <= row["median"] <= 50, row)
            if row["metric"] == "spread":
                self.assertGreaterEqual(row["median"], 1, row)
                self.assertEqual(row["items_per_op"], 1, row)  # a sample

    @whole_lab
    def test_tasks_of_the_article(self):
        self.assert_all_right(self.rows("--metrics", "fire_and_forget,future", "--set",
                                        "count=1000", "--set", "state=hot", "--contenders",
                                        "seed.*"))

    def test_the_articles_times_are_of_as_many_tasks_as_it_had(self):
        result = self.result("--metrics", "fire_and_forget", "--contenders",
                                "own.pool.fixed", count=1000)
        for article in result["articles"]:
            self.assertEqual(article["items"], article["parameters"]["count"])

    def test_ping_is_run_by_another_thread(self):
        for row in self.rows("--metrics", "ping", "--contenders", "own.*,limit.*"):
            self.assertEqual(row["share_elsewhere"], 1, row)

    @whole_lab
    def test_what_people_write_without_a_library(self):
        rows = self.rows("--metrics", "fire_and_forget,future,ping,idle_cpu", "--set",
                         "count=1000,1001", "--contenders", "peer.mutex_pool,peer.std_async")
        rows += self.result_of("run", "grain", "--metrics", "loop", "--set", "count=1000", *ONCE,
                               "--contenders", "peer.std_threads,peer.std_for_each")["rows"]
        seen = set()
        for row in rows:
            if (row["contender"], row["parameters"].get("count")) == ("peer.std_async", 1001):
                self.assertEqual((row["status"], row["reason"]), (
                    "unavailable", "it would start a thread for each task at once"))
                continue
            self.assertIn(row["status"], MEASURED, row)
            seen.add((row["contender"], row["metric"]))
        self.assertEqual(seen, {("peer.std_async", "future"), ("peer.std_threads", "loop"),
                                ("peer.std_for_each", "loop"),
                                *(("peer.mutex_pool", metric) for metric in
                                  ("fire_and_forget", "future", "ping", "idle_cpu"))})

    @whole_lab
    def test_a_peer_that_no_package_brings_is_listed_with_its_source(self):
        lines = self.run_lab("list").stdout.splitlines()
        for peer, source in [("peer.taskflow", "github.com/taskflow/taskflow, 4.0 or later"),
                             ("peer.bs_thread_pool", "github.com/bshoshany/thread-pool, 5.0"),
                             ("peer.enkits", "github.com/dougbinks/enkiTS, built with")]:
            said = [line for line in lines if line.split()[:1] == [peer]]
            self.assertTrue(said, peer)
            for line in said:
                self.assertTrue("available" in line or f"not built: needs {source}" in line, line)

    def test_a_pool_that_loses_or_repeats_a_task_is_found(self):
        self.assert_found({"peer.loses": "^ran 9900 tasks of 10000$",
                           "peer.repeats": "^ran some tasks twice and others not at all$"},
                          "--metrics", "fire_and_forget", count=100, state="hot")



class Forkjoin(PoolTest):
    scenario = "forkjoin"

    def test_forkjoin(self):
        self.assert_all_right(self.rows("--set", "problem=nqueens,tree"))


class Graph(PoolTest):
    scenario = "graph"

    def test_empty_nodes(self):
        rows = self.rows("--metrics", "node", nodes=3000)
        self.assert_all_right(rows)
        self.assertEqual({row["parameters"]["shape"] for row in rows}, {"random", "wavefront"})
        for row in rows:
            if row["status"] in MEASURED:
                self.assertEqual(row["items_per_op"], 6000, row)  # two runs

    def test_the_patterns_keep_their_curve(self):
        rows = self.rows("--metrics", "metg50", "--contenders", "own.*,peer.onetbb_flow")
        self.assert_all_right(rows)
        self.assertEqual(len({row["parameters"]["pattern"] for row in rows}), 6)
        for row in rows:
            if row["status"] in MEASURED:
                self.assertGreaterEqual(len(row["curves"]["efficiency"]), 20, row)
        self.assertNotIn("limit.serial", {row["contender"] for row in rows})

    def test_a_node_that_runs_too_early_or_not_at_all_is_found(self):
        self.assert_found({"peer.hurries": "^a node ran before one that it waits for$",
                           "peer.leaves_out": "^ran 1998 tasks of 2000$"},
                          "--metrics", "node", nodes=1000)


class Pipeline(PoolTest):
    scenario = "pipeline"

    def test_every_kind_of_stages(self):
        rows = self.rows("--metrics", "item")
        self.assert_all_right(rows)
        kinds = {row["parameters"]["kind"] for row in rows if row["contender"].startswith("own.")}
        self.assertEqual(kinds, {"serial", "parallel", "in_order", "mixed"})

    def test_what_a_program_compresses_comes_out_again(self):
        for row in self.rows("--metrics", "compress,size", mib=1):
            self.assertIn(row["status"], (*MEASURED, "unavailable"), row)
            if row["status"] in MEASURED:
                self.assertTrue(10 < row["figures"]["size"] < 90, row)

    def test_an_item_that_overtakes_or_is_lost_is_found(self):
        self.assert_found({"peer.overtakes": "^4 items out of order$"}, "--metrics", "item",
                          kind="in_order")
        self.assert_found({"peer.forgets": "^an item did not come out as it should$"},
                          "--metrics", "item", kind="parallel")

    def test_a_program_that_loses_a_byte_is_found(self):
        self.assert_found({"peer.shortens": "^1048575 bytes come out of it, which are not the "
                                            "1048576 that went in$"},
                          "--metrics", "compress", mib=1)


class Grain(PoolTest):
    scenario = "grain"

    def test_grain_keeps_its_curve(self):
        done = self.run_lab("run", "grain", "--metrics", "metg50", "--set", "unit=index",
                            *ONCE, "--json")
        rows = json.loads(done.stdout)["rows"]
        self.assertTrue(rows)
        for row in rows:
            if row["status"] in MEASURED:
                self.assertGreaterEqual(len(row["curves"]["efficiency"]), 20, row)
            elif row["status"] != "unavailable":  # all that others on the machine may bring about
                self.assertRegex(row["reason"], "less than half efficient at every size|"
                                 "more than the CPUs can do", row)
        self.assertEqual(done.returncode, int(any(row["status"] == "failed" for row in rows)))

    def test_grain_fills_all_of_a_loop(self):
        rows = self.rows("--metrics", "loop", "--set", "count=1,1000,100001")
        self.assert_all_right(rows)
        names = {row["contender"] for row in rows}
        self.assertIn("own.pool.stealing", names)
        self.assertNotIn("seed.pool.fixed", names)  # it has no loops

    @whole_lab
    def test_grain_of_short_loops(self):
        rows = self.rows("--metrics", "loop_1us", "--set", "width=1,2")
        self.assert_all_right(rows)
        measured = [row for row in rows if row["status"] in MEASURED]
        for row in measured:
            self.assertEqual(row["items_per_op"], 100, row)
            self.assertGreater(row["figures"]["work"], 0, row)
            self.assertGreaterEqual(row["median"], 1, row)
        for row in measured:  # a thread for each member but the caller, the others share
            if row["contender"] == "peer.std_threads":
                self.assertEqual(row["share_elsewhere"],
                                 0.5 if row["parameters"]["width"] == 2 else 0, row)
        names = {row["contender"] for row in measured}
        self.assertLessEqual({"own.thread_team", "own.pool.stealing", "peer.std_threads"}, names)
        self.assertNotIn("peer.mutex_pool", names)  # it has no loops

    def test_a_short_loop_that_leaves_a_member_out_is_found(self):
        self.assert_found({"peer.skips": "^ran 700 tasks of 800$"}, "--metrics", "loop_1us",
                          width=8)

    def test_a_loop_that_leaves_an_item_out_is_found(self):
        self.assert_found({"peer.skips": "^item 7 is 0xffffffff, right is 0x18c9aec4$"},
                          "--metrics", "loop", count=1000)
