# SPDX-License-Identifier: MIT
"""Verdicts on figures: on results made for the purpose, and once on a real measurement."""

import json
import random

import synthetic_results as synthetic
from fake_contender import launched, write_contender
from lab_support import SOURCE, LabTest


def row(contender, launches, status="ok", reason="", **parameters):
    return synthetic.row(contender, launches, status=status, reason=reason,
                         parameters={"n": 512, "kernel": "ikj", "width": 2, **parameters})


def steady(value, launches=5, bursts=4, noise=0.0):
    return synthetic.launches_around(value, random.Random(1), noise, launches, bursts)


def figure(**keys):
    defaults = {"name": "the figure", "scenario": "matmul", "contender": "own.thread_team",
                "against": ["peer.openmp"], "ratio": "gflops"}
    keys = {key: value for key, value in {**defaults, **keys}.items() if value is not None}
    parameters = keys.pop("parameters", {"n": 512, "kernel": "ikj", "width": 2})
    lines = ["[[figure]]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()
              if not isinstance(value, dict)]
    for name, table in [("parameters", parameters)] + [(k, v) for k, v in keys.items()
                                                       if isinstance(v, dict)]:
        inner = ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
        lines.append(f"{name} = {{ {inner} }}")
    return "\n".join(lines) + "\n"


class Gate(LabTest):
    def judge(self, figures, rows):
        self.write("figures.toml", figures)
        self.write("results.json", {"schema": 1, "environment": {}, "rows": rows})
        return self.run_lab("gate", "figures.toml", "--results", "results.json", "--seed", "1")

    def assert_verdict(self, exit_code, verdict, words, figures, rows):
        done = self.judge(figures, rows)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith(verdict), done.stdout)
        for expected in words:
            self.assertIn(expected, done.stdout)

    def test_a_ratio_beyond_its_bound_on_either_side(self):
        rows = [row("own.thread_team", steady(95)), row("peer.openmp", steady(100))]
        self.assert_verdict(0, "holds", ["gflops 0.950 (0.950 .. 0.950), bound >= 0.94"],
                            figure(at_least=0.94), rows)
        self.assert_verdict(3, "falls short", ["bound >= 0.96"], figure(at_least=0.96), rows)
        self.assert_verdict(0, "holds", ["time 1.053", "bound <= 1.06"],
                            figure(ratio="time", at_most=1.06), rows)
        self.assert_verdict(3, "falls short", [], figure(ratio="time", at_most=1.05), rows)

    def test_only_rows_of_its_metric_count(self):
        rows = [row("own.thread_team", steady(95)), row("peer.openmp", steady(100))]
        self.assert_verdict(0, "holds", ["gflops 0.950"],
                            figure(metric="gflops", at_least=0.94), rows)
        for other in rows:
            other["metric"] = "bytes"
        self.assert_verdict(4, "unmeasured", ["no row of own.thread_team: gflops with n=512"],
                            figure(metric="gflops", at_least=0.94), rows)

    def test_a_value_alone(self):
        rows = [row("own.thread_team", steady(95))]
        alone = {"against": None, "ratio": None, "value": "gflops"}
        self.assert_verdict(0, "holds", ["gflops 95.000 (95.000 .. 95.000), bound >= 95"],
                            figure(**alone, at_least=95.0), rows)
        self.assert_verdict(3, "falls short", [], figure(**alone, at_least=96.0), rows)
        self.assert_verdict(3, "falls short", ["gflops 0.000 (0.000 .. 0.000), bound >= 96"],
                            figure(**alone, at_least=96.0), [row("own.thread_team", steady(0))])
        for wrong in ({"ratio": "gflops"}, {"against": ["peer.openmp"]}):
            done = self.judge(figure(**{**alone, **wrong}, at_least=95.0), rows)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)

    def test_the_bound_itself_holds(self):
        rows = [row("own.thread_team", steady(50)), row("peer.openmp", steady(100))]
        self.assert_verdict(0, "holds", [], figure(at_least=0.5), rows)
        self.assert_verdict(0, "holds", [], figure(at_most=0.5), rows)

    def test_an_interval_across_the_bound_is_open(self):
        rows = [row("own.thread_team", steady(100, noise=0.4)), row("peer.openmp", steady(100))]
        self.assert_verdict(4, "open", [], figure(at_least=1.0), rows)
        self.assert_verdict(0, "holds", [], figure(at_least=0.7), rows)

    def test_noise_that_both_met_in_the_same_bursts_falls_out(self):
        shared = steady(100, noise=0.9)
        better = [[value * 1.1 for value in bursts] for bursts in shared]
        rows = [row("own.thread_team", better), row("peer.openmp", shared)]
        self.assert_verdict(0, "holds", ["1.100 (1.100 .. 1.100)"], figure(at_least=1.05), rows)

    def test_rows_are_paired_within_their_block_and_blocks_add_up(self):
        def measured(contender, value, block):
            return {**row(contender, steady(value, launches=2)), "block": block}

        rows = [measured("own.thread_team", 100, 0), measured("peer.openmp", 50, 0),
                measured("own.thread_team", 900, 1), measured("peer.eigen", 900, 1),
                measured("own.thread_team", 20, 2), measured("peer.openmp", 10, 2)]
        self.assert_verdict(0, "holds", ["2.000 (2.000 .. 2.000)"], figure(at_least=2), rows)

    def test_the_better_of_several_counts(self):
        rows = [row("own.thread_team", steady(100)), row("peer.openmp", steady(90)),
                row("peer.onetbb", steady(120))]
        both = ["peer.openmp", "peer.onetbb"]
        for against in [both, both[::-1]]:
            self.assert_verdict(3, "falls short", ["the better of", "time 1.200"],
                                figure(against=against, ratio="time", at_most=1.1), rows)

    def test_a_geometric_mean_and_each_cell(self):
        rows = [row("own.thread_team", steady(100)), row("peer.openmp", steady(50)),
                row("own.thread_team", steady(100), n=1024),
                row("peer.openmp", steady(200), n=1024)]
        cells = {"n": [512, 1024], "kernel": "ikj", "width": 2}
        self.assert_verdict(0, "holds", ["geometric mean of 2 cells", "time 1.000"],
                            figure(ratio="time", mean="geometric", parameters=cells, at_most=1.01),
                            rows)
        done = self.judge(figure(ratio="time", parameters=cells, at_most=1.1), rows)
        self.assertEqual(done.returncode, 3)
        verdicts = [line.split("  ")[0] for line in done.stdout.splitlines()]
        self.assertEqual(verdicts, ["holds", "falls short"])

    def test_one_contender_in_two_cells(self):
        rows = [row("own.thread_team", steady(80), width=64), row("own.thread_team", steady(100))]
        keys = {"against": None, "ratio": "time", "at_most": 1.3,
                "parameters": {"n": 512, "kernel": "ikj", "width": 64},
                "against_parameters": {"width": 2}}
        self.assert_verdict(0, "holds", ["time 1.250", "width=64 against n=512 kernel=ikj width=2"],
                            figure(**keys), rows)

    def test_what_was_not_measured_does_not_hold(self):
        own = row("own.thread_team", steady(100))
        for rows, words in [([own], "no row of peer.openmp"),
                            ([own, row("peer.openmp", [], "failed", "it hung")], "it hung")]:
            for keys in [{}, {"mean": "geometric"}]:
                self.assert_verdict(4, "unmeasured", [words], figure(at_least=0.1, **keys), rows)

    def test_what_a_disturbed_machine_gave_tells_nothing(self):
        quiet = [row("own.thread_team", steady(100)), row("peer.openmp", steady(50))]
        noisy = [row("own.thread_team", steady(10), "noisy", "others took 1 CPU"),
                 row("peer.openmp", steady(50), "noisy", "others took 1 CPU")]
        for rows in [noisy, [quiet[0], noisy[1]]]:
            for keys in [{}, {"mean": "geometric"}]:
                self.assert_verdict(4, "open", ["others took 1 CPU"],
                                    figure(at_least=2, **keys), rows)
        self.assert_verdict(0, "holds", ["2.000 (2.000 .. 2.000)"], figure(at_least=2),
                            noisy + quiet)

    def test_values_of_0_have_no_ratio(self):
        rows = [row("own.thread_team", steady(0)), row("peer.openmp", steady(50))]
        for pair in [rows, rows[::-1]]:
            self.assert_verdict(4, "unmeasured", ["values of 0 have no ratio"],
                                figure(contender=pair[0]["contender"],
                                       against=[pair[1]["contender"]], at_least=2), rows)

    def test_a_short_fall_outweighs_noise(self):
        rows = [row("own.thread_team", steady(100, noise=0.4)), row("peer.openmp", steady(100)),
                row("peer.onetbb", steady(300))]
        done = self.judge(figure(at_least=1.0) + figure(against=["peer.onetbb"], at_least=1.0),
                          rows)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(len(done.stdout.splitlines()), 2)

    def test_bad_figures_are_refused(self):
        for text, words in [
                ("figure = 1", "no [[figure]]"), ("", "no [[figure]]"),
                ("[[figure", "figures.toml:1"),
                (figure(), "either at_most or at_least"),
                (figure(at_most=1, at_least=1), "either at_most or at_least"),
                (figure(at_most="1"), "a number for 'at_most'"),
                (figure(at_most=1, name=None), "a text for 'name'"),
                (figure(at_most=1, ratio="speed"), "ratio = 'speed'"),
                (figure(at_most=1, metric="speed"), "metric = 'speed'"),
                (figure(at_most=1, mean="harmonic"), "mean = 'harmonic'"),
                (figure(at_most=1, agianst="x"), "did you mean 'against'?"),
                (figure(at_most=1, scenario="sort"), "no scenario 'sort'"),
                (figure(at_most=1, parameters={"n": 0.5}), "neither a text nor a whole number"),
                (figure(at_most=1, parameters={"n": 0}), "1 to 4096"),
                (figure(at_most=1, parameters={"m": 1}), "no parameter 'm'"),
                (figure(at_most=1, against_parameters={"width": [1, 2]}), "one value"),
        ]:
            with self.subTest(text=text):
                (self.folder / "figures.toml").write_text(text)
                self.assert_refused("gate", "figures.toml", mentions=[words])
        (self.folder / "figures.toml").write_text(figure(at_most=1, against=["peer.openpm"]))
        self.assert_refused("gate", "figures.toml", mentions=["did you mean 'peer.openmp'?"])

    def test_results_that_are_none_are_refused(self):
        (self.folder / "figures.toml").write_text(figure(at_least=1))
        for text in ["", "{}", "[]", '{"schema": 2, "rows": []}']:
            (self.folder / "results.json").write_text(text)
            self.assert_refused("gate", "figures.toml", "--results", "results.json",
                                mentions=["results.json: not a schema-1 result file"])

    def test_a_measurement(self):
        small = {"n": 64, "kernel": "ikj", "width": 2}
        (self.folder / "figures.toml").write_text(
            figure(contender="seed.single", against=["own.thread_team"], parameters=small,
                   at_least=1e-6)
            + figure(contender="seed.single", against=["own.thread_team"], parameters=small,
                     at_least=1e6))
        done = self.run_lab("gate", "figures.toml", "--quick", "--no-probe", "--keep", "kept",
                            exit_code=3)
        verdicts = [line.split("  ")[0] for line in done.stdout.splitlines()]
        self.assertEqual(verdicts, ["holds", "falls short"])
        rows = json.loads((self.folder / "kept" / "matmul.json").read_text())["rows"]
        self.assertEqual([r["contender"] for r in rows], ["seed.single", "own.thread_team"])

    def test_a_part_of_the_figures(self):
        rows = [row("own.thread_team", steady(95)), row("peer.openmp", steady(100))]
        figures = figure(name="one", at_least=0.9) + figure(name="another", at_least=0.9)
        self.judge(figures, rows)
        for parts, lines in [(["one"], 1), (["other"], 1), (["matmul"], 2), (["one", "other"], 2)]:
            done = self.run_lab("gate", "figures.toml", *parts, "--results", "results.json")
            self.assertEqual(len(done.stdout.splitlines()), lines, done.stdout)
        self.assert_refused("gate", "figures.toml", "mat", "--results", "results.json",
                            mentions=["no figure has mat"])

    def test_the_figures_of_the_project_can_be_read(self):
        (self.folder / "results.json").write_text('{"schema": 1, "rows": []}')
        done = self.run_lab("gate", SOURCE / "tests" / "figures.toml", "--results", "results.json",
                            exit_code=4)
        self.assertTrue(done.stdout)
        for line in done.stdout.splitlines():
            self.assertTrue(line.startswith("unmeasured"), line)


class Keep(LabTest):
    """What is measured of contenders that take no time is kept, and a gate goes on from there."""

    def gate(self, *contenders, passes=4, exit_code):
        figures = "".join(
            figure(name=name, scenario="spawn", metric="thread", contender=name, against=None,
                   parameters={}, ratio=None, value="thread", at_most=22_000)
            for name in contenders)
        (self.folder / "figures.toml").write_text(figures)
        done = self.run_lab("gate", "figures.toml", "--manifest", "contenders.json", "--keep",
                            "kept/here", "--no-probe", "--passes", passes)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        return [line.split("  ")[0] for line in done.stdout.splitlines()]

    def blocks_kept(self):
        kept = json.loads((self.folder / "kept" / "here" / "spawn.json").read_text())
        self.assertEqual(len(kept["blocks"]), len(kept["rows"]))
        self.assertTrue(all(len(row["layouts"]) == len(row["launches"]) for row in kept["rows"]))
        return [(row["contender"], row["block"]) for row in kept["rows"]]

    def test_what_is_decided_is_not_measured_again(self):
        write_contender(self.folder, 1_000_000, name="own.holds")  # 20,000 ns a thread
        write_contender(self.folder, 1_200_000, name="own.falls")
        for _ in range(2):
            self.assertEqual(self.gate("own.holds", "own.falls", exit_code=3),
                             ["holds", "falls short"])
            self.assertEqual(self.blocks_kept(), [("own.holds", 0), ("own.falls", 1)])
        self.assertEqual(len(launched(self.folder, "own.holds")), 5)

    def test_what_is_open_is_measured_so_often_at_most(self):
        write_contender(self.folder, "(700_000 + 200_000 * (launch % 5))", name="own.open")
        for passes, blocks in [(2, 2), (2, 2), (3, 3)]:
            self.assertEqual(self.gate("own.open", passes=passes, exit_code=4), ["open"])
            self.assertEqual(self.blocks_kept(), [("own.open", at) for at in range(blocks)])

    def test_one_that_is_ended_goes_on(self):
        end = "os.kill(os.getppid(), signal.SIGINT)"
        write_contender(self.folder, 1_000_000, name="own.first")
        write_contender(self.folder, 1_000_000, name="own.second", first=end)
        self.assertEqual(self.gate("own.first", "own.second", exit_code=130),
                         ["holds", "unmeasured"])
        self.assertEqual(self.blocks_kept(), [("own.first", 0)])
        for program in (self.folder / "own.second").iterdir():
            program.write_text(program.read_text().replace(end, ""))
        self.assertEqual(self.gate("own.first", "own.second", exit_code=0), ["holds", "holds"])
        self.assertEqual(self.blocks_kept(), [("own.first", 0), ("own.second", 1)])
        self.assertEqual(len(launched(self.folder, "own.first")), 5)
