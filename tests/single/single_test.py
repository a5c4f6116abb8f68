# SPDX-License-Identifier: MIT
"""Single headers: made twice the same, refused where they would be wrong, and used.

Programs have the header beside them and no include path. Named by the test class to run: Tool makes
and reads them, Page is the program of docs/guide/single-headers.md, Programs are those of
programs/, by any compiler: a unit without exceptions, and one with the compiled part.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
PAGE = ROOT / "docs/guide/single-headers.md"
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast",
            "-Wcast-align", "-Wnon-virtual-dtor", "-Werror")
BARE = ("-fno-exceptions", "-fno-rtti")
LINES_MAX = 23000  # that the pool's adds to <thread>: 0.8 s have 0.1 s to spare with 21,000
settings = None  # the command line


def run(*command, fails=False, **keywords):
    """What it says; with `fails` it must end with an error."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          check=False, timeout=120, **keywords)
    said = done.stdout + done.stderr
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{said}")
    return said


class Single(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def make(self, root=ROOT, seed="0", fails=False):
        return run(root / "tools/single_header", self.folder / seed, fails=fails,
                   env=os.environ | {"PYTHONHASHSEED": seed})

    def compile(self, source, *flags, fails=False):
        """The object file, or what the compiler says."""
        target = source.with_name(f"{source.stem}{len(flags)}.o")
        said = run(settings.compiler, "-std=c++20", *WARNINGS, *settings.flags, *flags,
                   "-c", source, "-o", target, fails=fails)
        return said if fails else target

    def link(self, *objects, fails=False):
        target = self.folder / "program"
        said = run(settings.compiler, *settings.flags, *objects, "-pthread", "-o", target,
                   fails=fails)
        return said if fails else run(target).strip()


class Tool(Single):
    def tree(self):
        """A copy of what the tool reads."""
        tree = self.folder / "tree"
        for name in ("include", "src", "tools", "cmake", "CMakeLists.txt", "LICENSE"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        return tree

    def test_made_twice_they_are_the_same_and_have_all(self):
        self.make(seed="1")
        self.make(seed="2")
        for name in ("handoff_queue.hpp", "handoff_pool.hpp"):
            text = (self.folder / "1" / name).read_text()
            self.assertEqual(text, (self.folder / "2" / name).read_text())
            self.assertNotRegex(text, r'#include (<handoff|")')
            self.assertIn(f'#define HANDOFF_VERSION_STRING "{settings.version}"', text)
            self.assertIn(f"of handoff {settings.version},", text)
            flat = re.sub(r"\s+", " ", text.replace("//", ""))
            self.assertIn(re.sub(r"\s+", " ", (ROOT / "LICENSE").read_text()), flat)
            guards = re.findall(r"^#define (HANDOFF_SINGLE_\w+)$", text, re.MULTILINE)
            self.assertGreater(len(guards), 50)
            self.assertEqual(len(guards), len(set(guards)), "a file is in it twice")

    def test_conditions_that_it_cannot_resolve_are_refused(self):
        tree = self.tree()
        header = tree / "include/handoff/core/status.hpp"
        text = header.read_text()
        include = "\n#include <handoff/core/tally.hpp>\n#endif\n"
        for condition, words in (("#if !defined(HANDOFF_EXPLORE)", None),
                                 ("#if defined(__clang__)", "an include in a condition"),
                                 ("#if defined(HANDOFF_EXPLORE)\n#elif 1", "#else only")):
            header.write_text(text + condition + include)
            said = self.make(tree, fails=bool(words))
            if words:
                self.assertRegex(said, rf"core/status.hpp:\d+: .*{words}")

    def test_what_exploring_has_is_left_out(self):
        tree = self.tree()
        header = tree / "include/handoff/core/status.hpp"
        header.write_text(header.read_text() + "#if defined(HANDOFF_EXPLORE)\nint a1;\n#else\n"
                          "int b2;\n#endif\n#if !defined(HANDOFF_EXPLORE)\nint c3;\n#else\n"
                          "int d4;\n#if 1\nint e5;\n#endif\n#endif\n")
        self.make(tree)
        text = (self.folder / "0/handoff_queue.hpp").read_text()
        self.assertEqual(re.findall(r"\bint (\w\d);", text), ["b2", "c3"])

    def test_a_unit_that_cannot_work_is_told_so(self):
        self.make()
        unit = self.folder / "0/unit.cpp"
        for line, flags, words in (("#define HANDOFF_IMPLEMENTATION", BARE, "with -fexceptions"),
                                   ("#include <handoff/config.hpp>", (), "not both")):
            unit.write_text(line + '\n#include "handoff_pool.hpp"\n')
            said = self.compile(unit, "-E", f"-I{ROOT}/include", *flags, fails=True)
            self.assertIn(words, said)

    def test_the_pools_stays_light(self):
        self.make()
        budget = (sys.executable, ROOT / "tests/house/header_budget.py", "--compiler",
                  settings.compiler, "--include", self.folder / "0", "handoff_pool.hpp")
        run(*budget, "--lines-max", LINES_MAX)
        self.assertIn("TOO MANY", run(*budget, "--lines-max", LINES_MAX // 2, fails=True))


class Page(Single):
    def test_its_program_prints_what_it_says(self):
        self.make()
        folder = self.folder / "0"
        text = PAGE.read_text()
        blocks = re.findall(r"^```c\+\+\n// (\S+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        for name, unit in blocks:
            (folder / name).write_text(unit)
        command = re.search(r"^g\+\+ .*$", text, re.MULTILINE)[0]
        run("sh", "-c", f"{command} -Wall -Wextra -Werror -c".replace("-o program", ""), cwd=folder)
        printed = re.search(r"The program prints (\d+)\.", text)[1]
        self.assertEqual(self.link(folder / "main.o", folder / "handoff.o"), printed)

        # The library may be in the program too: no name is that of both.
        defined = run("nm", "--defined-only", "--extern-only", folder / "handoff.o")
        names = re.findall(r" [TDBR] (\S+)", defined)
        self.assertGreater(len(names), 100)
        self.assertEqual([name for name in names if "single_0" not in name], [])

        bare = self.compile(folder / "main.cpp", *BARE)
        self.assertEqual(self.link(bare, folder / "handoff.o"), printed)
        # Canary: the compiled part lies in that unit and nowhere else.
        self.assertRegex(self.link(bare, fails=True), r"undefined reference to .*single_0")


class Programs(Single):
    def test_two_units_make_a_program(self):
        self.make()
        for name in ("queue", "pool"):
            unit = self.folder / "0/compiled_part.cpp"
            unit.write_text(f'#define HANDOFF_IMPLEMENTATION\n#include "handoff_{name}.hpp"\n')
            program = Path(shutil.copy(PROGRAMS / f"{name}.cpp", unit.parent))
            with self.subTest(name):
                objects = (self.compile(program, *BARE), self.compile(unit))
                self.assertEqual(self.link(*objects), "right")


def main():
    global settings
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flag", dest="flags", action="append", default=[],
                        help="for the compiler, everywhere")
    parser.add_argument("--version", required=True, help="the version that must come out")
    settings, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
