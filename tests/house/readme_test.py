# SPDX-License-Identifier: MIT
"""What the texts show is what there is: README's example, links, folders and presets."""

import json
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "01_thread_team.cpp"
MARK = "// [readme]\n"
LINES_MAX = 15


def block(text, language):
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)


def texts():
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("lab/*.md")]


def broken_links(folder, text):
    prose = re.sub(r"^```.*?^```$|`[^`]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose)
    return [link for link in links if not (folder / link).exists()]


class ReadmeTest(unittest.TestCase):
    def test_the_example_is_cut_out_of_a_compiled_file(self):
        cut = EXAMPLE.read_text().split(MARK)[1]
        self.assertEqual(block((ROOT / "README.md").read_text(), "cpp"), cut)
        self.assertLessEqual(sum(1 for line in cut.splitlines() if line.strip()), LINES_MAX)

    def test_links_lead_somewhere(self):
        for path in texts():
            self.assertEqual(broken_links(path.parent, path.read_text()), [], path)

    def test_a_broken_link_is_found(self):
        text = "[a](README.md) [b](nowhere.md#part) [c](https://example.org) [d](#here) `[e](f)`"
        self.assertEqual(broken_links(ROOT, text), ["nowhere.md"])

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
