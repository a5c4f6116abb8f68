# SPDX-License-Identifier: MIT
"""Remembers which case killed each mutant last, so that the next run tries it first.

tests/mutants/killers.list has a line for each function and each case that kills some of its
mutants. It is never believed, only tried: a line that is wrong costs one trial.
"""

import collections
import os


def key_of(name):
    """What stays when a function moves: operator, hash and number. The rest is for people."""
    words = name.split()
    return f"{words[0]} {words[-1]}"


def place_of(name):
    """File and function, which stay when the function changes."""
    return " ".join(name.split()[1:-1])


def file_of(place):
    return place.split(":")[0]


def natural(operator):
    """delete.2 before delete.10."""
    word, number = operator.split(".")
    return word, int(number)


class Memory:
    """{key: (place, case)}, and as lines of a file: `place hash | case | operator.number ...`"""

    def __init__(self, path):
        self.path = path
        self.killers = {}
        self.head = []
        lines = path.read_text().splitlines() if path.exists() else []
        for number, line in enumerate(lines, 1):
            if line.startswith("#"):
                self.head.append(line)
            elif line.strip():
                self.read_line(number, line)

    def read_line(self, number, line):
        parts = [part.split() for part in line.split(" | ")]
        if len(parts) != 3 or len(parts[0]) < 2 or not all(
                word and count.isdigit()
                for word, _, count in (text.partition(".") for text in parts[2])):
            raise SystemExit(f"{self.path}:{number}: not `place hash | case | operator.number ...`;"
                             " `mutants.py --remember` writes the file, so leave the line out")
        (*place, hashed), case, operators = parts
        for text in operators:
            operator, _, count = text.partition(".")
            self.killers[f"{operator} {hashed}.{count}"] = " ".join(place), " ".join(case)

    def killer(self, name):
        """The case that killed this mutant last, or none."""
        return self.killers.get(key_of(name), ("", None))[1]

    def killers_of(self, mutants):
        """The cases that killed these, the one that killed most first."""
        count = collections.Counter(self.killer(mutant.name) for mutant in mutants)
        return [case for case, _ in count.most_common() if case is not None]

    def by_place(self):
        """{place: cases}, the one that kills most there first: a hint for what is new there."""
        counts = collections.defaultdict(collections.Counter)
        for place, case in self.killers.values():
            counts[place][case] += 1
        return {place: [case for case, _ in count.most_common()]
                for place, count in counts.items()}

    def learn(self, mutants, results, titles, files):
        """Takes over what was tried, and forgets what is not there any more.

        `mutants`: all those of the files that were looked at; `titles`: {program: its cases} of
        what was built; `files`: all there are, as places name them."""
        names = {key_of(mutant.name): mutant.name for mutant in mutants}
        not_looked_at = set(files) - {file_of(place_of(name)) for name in names.values()}
        kept = {}
        for key, (place, case) in self.killers.items():
            if case not in titles.get(case.split()[0], (case,)):
                continue
            if key in names:
                kept[key] = place_of(names[key]), case
            elif file_of(place) in not_looked_at:
                kept[key] = place, case
        for result in results:
            key = key_of(result["name"])
            kept.pop(key, None)
            if result["verdict"] == "killed":
                kept[key] = place_of(result["name"]), result["killer"]
        self.killers = kept

    def write(self):
        """Sorted, so that a change of one function changes its lines alone."""
        lines = collections.defaultdict(list)
        for key, (place, case) in self.killers.items():
            operator, rest = key.split()
            hashed, number = rest.split(".")
            lines[f"{place} {hashed} | {case}"].append(f"{operator}.{number}")
        text = "".join(f"{line}\n" for line in self.head)
        for line, operators in sorted(lines.items()):
            text += f"{line} | {' '.join(sorted(operators, key=natural))}\n"
        new = self.path.with_suffix(".new")
        new.write_text(text)
        os.replace(new, self.path)
