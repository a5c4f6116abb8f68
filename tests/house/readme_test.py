# SPDX-License-Identifier: MIT
"""What the texts show is what there is: README's example, links, folders and presets; the umbrella
header too."""

import json
import re
import unittest
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


def public_headers():
    """ROOM/X.hpp and what stands below the rooms; version.hpp is made when it is built."""
    folder = ROOT / "include"
    found = [path.relative_to(folder).as_posix() for path in folder.glob("handoff/**/*.hpp")
             if "detail" not in path.parts and path != folder / UMBRELLA]
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

    def test_the_tests_named_by_the_guide_from_eventpp_exist(self):
        sources = "".join(path.read_text() for path in (ROOT / "tests/compat").glob("*_test.cpp"))
        there = set(re.findall(r"^(?:TYPED_)?TEST(?:_F)?\(\w+, (\w+)\)", sources, re.MULTILINE))
        named = tests_named_in((ROOT / "docs/guide/from-eventpp.md").read_text())
        self.assertGreater(len(named), 50)
        self.assertEqual([name for name in named if name not in there
                          and not (ROOT / name).exists()
                          and not (ROOT / "tests/compat" / name).exists()], [])
        self.assertEqual(sorted(there - set(named)), [], "tests that the guide does not name")

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
    unittest.main()
