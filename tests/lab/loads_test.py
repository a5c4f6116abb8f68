# SPDX-License-Identifier: MIT
"""Loads drawn at random: each sort is done right by every way that says it can, ways that cannot
say why, one that cheats is found, and advice does not know the draw."""

from lab_support import SOURCE, ScenarioTest

MEASURED = ("ok", "noisy")
CANNOT = (
    r"^(the load is a loop, which it does not divide"
    r"|the load has tasks that wait for tasks"
    r"|the load has tasks, and it divides loops"
    r"|its processes share no memory"
    r"|.*not (built|installed).*)$")
# Of seed 1, with little work each: tasks, a loop in waves, tasks that wait, in waves and not, a
# loop at once, and tasks that walk memory, that wait and in waves.
DRAWS = "1,2,5,11,14,28,39,44"


class Loads(ScenarioTest):
    scenario = "loads"

    def test_each_sort_is_done_right(self):
        rows = self.rows(draw=DRAWS)
        sorts, done = set(), set()
        for row in rows:
            if row["status"] == "unavailable":
                self.assertRegex(row["reason"], CANNOT)
                continue
            self.assertIn(row["status"], MEASURED, row)
            self.assertEqual((row["metric"], row["unit"]), ("time", "ns"))
            self.assertGreater(row["median"], 0, row)
            figures = row["figures"]
            for name, what in (("by_index", figures["by_index"] > 0),
                               ("fan_out", figures["fan_out"] > 0),
                               ("waves", figures["waves"] > 1),
                               ("by_memory", figures["by_memory"] > 0)):
                sorts.add((name, what))
            done.add((row["contender"], figures["by_index"], figures["fan_out"] > 0))
        self.assertEqual(sorts, {(name, what) for what in (False, True)
                                 for name in ("by_index", "fan_out", "waves", "by_memory")})
        for name in ("own.serial", "own.pool.stealing"):
            self.assertLessEqual({(name, 1, False), (name, 0, False), (name, 0, True)}, done)
        for name, only in (("own.thread_team", (1, False)), ("own.events", (0, False)),
                           ("own.workers", (0, False))):
            self.assertEqual({entry for entry in done if entry[0] == name}, {(name, *only)})

    def test_all_ways_of_a_draw_have_the_same_load(self):
        rows = self.rows("--contenders", "own.*", draw=11, seed="1,2")
        for seed in (1, 2):
            loads = {(row["items_per_op"], *sorted(row["figures"].items())) for row in rows
                     if row["parameters"]["seed"] == seed and row["status"] in MEASURED}
            self.assertEqual(len(loads), 1, loads)

    def test_a_piece_that_was_left_out_or_done_twice_is_found(self):
        self.assert_found(
            {"peer.misses": r"^ran \d+ pieces of \d+$",
             "peer.redoes": "^the digest of its pieces is 0x[0-9a-f]+, not 0x[0-9a-f]+$"},
            draw=11)

    def test_a_draw_is_a_number(self):
        self.assert_refused("run", "loads", "--set", "draw=-1",
                            mentions=["parameter 'draw' takes whole numbers from 0"])

    def test_advice_does_not_know_the_draw(self):
        own = SOURCE / "lab" / "scenarios" / "loads"
        for path in (SOURCE / "lab").rglob("*"):
            if path.is_file() and own not in path.parents:
                text = path.read_text(errors="replace")
                self.assertNotIn("loads/draw.hpp\"", text, path)
                self.assertNotIn("handoff_loads_draw", text, path)
