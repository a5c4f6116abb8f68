# SPDX-License-Identifier: MIT
"""What people look for on their first day is found in the guides by the word that they know from
other libraries, with at most five lines of code."""

import re
import unittest
from pathlib import Path

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guide"
LINES_MAX = 5

# With code in a section of some guide.
SHOWN = ("std::async", "when_any", "shared_future", "setInterval", "periodic", "thread_local",
         "enumerable_thread_specific", "std::jthread", "timeout", "semaphore", "rate limit")
# In the table of the first day, beside a link to where it is shown.
LINKED = ("strand", "scoped_connection")


def sections(text):
    """Each heading with what stands below it."""
    return re.split(r"^(?=#+ )", text, flags=re.MULTILINE)


def is_shown(word, section):
    code = re.search(r"^```cpp\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    heading = section.split("\n", 1)[0]
    return bool(code) and word in heading and code.group(1).count("\n") <= LINES_MAX


def not_found(shown, linked, guides):
    """The words that nobody finds. guides: {name: text}"""
    found = [section for text in guides.values() for section in sections(text)]
    rows = [row for row in guides.get("first-day.md", "").splitlines() if row.startswith("|")]
    return ([word for word in shown if not any(is_shown(word, section) for section in found)]
            + [word for word in linked
               if not any(word in row and re.search(r"\]\([\w.#-]+\)", row) for row in rows)])


class FirstDayTest(unittest.TestCase):
    def test_each_word_is_found(self):
        guides = {path.name: path.read_text() for path in GUIDES.glob("*.md")}
        self.assertEqual(not_found(SHOWN, LINKED, guides), [])

    def test_what_is_missing_is_named(self):
        short = "## A: `here`\n```cpp\nf();\n```\n## B: `bare`\nno code\n"
        long = "## C: `long`\n```cpp\n" + "f();\n" * (LINES_MAX + 1) + "```\n"
        table = "| a strand | [Pools](pools.md) |\n| no_link | Pools |\n"
        guides = {"a.md": short + long, "first-day.md": table}
        self.assertEqual(not_found(["here", "bare", "long", "absent"],
                                   ["strand", "no_link", "nowhere"], guides),
                         ["bare", "long", "absent", "no_link", "nowhere"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
