# SPDX-License-Identifier: MIT
"""The scenario of events: every contender delivers each event once, in each metric, to one thread
or to another, and one that cheats is found."""

from lab_support import ONCE, ScenarioTest, whole_lab

LATENCIES = ("latency_p50", "latency_p99")


class Events(ScenarioTest):
    scenario = "events"

    def assert_all_right(self, rows, metrics):
        self.assertEqual({row["metric"] for row in rows}, set(metrics))
        for row in rows:
            self.assertIn(row["status"], ("ok", "unavailable"), row)
            if row["status"] == "ok":
                self.assertGreater(row["median"], 0, row)
            else:  # not installed, or it cannot do that
                self.assertRegex(row["reason"], "^(not built: needs |it has no way to )", row)

    def test_on_one_thread(self):
        metrics = ("invoke", "enqueue_process", "enqueue_visit")
        self.assert_all_right(
            self.rows("--metrics", ",".join(metrics), count=1000, listeners=8), metrics)

    @whole_lab
    def test_each_queue_says_its_order(self):
        rows = self.by_name("--metrics", "invoke,enqueue_process", count=1000, listeners=1, ids=1)
        orders = {name: row.get("order") for name, row in rows.items()}
        for name, order in [("own.event", "fifo"), ("peer.concurrentqueue", "per producer"),
                            ("peer.boost_signals2", None)]:  # the last one has no queue
            self.assertEqual(orders[name], order, name)

    def test_a_second_queue_is_used_in_a_process_of_its_own(self):
        several = ("--quick", "--no-probe", "--launches", "1", "--time-budget", "1")
        rows = self.rows("--metrics", "second_queue", count=1000, how=several)
        self.assert_all_right(rows, ["second_queue"])
        for row in rows:
            if row["status"] == "ok":  # a sample for each process, of the whole use
                self.assertGreater(row["latency"]["count"], 1, row)
                self.assertAlmostEqual(row["median"] * 1000, row["figures"]["p50"], places=3)

    def test_an_active_object_saturated(self):
        rows = self.rows("--metrics", "throughput")
        self.assert_all_right(rows, ["throughput"])
        for row in rows:
            if row["status"] == "ok":
                self.assertGreater(row["figures"]["consumer_cpu"], 0, row)

    def test_an_active_object_at_a_steady_pace(self):
        rows = self.rows("--metrics", ",".join(LATENCIES))
        self.assert_all_right(rows, LATENCIES)
        measured = [row for row in rows if row["status"] == "ok"]
        for row in measured:
            self.assertEqual(row["latency"]["count"] % 5000, 0, row)
            self.assertGreater(row["figures"]["consumer_cpu"], 0, row)
            self.assertEqual(row["figures"][row["metric"].removeprefix("latency_")],
                             row["median"], row)
        for consumer in ("spins", "sleeps"):
            for name in ("own.event", "limit.ring"):
                self.assertIn((name, consumer), {(row["contender"], row["parameters"]["consumer"])
                                                 for row in measured})

    @whole_lab
    def test_what_people_write_without_a_library(self):
        rows = self.rows("--metrics", "invoke,enqueue_process,throughput,latency_p50",
                         "--contenders", "peer.std_functions,peer.mutex_queue", count=1000)
        self.assertEqual({(row["contender"], row["metric"], row["status"]) for row in rows},
                         {("peer.std_functions", "invoke", "ok"),
                          *(("peer.mutex_queue", metric, "ok") for metric in
                            ("enqueue_process", "throughput", "latency_p50"))})

    @whole_lab
    def test_the_article_stands_beside_what_was_measured(self):
        done = self.run_lab("run", "events", "--metrics", "enqueue_process,enqueue_visit", "--set",
                            "count=100000", "--set", "ids=1", "--contenders", "seed.*", *ONCE)
        table = done.stdout.partition("The article compared with this machine: ")[2]
        self.assertTrue(table.startswith("eventpp's bottlenecks: a visitor"), done.stdout)
        for scheme in ("process", "processQueueWith"):  # each a metric of its own
            [line] = [line.split() for line in table.splitlines() if line.split()[:1] == [scheme]]
            self.assertIn("seed.eventpp_optimised", line)
            self.assertGreater(float(line[3]), 0, line)

    def test_a_queue_that_loses_or_repeats_an_event_is_found(self):
        said = "its listeners heard"
        rows = self.assert_found({"peer.drops": said, "peer.doubles": said}, "--metrics",
                                 "enqueue_process,second_queue", count=100, ids=1)
        self.assertEqual(len(rows), 4)
