# SPDX-License-Identifier: MIT
"""The scenario of algorithms: every contender's items are all there, in their order; and one that
is wrong in one of them is found."""

from lab_support import ScenarioTest, whole_lab

PARALLEL = {"own.algorithms", "peer.std_par", "peer.openmp"}
ALL = PARALLEL | {"limit.serial"}
STABLE = {"peer.boost_sample_sort", "peer.boost_parallel_stable_sort"}
# Who has what, beside those that have all.
BESIDE = {"sort": {"peer.onetbb", "peer.boost_block_indirect_sort", "limit.boost_spreadsort",
                   "limit.boost_pdqsort"} | STABLE,
          "stable_sort": {"limit.boost_spinsort", "limit.boost_flat_stable_sort"} | STABLE,
          **dict.fromkeys(("scan", "reduce"), {"peer.onetbb", "limit.memory"}),
          **dict.fromkeys(("transform", "merge", "partition", "find_if", "count_if"), set())}


class Algorithms(ScenarioTest):
    scenario = "algorithms"

    def assert_right(self, rows):
        for row in rows:
            if row["contender"].startswith("own."):
                self.assertEqual(row["status"], "ok", row)
            self.assertIn(row["status"], ("ok", "unavailable"), row)
            if row["status"] == "ok":
                self.assertGreater(row["median"], 0, row)

    @whole_lab
    def test_each_has_what_it_is_listed_for(self):
        rows = self.rows("--set", "order=random", count=1000)
        self.assert_right(rows)
        for algorithm, beside in BESIDE.items():
            cells = [row for row in rows if row["parameters"]["algorithm"] == algorithm
                     and row["parameters"].get("item") != "string"]
            self.assertEqual({row["contender"] for row in cells}, ALL | beside, algorithm)

    def test_numbers_of_all_sizes_come_out_right(self):
        self.assert_right(self.rows("--metrics", "pass", count="2,3,1000,100001"))

    def test_items_in_all_orders_are_sorted(self):
        for count, item in ((2, "int"), (100_001, "int"), (20_000, "string"), (20_000, "record64")):
            rows = self.rows("--metrics", "sort", count=count, item=item)
            self.assert_right(rows)
            self.assertEqual(len({row["parameters"]["order"] for row in rows}), 5)

    def test_an_item_that_is_misplaced_doubled_or_wrong_is_found(self):
        order, wrong = r"^\d+ items came out of their order$", "^its answer is wrong$"
        self.assert_found({"peer.unsorts": order, "peer.doubles": wrong}, "--metrics", "sort",
                          algorithm="stable_sort", count=1000, item="int", order="sorted")
        self.assert_found({"peer.shuffles": order}, "--metrics", "sort", algorithm="stable_sort",
                          count=1000, item="record64", order="equal")
        self.assert_found({"peer.miscounts": wrong}, "--metrics", "pass", algorithm="scan",
                          count=1000)
