# SPDX-License-Identifier: MIT
"""The scenario of channels: every contender delivers each message once, for as many threads as it
is made for, and one that cheats is found."""

from lab_support import ScenarioTest, whole_lab

FOR_MANY = {"own.channel", "own.mpmc_ring", "peer.mutex_queue", "peer.boost_queue",
            "peer.concurrentqueue", "peer.atomic_queue", "peer.onetbb"}
FOR_ONE_EACH = {"own.channel.spsc", "own.spsc_ring", "limit.ring", "peer.boost_spsc",
                "peer.readerwriterqueue"}
MAY_BE_MISSING = {"peer.boost_queue", "peer.boost_spsc", "peer.concurrentqueue",
                  "peer.readerwriterqueue", "peer.atomic_queue", "peer.onetbb"}


class Channels(ScenarioTest):
    scenario = "channels"

    def assert_all_right(self, rows, names, threads):
        self.assertEqual(set(rows), names)
        for name, row in rows.items():
            if row["status"] == "unavailable":
                self.assertIn(name, MAY_BE_MISSING)
                self.assertRegex(row["reason"], "^not built: needs lib")
                continue
            self.assertEqual(row["order"],
                             "per producer" if name == "peer.concurrentqueue" else "fifo", row)
            self.assertEqual((row["status"], row["metric"], row["items_per_op"], row["parameters"]),
                             ("ok", "message", 200000, threads), row)
            self.assertGreater(row["median"], 0.1, row)
            self.assertEqual(row["share_elsewhere"], 1, row)
            self.assertEqual(len(row["shares"]), 1 + threads["consumers"], row)

    @whole_lab
    def test_one_producer_and_one_consumer(self):
        self.assert_all_right(self.by_name(), FOR_MANY | FOR_ONE_EACH,
                              {"producers": 1, "consumers": 1})

    @whole_lab
    def test_several_on_one_side_or_on_both(self):
        for producers, consumers in ((3, 1), (1, 3), (2, 2)):
            threads = {"producers": producers, "consumers": consumers}
            self.assert_all_right(self.by_name(**threads), FOR_MANY, threads)

    @whole_lab
    def test_the_list_says_in_which_order_a_queue_gives_messages_back(self):
        said = self.run_lab("list").stdout.partition("\nchannels: ")[2].partition("\nmessages: ")[0]
        orders = {line.split()[0]: line.partition("  order: ")[2] for line in said.splitlines()
                  if line.startswith("    ") and line.split()[0] in FOR_MANY | FOR_ONE_EACH}
        self.assertEqual(orders.pop("peer.concurrentqueue"), "per producer")
        self.assertEqual(orders, dict.fromkeys((FOR_MANY | FOR_ONE_EACH)
                                               - {"peer.concurrentqueue"}, "fifo"))

    def test_a_message_that_is_lost_repeated_or_broken_is_found(self):
        reason = "^received some messages twice or damaged, and others not at all$"
        self.assert_found({"peer.swaps": reason, "peer.tears": reason})
