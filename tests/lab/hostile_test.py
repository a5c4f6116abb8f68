# SPDX-License-Identifier: MIT
"""Files that others wrote: each command that reads a result, each form that comes out of it, and
each place of the file. Nothing that a file says acts on a terminal or a page, and no name, figure
or depth ends the program by anything but a line."""

import copy
import json
import re
import subprocess

import synthetic_results as synthetic
from lab_support import DEEP, PROGRAM, LabTest

FIGURES = """[[figure]]
name = "the figure"
scenario = "tasks"
metric = "fire_and_forget"
contender = "own.pool.stealing"
against = ["peer.onetbb"]
ratio = "fire_and_forget"
at_most = 1
parameters = { count = 1000, state = "hot", width = 2, work = 0 }
"""
# What each command that reads results is started with; None: it reads none. A new command has no
# entry, and fails.
COMMANDS = {
    "run": None, "guard": None, "doctor": None, "try": None, "replay": None, "trace": None,
    "list": None, "copy": None,
    "gate": [["figures.toml", "--results", "bad.json"]],
    "compare": [["bad.json", "good.json"], ["good.json", "bad.json"],
                ["bad.json", "good.json", "--json"]],
    "report": [["bad.json"], ["bad.json", "good.json", "-o", "out"],
               ["bad.json", "--ladder", "out"]],
    "export": [["bad.json", "--to"]],  # and each form
    "advise": [["bad.json", "--grain", "20us", "--count", "100"],
               ["good.json", "bad.json", "--grain", "20us", "--count", "100", "--json"]],
    "scale": [["bad.json", "--ranks", "4"]],
    "check-advice": [["bad.json", "good.json", "--verbose"], ["good.json", "bad.json"]],
}
ACTING = ["\x1b]0;taken\x07", "a\x9b2Jb", "\x7f", "a\nb", "a\rb", "\x00", "\x85", "a\u2028b",
          "\u202egnp.exe", "\u2066a"]
HARMLESS = ["</script><script>alert(1)</script>", "|`*_[a](b)\\", '=cmd("x"),"', "../../x", "",
            "\u4f60\u597d", "\U0001f980", "x" * 3000]
ENDS = [0, -1, 5e-324, 2.3e-308, 1e-30, 1e30, 1.7e308, -1.7e308, 2 ** 63, 2 ** 64 - 1, 10 ** 40]
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def small():
    """A result with everything that a file can have."""
    whole = synthetic.overview()
    by_kind = {}
    for row in whole["rows"]:
        kind = (row["scenario"], row["contender"], row["status"], row["parameters"].get("wait"))
        by_kind.setdefault(kind, row)
    rows = list(by_kind.values())
    rows[0].update(block=1, order="fifo", shares=[0.5, 0.5], peak_memory_bytes=1 << 20,
                   phases={"start_ns": 10, "stop_ns": 20}, layouts=[{"link": 1, "stack_shift": 2}],
                   per_item={"voluntary_switches": 0.5, "submitter_on_cpu_ns": 3.5},
                   figures={"a_figure": 1.5, "another": None})
    whole["rows"] = rows
    return whole


def places(value, path=()):
    """Each key, each text and each number, as (path, what)."""
    if isinstance(value, dict):
        for key, element in value.items():
            yield path + (key,), "key"
            yield from places(element, path + (key,))
    elif isinstance(value, list):
        shapes = set()
        for i, element in enumerate(value):
            shape = tuple(element) if isinstance(element, dict) else type(element)
            if shape in shapes:
                continue  # one of each shape
            shapes.add(shape)
            yield from places(element, path + (i,))
    elif isinstance(value, str):
        yield path, "text"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, "number"


def changed(result, path, what, value):
    made = copy.deepcopy(result)
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    if what == "key":
        inner[value] = inner.pop(path[-1])
    else:
        inner[path[-1]] = value
    return made


class Hostile(LabTest):
    def setUp(self):
        super().setUp()
        self.good = small()
        self.write("good.json", self.good)
        (self.folder / "figures.toml").write_text(FIGURES)

    def run_lab(self, *arguments):
        """As it is written: no end of a line is made another."""
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True,
                              stdin=subprocess.DEVNULL)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        return done

    def readers(self):
        forms = re.findall(r"known: (.*)", self.run_lab("export", "good.json", "--to",
                                                        "nonesuch").stderr)
        for command, all_arguments in COMMANDS.items():
            for arguments in all_arguments or []:
                if command != "export":
                    yield [command, *arguments]
                    continue
                for form in forms[0].split(", "):
                    yield [command, *arguments, form]

    def assert_sane(self, reader, content):
        """What came out, and whether it was taken."""
        (self.folder / "bad.json").write_text(
            content if isinstance(content, str) else json.dumps(content))
        (self.folder / "out").unlink(missing_ok=True)
        done = self.run_lab(*reader)
        written = (self.folder / "out")
        written = written.read_bytes().decode() if written.exists() else ""
        self.assertIn(done.returncode, (0, 2, 3, 4), (reader, done.stderr[-500:]))
        self.assertEqual(ACTS.findall(done.stdout + done.stderr + written), [], reader)
        if done.returncode == 2:
            said = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
            self.assertEqual((done.stdout, written, len(said)), ("", "", 1), (reader, done.stderr))
        return done.stdout + written, "not a schema-1 result file" not in done.stderr

    def test_the_list_of_commands_is_whole(self):
        known = re.findall(r"^  ([a-z][a-z-]*)  ", self.run_lab("--help").stdout, re.MULTILINE)
        self.assertGreater(len(known), 10)
        self.assertEqual(set(known), set(COMMANDS))
        self.assertEqual(len({tuple(reader) for reader in self.readers()}),
                         sum(map(len, filter(None, COMMANDS.values()))) + 3)  # four forms

    def test_the_canary_is_seen(self):
        for text in ACTING:
            self.assertNotEqual(ACTS.findall(text.replace("\n", "\t")), [], repr(text))
        for text in HARMLESS:
            self.assertEqual(ACTS.findall(text), [], repr(text))
        # And what is harmless gets through: a test of what is always refused would see nothing.
        for reader in self.readers():
            with self.subTest(reader=reader):
                _, taken = self.assert_sane(reader, self.good)
                self.assertTrue(taken)
        name = changed(self.good, ("rows", 0, "figures", "a_figure"), "key", "zebra")
        self.assertIn("figure.zebra", self.assert_sane(["export", "bad.json", "--to", "csv"],
                                                       name)[0])

    def each(self, whats, values):
        """Each place with a value, each value at some places, by each reader in turn; all of them
        with each other in a deep run."""
        readers = list(self.readers())
        turn = 0
        for path, what in places(self.good):
            if what not in whats:
                continue
            for value in values if DEEP else [values[turn % len(values)],
                                              values[(turn // 3 + 1) % len(values)]]:
                for reader in readers if DEEP else [readers[turn % len(readers)]]:
                    turn += 1
                    yield reader, path, what, value

    def test_what_acts_on_a_terminal_is_refused_in_each_text_and_each_name(self):
        tried = 0
        for reader, path, what, value in self.each(("key", "text"), ACTING):
            with self.subTest(reader=reader, path=path, what=what, value=value):
                self.assertFalse(self.assert_sane(reader, changed(self.good, path, what, value))[1])
                tried += 1
        self.assertGreater(tried, 300)

    def test_other_texts_and_names_do_no_harm(self):
        taken = 0
        for reader, path, what, value in self.each(("key", "text"), HARMLESS):
            with self.subTest(reader=reader, path=path, what=what, value=value):
                taken += self.assert_sane(reader, changed(self.good, path, what, value))[1]
        self.assertGreater(taken, 50)

    def test_figures_at_the_ends_of_what_a_double_can_be(self):
        taken = refused = 0
        for reader, path, what, value in self.each(("number",), ENDS):
            with self.subTest(reader=reader, path=path, value=value):
                if self.assert_sane(reader, changed(self.good, path, what, value))[1]:
                    taken += 1
                else:
                    refused += 1
        self.assertGreater(min(taken, refused), 20)

    def test_what_is_nested_deeply_is_refused(self):
        readers = list(self.readers())
        turn = 0
        for depth in (65, 20_000, 200_000):
            for opened, closed in (("[", "]"), ('{"a":', "}")):
                deep = opened * depth + "1" + closed * depth
                for text in (f'{{"schema":1,"rows":[],"x":{deep}}}',
                             f'{{"schema":1,"rows":[],"\\"":{deep}}}',
                             f'{{"schema":1,"rows":[],"environment":{{"x":{deep}}}}}', deep,
                             opened * depth):
                    for reader in readers if DEEP else [readers[turn % len(readers)]]:
                        turn += 1
                        with self.subTest(depth=depth, opened=opened, reader=reader):
                            self.assertFalse(self.assert_sane(reader, text)[1])
        self.assertGreater(turn, len(readers))
        # What a result has is far from it, and brackets in texts are none.
        nested = {**self.good, "x": [[[[["[" * 1000]]]]]}
        self.assertTrue(self.assert_sane(["export", "bad.json", "--to", "csv"], nested)[1])

    def test_lists_of_contenders_are_looked_at_too(self):
        def listing(text):
            (self.folder / "list.json").write_text(text)
            return self.run_lab("list", "--manifest", "list.json")
        entry = {"scenario": "matmul", "name": "peer.mine", "executable": "mine", "package": "",
                 "when": {}}
        self.assertEqual(listing(json.dumps({"contenders": [entry]})).returncode, 0)
        for text in ACTING:
            for bad in ({**entry, "name": "peer." + text}, {**entry, "when": {text: ["1"]}}):
                done = listing(json.dumps({"contenders": [bad]}))
                self.assertEqual((done.returncode, done.stdout), (2, ""), repr(text))
                self.assertEqual(ACTS.findall(done.stderr), [])
        done = listing('{"contenders":' + "[" * 100_000)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)

    def test_traces_that_are_nested_deeply_end_nothing(self):
        deep = "[" * 100_000 + "]" * 100_000
        for text in (deep, f'{{"traceEvents":[{{"ph":"X","ts":1,"dur":2,"args":{deep}}}]}}'):
            (self.folder / "trace.json").write_text(text)
            for command in (["trace", "trace.json"], ["replay", "trace.json", "--quick"]):
                done = self.run_lab(*command)
                self.assertGreaterEqual(done.returncode, 0, (command, done.stderr))

    def test_names_in_traces_do_not_act_either(self):
        for text in ACTING:
            place = {"name": text, "cat": text, "pid": text, "tid": text, "ts": 1}
            self.write("trace.json", [
                {**place, "ph": "M", "name": "thread_name", "args": {"name": text}},
                {**place, "ph": "M", "name": "process_name", "args": {"name": text}},
                {**place, "ph": "X", "dur": 200}, {**place, "ph": "X", "dur": 200, "pid": 2},
                {**place, "ph": "i"}, {**place, "ph": "C", "args": {"depth": 3}}])
            for options in ([], ["--json"], ["--flame", "out"]):
                (self.folder / "out").unlink(missing_ok=True)
                done = self.run_lab("trace", "trace.json", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                written = self.folder / "out"
                written = written.read_bytes().decode() if written.exists() else ""
                self.assertEqual(ACTS.findall(done.stdout + done.stderr + written), [],
                                 (options, text))

    def test_names_of_files_do_not_act_either(self):
        for text in ACTING:
            if "\x00" in text:
                continue
            for command in (["report", text], ["export", text, "--to", "csv"],
                            ["compare", text, "good.json"], ["advise", text, "--grain", "1us",
                                                             "--count", "1"]):
                done = self.run_lab(*command)
                self.assertEqual((done.returncode, done.stdout), (2, ""), (command, done.stderr))
                self.assertEqual(ACTS.findall(done.stderr), [], (command, done.stderr))
