# SPDX-License-Identifier: MIT
"""The scenario of started threads and processes: every contender's threads and workers ran, one
that cheats is found, and nothing is left behind."""

from lab_support import whole_lab
from left_behind import LeavesNothingTest


class Spawn(LeavesNothingTest):
    scenario = "spawn"

    def assert_measured(self, rows, names, metric, unit, items, parameters):
        self.assertEqual(set(rows), names)
        for name, row in rows.items():
            if row["status"] == "unavailable":
                self.assertTrue(name.startswith("peer.boost"), row)
                self.assertRegex(row["reason"], "^not built: needs libboost")
                continue
            self.assertEqual((row["status"], row["metric"], row["unit"], row["parameters"]),
                             ("ok", metric, unit, parameters), row)
            self.assertGreater(row["median"], 0.1, row)
            self.assertEqual(row["items_per_op"], items, row)

    @whole_lab
    def test_each_way_starts_threads(self):
        self.assert_measured(self.by_name("--metrics", "thread"),
                             {"own.pool", "own.thread_team", "peer.std_thread", "peer.std_async",
                              "peer.pthread", "limit.clone"}, "thread", "ns", 50, {})

    def test_a_thread_that_was_not_started_or_did_nothing_is_found(self):
        self.assert_found({"peer.calls": "^0 threads ran of 50$",
                           "peer.forgets": "^10 threads ran of 50$"}, "--metrics", "thread")

    @whole_lab
    def test_each_way_starts_workers(self):
        self.assert_measured(self.by_name("--metrics", "ready", gib=0),
                             {"own.process_team", "own.subprocess", "peer.posix_spawn", "peer.fork",
                              "peer.boost_process"}, "ready", "us", 10, {"gib": 0})

    def test_a_large_parent_starts_workers(self):
        rows = self.by_name("--metrics", "ready", "--contenders", "own.process_team", gib=1)
        for row in rows.values():
            if row["status"] == "unavailable":
                self.assertRegex(row["reason"], "^it needs 2 GiB of memory")
                self.skipTest(row["reason"])
        self.assert_measured(rows, {"own.process_team"}, "ready", "us", 10, {"gib": 1})

    @whole_lab
    def test_each_way_does_jobs(self):
        for metric, unit, count in (("job", "us", 50), ("jobs", "jobs/s", 640)):
            self.assert_measured(self.by_name("--metrics", metric),
                                 {"own.process_pool", "peer.fed_workers", "peer.fork_a_job",
                                  "peer.posix_spawn_a_job"}, metric, unit, count, {})

    def test_jobs_of_no_other_process_and_wrong_answers_are_found(self):
        for metric, name, reason in (("job", "peer.does_it_itself", "0 jobs were done of 50"),
                                     ("jobs", "peer.does_it_itself", "0 jobs were done of 640"),
                                     ("job", "peer.answers_wrongly", "45 jobs were done of 50")):
            self.assert_found({name: f"^{reason}$"}, "--metrics", metric)

    @whole_lab
    def test_each_way_claims_rows(self):
        for rows, width in ((65536, 2), (65536, 64), (20, 1)):  # the last: two blocks and a half
            done = self.by_name("--metrics", "claim", rows=rows, width=width)
            ranks = {"own.rank_team.claims"} if width == 2 else set()
            self.assert_measured(done, {"own.process_team.claims", "own.thread_team.claims",
                                        "peer.shared_counter"} | ranks, "claim", "ns", 8 * rows,
                                 {"rows": rows, "width": width})

    def test_a_claim_costs_the_time_of_each_cpu(self):
        for width in (1, 2, 64):
            result = self.result("--metrics", "claim", "--contenders", "own.process_team.claims",
                                 width=width)
            [row] = result["rows"]
            cpus = min(width, result["environment"]["budget"]["width"])
            self.assertAlmostEqual(row["median"] * row["items_per_op"],
                                   row["wall_ns_per_op"] * cpus, delta=row["median"])

    def test_rows_that_were_left_out_or_done_twice_are_found(self):
        said = " rows of 65536 were done once in each run$"
        self.assert_found({"peer.leaves_rows": "^65528" + said,
                           "peer.repeats_rows": "^65535" + said}, "--metrics", "claim", width=2)

    @whole_lab
    def test_each_way_maps_memory(self):
        self.assert_measured(self.by_name("--metrics", "attach"),
                             {"own.shared_memory", "own.shared_memory.named", "peer.shm_open",
                              "peer.memfd", "peer.boost_shared_memory"}, "attach", "us", 100, {})

    def test_workers_that_are_none_and_memory_that_was_not_looked_at_are_found(self):
        for metric, name, reason in (("ready", "peer.pretends", "0 workers came of 10"),
                                     ("ready", "peer.keeps", "0 workers came of 10"),
                                     ("attach", "peer.looks_away", "50 words were read of 100")):
            self.assert_found({name: f"^{reason}$"}, "--metrics", metric,
                              **({"gib": 0} if metric == "ready" else {}))

    def test_ctrl_c_leaves_no_worker_and_no_name_behind(self):
        for metric in ("ready", "jobs", "claim", "attach"):
            self.assert_ctrl_c_leaves_nothing(metric, "--contenders", "own.*,peer.*")
