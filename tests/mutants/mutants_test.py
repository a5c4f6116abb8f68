# SPDX-License-Identifier: MIT
"""The tool that makes logic mutants: each operator on a small library, and what it leaves alone.

The small library is mutated, built once and run once for each mutant: every one must do what its
name says. Then the runner's own judgement: lists, names that survive a move, canaries, what it
remembers.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "mutants"))

import memory  # noqa: E402
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
        self.assertGreater(len(bodies), 100)
        left = bodies - set(mutate.files_of(ROOT))
        of_a_detail = {file for file in left for room in set(mutate.ROOMS) - set(mutate.WITH_DETAIL)
                       if re.match(f"(include/handoff|src)/{room}/[a-z_]+/", file)}
        of_later = {file for file in left for room in mutate.LATER
                    if re.match(f"(include/handoff|src)/{room}/", file)}
        self.assertEqual(left - of_a_detail - of_later, set())
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


class Judgement(unittest.TestCase):
    """What the runner makes of results and of the list."""

    def mutant(self, name):
        return mutate.Mutant(1, name, name.split()[0], "core", "f", "g", 1, "", True)

    def faults(self, verdict, known, whole=True, name="delete f:g abc.1"):
        results = [{"name": name, "verdict": verdict, "killer": "k", "how": "test"}]
        return tool.faults_of_list(known, results, [self.mutant(name)], whole)

    def listed(self, word, name="delete f:g abc.1"):
        return {tool.key_of(name): (name, word, "why")}

    def test_a_survivor_must_be_listed(self):
        for verdict in ("survived", "not reached"):
            self.assertEqual(len(self.faults(verdict, {})), 1)
            self.assertEqual(self.faults(verdict, self.listed("equivalent")), [])
            self.assertEqual(self.faults(verdict, self.listed("open")), [])
        self.assertEqual(self.faults("killed", {}), [])

    def test_a_listed_one_must_survive_and_be_there(self):
        self.assertEqual(len(self.faults("killed", self.listed("equivalent"))), 1)
        self.assertEqual(len(self.faults("killed", self.listed("equivalent"), False)), 1)
        self.assertEqual(len(self.faults("killed", self.listed("open"))), 1)
        gone = self.listed("equivalent", "delete f:gone abd.1")
        self.assertEqual(len(self.faults("killed", gone)), 1)
        self.assertEqual(self.faults("killed", gone, False), [])

    def test_what_no_list_knows_is_new(self):
        mutants = [self.mutant(f"delete f:g abc.{i}") for i in range(1, 4)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "killers.list"
            path.write_text("f:before abc | unit_core A.b | delete.2\n")
            new = tool.unknown_of(mutants, self.listed("open"), memory.Memory(path))
        self.assertEqual([mutant.name for mutant in new], ["delete f:g abc.3"])

    def test_the_list_knows_a_function_that_moved(self):
        moved = self.listed("equivalent", "delete elsewhere:g abc.1")
        self.assertEqual(self.faults("survived", moved), [])

    def test_a_line_of_the_list_needs_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "known.list"
            for line in ("delete f:g abc.1", "delete f:g abc.1 | equivalent: ",
                         "delete f:g abc.1 | harmless: why",
                         "a b.1 | open: x\na c b.1 | open: x"):
                path.write_text(line + "\n")
                with self.assertRaises(SystemExit):
                    tool.read_list(path)
            path.write_text("# why\n\ndelete f:g abc.1 | equivalent: why\n")
            self.assertEqual(len(tool.read_list(path)), 1)

    def test_shares(self):
        rows = [(self.mutant(f"delete f:g a.{i}"), {"verdict": "killed", "how": "explorer",
                                                    "by_explorer": True}) for i in range(2)]
        rows.append((self.mutant("delete f:g a.2"), {"verdict": "killed", "how": "time-out"}))
        rows.append((self.mutant("delete f:g a.3"), {"verdict": "survived"}))
        known = {"delete a.3": ("", "equivalent", "why")}
        for got, wanted in zip(tool.shares(rows, known), (4, 1.0, 2 / 3, 2 / 3, 0.75)):
            self.assertAlmostEqual(got, wanted)
        self.assertEqual(tool.shares(rows, {})[1], 0.75)


class Memories(unittest.TestCase):
    """What killed a mutant is written down, found again after a move, and believed by nobody."""

    HEAD = "# why\n"
    LINES = ("core/f.hpp:g abc | unit_core A.b | delete.2 delete.10 negate.1\n"
             "core/f.hpp:g<int, int> abd | explore core/s | swap.1\n")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "killers.list"
        self.path.write_text(self.HEAD + self.LINES)
        self.memory = memory.Memory(self.path)

    def learnt(self, names, results=(), titles=None, files=("core/f.hpp", "core/h.hpp")):
        """The lines of the file after a run that looked at `names` and had these killers."""
        mutants = [mutate.Mutant(1, name, name.split()[0], "core", "f", "g", 1, "", True)
                   for name in names]
        rows = [{"name": name, "verdict": "killed" if killer else "survived", "killer": killer}
                for name, killer in results]
        self.memory.learn(mutants, rows, titles or {}, files)
        self.memory.write()
        return self.path.read_text().removeprefix(self.HEAD)

    ALL = ("delete core/f.hpp:g abc.2", "delete core/f.hpp:g abc.10", "negate core/f.hpp:g abc.1",
           "swap core/f.hpp:g<int, int> abd.1")

    def test_what_is_written_is_read_again(self):
        self.assertEqual(self.memory.killer("delete core/f.hpp:g abc.10"), "unit_core A.b")
        self.assertEqual(self.memory.killer("swap elsewhere:g<int, int> abd.1"), "explore core/s")
        self.assertIsNone(self.memory.killer("delete core/f.hpp:g abc.3"))
        self.assertEqual(self.memory.by_place()["core/f.hpp:g"], ["unit_core A.b"])
        self.assertEqual(self.learnt(self.ALL), self.LINES)

    def test_a_run_changes_what_it_tried(self):
        results = [("delete core/f.hpp:g abc.2", "explore core/s"),
                   ("negate core/f.hpp:g abc.1", "")]
        self.assertEqual(self.learnt(self.ALL, results),
                         "core/f.hpp:g abc | explore core/s | delete.2\n"
                         "core/f.hpp:g abc | unit_core A.b | delete.10\n"
                         + self.LINES.splitlines(True)[1])

    def test_who_killed_most_comes_first(self):
        mutants = [mutate.Mutant(1, name, "", "core", "f", "g", 1, "", True) for name in self.ALL]
        self.assertEqual(self.memory.killers_of(mutants), ["unit_core A.b", "explore core/s"])
        self.assertEqual(self.memory.killers_of(mutants[3:]), ["explore core/s"])

    def test_a_function_that_moved_takes_its_lines_along(self):
        moved = [name.replace("core/f.hpp", "core/h.hpp") for name in self.ALL]
        self.assertEqual(self.learnt(moved), self.LINES.replace("core/f.hpp", "core/h.hpp"))

    def test_mutants_that_are_not_there_any_more_are_dropped(self):
        first = self.LINES.splitlines(True)[0]
        self.assertEqual(self.learnt(self.ALL[:3], files=["core/f.hpp"]), first)
        self.assertEqual(self.learnt([], files=["core/h.hpp"]), "")

    def test_files_that_were_not_looked_at_keep_their_lines(self):
        self.assertEqual(self.learnt(["delete core/h.hpp:k abe.1"]), self.LINES)

    def test_cases_that_are_not_there_any_more_are_dropped(self):
        second = self.LINES.splitlines(True)[1]
        self.assertEqual(self.learnt(self.ALL, titles={"unit_core": {"unit_core A.c"}}), second)

    def test_a_line_that_cannot_be_read_is_an_error(self):
        for line in ("core/f.hpp:g abc | unit_core A.b", "abc | unit_core A.b | delete.1",
                     "core/f.hpp:g abc | unit_core A.b | delete"):
            self.path.write_text(line + "\n")
            with self.assertRaises(SystemExit):
                memory.Memory(self.path)

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
        mutant = mutate.Mutant(1, "delete f:g abc.1", "delete", "core", "f", "g", 1, "", False)
        before, trial.run = trial.run, run
        try:
            return asked, trial.try_mutant(mutant, cases, [], 2, remembered=remembered)
        finally:
            trial.run = before

    def test_the_remembered_case_comes_first_whatever_it_costs(self):
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
    """Who is tried again, and for how long."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.mutant = mutate.Mutant(1, "delete f:g abc.1", "delete", "core", "f", "g", 1, "", True)
        self.trials = tool.Trials(Path(folder.name), [self.mutant], {},
                                  {"explore": "new", "unit_core": "same"},
                                  memory.Memory(Path(folder.name) / "none"), ["delete abc.2"])

    def left(self, verdict, budget_s=60):
        result = {"verdict": verdict, "budget_s": 30,
                  "programs": {"explore": "old", "unit_core": "same"}}
        return self.trials.left_for(self.mutant, result, budget_s)

    def test_a_survivor_only_with_programs_that_changed_or_for_longer(self):
        self.assertEqual(self.left("survived", 30), {"explore"})
        self.assertEqual(self.left("survived", 60), {"explore", "unit_core"})
        self.assertEqual(self.left("killed"), set())

    def test_so_many_however_late_it_is(self):
        mutants = [mutate.Mutant(i, f"delete f:g abc.{i}", "delete", "core", "f", "g", 1, "", True)
                   for i in range(1, 10)]
        self.trials.try_one = lambda mutant, *_: {"name": mutant.name, "verdict": "killed"}
        for least in (0, 4):
            self.trials.path.unlink(missing_ok=True)
            self.assertEqual(len(self.trials.run(mutants, 1, until=0, least=least)), least)

    def test_in_a_sample_only_with_the_case_that_killed_it(self):
        self.assertFalse(self.trials.can_try(self.mutant))
        self.trials.passing[1] = [trial.Case("bin/unit_core", "A.b", [], False, 1)]
        self.assertFalse(self.trials.can_try(self.mutant))  # none did
        for killer, can in (("unit_core A.b", True), ("unit_core A.c", False)):
            self.trials.memory.killers = {"delete abc.1": ("f:g", killer)}
            self.assertEqual(self.trials.can_try(self.mutant), can)

    def test_the_listed_for_less(self):
        self.assertEqual(self.trials.budget_of(self.mutant, 60), 60)
        self.trials.listed = ["delete abc.1"]
        self.assertLess(self.trials.budget_of(self.mutant, 60), 60)
        self.assertEqual(self.trials.budget_of(self.mutant, 1), 1)


class Records(unittest.TestCase):
    """Cases without a mutant: what is late is left for the next time."""

    def test_the_first_first_and_none_too_late(self):
        done = []

        def record(case, _):
            done.append(case.name)
            case.seconds = 1.0
            return ""
        before = tool.trial.record, tool.trial.cases_of
        tool.trial.record = record
        tool.trial.cases_of = lambda path: [trial.Case(path, name, [], False) for name in "abc"]
        try:
            with tempfile.TemporaryDirectory() as folder:
                program = Path(folder) / "unit_core"
                program.write_bytes(b"")

                def run(first, until):
                    return tool.record_all(Path(folder), [str(program)], 1, 1, first, until)
                self.assertFalse(run((), 0)[2])
                self.assertEqual(done, [])
                run(("unit_core c",), None)
                self.assertEqual(done, ["c", "a", "b"])
                records = run((), None)[0]
                self.assertEqual(len(done), 3)
                self.assertTrue(all(case.recorded() for case in records[str(program)]))
        finally:
            tool.trial.record, tool.trial.cases_of = before


class FakeTrials:
    """Stands for built programs: says what becomes of each mutant with so many programs, those
    that it does not know cannot be tried."""

    def __init__(self, verdicts, asked, most):
        self.verdicts, self.asked, self.most = verdicts, asked, most

    def canaries(self, _):
        return []

    def can_try(self, mutant):
        return mutant.name in self.verdicts

    def run(self, mutants, *_, **__):
        self.asked.append([mutant.name for mutant in mutants])
        return [{"name": m.name, "verdict": self.verdicts[m.name], "killer": "k", "how": "test"}
                for m in mutants[:self.most]]


class Samples(unittest.TestCase):
    """What lives through the first program, and is not listed, is tried with the others."""

    def sample(self, first, then, known=(), untried=(), most=None):
        asked, built = [], []
        verdicts = [first, then]

        def prepared(_folder, programs, _everything, _arguments, _room=None, _drawn=()):
            built.append(programs)
            return FakeTrials(verdicts[len(built) - 1], asked, most)
        before, tool.prepared = tool.prepared, prepared
        try:
            mutants = [mutate.Mutant(i, name, "delete", "pool", "f", "g", 1, "", False)
                       for i, name in enumerate([*first, *untried], 1)]
            results, faults = tool.sample(Path(), "pool", "unit_pool", mutants, mutants,
                                          dict.fromkeys(known), tool.arguments_of([]))
        finally:
            tool.prepared = before
        return {r["name"]: r["verdict"] for r in results}, faults, built, asked

    def test_all_killed_at_once(self):
        names = [f"delete f:g a.{i}" for i in range(30)]
        results, faults, built, _ = self.sample(dict.fromkeys(names, "killed"), {})
        self.assertEqual((len(results), faults), (30, []))
        self.assertEqual(built, [["unit_pool"]])

    def test_survivors_get_another_chance(self):
        first = {f"delete f:g a.{i}": "killed" for i in range(30)}
        first["delete f:g b.1"] = first["delete f:g b.2"] = "survived"
        then = {"delete f:g b.1": "killed", "delete f:g b.2": "survived"}
        results, faults, built, asked = self.sample(first, then)
        self.assertEqual(asked[1], ["delete f:g b.1", "delete f:g b.2"])
        self.assertIn("stress_thread_pool", built[1])
        self.assertEqual(results["delete f:g b.1"], "killed")
        self.assertEqual(results["delete f:g b.2"], "survived")
        self.assertEqual((len(results), faults), (32, []))

    def test_the_listed_and_those_without_a_case_are_left_out(self):
        names = [f"delete f:g a.{i}" for i in range(3)]
        results, faults, _, asked = self.sample(dict.fromkeys(names, "killed"), {}, ["delete a.1"],
                                                ["delete f:g b.1"])
        self.assertEqual(asked, [[names[0], names[2]]])
        self.assertEqual((len(results), faults), (2, []))

    def test_too_few_are_a_fault(self):
        names = [f"delete f:g a.{i}" for i in range(30)]
        for most, faults in ((tool.SAMPLE_MIN, 0), (tool.SAMPLE_MIN - 1, 1)):
            got = self.sample(dict.fromkeys(names, "killed"), {}, most=most)[1]
            self.assertEqual(len(got), faults)
        self.assertEqual(len(self.sample({}, {}, [], ["delete f:g b.1"])[1]), 1)


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
