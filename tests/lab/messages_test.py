# SPDX-License-Identifier: MIT
"""The scenario of messages: every contender delivers each message once and each producer's in its
order, for as many threads as it is made for, and one that cheats is found."""

from lab_support import DEEP, ScenarioTest, whole_lab

ORDERS = {"own.bus.lanes": "per producer", "peer.moodycamel": "per producer",
          "peer.zeromq_inproc": "per producer", "peer.nng_inproc": "per producer",
          "own.workers": "none", "own.bus.four_priorities": "none", "seed.worker_pool": "none",
          "peer.atomic_queue": "none"}  # of the others: fifo
SINGLY = {"own.workers", "peer.onetbb_queue", "peer.zeromq_inproc",
          "peer.nng_inproc"}  # polled or asleep
SLOW = {"peer.nng_inproc"}  # sent fewer
SPINNING = {"own.ring", "peer.boost_lockfree"}
ANYHOW = {"own.channel", "peer.moodycamel"}
TIMED = {"own.bus", "own.bus.lanes", "own.bus.subscribers"}  # anyhow, to one consumer
BUSES = TIMED | {"own.bus.priorities"}  # the same, but for latencies
SOLO = BUSES | {"own.bus.four_priorities"}  # the same, one message at a time
LATENCIES = ("latency_p50", "latency_p99", "latency_p999", "latency_max")


class Messages(ScenarioTest):
    scenario = "messages"

    def throughput(self, **parameters):
        """Of one cell, by contender."""
        cell = {"producers": 1, "consumers": 1, "bytes": 72, "publish": "single",
                "consumer": "spins", **parameters}
        rows = self.by_name("--metrics", "throughput", **cell)
        for row in rows.values():
            self.assertEqual(row["parameters"], cell, row)
        return rows

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
        self.assert_all_right(self.throughput(), ANYHOW | SOLO | SINGLY | SPINNING
                              | {"limit.ring", "peer.atomic_queue", "seed.async_bus"})

    @whole_lab
    def test_one_producer_and_a_consumer_that_sleeps(self):
        self.assert_all_right(self.throughput(consumer="sleeps"), ANYHOW | SOLO | SINGLY
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
        self.assert_all_right(self.throughput(producers=4), ANYHOW | SOLO | SINGLY | SPINNING
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
            self.assert_all_right(self.throughput(bytes=size), ANYHOW | SOLO | SINGLY | SPINNING
                                  | {"limit.ring", "peer.atomic_queue", "seed.async_bus"})

    @whole_lab
    def test_latencies(self):
        # All of them are measured by the same operation: where it is not deep, one by all ways.
        by_all = LATENCIES if DEEP else LATENCIES[:1]
        rows = self.rows("--metrics", ",".join(by_all), "--contenders",
                         "own.*,limit.ring,seed.*,peer.moodycamel", load="10,95")
        rows += self.rows("--metrics", ",".join(LATENCIES), "--contenders", "own.bus,limit.ring",
                          load=95, consumer="spins")
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
                    for name in (*TIMED, "own.channel", "own.workers", "limit.ring",
                                 "seed.async_bus"):
                        self.assertIn((name, metric, load, consumer), cells)
                self.assertIn(("own.ring", metric, load, "spins"), cells)
                self.assertIn(("seed.worker_pool", metric, load, "sleeps"), cells)

    def test_messages_are_due_at_the_load_that_was_asked_for(self):
        rows = self.rows("--metrics", "latency_p50", "--contenders", "limit.ring", load="10,95",
                         consumer="spins")
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
        lost = {name: r"^received \d+ messages of \d+$" for name in
                ("peer.mislays", "peer.stutters")}
        others = {"peer.overtakes": r"^received \d+ messages twice, or after later ones",
                  "peer.garbles": "^received damaged messages"}
        # Of what is lost messages are waited for.
        quick_ones = {**(lost if DEEP else {}), **others}
        self.assert_found({**lost, **others}, "--metrics", "throughput", publish="single",
                          consumer="spins", producers=1)
        self.assert_found(quick_ones, "--metrics", "latency_p50", consumer="spins")
        self.assert_found(quick_ones, "--metrics", "broadcast", consumers=1, publish="batch")
