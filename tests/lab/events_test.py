# SPDX-License-Identifier: MIT
"""The scenario of events: every contender delivers each event once, in each metric, to one thread
or to another, and one that cheats is found."""

import unittest

import jsonschema

from lab_support import MISBEHAVING, ONCE, SCHEMA, LabTest, whole_lab

LATENCIES = ("latency_p50", "latency_p99")


class Events(LabTest):
    def result(self, *arguments, exit_code=0, how=ONCE):
        result = self.result_of("run", "events", *arguments, *how, exit_code=exit_code)
        jsonschema.validate(result, SCHEMA)
        return result

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
        result = self.result("--metrics", ",".join(metrics), "--set", "count=1000", "--set",
                             "listeners=8")
        self.assert_all_right(result["rows"], metrics)

    @whole_lab
    def test_each_queue_says_its_order(self):
        rows = self.result("--metrics", "invoke,enqueue_process", "--set", "count=1000", "--set",
                           "listeners=1", "--set", "ids=1")["rows"]
        orders = {row["contender"]: row.get("order") for row in rows}
        for name, order in [("own.event", "fifo"), ("peer.concurrentqueue", "per producer"),
                            ("peer.boost_signals2", None)]:  # the last one has no queue
            self.assertEqual(orders[name], order, name)

    def test_a_second_queue_is_used_in_a_process_of_its_own(self):
        several = ("--quick", "--no-probe", "--launches", "1", "--time-budget", "1")
        rows = self.result("--metrics", "second_queue", "--set", "count=1000", how=several)["rows"]
        self.assert_all_right(rows, ["second_queue"])
        for row in rows:
            if row["status"] == "ok":  # a sample for each process, of the whole use
                self.assertGreater(row["latency"]["count"], 1, row)
                self.assertAlmostEqual(row["median"] * 1000, row["figures"]["p50"], places=3)

    def test_an_active_object_saturated(self):
        rows = self.result("--metrics", "throughput")["rows"]
        self.assert_all_right(rows, ["throughput"])
        for row in rows:
            if row["status"] == "ok":
                self.assertGreater(row["figures"]["consumer_cpu"], 0, row)

    def test_an_active_object_at_a_steady_pace(self):
        rows = self.result("--metrics", ",".join(LATENCIES))["rows"]
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
        rows = self.result("--metrics", "invoke,enqueue_process,throughput,latency_p50", "--set",
                           "count=1000", "--contenders", "peer.std_functions,peer.mutex_queue")
        self.assertEqual({(row["contender"], row["metric"], row["status"]) for row in rows["rows"]},
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
        rows = self.result("--metrics", "enqueue_process,second_queue", "--set", "count=100",
                           "--set", "ids=1", "--manifest", MISBEHAVING, "--contenders",
                           "peer.drops,peer.doubles", exit_code=1)["rows"]
        self.assertEqual({(row["contender"], row["metric"], row["status"]) for row in rows},
                         {(contender, metric, "wrong")
                          for contender in ("peer.drops", "peer.doubles")
                          for metric in ("enqueue_process", "second_queue")})
        for row in rows:
            self.assertIn("its listeners heard", row["reason"])


if __name__ == "__main__":
    unittest.main()
