#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counts_test.py PROGRAM [--renew] [NAME]: compares what a program counts with tests/counts.toml.

PROGRAM prints a line for each row: its name, how many operations it counted, and what they cost.
A cost that is higher than in the table fails, by name; a lower one is noted, and --renew writes it
into the table. Instructions may differ by one in a hundred, all else not at all. With NAME only
rows with this in their name are looked at. --instructions: PROGRAM is run by valgrind.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "counts.toml"
HEADERS = ROOT / "include" / "handoff"
INSTRUCTIONS = "instructions"
TOLERANCE = Fraction(1, 100)  # of instructions
PLANTS = {  # what a canary does once more -> what has to be told
    "load": {"load.acquire"},
    "store": {"store.release"},
    "rmw": {"rmw.acq_rel"},
    "fence": {"fence.seq_cst"},
    "line": {"lines"},
    "wake": {"wakes", "call.futex_wake", "call.futex_wait"},
    "call": {"call.getpid"},
    "allocation": {"allocations", "bytes"},
}
COLUMNS_MAX = 100
LONG = '"""'  # around costs that need several lines
ROW_LINE = re.compile(r'^"(?P<key>[^"]+)" = (?P<quote>"(?:"")?)')
SECTION_LINE = re.compile(r'^\["?(?P<name>[^"\]]+)"?\]')


@dataclass(frozen=True)
class Difference:
    row: str
    cost: str
    expected: Fraction
    measured: Fraction

    @property
    def higher(self):
        return self.measured > self.expected

    def __str__(self):
        word = "higher" if self.higher else "lower"
        return f"{self.row}: {self.cost} is {word}: {self.measured}, was {self.expected}"


def parsed(costs):
    """{"load.acquire": 2} of "2 load.acquire"."""
    words = (cost.split() for cost in costs.split(",") if cost.strip())
    return {name: Fraction(number) for number, name in words}


def read_table(text):
    """The rows of the table and, of each public header, its sections or why it has none."""
    content = tomllib.loads(text)
    headers = content.pop("headers", {})
    rows = {
        f"{section}.{key}": parsed(costs)
        for section, keys in content.items()
        for key, costs in keys.items()
    }
    return rows, headers


def take(*command):
    """What the program counts, for one operation of each row."""
    rows = {}
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        name, operations, *costs = line.split("\t")
        if name in rows:
            raise SystemExit(f"two cases count for {name}")
        pairs = (cost.split("=") for cost in costs)
        rows[name] = {cost: Fraction(int(total), int(operations)) for cost, total in pairs}
    return rows


def take_instructions(program, *arguments):
    """The same by callgrind, of a program that asks it for a dump with the name of each row."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no",
             "--callgrind-out-file=out", str(Path(program).resolve()), *arguments],
            check=True, cwd=folder)
        for dump in Path(folder).glob("out.*"):
            text = dump.read_text()
            row = re.search(r"^desc: Trigger: Client Request: (.*)\t(\d+)$", text, re.MULTILINE)
            if row:
                total = int(re.search(r"^totals: (\d+)", text, re.MULTILINE)[1])
                rows[row[1]] = {INSTRUCTIONS: round(Fraction(total, int(row[2])), 1)}
    return rows


def differ(cost, expected, measured):
    if cost == INSTRUCTIONS:
        return abs(measured - expected) > TOLERANCE * expected
    return measured != expected


def compare(expected, measured):
    """What differs, and what only one of both has."""
    differences = []
    for row in sorted(expected.keys() & measured.keys()):
        costs = expected[row] | measured[row]
        differences += [
            Difference(row, cost, expected[row].get(cost, Fraction(0)),
                       measured[row].get(cost, Fraction(0)))
            for cost in costs
            if differ(cost, expected[row].get(cost, Fraction(0)),
                      measured[row].get(cost, Fraction(0)))
        ]
    strays = [f"{row}: the table has it, no case counts it"
              for row in sorted(expected.keys() - measured.keys())]
    strays += [f"{row}: counted, but not in the table (--renew)"
               for row in sorted(measured.keys() - expected.keys())]
    return differences, strays


def written(value, cost):
    return f"{float(value)}" if cost == INSTRUCTIONS else str(value)


def row_lines(key, costs):
    words = [f"{written(value, cost)} {cost}" for cost, value in costs.items() if value]
    line = f'"{key}" = "{", ".join(words)}"'
    if len(line) <= COLUMNS_MAX:
        return [line]
    unbroken = ", ".join(word.replace(" ", "\0") for word in words)
    filled = [line.replace("\0", " ") for line in textwrap.wrap(unbroken, COLUMNS_MAX - 5)]
    return [f'"{key}" = {LONG}', *(f"  {part}" for part in filled[:-1]), f"  {filled[-1]}{LONG}"]


def blocks(text):
    """The lines of the text; those of a row with its key, in one block."""
    lines = iter(text.splitlines())
    for line in lines:
        block = [line]
        row = ROW_LINE.match(line)
        if row and row["quote"] == LONG:
            while not block[-1].endswith(LONG) or len(block) == 1:
                block.append(next(lines))
        yield row and row["key"], block


def renewed(text, kept, measured):
    """The text with the rows as measured; `kept` are those that this program does not count."""
    wanted = {}
    for name, costs in measured.items():
        section, _, key = name.partition(".")
        wanted.setdefault(section, {})[key] = costs
    lines = []
    section = None

    def end_section():
        while lines and not lines[-1].strip():
            lines.pop()
        for key, costs in wanted.pop(section, {}).items():
            lines.extend(row_lines(key, costs))

    for key, block in blocks(text):
        if match := SECTION_LINE.match(block[0]):
            # A comment right above belongs to the section.
            above = []
            while lines and lines[-1].startswith("#"):
                above.insert(0, lines.pop())
            end_section()
            section = match["name"]
            lines += ["", *above, *block] if lines else [*above, *block]
        elif key is None or section == "headers" or f"{section}.{key}" in kept:
            lines += block
        elif key in wanted.get(section, {}):
            lines += row_lines(key, wanted[section].pop(key))
    end_section()
    for section in list(wanted):
        bare = re.fullmatch(r"\w+", section)
        lines += ["", f"[{section}]" if bare else f'["{section}"]']
        end_section()
    return "\n".join(lines) + "\n"


def uncovered(headers, rows):
    """Public headers that no section stands for, and what the table says of none that is there."""
    found = {str(path.relative_to(HEADERS)) for path in HEADERS.glob("*/*.h*")}
    faults = [f"{header}: no section of the table has its costs, and no reason stands there"
              for header in sorted(found - headers.keys())]
    faults += [f"{header}: the table has it, include/handoff does not"
               for header in sorted(headers.keys() - found)]
    sections = {row.partition(".")[0] for row in rows}
    for header, answer in headers.items():
        if isinstance(answer, list):
            faults += [f"{header}: {section} has no row" for section in answer
                       if section not in sections]
    return faults


def canaries(program, expected, measure):
    """What is planted into a toy has to be told."""
    faults = []
    toy = {row: costs for row, costs in expected.items() if row.startswith("Canary.")}
    counted = measure is take
    plants = PLANTS if counted else {"step": {INSTRUCTIONS}}
    for plant, costs in plants.items():
        arguments = ("canary", plant) if counted else (plant,)
        differences, strays = compare(toy, measure(program, *arguments))
        told = {difference.cost for difference in differences if difference.higher}
        if strays or not costs <= told:
            faults.append(f"a planted {plant} was not found: {sorted(told)} {strays}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--instructions", action="store_true")
    arguments = parser.parse_args()

    text = TABLE.read_text()
    rows, headers = read_table(text)
    of_this = {row: costs for row, costs in rows.items()
               if (INSTRUCTIONS in costs) == arguments.instructions and arguments.name in row}
    measure = take_instructions if arguments.instructions else take
    measured_all = measure(arguments.program)
    measured = {row: costs for row, costs in measured_all.items() if arguments.name in row}
    if arguments.renew:
        kept = rows.keys() - of_this.keys()
        TABLE.write_text(renewed(text, kept, measured))
        return 0

    differences, faults = compare(of_this, measured)
    for difference in differences:
        if difference.higher:
            faults.append(str(difference))
        else:
            print(f"note: {difference}; --renew writes it into the table")
    if not arguments.name:
        faults += uncovered(headers, rows)
        faults += canaries(arguments.program, of_this, measure)
    if not arguments.instructions and take(arguments.program) != measured_all:
        faults.append("a second run counts something else")
    for fault in faults:
        print(fault)
    print(f"{len(of_this)} rows, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
