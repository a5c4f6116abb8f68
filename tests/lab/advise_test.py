# SPDX-License-Identifier: MIT
"""Advice: on results made for the purpose, and once on a real measurement."""

import json
import subprocess
import unittest

from lab_support import PROGRAM, LabTest, small_build
from terminal import call_at_a_terminal, terminals_exist
from synthetic_results import environment, row

SIZES = [4 ** k for k in range(10)]  # ns


def grain(contender, overhead, unit="task", width=2, **more):
    """A way that adds so many ns to each task."""
    curve = [[size, size / (size + width * overhead)] for size in SIZES]
    return row(contender, [[overhead]], scenario="grain", metric="metg50", unit="ns",
               better="lower", parameters={"unit": unit, "width": width},
               curves={"efficiency": curve}, **more)


def fork(contender, ns, problem):
    return row(contender, [[ns]], scenario="forkjoin", metric="ns_per_fork", unit="ns",
               better="lower", parameters={"problem": problem, "width": 2})


def tasks(contender, metric, value, **parameters):
    return row(contender, [[value]], scenario="tasks", metric=metric, unit="", better="lower",
               parameters={**parameters, "width": 2})


PLAIN = [grain("own.pool.stealing", 10), grain("own.pool.fixed", 30), grain("peer.onetbb", 100),
         grain("seed.pool.fixed", 1)]


QUICKLY = ("--time-budget", "0.1", "--no-probe")


class Advise(LabTest):
    def write(self, rows):
        (self.folder / "rows.json").write_text(
            json.dumps({"schema": 1, "environment": environment(), "rows": rows}))

    def advice(self, rows, *flags):
        self.write(rows)
        done = self.run_lab("advise", "rows.json", *flags, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def costs(self, rows, *flags):
        return {way["name"]: way["ns"] for way in self.advice(rows, *flags)["ways"]}

    def assert_costs(self, expected, rows, *flags):
        costs = self.costs(rows, *flags)
        self.assertEqual(list(costs), list(expected))
        for name, ns in expected.items():
            self.assertAlmostEqual(costs[name] / ns, 1, places=6, msg=name)

    def test_the_cheapest_comes_first_and_no_seed_is_among_them(self):
        self.assert_costs({"own.pool.stealing": 510e3, "own.pool.fixed": 530e3,
                           "peer.onetbb": 600e3, "here": 1000e3},
                          PLAIN, "--grain", "1us", "--count", "1000")

    def test_tasks_smaller_than_any_hand_over_stay_where_they_are(self):
        costs = self.costs(PLAIN, "--grain", "5ns", "--count", "1000")
        self.assertEqual(next(iter(costs)), "here")

    def test_tasks_larger_than_any_measured(self):
        efficiency = SIZES[-1] / (SIZES[-1] + 20)
        costs = self.costs(PLAIN, "--grain", "1ms", "--count", "10")
        self.assertAlmostEqual(costs["own.pool.stealing"] / (5e6 / efficiency), 1, places=6)

    def test_one_task_gains_nothing_and_three_take_two_rounds(self):
        self.assertEqual(next(iter(self.costs(PLAIN, "--grain", "1ms", "--count", "1"))), "here")
        self.assertEqual(self.costs(PLAIN, "--grain", "1ms", "--count", "3")["own.pool.stealing"],
                         2e6)

    def test_no_task_of_a_batch_costs_less_than_an_empty_one(self):
        rows = PLAIN + [tasks("own.pool.stealing", "fire_and_forget", cost, count=count, work=0,
                              state="hot") for count, cost in ((1000, 20), (100000, 700))]
        self.assertAlmostEqual(
            self.costs(rows, "--grain", "1us", "--count", "1000000")["own.pool.stealing"], 700e6)
        self.assertAlmostEqual(
            self.costs(rows, "--grain", "100ns", "--count", "10000")["own.pool.stealing"], 3.6e6)

    def test_order_rules_out_who_promises_none(self):
        advice = self.advice(PLAIN, "--grain", "1us", "--count", "1000", "--order", "fifo")
        self.assertEqual([way["name"] for way in advice["ways"]], ["own.pool.fixed", "here"])
        self.assertEqual([way["after_idle_ns"] for way in advice["ways"]], [None, None])
        self.assertEqual(advice["left_out"], {"own.pool.stealing": "promises no order",
                                              "peer.onetbb": "promises no order"})

    def test_idle_cost_rules_out_who_spins_and_who_was_not_measured(self):
        rows = PLAIN + [tasks("own.pool.stealing", "idle_cpu", 0.01),
                        tasks("peer.onetbb", "idle_cpu", 40)]
        advice = self.advice(rows, "--grain", "1us", "--count", "9", "--idle-cost", "0.1")
        self.assertEqual([way["name"] for way in advice["ways"]], ["own.pool.stealing", "here"])
        self.assertEqual(advice["left_out"],
                         {"own.pool.fixed": "its cost when idle was not measured",
                          "peer.onetbb": "takes 40.0 % of a CPU when idle"})

    def test_nested_tasks_pay_for_forks_without_the_work_measured_in_them(self):
        rows = [fork(contender, ns, problem) for contender, ns, problem in (
            ("own.pool.stealing", 30, "fib"), ("limit.serial", 20, "fib"),
            ("own.pool.stealing", 70, "nqueens"), ("limit.serial", 80, "nqueens"),
            ("own.pool.stealing", 90, "tree"), ("peer.onetbb", 60, "fib"))]
        self.assert_costs({"own.pool.stealing": 1000 * (30 + 50), "here": 1000 * 100,
                           "peer.onetbb": 1000 * (50 + 50)},
                          rows, "--grain", "100ns", "--count", "1000", "--nesting", "tasks")

    def test_indices_and_widths_have_rows_of_their_own(self):
        rows = PLAIN + [grain("own.thread_team", 2, unit="index"),
                        grain("own.thread_team", 2, unit="index", width=4)]
        flags = ("--grain", "100ns", "--count", "1000", "--unit", "index")
        self.assert_costs({"own.thread_team": 27e3, "here": 100e3}, rows, *flags)
        self.assert_costs({"own.thread_team": 52e3, "here": 100e3}, rows, *flags, "--width", "2")

    def test_text_for_people(self):
        noisy = grain("own.pool.stealing", 10, status="noisy", reason="others took 1 CPU")
        self.write([noisy, PLAIN[2], tasks("peer.onetbb", "ping", 25)])
        done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ["1000 tasks of 1.00 us; 2 threads",
                      "take  own.pool.stealing, handoff::ThreadPool, mode stealing: post() and "
                      "wait(): 510 us in all, 510 ns each",
                      "else  peer.onetbb: 600 us", "25.0 us", "grain unit=task width=2",
                      "own.pool.stealing is noisy: others took 1 CPU"]:
            self.assertIn(words, done.stdout)
        self.assertIn("note: rows.json was measured on", done.stderr)

    def test_what_was_not_measured_is_said_with_the_command_that_measures_it(self):
        self.write(PLAIN)
        flags = ("--grain", "1us", "--count", "10")
        for arguments, words in [
                (("rows.json", "--nesting", "tasks"), "`handoff run forkjoin --metrics ns_per_fork "
                 "--output FILE`"),
                (("rows.json", "--unit", "index"), "--set unit=index --set width=2 --output FILE`"),
                (("rows.json", "--width", "3"), "--set unit=task --set width=3 --output FILE`"),
                (("rows.json", "--idle-cost", "1"), "run tasks --metrics idle_cpu --set width=2"),
                (("rows.json", "--unit", "index", "--idle-cost", "1"), "width=2 and tasks idle_cpu "
                 "width=2, and they are not among the rows; `handoff run grain --metrics metg50 "
                 "--set unit=index --set width=2 --output FILE` and `handoff run tasks --metrics "
                 "idle_cpu --set width=2 --output FILE` measure them, and so does --measure"),
                ((), "there is no report/results.json; `handoff run grain")]:
            done = self.run_lab("advise", *arguments, *flags)
            self.assertEqual((done.returncode, done.stdout), (4, ""), arguments)
            said = done.stderr.splitlines()[-1]
            self.assertTrue(said.startswith("handoff: this needs rows of"), said)
            self.assertIn(words, said)

    def test_a_result_that_was_interrupted_is_named(self):
        (self.folder / "rows.json").write_text(json.dumps(
            {"schema": 1, "environment": environment(), "rows": PLAIN, "interrupted": True}))
        done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "1000")
        self.assertIn("note: rows.json was interrupted", done.stderr)
        done = self.run_lab("export", "--to", "csv", "rows.json")
        self.assertEqual((done.returncode, done.stderr), (0, "note: rows.json was interrupted: it "
                         "does not have all that was asked for\n"))

    def test_who_broke_is_left_out_and_said(self):
        crashed = row("own.pool.cached", [], scenario="grain", metric="metg50", unit="ns",
                      better="lower", parameters={"unit": "task", "width": 2}, status="failed",
                      reason="it crashed")
        absent = {**crashed, "contender": "peer.absent", "status": "unavailable"}
        advice = self.advice([*PLAIN, crashed, absent], "--grain", "1us", "--count", "1000")
        self.assertEqual(advice["left_out"], {"own.pool.cached": "failed: it crashed"})

    def test_what_run_leaves_is_found(self):
        (self.folder / "report").mkdir()
        self.write(PLAIN)
        (self.folder / "rows.json").rename(self.folder / "report" / "results.json")
        self.assertEqual(self.run_lab("advise", "--grain", "1us", "--count", "1").returncode, 0)

    def small_program(self):
        """Of a build with two ways that are idle, and two that have loops."""
        (self.folder / "build").mkdir()
        return small_build(self.folder / "build", lambda entry: entry["name"] in (
            "own.pool.fixed", "own.thread_team") or entry["name"] == "own.pool.stealing"
            and entry["scenario"] == "tasks")

    def ask(self, program, *arguments):
        return subprocess.run([program, "advise", *arguments, *QUICKLY], cwd=self.folder, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=300)

    def test_all_that_is_missing_is_measured_in_one_go(self):
        done = self.ask(self.small_program(), "--measure", "--grain", "20us", "--count", "100",
                        "--unit", "index", "--idle-cost", "100", "--json", "--output", "new.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr,
                         "^measuring grain metg50 unit=index and tasks idle_cpu, about [0-9]+ s\n$")
        advice = json.loads(done.stdout)
        self.assertEqual({way["name"] for way in advice["ways"]}, {"here", "own.pool.fixed"})
        self.assertEqual(advice["left_out"],
                         {"own.thread_team": "its cost when idle was not measured"})
        kept = json.loads((self.folder / "new.json").read_text())["rows"]
        self.assertEqual({(row["scenario"], row["contender"]) for row in kept},
                         {("grain", "own.pool.fixed"), ("grain", "own.thread_team"),
                          ("tasks", "own.pool.fixed"), ("tasks", "own.pool.stealing")})
        again = self.ask(PROGRAM, "new.json", "--grain", "20us", "--count", "100", "--unit",
                         "index", "--idle-cost", "100", "--output", "unused.json")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("nothing was missing", again.stderr)
        self.assertEqual(self.files(), ["build", "new.json"])

    def test_rows_that_are_there_are_not_measured_again(self):
        self.write(PLAIN)
        done = self.ask(self.small_program(), "rows.json", "--measure", "--grain", "1us", "--count",
                        "1000", "--idle-cost", "100", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("measuring tasks idle_cpu width=2, about", done.stderr)
        self.assertIn("serve this answer only", done.stderr)
        ways = {way["name"]: way["ns"] for way in json.loads(done.stdout)["ways"]}
        self.assertAlmostEqual(ways["own.pool.stealing"], 510e3)
        self.assertEqual(self.files(), ["build", "rows.json"])

    def test_what_cannot_be_measured_is_said(self):
        (self.folder / "build").mkdir()
        program = small_build(self.folder / "build", lambda entry: False)
        question = ("--measure", "--grain", "1us", "--count", "10")
        done = self.ask(program, *question)
        self.assertEqual((done.returncode, done.stdout), (4, ""), done.stderr)
        self.assertIn("grain metg50 unit=task was measured, but gave no figures: no contender",
                      done.stderr)
        done = self.ask(program, *question, "--width", "65")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("'width'", done.stderr)

    def test_a_person_at_a_terminal_is_asked(self):
        if not terminals_exist():
            self.skipTest("no terminal can be made here")
        self.write(PLAIN)
        question = (self.small_program(), "advise", "rows.json", "--grain", "1us", "--count",
                    "1000", "--idle-cost", "100", *QUICKLY)
        asked = ("tasks idle_cpu width=2 was not measured. Measure it now? It takes about ")
        for answer in ("n\n", "no\n", "\x04"):
            code, seen = call_at_a_terminal(answer, *question, cwd=self.folder)
            self.assertEqual(code, 4, seen)
            self.assertIn(asked, seen)
            self.assertIn("`handoff run tasks --metrics idle_cpu --set width=2 --output", seen)
        for answer in ("y\n", "\n"):
            code, seen = call_at_a_terminal(answer, *question, cwd=self.folder)
            self.assertEqual(code, 0, seen)
            self.assertIn(asked, seen)
            self.assertIn("own.pool.stealing: 510 us", seen.replace("\r", "").replace(
                ", handoff::ThreadPool, mode stealing: post() and wait()", ""))

    def test_bad_questions_are_refused(self):
        self.write(PLAIN)
        good = {"--grain": "1us", "--count": "10"}
        for wrong, words in [
                ({"--grain": "20"}, "--grain takes a time"), ({"--grain": "us"}, "'us'"),
                ({"--grain": "-1us"}, "--grain"), ({"--grain": "1e99s"}, "1000s"),
                ({"--grain": "nanus"}, "'nanus'"), ({"--count": "0"}, "--count takes 1 to"),
                ({"--count": "-1"}, "below 0"), ({"--count": "many"}, "many"),
                ({"--unit": "tasks"}, "--unit takes task or index, not 'tasks'"),
                ({"--nesting": "deep"}, "--nesting takes none or tasks"),
                ({"--order": "lifo"}, "--order takes any or fifo"),
                ({"--unit": "index", "--nesting": "tasks"}, "--nesting tasks needs"),
                ({"--idle-cost": "-1"}, "--idle-cost"),
                ({"--idle-cost": "1000000"}, "all CPUs"), ({"--idle-cost": "nan"}, "--idle-cost"),
                ({"--width": "0"}, "--width takes 1"), ({"--grain": None}, "--grain"),
                ({"--count": None}, "--count")]:
            flags = [word for option in {**good, **wrong}.items() if option[1] is not None
                     for word in option]
            with self.subTest(flags=flags):
                self.assert_refused("advise", "rows.json", *flags, mentions=[words],
                                    leaves=["rows.json"])
        self.assert_refused("advise", "rows.json", "--grain", "1us", "--count", "1", "--output",
                            "./rows.json", mentions=["--output"], leaves=["rows.json"])
        self.assert_refused("advise", "none.json", "--grain", "1us", "--count", "1",
                            mentions=["none.json", "cannot be read"], leaves=["rows.json"])

    def test_rows_of_this_machine(self):
        done = self.run_lab("run", "forkjoin", "--set", "problem=nqueens", "--contenders",
                            "own.*,limit.*", "--launches", "1", "--time-budget", "1", "--no-probe",
                            "--output", "forks.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_lab("advise", "forks.json", "--grain", "20us", "--count", "1000",
                            "--nesting", "tasks", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        advice = json.loads(done.stdout)
        self.assertEqual({way["name"] for way in advice["ways"]}, {"own.pool.stealing", "here"})
        self.assertEqual(advice["question"]["width"], 2)


if __name__ == "__main__":
    unittest.main()
