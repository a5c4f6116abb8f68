# SPDX-License-Identifier: MIT
"""The tool that makes logic mutants: each operator on a small library, and what it leaves alone.

The small library is mutated, built once and run once for each mutant: every one must do what its
name says. Then the runner's own judgement: names that survive a move, what is said to be
equivalent, the draw, canaries, what is tried again.
"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "mutants"))

import mutants as tool  # noqa: E402
import mutate  # noqa: E402
import trial  # noqa: E402

LIBRARY = """// A library of one file.
#include <cstdio>
#define HANDOFF_PROBE(name) do { } while (false)
namespace handoff::sync { inline void pause() {} }
namespace handoff {
struct Bell {
  int rung = 0;
  void notify_one() { rung += 1; }
};
void say(const char* text) { std::fputs(text, stdout); }
void two(bool loud = true) {
  say("a");
  loud ? say("b") : say("c");
}
bool both(bool a, bool b) { return a && b; }
int count(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += 1;
  return sum;
}
int ring(Bell& bell) {
  int x = bell.rung;
  HANDOFF_PROBE(ring);
  if (x == 0) bell.notify_one();
  sync::pause();
  return bell.rung;
}
int caught() {
  int got = 1;
  try {
    throw 1;
  } catch (int) {
    got = 2;
  }
  return got;
}
constexpr int fixed(int a) {
  if (a > 2) return 3;
  return a;
}
static_assert(fixed(5) == 3);
int more(int a) {
  if constexpr (sizeof(int) > 1) {
    a += 1;
  }
  return a;
}
struct Plain {
  bool operator==(const Plain&) const = default;
};
}  // namespace handoff

int main() {
  using namespace handoff;
  two();
  std::printf(" %d%d%d", both(true, true), both(true, false), both(false, true));
  Bell bell;
  std::printf(" %d %d", count(2), ring(bell));
  std::printf(" %d %d %d\\n", caught(), fixed(3), more(1));
}
"""

# Without a mutant: "ab 100 2 1 2 3 2".
EXPECTED = {
    "return_early two.1": " 100 2 1 2 3 2",
    "delete two.1": "b 100 2 1 2 3 2",
    "delete two.2": "a 100 2 1 2 3 2",
    "negate two.1": "ac 100 2 1 2 3 2",
    "swap two.1": "ba 100 2 1 2 3 2",
    "negate both.1": "ab 001 2 1 2 3 2",
    "negate both.2": "ab 010 2 1 2 3 2",
    "return_early count.1": "ab 100 0 1 2 3 2",
    "negate count.1": "ab 100 0 1 2 3 2",
    "bound count.1": "ab 100 1 1 2 3 2",  # begins with 1
    "bound count.2": "ab 100 3 1 2 3 2",  # <=
    "bound count.3": "ab 100 1 1 2 3 2",  # i + 1 < n
    "delete count.1": "ab 100 0 1 2 3 2",
    "return_early ring.1": "ab 100 2 0 2 3 2",
    "negate ring.1": "ab 100 2 0 2 3 2",
    "drop_notify ring.1": "ab 100 2 0 2 3 2",
    "delete Bell::notify_one.1": "ab 100 2 0 2 3 2",
    "return_early caught.1": "ab 100 2 1 0 3 2",
    "empty_catch caught.1": "ab 100 2 1 1 3 2",
    "delete caught.1": "ab 100 2 1 1 3 2",
    "delete caught.2": "ab 100 2 1 1 3 2",
    "return_early fixed.1": "ab 100 2 1 2 0 2",
    "negate fixed.1": "ab 100 2 1 2 3 2",  # 3 is 3 either way
    "bound fixed.1": "ab 100 2 1 2 3 2",
    "return_early more.1": "ab 100 2 1 2 3 0",
    "delete more.1": "ab 100 2 1 2 3 1",
    "delete say.1": " 100 2 1 2 3 2",
}


def library(folder, text=LIBRARY):
    root = Path(folder)
    (root / "include/handoff/core").mkdir(parents=True)
    (root / "src/core").mkdir(parents=True)
    (root / "src/core/status.cpp").write_text(text)
    return root


def short(mutant):
    function, ordinal = mutant.function, mutant.name.rsplit(".", 1)[1]
    return f"{mutant.operator} {function}.{ordinal}"


class Operators(unittest.TestCase):
    """Each mutant of the small library does what it should, and there are no others."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = library(cls.folder.name)
        cls.mutants, texts = mutate.mutate(root, processes=1)
        tree = root / "tree"
        mutate.write_tree(root, tree, texts)
        cls.program = str(root / "program")
        subprocess.run(["clang++-19", "-std=c++20", "-w", "-include", str(tree / "mutant.hpp"),
                        str(tree / "src/core/status.cpp"), "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def output(self, number, **env):
        return subprocess.run([self.program], env={**os.environ, "HANDOFF_MUTANT": str(number),
                                                   **env},
                              stdout=subprocess.PIPE, text=True, check=False)

    def test_without_a_mutant_all_is_as_it_was(self):
        self.assertEqual(self.output(0).stdout.strip(), "ab 100 2 1 2 3 2")

    def test_there_are_these_and_no_others(self):
        made = {short(m) for m in self.mutants if m.function != "main" and not mutate.is_canary(m)}
        self.assertEqual(made, set(EXPECTED))

    def test_each_does_what_it_should(self):
        for mutant in self.mutants:
            if short(mutant) in EXPECTED:
                with self.subTest(short(mutant)):
                    self.assertEqual(self.output(mutant.number).stdout.rstrip("\n"),
                                     EXPECTED[short(mutant)])

    def test_canaries(self):
        canary = {m.operator: m for m in self.mutants if mutate.is_canary(m)}
        self.assertLess(self.output(canary["canary_fatal"].number).returncode, 0)
        self.assertEqual(self.output(canary["canary_harmless"].number).stdout,
                         self.output(0).stdout)

    def test_hits_tell_what_is_passed(self):
        with tempfile.NamedTemporaryFile() as hits:
            hits.truncate(self.mutants[-1].number + 1)
            self.output(0, HANDOFF_MUTANT_HITS=hits.name)
            passed = Path(hits.name).read_bytes()
        for mutant in self.mutants:
            if mutant.function != "main":
                self.assertEqual(passed[mutant.number], 1, mutant.name)

    def test_no_line_is_added(self):
        tree = Path(self.folder.name) / "tree/src/core/status.cpp"
        line = "static_assert(fixed(5) == 3);"
        self.assertEqual(tree.read_text().splitlines().index(line),
                         LIBRARY.splitlines().index(line))


class Files(unittest.TestCase):
    """What has a function is looked at: nothing is left out without a word."""

    BODIES = ("int f() {}", "F(int a) : a_(a) {", "bool g(int a)\n  noexcept(true) {", "if (a) {")
    OTHERS = ("int f();", "struct A {", "enum class [[nodiscard()]] A : int {", "int a = f(); A b{")

    def test_what_a_body_looks_like(self):
        for text in self.BODIES:
            self.assertRegex(text.encode(), mutate.BODY)
        for text in self.OTHERS:
            self.assertNotRegex(text.encode(), mutate.BODY)

    def test_all_that_has_a_function_is_looked_at(self):
        files = [path for folder in ("include", "src") for path in (ROOT / folder).rglob("*")
                 if path.suffix in (".hpp", ".cpp")]
        bodies = {str(path.relative_to(ROOT)) for path in files
                  if mutate.BODY.search(mutate.blanked(path.read_bytes()))}
        bodies = {name for name in bodies if not name.startswith(mutate.ROOM_LEFT_OUT)}
        self.assertGreater(len(bodies), 100)
        self.assertEqual(bodies - set(mutate.files_of(ROOT)), set(mutate.LEFT_OUT))
        self.assertEqual(mutate.NO_FUNCTION - bodies, set(), "listed for nothing")

    def test_folders_of_a_room_belong_to_it(self):
        with tempfile.TemporaryDirectory() as folder:
            root = library(folder)
            header = "include/handoff/bus/detail/one.hpp"
            (root / header).parent.mkdir(parents=True)
            (root / header).write_text("inline void one(int& a) { a += 1; }\n")
            self.assertIn(header, {mutant.file for mutant in mutate.mutate(root, processes=1)[0]})

    def test_each_room_has_its_tests(self):
        self.assertEqual(set(tool.TESTS), set(mutate.ROOMS))

    def test_what_cannot_be_mutated_is_a_fault(self):
        for text, why in (("int f( {", "does not parse"),
                          ("#ifdef NEVER\nint f() { return 1; }\n#endif\n", "none was found")):
            with self.subTest(why), tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(SystemExit, why):
                    mutate.mutate(library(folder, text), processes=1)


class Names(unittest.TestCase):
    """A name says what the function is, not where it stands."""

    @staticmethod
    def names(text):
        with tempfile.TemporaryDirectory() as folder:
            return {m.name for m in mutate.mutate(library(folder, text), processes=1)[0]
                    if not mutate.is_canary(m)}

    def test_a_moved_function_and_a_comment_change_no_name(self):
        begin = LIBRARY.index("void two(")
        two = LIBRARY[begin:LIBRARY.index("bool both")]
        moved = LIBRARY.replace(two, "").replace(
            "struct Plain", two.replace("{\n", "{\n  // why\n", 1) + "struct Plain")
        self.assertEqual(self.names(LIBRARY), self.names(moved))

    def test_a_changed_function_changes_its_names_only(self):
        changed = self.names(LIBRARY.replace('say("b")', 'say("c")'))
        different = self.names(LIBRARY) ^ changed
        self.assertEqual({name.split()[1] for name in different}, {"core/status.cpp:two"})


class Equivalents(unittest.TestCase):
    """A comment beside the code says why a mutant changes nothing, and of which operator."""

    @staticmethod
    def said(text):
        """{mutant: why}; of a library with this function in it."""
        with tempfile.TemporaryDirectory() as folder:
            mutants = mutate.mutate(library(folder, text), processes=1)[0]
        return {short(mutant): mutant.equivalent for mutant in mutants if mutant.equivalent}

    def test_of_the_line_it_stands_in_or_above(self):
        text = "void a();\nvoid b();\nvoid f() {\n%s  a();%s\n  b();\n}\n"
        for before, behind in (("  // equivalent(swap): why\n", ""),
                               ("", "  // equivalent(swap): why"),
                               ("  // equivalent(swap): why\n  // and how\n\n", "")):
            self.assertEqual(self.said(text % (before, behind)), {"swap f.1": "why"})

    def test_of_several_operators_and_of_the_function(self):
        body = "void a();\nvoid f() {\n  // equivalent(delete swap)%s: why\n  a();\n  f();\n}\n"
        line = {"delete f.1": "why", "swap f.1": "why"}
        self.assertEqual(self.said(body % ""), line)
        self.assertEqual(self.said(body % " all"), {**line, "delete f.2": "why"})

    def test_of_nothing_or_without_a_reason_is_a_fault(self):
        for comment in ("equivalent(swap): why", "equivalent(delete):", "equivalent(detele): why"):
            with self.subTest(comment), self.assertRaisesRegex(SystemExit, "status.cpp:3: `equi"):
                self.said("void a();\nvoid f() {\n  a();  // %s\n  return;\n}\n" % comment)

    def test_neither_arm_of_what_is_equal_at_the_bound(self):
        for arms, count in (("a : b", 0), ("b : static_cast<int>(a)", 0), ("0 : b - a", 0),
                            ("a : 0", 1), ("b + a : 0", 1)):
            with self.subTest(arms), tempfile.TemporaryDirectory() as folder:
                text = "int f(int a, int b) { return a < b ? %s; }\n" % arms
                mutants = mutate.mutate(library(folder, text), processes=1)[0]
                self.assertEqual([m.operator for m in mutants].count("bound"), count)

    def test_what_only_the_compiler_runs_is_not_deleted(self):
        with tempfile.TemporaryDirectory() as folder:
            text = "consteval void check() {}\nvoid a();\nvoid f() {\n  check();\n  a();\n}\n"
            mutants = mutate.mutate(library(folder, text), processes=1)[0]
        self.assertEqual([m.text for m in mutants if m.operator == "delete"], ["a();"])


def mutant(number, file="f", equivalent="", operator="delete"):
    return mutate.Mutant(number, f"{operator} {file}:g abc.{number}", operator, "core", file, "g",
                         1, "", True, equivalent)


class Draws(unittest.TestCase):
    """Each file has its share of a sample, and the seed alone decides which are drawn."""

    MUTANTS = [mutant(number, file) for file, count in (("a", 1), ("b", 30), ("c", 69))
               for number in range(1, count + 1)]

    def counts(self, count, seed="1"):
        drawn = [m.file for m in tool.draw(self.MUTANTS, count, seed)]
        return [drawn.count(file) for file in "abc"]

    def test_in_proportion_and_one_at_least(self):
        self.assertEqual(self.counts(10), [1, 3, 6])
        self.assertEqual(self.counts(50), [1, 15, 34])
        self.assertEqual(self.counts(1), [1, 1, 1])
        self.assertEqual(self.counts(1000), [1, 30, 69])

    def test_the_seed_decides(self):
        one = tool.draw(self.MUTANTS, 20, "1")
        self.assertEqual(one, tool.draw(self.MUTANTS[::-1], 20, "1"))
        self.assertNotEqual(one, tool.draw(self.MUTANTS, 20, "2"))


class Judgement(unittest.TestCase):
    """What the runner makes of results."""

    KILLED = {"verdict": "killed", "how": "explorer", "by_explorer": True, "killer": "explore s"}
    LATE = {"verdict": "killed", "how": "time-out", "killer": "explore s"}
    SURVIVED = {"verdict": "survived"}

    def test_shares(self):
        rows = [(mutant(1), self.KILLED), (mutant(2), self.KILLED), (mutant(3), self.LATE),
                (mutant(4, equivalent="why"), self.SURVIVED)]
        for got, wanted in zip(tool.shares(rows), (1.0, 2 / 3, 2 / 3, 0.75)):
            self.assertAlmostEqual(got, wanted)
        rows[3] = mutant(4), self.SURVIVED
        self.assertEqual(tool.shares(rows)[0], 0.75)

    def faults(self, rows, sampled=False):
        return tool.faults_of(rows, [row[0] for row in rows], sampled)

    def test_a_survivor_is_a_fault_and_one_too_many_in_a_sample(self):
        rows = [(mutant(number), self.KILLED) for number in range(99)]
        rows.append((mutant(99), self.SURVIVED))
        self.assertEqual(len(self.faults(rows)), 1)
        self.assertEqual(len(self.faults([(mutant(1), {"verdict": "not reached"})])), 1)
        equivalents = [(mutant(100 + n, equivalent="why"), self.SURVIVED) for n in range(11)]
        self.assertEqual(self.faults(rows, True), [])
        self.assertEqual(len(self.faults(rows[95:], True)), 2)  # killed, and by the explorer
        self.assertEqual(self.faults(rows + equivalents, True), [])
        self.assertEqual(len(self.faults(rows + 2 * equivalents, True)), 1)

    def test_said_to_be_equivalent_but_all_killed(self):
        one, two = mutant(1, equivalent="why"), mutant(2, equivalent="why")
        self.assertEqual(len(self.faults([(one, self.KILLED), (two, self.KILLED)])), 1)
        self.assertEqual(self.faults([(one, self.KILLED), (two, self.SURVIVED)]), [])
        self.assertEqual(tool.faults_of([(one, self.KILLED)], [one, two], False), [])

    def test_the_report_says_what_a_test_has_to_notice(self):
        text = "\n".join(tool.report([(mutant(1, "core/f.hpp"), self.SURVIVED),
                                      (mutant(2), self.KILLED),
                                      (mutant(3, equivalent="why"), self.SURVIVED)]))
        self.assertIn("| core | 3 | 1 | 1 | 0 | 1 | 1 | 50.0 % |", text)
        self.assertEqual(text.count("HANDOFF_MUTANT="), 1)
        self.assertIn("`core/f.hpp:1` g: delete", text)


class Orders(unittest.TestCase):
    """Which cases are tried, and what is believed."""

    def tried(self, remembered, noticed_by, how="failed", stands_still=9):
        """The cases that were run with a mutant, and what became of it."""
        cases = [trial.Case(f"unit_{name}", name, [], False, seconds)
                 for seconds, name in enumerate("abcd")]
        asked = []

        def run(command, env, _):
            if env["HANDOFF_MUTANT"] == "0":
                return trial.End("passed", 0, 0)
            asked.append(command[0])
            seen = command[0] in noticed_by and len(asked) <= stands_still
            return trial.End(how if seen else "passed", 0, 0)
        before, trial.run = trial.run, run
        try:
            return asked, trial.try_mutant(mutant(1), cases, [], 2, remembered=remembered)
        finally:
            trial.run = before

    def test_the_last_killer_comes_first_whatever_it_costs(self):
        asked, result = self.tried("unit_d d", ["unit_b", "unit_d"])
        self.assertEqual((asked, result["killer"]), (["unit_d"], "unit_d d"))

    def test_a_memory_is_not_believed(self):
        asked, result = self.tried("unit_d d", ["unit_b"])
        self.assertEqual((asked, result["killer"]), (["unit_d", "unit_a", "unit_b"], "unit_b b"))
        asked, result = self.tried("unit_d d", [])
        self.assertEqual(result["verdict"], "survived")
        self.assertEqual(asked, ["unit_d", "unit_a", "unit_b"] + trial.AGAIN * ["unit_d"])
        self.assertEqual(self.tried("unit_gone x", ["unit_b"])[1]["killer"], "unit_b b")

    def test_a_better_witness_than_a_time_out_is_looked_for_once(self):
        self.assertEqual(self.tried(None, ["unit_a"], "time-out")[0],
                         ["unit_a", "unit_a", "unit_b"])
        self.assertEqual(self.tried("unit_a a", ["unit_a"], "time-out")[0], ["unit_a", "unit_a"])

    def test_a_machine_that_stands_still_kills_nothing(self):
        for remembered in (None, "unit_a a"):
            _, result = self.tried(remembered, ["unit_a"], "time-out", stands_still=1)
            self.assertEqual(result["verdict"], "survived")


class Again(unittest.TestCase):
    """Which mutants are tried again after a run that was stopped, and with what first."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.mutants = [mutant(number) for number in range(1, 6)]

    def trials(self, explorer="same"):
        cases = [trial.Case("bin/explore", "s", [], True, 1, [m.number for m in self.mutants])]
        return tool.Trials(self.folder, self.mutants, {"bin/explore": cases},
                           {"bin/explore": explorer, "bin/unit_core": "same"})

    def run_all(self, trials, verdict, until=float("inf"), most=9):
        """The names that were tried, and all results; the last ones are too late."""
        asked = []

        def try_mutant(one, cases, hints, budget_s, remembered=None):
            asked.append((one.number, remembered, hints))
            found = {"name": one.name, "number": one.number, "verdict": verdict, "how": "test"}
            return {**found, "killer": "explore s"} if verdict == "killed" else found
        before = trial.try_mutant, tool.time.monotonic
        trial.try_mutant = try_mutant
        tool.time.monotonic = lambda: len(asked) - most
        try:
            return asked, trials.run(self.mutants, 1, until)
        finally:
            trial.try_mutant, tool.time.monotonic = before

    def test_a_stopped_run_goes_on(self):
        asked, rows = self.run_all(self.trials(), "killed", until=-1, most=3)
        self.assertEqual(([number for number, _, _ in asked], len(rows)), ([1, 2, 3], 3))
        asked, rows = self.run_all(self.trials(), "killed")
        self.assertEqual(([number for number, _, _ in asked], len(rows)), ([4, 5], 5))
        self.assertEqual(self.run_all(self.trials(), "killed")[0], [])

    def test_a_kill_is_tried_again_with_a_new_program_its_killer_first(self):
        self.run_all(self.trials(), "killed")
        asked, _ = self.run_all(self.trials("new"), "killed")
        self.assertEqual(asked, [(number, "explore s", ["explore s"]) for number in range(1, 6)])

    def test_a_survivor_with_programs_that_changed_or_for_longer(self):
        self.mutants = [mutant(1, equivalent="why")]
        self.run_all(self.trials(), "survived")
        self.assertEqual(self.trials().left_for(self.mutants[0]), set())
        self.assertEqual(self.trials("new").left_for(self.mutants[0]), {"explore"})
        self.assertEqual(self.trials().left_for(mutant(1)), {"explore", "unit_core"})

    def test_a_line_that_was_cut_off_is_left_out(self):
        self.run_all(self.trials(), "killed")
        with (self.folder / "results.jsonl").open("a") as out:
            out.write('\n{"name": "delete f:g')
        self.assertEqual(len(self.trials().results), 5)


class Records(unittest.TestCase):
    """Cases without a mutant: what is late is left for the next time, what fails is told."""

    def test_late_and_failed(self):
        done = []

        def record(case, _):
            done.append(case.name)
            if case.name == "b":
                return "b failed"
            case.seconds = 1.0
            return ""
        before = tool.trial.record, tool.trial.cases_of
        tool.trial.record = record
        tool.trial.cases_of = lambda path: [trial.Case(path, name, [], False) for name in "abc"]
        try:
            with tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / "unit_core"
                program.write_bytes(b"")

                def run(until):
                    return tool.record_all(Path(folder), [str(program)], 1, 1, until)[2:]
                self.assertEqual(run(0), ([], 3))
                self.assertEqual(run(float("inf")), (["b failed"], 0))
                self.assertEqual(done, ["a", "b", "c"])
                self.assertEqual(run(float("inf")), (["b failed"], 0))
                self.assertEqual(done, ["a", "b", "c", "b"])
        finally:
            tool.trial.record, tool.trial.cases_of = before


class Trials(unittest.TestCase):
    """How a process ends is seen, whatever it does."""

    def how(self, code, limit_s=20):
        return trial.run([sys.executable, "-c", code], os.environ, limit_s).how

    def test_ends(self):
        self.assertEqual(self.how("pass"), "passed")
        self.assertEqual(self.how("raise SystemExit(3)"), "failed")
        self.assertEqual(self.how("import os; os.abort()"), "crash")
        self.assertEqual(self.how("import time; time.sleep(60)", 0.5), "time-out")

    def test_memory_without_end(self):
        before, trial.MEMORY_KIB = trial.MEMORY_KIB, 200 << 10
        try:
            self.assertEqual(self.how("import time; a = b'x' * (400 << 20); time.sleep(60)"),
                             "memory")
        finally:
            trial.MEMORY_KIB = before


if __name__ == "__main__":
    unittest.main()
