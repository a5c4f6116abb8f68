# SPDX-License-Identifier: MIT
"""tools/translations: a tree whose translation is up to date, and one fault after the other."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "translations"

ENGLISH = """# Title

Two words.

<!-- measured -->
| 7 |
<!-- /measured -->

## Code

```cpp
f();  // calls f
# no heading
```
"""
CHINESE = """<!-- whole README.md -->
<!-- of README.md # Title, 0 -->
# T

<!-- of README.md # Code, 0 -->
## C

```cpp
f();  // F
```
"""


class TranslationsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("README.md", ENGLISH)
        self.write("README.zh.md", CHINESE)
        self.assertEqual(self.run_tool("--renew", self.root / "README.zh.md"), (0, ""))

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def change(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, TOOL, "--root", self.root, *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_found(self, *words):
        code, said = self.run_tool()
        self.assertEqual(code, 1, said)
        self.assertEqual(said.count("\n"), 1, said)
        for word in words:
            self.assertIn(word, said)

    def test_what_is_up_to_date_passes(self):
        self.assertEqual(self.run_tool(), (0, ""))

    def test_line_breaks_and_measured_figures_do_not_count(self):
        self.change("README.md", "Two words.", "Two\nwords.")
        self.change("README.md", "| 7 |", "| 8 |")
        self.assertEqual(self.run_tool(), (0, ""))

    def test_a_section_that_has_fallen_behind_is_named_until_it_is_renewed(self):
        self.change("README.md", "Two words.", "Two other words.")
        self.assert_found("README.zh.md:2: README.md, section 'Title' has changed",
                          "tools/translations --renew README.zh.md")
        self.assertEqual(self.run_tool("--renew", self.root / "README.zh.md"), (0, ""))

    def test_a_section_that_is_gone_is_found(self):
        self.change("README.zh.md", "# Title,", "# No title,")
        code, said = self.run_tool()
        self.assertEqual(code, 1)
        self.assertIn("README.zh.md:2: there is no README.md, section 'No title'", said)

    def test_a_section_that_is_not_translated_is_found(self):
        self.change("README.md", "## Code", "## New\n\n## Code")
        self.assert_found("README.zh.md:1: README.md, section 'New' is not translated")

    def test_a_section_without_a_mark_is_found(self):
        self.change("README.zh.md", "## C\n", "## C\n\n## D\n")
        code, said = self.run_tool()
        self.assertEqual(code, 1)
        self.assertIn("no mark above 'D'", said)
        self.change("README.zh.md", "## D\n", "<!-- own -->\n## D\n")
        self.assertEqual(self.run_tool(), (0, ""))

    def test_a_mark_without_a_heading_is_found(self):
        self.change("README.zh.md", "# T\n", "\n# T\n")
        code, said = self.run_tool()
        self.assertEqual(code, 1)
        self.assertIn("README.zh.md:2: no heading below the mark", said)

    def test_other_code_is_found(self):
        self.change("README.zh.md", "f();", "g();")
        self.assert_found("README.zh.md:5: code that README.md, section 'Code' does not have",
                          "g();")

    def test_what_is_no_translation_is_not_renewed(self):
        code, said = self.run_tool("--renew", self.root / "README.md")
        self.assertEqual(code, 2)
        self.assertIn("README.md is no translation", said)


if __name__ == "__main__":
    unittest.main()
