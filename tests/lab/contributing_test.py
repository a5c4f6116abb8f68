# SPDX-License-Identifier: MIT
"""What lab/README.md says of a new contender is exact: for every scenario, as far as a file, a line
or a name can be looked up, and its example compiles."""

import os
import re
import subprocess
import unittest

from lab_support import SOURCE

COMPILER = os.environ["HANDOFF_COMPILER"]
TEXT = (SOURCE / "lab" / "README.md").read_text().split("## How to add a contender")[1]
TEXT = TEXT.split("\n## ")[0]
CODE = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def rows_of(text):
    """(scenario, (what the file has, header, file to copy)): several of a scenario whose metrics
    are about different things."""
    cells = [[cell.strip() for cell in line.strip().strip("|").split("|")]
             for line in text.splitlines() if re.match(r" *\| `", line)]
    return [(scenario.split("`")[1], (what, header.strip("`"), copied.strip("`")))
            for scenario, what, header, copied in cells]


def is_entered(contender, scenario, cmake):
    """In a line of its own, as one of a loop's, or with others in one program."""
    loops = re.findall(r"foreach\(way IN ITEMS ([^)]*)\)\s*handoff_contender\((\w+) \$\{way\}",
                       cmake)
    return (re.search(rf" PROGRAM {re.escape(contender)}[\s)]", cmake)
            or re.search(rf"handoff_contender\({scenario} {re.escape(contender)}[\s)]", cmake)
            or any(contender in ways.split() and of == scenario for ways, of in loops))


def faults_of(scenario, row, folder):
    """What a row says that is not so."""
    what, header, copied = row
    faults = [f"{name} is not there" for name in (header, copied)
              if not (folder / name).is_file()]
    if faults:
        return faults
    contender = copied.split("/")[1].removesuffix(".cpp")
    if not is_entered(contender, scenario, (folder / "CMakeLists.txt").read_text()):
        faults.append(f"{contender} is not entered in its CMakeLists.txt")
    code = (folder / copied).read_text()
    for function in re.findall(r"`(\w+)\(\)`", what):
        if not re.search(rf"\b{function}(<[\w:]+>)?[(}}]", code):
            faults.append(f"{copied} has no {function}()")
    if f'"scenarios/{scenario}/{header}"' not in code:
        faults.append(f"{copied} does not include {header}")
    return faults


class Contributing(unittest.TestCase):
    def test_every_scenario_has_a_row_and_the_row_is_right(self):
        rows = rows_of(TEXT)
        scenarios = {path.parent.name for path in SOURCE.glob("lab/scenarios/*/scenario.cpp")}
        self.assertEqual({scenario for scenario, _ in rows}, scenarios)
        for scenario, row in rows:
            with self.subTest(scenario=scenario, row=row):
                self.assertEqual(faults_of(scenario, row, SOURCE / "lab/scenarios" / scenario), [])

    def test_a_row_that_is_wrong_is_found(self):
        folder = SOURCE / "lab/scenarios/grain"
        right = ("such a class for `measure()`", "measure.hpp", "contenders/plain.cpp")
        self.assertEqual(faults_of("grain", right, folder), [])
        for at, wrong in ((0, "`prepare()`"), (1, "contender.hpp"), (1, "none.hpp"),
                          (2, "contenders/none.cpp"), (2, "sweep.hpp/x")):
            row = (*right[:at], wrong, *right[at + 1:])
            self.assertTrue(faults_of("grain", row, folder), wrong)

    def test_a_contender_that_is_not_entered_is_found(self):
        cmake = ("handoff_contender(spawn peer.alone)\nforeach(way IN ITEMS peer.a peer.b)\n"
                 "  handoff_contender(spawn ${way} WHEN x)\nendforeach()\n")
        for contender in ("peer.alone", "peer.a", "peer.b"):
            self.assertTrue(is_entered(contender, "spawn", cmake), contender)
            self.assertFalse(is_entered(contender, "tasks", cmake), contender)
        for contender in ("peer.c", "peer", "peer.al", "WHEN"):
            self.assertFalse(is_entered(contender, "spawn", cmake), contender)

    def test_its_lines_stand_in_the_build_but_that_of_the_new_contender(self):
        lines = [line.strip() for language, code in CODE.findall(TEXT) if language == "cmake"
                 for line in code.splitlines()]
        there = "".join(path.read_text() for path in SOURCE.glob("lab/**/CMakeLists.txt"))
        there += (SOURCE / "lab/peers/pools.cmake").read_text()
        self.assertEqual([line for line in lines if line not in there],
                         ["handoff_contender(matmul peer.halves LIBRARIES handoff_matmul_kernels "
                          "Threads::Threads)"])
        self.assertGreater(len(lines), 2)

    def test_its_files_are_there(self):
        named = [name for name in re.findall(r"`(lab/[\w/.]+\.\w+)`", TEXT)
                 if "SCENARIO" not in name]
        self.assertGreater(len(named), 2)
        self.assertEqual([name for name in named if not (SOURCE / name).exists()], [])

    def test_its_example_compiles(self):
        examples = [code for language, code in CODE.findall(TEXT) if language == "cpp"]
        self.assertGreater(len(examples), 0)
        for code in examples:
            done = subprocess.run(
                [COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                 f"-I{SOURCE / 'lab'}", f"-I{SOURCE / 'include'}", "-x", "c++", "-"],
                input=code, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
