# SPDX-License-Identifier: MIT
"""What the texts show is what there is: examples, links, folders and presets; the umbrella header
too.

Each ```cpp block of README and the guides, and each example in the head comment of a public header
of X/, is compiled without a warning, all in one unit. examples.txt says what stands
around them. What shows another library is compiled where its headers are. README's example is also
cut out of a program that is run.
"""

import json
import re
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "01_thread_team.cpp"
MARK = "// [readme]\n"
LINES_MAX = 15
UMBRELLA = "handoff/handoff.hpp"


def block(text, language):
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)


def tests_named_in(text):
    """What the last column names in the tables whose last column is `test`."""
    tables = re.findall(r"^\|[^\n]*\| test \|\n((?:\|[^\n]*\n)+)", text, re.MULTILINE)
    cells = [row.rstrip().rstrip("|").rsplit("|", 1)[1]
             for table in tables for row in table.splitlines()]
    return re.findall(r"`([^`]+)`", "".join(cells))


def texts():
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("lab/*.md")]


# Nobody uses what an example ends with, nor what `...` would use.
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-Wno-unused-variable",
            "-Wno-unused-parameter", "-Wno-unused-but-set-variable")
DECLARATION = re.compile(r"template|class|struct|int main|(void|long|Job) \w+\(")
TYPE = re.compile(r"struct [^\n]* \{\n.*?^\};\n", re.MULTILINE | re.DOTALL)  # code may follow it
SENDERS = "stdexec::"  # left out: Debian has no library with senders
# Other libraries in the guides, by how their headers begin.
PEERS = re.compile(r"#include <((?:oneapi/tbb|taskflow|BS_thread_pool)[^>]*)>")
IN_DEBIAN = "oneapi/tbb/task_group.h"  # the checks install it
compiler = None  # the command line: the compiler and its -I


def blocks_of_text(text):
    """(first line, code) of each ```cpp block."""
    for found in re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, found.start(1)) + 1, found.group(1)


def blocks_of_head(text):
    """(first line, code) of each example in a head comment: set in, below an empty line."""
    head = text.split("#pragma once")[0].splitlines()
    code, first = [], 0
    for number, line in enumerate([*head, ""], 1):
        if code and line == "//":
            code.append("")
        elif line.startswith("//   ") and (code or head[number - 2] == "//"):
            first = first if code else number
            code.append(line[5:])
        elif code:
            yield first, "\n".join(code).rstrip() + "\n"
            code = []


def examples():
    """(path, first line, code) of each example that is compiled."""
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/guide/*.md"))]:
        for first, code in blocks_of_text(path.read_text()):
            yield path.relative_to(ROOT).as_posix(), first, code
    for room in ("sync", "core", "memory", "queue", "pool", "event", "team", "bus", "command",
                 "file", "process", "graph", "mpi"):
        for path in sorted(ROOT.glob(f"include/handoff/{room}/*.hpp")):
            for first, code in blocks_of_head(path.read_text()):
                if SENDERS not in code:
                    yield path.relative_to(ROOT).as_posix(), first, code


def without_dots(code):
    """Where an example leaves something to the reader, nothing."""
    code = re.sub(r"\{ \.\.\. \}", "{}", code)
    code = re.sub(r"^( *)\.\.\.$", r"\1", code, flags=re.MULTILINE)
    return re.sub(r"\) \.\.\.(?=  //|$)", ") {}", code, flags=re.MULTILINE)


def read_contexts(text):
    """(path, number, what stands around) of each section of examples.txt; number: 0 is all."""
    for head, lines in re.findall(r"^\[(.*)\]\n((?:(?!\[).*\n)*)", text, re.MULTILINE):
        path, *numbers = head.split()
        for number in numbers or [0]:
            yield path, int(number), lines


def context_of(path, number, contexts):
    """(before the function, its type, in it)"""
    lines = "".join(lines for at, which, lines in contexts if at == path and which in (0, number))
    around = {"outside": [], "inside": [], "type": ["void"]}
    depth, ended = 0, True
    for line in lines.splitlines(keepends=True):
        if line.startswith("-> "):
            around["type"] = [line[3:].strip()]
            continue
        if ended:
            where = around["inside" if line.startswith("  ") else "outside"]
        where.append(line)
        depth += sum(map(line.count, "{(")) - sum(map(line.count, ")}"))
        ended = depth == 0 and line.endswith((";\n", "}\n"))
    return ["".join(around[key]) for key in ("outside", "type", "inside")]


def unit_of(all_examples, contexts):
    """The unit in which each stands in a namespace of its own, in what its context says."""
    parts = ["#include <cmath>\n#include <mutex>\n#include <ranges>\n#include <thread>\n",
             "#include <handoff/handoff.hpp>\n",
             "using namespace handoff;\nusing namespace std::chrono_literals;\n"]
    turns = Counter()
    for number, (path, first, code) in enumerate(all_examples):
        turns[path] += 1
        outside, result, inside = context_of(path, turns[path], contexts)
        peers = "".join(f" && __has_include(<{name}>)" for name in PEERS.findall(code))
        guard, end = (f"#if 1{peers}\n", "#endif\n") if peers else ("", "")
        parts.insert(0, guard + "".join(f"{line}\n" for line in code.splitlines()
                                        if line.startswith("#include")) + end)
        parts.append(guard)
        code = re.sub(r"^#include.*$", "", without_dots(code), flags=re.MULTILINE)
        parts += [f"namespace example_{number} {{\n", outside, "\n"]
        if DECLARATION.match(code.lstrip("\n")):
            own = TYPE.match(code)
            rest = code[own.end():] if own else ""
            rest = "" if DECLARATION.match(rest) else rest
            parts += [f'#line {first} "{path}"\n', code[:len(code) - len(rest)]]
            first, code = first + code.count("\n") - rest.count("\n"), rest
        parts += [result, " example() {\n", inside,
                  f'\n#line {first} "{path}"\n', code, "}\n}\n", end]
    return "".join(parts)


def compile_unit(text):
    """What the compiler says of it: nothing."""
    done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, "-x", "c++", "-"],
                          input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def public_headers():
    """ROOM/X.hpp and what stands below the rooms, but for mpi/, which belongs to a library of its
    own; version.hpp is made when it is built."""
    folder = ROOT / "include"
    found = [path.relative_to(folder).as_posix() for path in folder.glob("handoff/**/*.hpp")
             if not {"detail", "internal", "mpi"}.intersection(path.parts) and path != folder / UMBRELLA]
    return {*found, "handoff/version.hpp"}


def umbrella_faults(text, headers):
    """Headers that the umbrella leaves out, may not include, or includes out of order."""
    listed = re.findall(r"^#include <(.*)>$", text, re.MULTILINE)
    return sorted(headers ^ set(listed)) or [a for a, b in zip(listed, sorted(listed)) if a != b]


def broken_links(folder, text):
    prose = re.sub(r"^```.*?^```$|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose)
    return [link for link in links if not (folder / link).exists()]


class ReadmeTest(unittest.TestCase):
    def test_the_example_is_cut_out_of_a_compiled_file(self):
        cut = EXAMPLE.read_text().split(MARK)[1]
        self.assertEqual(block((ROOT / "README.md").read_text(), "cpp"), cut)
        self.assertLessEqual(sum(1 for line in cut.splitlines() if line.strip()), LINES_MAX)

    def test_every_example_compiles_without_a_warning(self):
        found = list(examples())
        contexts = list(read_contexts((ROOT / "tests/house/examples.txt").read_text()))
        self.assertGreater(len(found), 20)
        there = Counter(path for path, _, _ in found)
        self.assertEqual([path for path, number, _ in contexts if max(number, 1) > there[path]],
                         [], "more contexts than examples")
        said = compile_unit(unit_of(found, contexts))
        if said:
            self.fail(f"mend the example, or what examples.txt says stands around it:\n{said}")

    def test_an_example_that_warns_is_found(self):
        for code, words in (("int n = 1L << 40;\n", "conversion"),
                            ("handoff::UnboundedChannel<int> log;\nlog.push(1);\n", "nodiscard"),
                            ("int n = 0;\nauto f = [](int n) { ... };\n", "shadow"),
                            ("queue.no_such_call();\n", "queue")):
            said = compile_unit(unit_of([("docs/guide/none.md", 7, code)], []))
            self.assertIn(words, said)
            self.assertIn("docs/guide/none.md:", said)

    def test_an_example_of_another_library_is_compiled_where_it_is(self):
        wrong = "no_such_call();\n"
        said = compile_unit(unit_of(
            [("docs/guide/there.md", 7, f"#include <{IN_DEBIAN}>\n{wrong}"),
             ("docs/guide/absent.md", 7, f"#include <taskflow/absent.hpp>\n{wrong}")], []))
        if not said:
            self.skipTest(f"no {IN_DEBIAN} here: the lines of oneTBB are not compiled")
        self.assertIn("docs/guide/there.md:8", said)
        self.assertNotIn("absent", said)

    def test_an_example_in_a_head_comment_is_found(self):
        text = ("// Licence\n//\n// What it is.\n//\n//   int a = 1;\n//\n//     int b = 2;\n//\n"
                "// Words:\n//   set in, no example.\n//\n//   int c;\n#pragma once\n")
        self.assertEqual(list(blocks_of_head(text)), [(5, "int a = 1;\n\n  int b = 2;\n"),
                                                      (12, "int c;\n")])

    def test_the_umbrella_includes_every_public_header(self):
        text = (ROOT / "include" / UMBRELLA).read_text()
        self.assertEqual(umbrella_faults(text, public_headers()), [])

    def test_a_header_that_the_umbrella_leaves_out_is_found(self):
        text = "#include <handoff/a/x.hpp>\n#include <handoff/a/detail/z.hpp>\n"
        self.assertEqual(umbrella_faults(text, {"handoff/a/x.hpp", "handoff/b/y.hpp"}),
                         ["handoff/a/detail/z.hpp", "handoff/b/y.hpp"])
        text = "#include <handoff/b/y.hpp>\n#include <handoff/a/x.hpp>\n"
        self.assertEqual(umbrella_faults(text, {"handoff/a/x.hpp", "handoff/b/y.hpp"}),
                         ["handoff/b/y.hpp", "handoff/a/x.hpp"])

    def test_links_lead_somewhere(self):
        for path in texts():
            self.assertEqual(broken_links(path.parent, path.read_text()), [], path)

    def test_a_broken_link_is_found(self):
        text = "[a](README.md) [b](nowhere.md#part) [c](https://example.org) [d](#here) `[e](f)`"
        self.assertEqual(broken_links(ROOT, text), ["nowhere.md"])

    def test_the_tests_named_by_the_guides_of_drop_ins_exist(self):
        sources = "".join(path.read_text() for path in (ROOT / "tests/compat").glob("*_test.cpp"))
        there = set(re.findall(r"^(?:TYPED_)?TEST(?:_F)?\(\w+, (\w+)\)", sources, re.MULTILINE))
        named = [name for guide in ("from-eventpp.md", "from-bs-thread-pool.md")
                 for name in tests_named_in((ROOT / "docs/guide" / guide).read_text())]
        self.assertGreater(len(named), 80)
        self.assertEqual([name for name in named if name not in there
                          and not (ROOT / name).exists()
                          and not (ROOT / "tests/compat" / name).exists()], [])
        self.assertEqual(sorted(there - set(named)), [], "tests that no guide names")

    def test_a_named_test_is_found(self):
        text = ("| what | test |\n|---|---|\n| `a` | `B`, `c.cpp` |\n\n"
                "| x | y |\n|---|---|\n| d | `E` |\n")
        self.assertEqual(tests_named_in(text), ["B", "c.cpp"])

    def test_hacking_names_every_preset_and_every_folder(self):
        text = (ROOT / "HACKING.md").read_text()
        presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
        wanted = [f"`{p['name']}`" for p in presets if not p.get("hidden")]
        wanted += [f"{path.name}/" for path in ROOT.iterdir()
                   if path.is_dir() and path.name[0] != "." and path.name not in ("build", "report")
                   and any(path.rglob("*.*"))]
        self.assertEqual([name for name in wanted if name not in text], [])


if __name__ == "__main__":
    compiler = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
