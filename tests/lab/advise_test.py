# SPDX-License-Identifier: MIT
"""Advice: on results made for the purpose, and once on a real measurement."""

import json
import os
import signal
import subprocess

from lab_support import (NO_TIME, ONCE, PROGRAM, LabTest, needs_a_terminal, small_build,
                         whole_lab)
from terminal import call_at_a_terminal, seen_at_a_terminal
from synthetic_results import environment, row

SIZES = [2 ** k for k in range(20)]  # ns


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


def measured(scenario, metric, contender, value, better="lower", order="fifo", **parameters):
    told = {"order": order} if order else {}
    return row(contender, [[value]], scenario=scenario, metric=metric, unit="", better=better,
               parameters=parameters, **told)


def message(contender, ns, order="fifo", consumer="spins", producers=1, size=72):
    return measured("messages", "throughput", contender, ns, order=order, producers=producers,
                    consumers=1, bytes=size, publish="single", consumer=consumer)


QUESTION = ("--unit", "message", "--count", "1000")
MESSAGES = [message("own.bus", 20), message("own.bus", 50, producers=2),
            message("own.channel", 30), message("own.channel", 40, producers=2),
            message("peer.moodycamel", 10, order="per producer"), message("seed.async_bus", 5),
            message("peer.moodycamel", 15, order="per producer", producers=2)]


def load(draw, contender, ns, count, by_index=0, waves=1, **figures):
    return row(contender, [[ns]], scenario="loads", metric="time", unit="ns", better="lower",
               parameters={"seed": 1, "draw": draw, "width": 2}, items_per_op=count,
               figures={"by_index": by_index, "waves": waves, "fan_out": 0, "by_memory": 0,
                        "largest": 1, "kinds": 1, **figures})


def loads(seed, draws, overhead=50):
    """Tasks that a way does in half the time, and so many ns each."""
    rows = []
    for draw in range(draws):
        count, piece = 100 * (draw + 1), 100 * 1.5 ** (draw % 10)
        for contender, ns in (("own.serial", count * piece),
                              ("own.pool.stealing", count * (piece / 2 + overhead))):
            rows.append(load(draw, contender, ns, count))
            rows[-1]["parameters"]["seed"] = seed
    return rows


PLAIN = [grain("own.pool.stealing", 10), grain("own.pool.fixed", 30), grain("peer.onetbb", 100),
         grain("seed.pool.fixed", 1)]


QUICKLY = (*NO_TIME, "--no-probe")


class Advise(LabTest):
    def write_rows(self, rows, name="rows.json", **more):
        return self.write(name, {"schema": 1, "environment": environment(), "rows": rows, **more})

    def advice(self, rows, *flags):
        self.write_rows(rows)
        return self.json_of("advise", "rows.json", *flags)

    def costs(self, rows, *flags):
        return {way["name"]: way["ns"] for way in self.advice(rows, *flags)["ways"]}

    def assert_costs(self, expected, rows, *flags):
        costs = self.costs(rows, *flags)
        self.assertEqual(list(costs), list(expected))
        for name, ns in expected.items():
            self.assertAlmostEqual(costs[name] / ns, 1, places=6, msg=name)

    def test_the_cheapest_comes_first_and_no_seed_is_among_them(self):
        self.assert_costs({"own.pool.stealing": 522e3, "own.pool.fixed": 542e3,
                           "peer.onetbb": 612e3, "here": 1024e3},
                          PLAIN, "--grain", "1024ns", "--count", "1000")

    def test_tasks_smaller_than_any_hand_over_stay_where_they_are(self):
        costs = self.costs(PLAIN, "--grain", "5ns", "--count", "1000")
        self.assertEqual(next(iter(costs)), "here")

    def test_tasks_larger_than_any_measured_are_done_as_well_as_the_largest(self):
        costs = self.costs(PLAIN, "--grain", "5ms", "--count", "10")
        efficiency = SIZES[-1] / (SIZES[-1] + 2 * 10)
        self.assertAlmostEqual(costs["own.pool.stealing"] / (25e6 / efficiency), 1, places=6)

    def test_no_way_does_more_than_the_cpus_can(self):
        fast = grain("peer.mutex_pool", 100)
        fast["curves"]["efficiency"] = [[size, 3 * e] for size, e in fast["curves"]["efficiency"]]
        serial = fork("limit.serial", 100, "fib")
        self.write_rows([*PLAIN, fast, fork("own.pool.stealing", 60, "fib"),
                    {**fork("peer.onetbb", 40, "fib"), "high": 42}, {**serial, "low": 90}])
        done = self.run_lab("advise", "rows.json", "--grain", "1ms", "--count", "100")
        self.assertIn("take  own.pool.stealing, 50.0 ms", done.stdout)
        self.assertRegex(done.stdout, "left out: peer.mutex_pool: impossible: its efficiency is "
                         r"3.00 at \d+ us, more than the CPUs can do\n")
        done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "100", "--nesting",
                            "tasks")
        self.assertIn("left out: peer.onetbb: impossible: it is 2.50 times as fast as one thread, "
                      "more than the CPUs can do\n", done.stdout)
        told = self.run_lab("export", "--to", "csv", "rows.json").stdout.splitlines()
        self.assertEqual(sum(",impossible," in line for line in told), 2, told)

    def test_one_task_gains_nothing_and_three_take_two_rounds(self):
        self.assertEqual(next(iter(self.costs(PLAIN, "--grain", "1ms", "--count", "1"))), "here")
        three = self.costs(PLAIN, "--grain", "1ms", "--count", "3")
        self.assertAlmostEqual(three["own.pool.stealing"] / 2e6, 1, places=3)

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
            ("own.pool.stealing", 90, "tree"), ("peer.onetbb", 70, "fib"))]
        self.assert_costs({"own.pool.stealing": 1000 * (30 + 50), "here": 1000 * 100,
                           "peer.onetbb": 1000 * (60 + 50)},
                          rows, "--grain", "100ns", "--count", "1000", "--nesting", "tasks")

    def test_indices_and_widths_have_rows_of_their_own(self):
        rows = PLAIN + [grain("own.thread_team", 2, unit="index"),
                        grain("own.thread_team", 2, unit="index", width=4)]
        flags = ("--grain", "128ns", "--count", "1000", "--unit", "index")
        self.assert_costs({"own.thread_team": 34e3, "here": 128e3}, rows, *flags)
        self.assert_costs({"own.thread_team": 66e3, "here": 128e3}, rows, *flags, "--width", "2")
        rows.append(measured("grain", "loop_1us", "own.thread_team", 1400, order="", width=2))
        self.assert_costs({"own.thread_team": 67.4e3, "here": 128e3}, rows, *flags, "--width", "2")

    def ways(self, rows, *flags):
        return [way["name"] for way in self.advice(rows, *flags)["ways"]]

    def test_messages(self):
        self.assert_costs({"peer.moodycamel": 10e3, "own.bus": 20e3, "own.channel": 30e3},
                          MESSAGES, *QUESTION)
        self.assert_costs({"peer.moodycamel": 15e3, "own.channel": 40e3, "own.bus": 50e3},
                          MESSAGES, *QUESTION, "--producers", "2")
        self.assert_costs({"peer.moodycamel": 15e3, "own.bus": 25e3, "own.channel": 35e3},
                          MESSAGES, *QUESTION, "--grain", "5ns")
        for flags, names in [
                (("--order", "fifo"), ["own.bus", "own.channel"]),
                (("--order", "producer"), ["peer.moodycamel", "own.bus", "own.channel"]),
                (("--memory", "bounded"), ["own.bus", "own.channel"]),
                (("--kinds", "2"), ["own.bus"])]:
            self.assertEqual(self.ways(MESSAGES, *QUESTION, *flags), names, flags)
        left_out = self.advice(MESSAGES, *QUESTION, "--order", "fifo", "--kinds", "2")["left_out"]
        self.assertEqual(left_out["peer.moodycamel"], "keeps the order of one producer only")
        self.assertIn("one type", left_out["own.channel"])

    def test_bytes_have_a_price_of_their_own(self):
        rows = [message("own.bus", 20 + size / 4, size=size) for size in (8, 72, 1024)]
        rows += [message("own.channel", 30 + size / 8, size=size) for size in (8, 72, 1024)]
        self.assert_costs({"own.bus": 36e3, "own.channel": 38e3}, rows, *QUESTION, "--bytes", "64")
        advice = self.advice(rows, *QUESTION, "--bytes", "64")
        change = advice["changes"][0]
        self.assertEqual((change["of"], change["side"], change["way"]),
                         ("bytes", "above", "own.channel"))
        self.assertTrue(80 <= change["at"] <= 90, change)  # equal at 80, 2 % better from 88 on
        self.assertEqual(self.ways(rows, *QUESTION, "--bytes", "1k"), ["own.channel", "own.bus"])

    def test_units_are_taken_as_people_write_them(self):
        rows = [message("own.bus", 20 + size / 4, size=size) for size in (8, 72, 1024, 65536)]
        for same in (("4k", "4K", "4KiB", "4096"), ("4kB", "4000"), ("1M", "1MiB", "1048576"),
                     ("1MB", "1000000"), ("1G", "1GiB"), ("1GB", "1000000000")):
            asked = [self.advice(rows, *QUESTION, "--bytes", one)["question"] for one in same]
            self.assertEqual(asked, asked[:1] * len(same))
        for same in (("20us", "20\u00b5s", "20\u03bcs", "20000ns"), ("1ms", "1000us")):
            asked = [self.advice(MESSAGES, *QUESTION, "--grain", one)["question"] for one in same]
            self.assertEqual(asked, asked[:1] * len(same))

    def test_who_must_sleep_is_judged_by_rows_of_sleepers(self):
        rows = MESSAGES + [message("own.channel", 90, consumer="sleeps")]
        self.assert_costs({"own.channel": 90e3}, rows, *QUESTION, "--idle-cost", "1")

    def test_events_and_what_carries_messages(self):
        rows = MESSAGES[:1] + [measured("events", "throughput", "own.event", 15, producers=1)]
        self.assert_costs({"own.event": 15e3, "own.bus": 20e3}, rows, "--unit", "event", "--count",
                          "1000")

    def test_latency_is_of_one(self):
        rows = [measured("messages", "latency_p50", way, ns, consumer="spins", load=50)
                for way, ns in (("own.bus", 200), ("own.channel", 150))]
        self.assert_costs({"own.channel": 150, "own.bus": 200}, rows, *QUESTION, "--goal",
                          "latency")

    def test_messages_between_processes(self):
        rows = [measured("processes", "throughput", "own.shared_ring", 1e9 / (40 + size / 10),
                         better="higher", bytes=size) for size in (8, 4096)]
        self.assert_costs({"own.shared_ring": 50e3}, rows, *QUESTION, "--isolation", "processes",
                          "--bytes", "100")

    def test_jobs_and_rows_of_processes(self):
        rows = [measured("spawn", "job", "own.process_pool", 11, order=""),
                measured("spawn", "jobs", "own.process_pool", 1e9 * 64 / (10e3 + 64e3),
                         better="higher", order="")]
        flags = ("--count", "1000", "--isolation", "processes")
        costs = self.costs(rows, "--grain", "20us", *flags)
        self.assertEqual(list(costs), ["own.process_pool"])
        self.assertAlmostEqual(costs["own.process_pool"] / (10e3 + 1000 * (1e3 + 10e3)), 1)
        rows = [measured("spawn", "claim", "own.process_team.claims", ns * 2 / rows_of_it,
                         rows=rows_of_it, width=2, order="")
                for rows_of_it, ns in ((256, 5e3 + 256 * 20), (65536, 5e3 + 65536 * 20))]
        self.assert_costs({"own.process_team": 5e3 + 1000 * (20 + 500)}, rows, "--grain", "1us",
                          *flags, "--unit", "index")

    def test_processes_stand_beside_threads(self):
        rows = PLAIN + [measured("spawn", "jobs", "own.process_pool", 1e6, better="higher",
                                 order="")]
        self.assertEqual(self.ways(rows, "--grain", "1us", "--count", "1000")[-1],
                         "own.process_pool")

    def test_commands_and_files(self):
        rows = [measured("commands", "command", way, ns, threads=threads, calls=40000)
                for way, ns, threads in (("own.bucket", 30, 1), ("own.bucket", 20, 2),
                                         ("peer.std_vectors", 60, 1))]
        self.assert_costs({"own.bucket": 30e3, "peer.std_vectors": 60e3}, rows, "--unit", "command",
                          "--count", "1000")
        self.assert_costs({"own.bucket": 20e3}, rows, "--unit", "command", "--count", "1000",
                          "--producers", "2")
        rows = [measured("files", "file", way, ns, files=200, durable=durable)
                for way, ns, durable in (("own.io_uring", 2e3, 0), ("own.caller", 3e3, 0),
                                         ("own.caller", 9e5, 1))]
        self.assert_costs({"own.io_uring": 20e3, "own.caller": 30e3}, rows, "--unit", "file",
                          "--count", "10")
        self.assert_costs({"own.caller": 9e6}, rows, "--unit", "file", "--count", "10", "--durable",
                          "yes")

    def test_what_would_change_it_and_how_it_was_found(self):
        advice = self.advice(PLAIN, "--grain", "1us", "--count", "1000")
        below = advice["changes"][0]
        self.assertEqual((below["of"], below["side"], below["way"]), ("grain", "below", "here"))
        self.assertTrue(10 <= below["at"] <= 20, below)  # equal at 20 ns, and told a bit below
        first = advice["ways"][0]
        self.assertEqual(first["method"], "the measured curve, 20 sizes")
        self.assertTrue(500e3 <= first["low_ns"] < first["ns"] < first["high_ns"] < 550e3, first)
        self.assertEqual(advice["unsure"], "")
        self.assertIn("pool.post(f)", first["code"])

    def test_of_equals_the_simplest_to_own_is_named(self):
        rows = [grain("peer.onetbb", 19), grain("own.pool.active", 20), grain("own.pool.fixed", 21)]
        self.write_rows(rows)
        done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "1000")
        self.assertIn("\nequal own.pool.fixed, peer.onetbb: no measured difference to "
                      "own.pool.active, which comes first: this library's own\n", done.stdout)
        rows += [tasks("own.pool.active", "idle_cpu", 40), tasks("own.pool.fixed", "idle_cpu", 0)]
        advice = self.advice(rows, "--grain", "1us", "--count", "1000")
        self.assertEqual([way["name"] for way in advice["ways"]],
                         ["own.pool.fixed", "own.pool.active", "peer.onetbb", "here"])
        self.assertEqual(advice["equal"], ["own.pool.active", "peer.onetbb"])

    def test_where_a_curve_jumps_the_range_is_wide(self):
        wild = grain("own.pool.stealing", 10)
        wild["curves"]["efficiency"] = [[size, 0.9 if i % 2 else 0.3]
                                        for i, size in enumerate(SIZES)]
        way = self.advice([wild], "--grain", "512ns", "--count", "1000")["ways"][0]
        self.assertEqual(way["name"], "own.pool.stealing")
        self.assertEqual(way["low_ns"], 256e3)  # no less can it be
        self.assertGreater(way["high_ns"], 2 * way["ns"])

    def test_a_curve_goes_before_a_model_where_it_spans_the_size(self):
        rows = [grain("own.pool.stealing", 200), *loads(1, 20)]
        def told(*flags):
            ways = self.advice(rows, "--count", "1000", *flags)["ways"]
            return next(way for way in ways if way["name"] == "own.pool.stealing")
        curve = told("--grain", "1024ns")
        self.assertEqual(curve["method"], "the measured curve, 20 sizes")
        self.assertAlmostEqual(curve["ns"] / 712e3, 1, places=6)
        for flags in [("--grain", "1ms"), ("--grain", "1024ns", "--waves", "2"),
                      ("--grain", "1024ns", "--largest", "9"),
                      ("--grain", "1024ns", "--bound", "memory")]:
            self.assertEqual(told(*flags)["method"], "a model of 20 measured cells, "
                             "half of them in the range", flags)

    def test_loads_tell_of_waves(self):
        rows = []
        for draw in range(20):
            count, piece, waves = 1000, 1000 * 1.4 ** draw, draw % 4 + 1
            late = 30e3 * waves if waves > 1 else 0
            rows += [load(draw, "own.serial", count * piece, count, waves=waves),
                     load(draw, "own.pool.stealing", count * piece / 2 + late, count, waves=waves)]
        costs = self.costs(rows, "--grain", "20us", "--count", "1000", "--waves", "3")
        self.assertAlmostEqual(costs["own.pool.stealing"] / (10e6 + 90e3), 1, places=2)

    def test_advice_is_checked_on_loads_that_it_has_not_seen(self):
        def written(name, rows):
            return self.write_rows(rows, name)
        def thrice(rows, changed=()):
            for i, one in enumerate(rows):
                one["launches"] = [[one["median"] * (0.2 if i in changed and launch == 1 else 1)]
                                   for launch in range(3)]
            return rows
        known = written("known.json", loads(1, 20))
        good = self.run_lab("check-advice", known, written("good.json", thrice(loads(2, 30))))
        self.assertEqual((good.returncode, good.stdout),
                         (0, "regret 0.0 %, picking by one launch 0.0 %; at most 1.00x on 30 loads "
                          "that repeat; 30 of 30 times inside the range; advice saw 20 loads\n"))
        # Of five loads one launch in three says that alone it is faster.
        lucky = thrice(loads(2, 30), changed=range(20, 30, 2))
        limited = self.run_lab("check-advice", known, written("lucky.json", lucky))
        self.assertEqual(limited.stdout.split(";")[:2],
                         ["regret 1.5 %, picking by one launch 5.0 %",
                          " at most 1.00x on 29 loads that repeat"])
        (self.folder / "lucky.json").unlink()
        # The canary: another machine.
        other = written("other.json", thrice(loads(2, 30, overhead=5000)))
        bad = self.run_lab("check-advice", known, other, "--verbose", exit_code=3)
        self.assertIn("took own.pool.stealing", bad.stdout)
        once = written("once.json", loads(2, 30))
        self.assert_refused("check-advice", known, once, mentions=["a single launch"])
        self.assert_refused("check-advice", known, known, mentions=["among the known rows"])

    @needs_a_terminal
    def test_questions_at_a_terminal(self):
        (self.folder / "report").mkdir()
        self.write_rows(PLAIN, "report/results.json")
        call = (PROGRAM, "advise")
        code, seen = call_at_a_terminal("\n1\n1us\n" + "\n" * 12, *call, cwd=self.folder)
        self.assertEqual(code, 0, seen)
        for words in ["what do you hand over", "[task]: ", "--grain takes a time", "[20us]: ",
                      "how many at once [1000]", "take  own.pool.stealing, 510 us, 50"]:
            self.assertIn(words, seen)
        self.assertNotIn("--bytes", seen)
        for leaving in ("q\n", "\n\nq\n"):
            code, seen = call_at_a_terminal(leaving, *call, cwd=self.folder)
            self.assertEqual(code, 0, seen)
            self.assertNotIn("take  own", seen)
        self.assertEqual(self.files(), ["report"])

    def interrupted_at(self, prompt, answers, *arguments):
        """The exit code, and what is seen, of Ctrl-C once `prompt` stands there."""
        person, terminal = os.openpty()
        os.write(person, answers.encode())
        process = subprocess.Popen([PROGRAM, "advise", *arguments], stdin=terminal,
                                   stdout=terminal, stderr=terminal, cwd=self.folder)
        seen = b""
        while not seen.decode().endswith(prompt):
            seen += os.read(person, 1)
        process.send_signal(signal.SIGINT)
        seen += seen_at_a_terminal(process, person, terminal).encode()
        return process.returncode, seen.decode()

    @needs_a_terminal
    def test_ctrl_c_at_a_question_leaves_nothing(self):
        self.write_rows(PLAIN)
        missing = ("rows.json", "--grain", "1us", "--count", "1000", "--idle-cost", "100",
                   "--output", "new.json", *QUICKLY)
        for prompt, answers, arguments in [
                ("[task]: ", "", ("rows.json",)),
                ("[1000]: ", "\n1us\n", ("rows.json", "--output", "new.json")),
                ("[Y/n] ", "", missing)]:
            code, seen = self.interrupted_at(prompt, answers, *arguments)
            self.assertEqual(code, 128 + signal.SIGINT, seen)
            self.assertNotIn("take  ", seen)
            self.assertEqual(self.files(), ["rows.json"])

    def test_what_no_way_can_do_is_said(self):
        self.write_rows(MESSAGES[2:3])
        done = self.run_lab("advise", "rows.json", "--unit", "message", "--count", "1", "--kinds",
                            "2")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("no measured way fits: own.channel takes one type", done.stderr)

    def test_text_for_people(self):
        noisy = grain("own.pool.stealing", 10, status="noisy", reason="others took 1 CPU")
        self.write_rows([noisy, PLAIN[2], tasks("peer.onetbb", "ping", 25)])
        done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "1000", exit_code=0)
        self.assertRegex(done.stdout, r"^take  own\.pool\.stealing, 510 us, 50\d \.\. 5[12]\d: "
                         r"handoff::ThreadPool pool.*; pool\.post\(f\); pool\.wait\(\);\n")
        for words in ["1000 tasks of 1.00 us; 2 threads",
                      "25.0 us", "from  the measured curve, 20 sizes: grain unit=task width=2",
                      "own.pool.stealing is noisy: others took 1 CPU"]:
            self.assertIn(words, done.stdout)
        self.assertIn("note: rows.json was measured on", done.stderr)

    def test_what_was_not_measured_is_said_with_the_command_that_measures_it(self):
        self.write_rows(PLAIN)
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
                (("rows.json", "--unit", "message"), "`handoff run messages --metrics throughput "
                 "--set bytes=8,72,1024 --set consumer=spins --set publish=single --output FILE`"),
                (("rows.json", "--unit", "event", "--goal", "latency"), "run events --metrics "
                 "latency_p50"),
                (("rows.json", "--unit", "command"), "run commands --metrics command"),
                (("rows.json", "--unit", "file", "--bytes", "16M"), "run files --metrics write_new "
                 "--set durable=0 --set files=10"),
                (("rows.json", "--isolation", "processes"), "run spawn --metrics job --output "
                 "FILE` and `handoff run spawn --metrics jobs"),
                (("rows.json", "--isolation", "processes", "--unit", "index"),
                 "--metrics claim --set rows=256,65536 --set width=2"),
                (("rows.json", "--unit", "message", "--isolation", "processes"),
                 "run processes --metrics throughput"),
                ((), "there is no report/results.json; `handoff run grain")]:
            done = self.run_lab("advise", *arguments, *flags)
            self.assertEqual((done.returncode, done.stdout), (4, ""), arguments)
            said = done.stderr.splitlines()[-1]
            self.assertTrue(said.startswith("handoff: this needs rows of"), said)
            self.assertIn(words, said)

    def test_a_result_that_was_interrupted_is_named(self):
        self.write_rows(PLAIN, interrupted=True)
        done = self.run_lab("advise", "rows.json", "--grain", "1us", "--count", "1000")
        self.assertIn("note: rows.json was interrupted", done.stderr)
        done = self.run_lab("export", "--to", "csv", "rows.json")
        self.assertEqual((done.returncode, done.stderr), (0, "note: rows.json was interrupted: it "
                         "is incomplete\n"))

    def test_who_broke_is_left_out_and_said(self):
        crashed = row("own.pool.cached", [], scenario="grain", metric="metg50", unit="ns",
                      better="lower", parameters={"unit": "task", "width": 2}, status="failed",
                      reason="it crashed")
        absent = {**crashed, "contender": "peer.absent", "status": "unavailable"}
        advice = self.advice([*PLAIN, crashed, absent], "--grain", "1us", "--count", "1000")
        self.assertEqual(advice["left_out"], {"own.pool.cached": "failed: it crashed"})

    def test_what_run_leaves_is_found(self):
        (self.folder / "report").mkdir()
        self.write_rows(PLAIN, "report/results.json")
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

    @whole_lab
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
        self.write_rows(PLAIN)
        done = self.ask(self.small_program(), "rows.json", "--measure", "--grain", "1us", "--count",
                        "1000", "--idle-cost", "100", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("measuring tasks idle_cpu width=2, about", done.stderr)
        self.assertIn("are used for this answer only", done.stderr)
        ways = {way["name"]: way["ns"] for way in json.loads(done.stdout)["ways"]}
        self.assertAlmostEqual(ways["own.pool.stealing"] / 510e3, 1, places=3)
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

    @needs_a_terminal
    def test_a_person_at_a_terminal_is_asked(self):
        self.write_rows(PLAIN)
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
            # Which of the two sleeps was measured just now, perhaps beside other tests.
            self.assertRegex(seen, r"take  own\.pool\.(stealing, 510|fixed, 530) us")

    def test_bad_questions_are_refused(self):
        self.write_rows(PLAIN)
        good = {"--grain": "1us", "--count": "10"}
        for wrong, words in [
                ({"--grain": "20"}, "--grain takes a time"), ({"--grain": "us"}, "'us'"),
                ({"--grain": "-1us"}, "--grain"), ({"--grain": "1e99s"}, "1000s"),
                ({"--grain": "nanus"}, "'nanus'"), ({"--count": "0"}, "--count takes 1 to"),
                ({"--count": "-1"}, "below 0"), ({"--count": "many"}, "many"),
                ({"--unit": "tasks"}, "--unit takes task, index, event, message, command or file, "
                 "not 'tasks'"),
                ({"--nesting": "deep"}, "--nesting takes none or tasks"),
                ({"--order": "lifo"}, "--order takes any, fifo or producer"),
                ({"--unit": "index", "--nesting": "tasks"}, "--nesting tasks needs"),
                ({"--idle-cost": "-1"}, "--idle-cost"),
                ({"--idle-cost": "1000000"}, "all CPUs"), ({"--idle-cost": "nan"}, "--idle-cost"),
                ({"--isolation": "walls"}, "--isolation takes threads or processes"),
                ({"--goal": "both"}, "--goal takes"), ({"--memory": "none"}, "--memory takes"),
                ({"--bound": "disk"}, "--bound takes"), ({"--largest": "0.5"}, "--largest takes"),
                ({"--largest": "11"}, "--largest takes"), ({"--waves": "0"}, "--waves takes"),
                ({"--kinds": "0"}, "--kinds takes"), ({"--producers": "0"}, "--producers takes"),
                ({"--bytes": "4"}, "--bytes needs"), ({"--durable": "yes"}, "--durable needs"),
                ({"--unit": "message", "--bytes": "4x"}, "--bytes takes a size"),
                ({"--unit": "file", "--isolation": "processes"}, "--isolation processes needs"),
                ({"--unit": "event", "--waves": "2"}, "need --unit task or index"),
                ({"--order": "producer"}, "--order producer needs"),
                ({"--width": "0"}, "--width takes 1"), ({"--grain": None}, "--grain"),
                ({"--count": None}, "--count")]:
            flags = [word for option in {**good, **wrong}.items() if option[1] is not None
                     for word in option]
            with self.subTest(flags=flags):
                self.assert_refused("advise", "rows.json", *flags, mentions=[words])
        self.assert_refused("advise", "rows.json", "--grain", "1us", "--count", "1", "--output",
                            "./rows.json", mentions=["--output"])
        self.assert_refused("advise", "none.json", "--grain", "1us", "--count", "1",
                            mentions=["none.json", "cannot be read"])

    def test_rows_of_this_machine(self):
        done = self.run_lab("run", "forkjoin", "--set", "problem=nqueens", "--contenders",
                            "own.*,limit.*", *ONCE, "--output", "forks.json", exit_code=0)
        done = self.run_lab("advise", "forks.json", "--grain", "20us", "--count", "1000",
                            "--nesting", "tasks", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        advice = json.loads(done.stdout)
        self.assertEqual({way["name"] for way in advice["ways"]}, {"own.pool.stealing", "here"})
        self.assertEqual(advice["question"]["width"], 2)
