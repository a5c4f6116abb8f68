# SPDX-License-Identifier: MIT
"""The scenario of messages: every contender delivers each message once and each producer's in its
order, for as many threads as it is made for, and one that cheats is found."""

import os
import unittest

import jsonschema

from lab_support import MISBEHAVING, ONCE, SCHEMA, LabTest, whole_lab

ORDERS = {"own.bus.lanes": "per producer", "peer.moodycamel": "per producer",
          "peer.zeromq_inproc": "per producer", "peer.nng_inproc": "per producer",
          "own.workers": "none", "seed.worker_pool": "none",
          "peer.atomic_queue": "none"}  # of the others: fifo
SINGLY = {"own.workers", "peer.onetbb_queue", "peer.zeromq_inproc",
          "peer.nng_inproc"}  # polled or asleep
SLOW = {"peer.nng_inproc"}  # sent fewer
SPINNING = {"own.ring", "peer.boost_lockfree"}
ANYHOW = {"own.channel", "peer.moodycamel"}
BUSES = {"own.bus", "own.bus.lanes", "own.bus.subscribers"}  # anyhow, to one consumer
DEEP = os.environ.get("HANDOFF_TEST_DEEP") == "1"
LATENCIES = ("latency_p50", "latency_p99", "latency_p999", "latency_max")


class Messages(LabTest):
    def rows(self, *arguments, exit_code=0):
        result = self.result_of("run", "messages", *arguments, *ONCE, exit_code=exit_code)
        jsonschema.validate(result, SCHEMA)
        return result["rows"]

    def throughput(self, **parameters):
        """Of one cell, by contender."""
        settings = {"producers": 1, "consumers": 1, "bytes": 72, "publish": "single",
                    "consumer": "spins", **parameters}
        rows = self.rows("--metrics", "throughput", *(word for name, value in settings.items()
                                                      for word in ("--set", f"{name}={value}")))
        for row in rows:
            self.assertEqual(row["parameters"], settings, row)
        return {row["contender"]: row for row in rows}

    def assert_all_right(self, rows, names, consumers=1):
        self.assertEqual(set(rows), names)
        for name, row in rows.items():
            if row["status"] == "unavailable":
                self.assertTrue(name.startswith("peer."), row)
                self.assertRegex(row["reason"], "^not built: needs (lib|cppzmq-dev)")
                continue
            items = 2_000 if name in SLOW else 100_000
            self.assertEqual((row["status"], row["items_per_op"]), ("ok", items), row)
            self.assertEqual(row.get("order"), ORDERS.get(name, "fifo"), row)
            self.assertGreater(row["median"], 0.1, row)
            self.assertAlmostEqual(row["share_elsewhere"], 1, msg=row)
            self.assertEqual(len(row["shares"]), 1 + consumers, row)

    @whole_lab
    def test_one_producer_and_a_consumer_that_spins(self):
        self.assert_all_right(self.throughput(), ANYHOW | BUSES | SINGLY | SPINNING
                              | {"limit.ring", "peer.atomic_queue", "seed.async_bus"})

    @whole_lab
    def test_one_producer_and_a_consumer_that_sleeps(self):
        self.assert_all_right(self.throughput(consumer="sleeps"), ANYHOW | BUSES | SINGLY
                              | {"limit.ring", "seed.async_bus", "seed.worker_pool"})

    @whole_lab
    def test_batches(self):
        self.assert_all_right(self.throughput(publish="batch"),
                              ANYHOW | BUSES | SPINNING | {"limit.ring"})
        self.assert_all_right(self.throughput(publish="batch", consumer="sleeps"),
                              ANYHOW | BUSES | {"limit.ring"})
        self.assert_all_right(self.throughput(producers=3, publish="batch", consumer="sleeps"),
                              ANYHOW | BUSES)

    @whole_lab
    def test_several_producers_and_consumers(self):
        self.assert_all_right(self.throughput(producers=4), ANYHOW | BUSES | SINGLY | SPINNING
                              | {"peer.atomic_queue", "seed.async_bus"})
        self.assert_all_right(self.throughput(producers=3, consumers=2, consumer="sleeps"),
                              ANYHOW | SINGLY | {"seed.worker_pool"}, consumers=2)

    @whole_lab
    def test_batches_of_several_producers_where_a_contender_has_none(self):
        rows = self.throughput(producers=2, consumers=2, publish="batch")
        boost = rows.pop("peer.boost_lockfree")
        self.assertEqual(boost["status"], "unavailable")
        self.assertRegex(boost["reason"], "^it has no batches$|^not built: needs lib")
        self.assert_all_right(rows, ANYHOW | {"own.ring"}, consumers=2)

    @whole_lab
    def test_a_word_and_a_kilobyte(self):
        for size in (8, 1024):
            self.assert_all_right(self.throughput(bytes=size), ANYHOW | BUSES | SINGLY | SPINNING
                                  | {"limit.ring", "peer.atomic_queue", "seed.async_bus"})

    @whole_lab
    def test_latencies(self):
        # All of them are measured by the same operation: where it is not deep, one by all ways.
        by_all = LATENCIES if DEEP else LATENCIES[:1]
        rows = self.rows("--metrics", ",".join(by_all), "--set", "load=10,95", "--contenders",
                         "own.*,limit.ring,seed.*,peer.moodycamel")
        rows += self.rows("--metrics", ",".join(LATENCIES), "--set", "load=95", "--set",
                          "consumer=spins", "--contenders", "own.bus,limit.ring")
        measured = [row for row in rows if row["status"] == "ok"]
        for row in rows:
            self.assertIn(row["status"], ("ok", "unavailable"), row)
        for row in measured:
            self.assertEqual(row["items_per_op"], 5000, row)
            self.assertEqual(row["latency"]["count"] % 5000, 0, row)
            figure = {"latency_p999": "p99_9"}.get(row["metric"],
                                                   row["metric"].removeprefix("latency_"))
            self.assertEqual(row["figures"][figure], row["median"], row)
            self.assertLessEqual(row["figures"]["p50"], row["figures"]["max"], row)
        cells = {(row["contender"], row["metric"], row["parameters"]["load"],
                  row["parameters"]["consumer"]) for row in measured}
        for metric in LATENCIES:
            for name in ("own.bus", "limit.ring"):
                self.assertIn((name, metric, 95, "spins"), cells)
        for metric in by_all:
            for load in (10, 95):
                for consumer in ("spins", "sleeps"):
                    for name in (*BUSES, "own.channel", "own.workers", "limit.ring",
                                 "seed.async_bus"):
                        self.assertIn((name, metric, load, consumer), cells)
                self.assertIn(("own.ring", metric, load, "spins"), cells)
                self.assertIn(("seed.worker_pool", metric, load, "sleeps"), cells)

    def test_messages_are_due_at_the_load_that_was_asked_for(self):
        rows = self.rows("--metrics", "latency_p50", "--set", "load=10,95", "--set",
                         "consumer=spins", "--contenders", "limit.ring")
        self.assertEqual(sorted(row["parameters"]["load"] for row in rows), [10, 95])
        for row in rows:
            peak, spacing = (row["figures"][name] for name in ("peak_ns", "spacing_ns"))
            self.assertGreater(peak, 0)
            self.assertAlmostEqual(peak / spacing * 100, row["parameters"]["load"], places=6)

    def test_broadcast(self):
        rows = self.rows("--metrics", "broadcast")
        self.assertEqual({(row["contender"], row["parameters"]["consumers"],
                           row["parameters"]["publish"], row["status"]) for row in rows},
                         {(name, consumers, publish, "ok") for publish in ("single", "batch")
                          for name, consumers in (("limit.ring", 1),
                                                  *((name, consumers) for consumers in (1, 2, 3)
                                                    for name in ("own.broadcast",
                                                                 "limit.three_rings")))})
        for row in rows:
            consumers = row["parameters"]["consumers"]
            self.assertEqual(row["shares"], [0] + [1 / consumers] * consumers, row)

    def test_a_queue_that_loses_doubles_reorders_or_breaks_a_message_is_found(self):
        all_faults = ("peer.mislays", "peer.stutters", "peer.overtakes", "peer.garbles")
        quick_ones = all_faults if DEEP else all_faults[2:]  # of others messages are waited for
        for metric, more, names in (
                ("throughput", ("--set", "publish=single"), all_faults),
                ("latency_p50", (), quick_ones),
                ("broadcast", ("--set", "consumers=1", "--set", "publish=batch"), quick_ones)):
            if metric != "broadcast":
                more += ("--set", "consumer=spins")
            if metric == "throughput":
                more += ("--set", "producers=1")
            rows = self.rows("--metrics", metric, *more, "--manifest", MISBEHAVING, "--contenders",
                             ",".join(names), exit_code=1)
            reasons = {row["contender"]: row["reason"] for row in rows}
            self.assertEqual({row["status"] for row in rows}, {"wrong"}, rows)
            self.assertEqual(set(reasons), set(names))
            if "peer.mislays" in names:
                self.assertRegex(reasons["peer.mislays"], r"^received \d+ messages of \d+$")
                self.assertRegex(reasons["peer.stutters"], r"^received \d+ messages of \d+$")
            self.assertRegex(reasons["peer.overtakes"],
                             r"^received \d+ messages twice, or after later ones")
            self.assertRegex(reasons["peer.garbles"], "^received damaged messages")


if __name__ == "__main__":
    unittest.main()
