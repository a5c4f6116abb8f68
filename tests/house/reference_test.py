# SPDX-License-Identifier: MIT
"""The reference: every public name has a description, and the tool tells where one is missing."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "reference"))
import reference  # noqa: E402  (found by the line above)

HEADER = """\
// SPDX-License-Identifier: MIT
//
// A box.
//
//   Box box(3);
//
// For: things. Not for: air.
// Blocks: never.
#pragma once

namespace handoff { inline namespace HANDOFF_ABI {

// How it is closed.
enum class [[nodiscard("whether it holds")]] Lid {
  loose,  // it may fall off
  tight,
};

class [[nodiscard("open it")]] Box {
 public:
  Box() = default;

  // Room for so many.
  explicit Box(int size)
      : size_(size) {}

  // How many there are, and whether there are none.
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void shake() {
    // Comments inside of functions are nobody's description.
    ++size_;
  }

 private:
  int size_ = 0;
};

}}  // namespace handoff::HANDOFF_ABI
"""


def make_root(folder, header):
    place = folder / "include" / "handoff" / "attic"
    place.mkdir(parents=True)
    (place / "box.hpp").write_text(header)
    (folder / "docs" / "guide").mkdir(parents=True)
    (folder / "README.md").write_text("# attic\n\nA Box holds things.\n")
    return folder


class ReferenceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def missing(self, header):
        output = self.folder / "output"
        output.mkdir()
        names, missing = reference.undescribed(make_root(self.folder / "root", header), output)
        return {name.name.removeprefix("handoff::") for name in names}, {
            name.name.removeprefix("handoff::") for name in missing}

    def test_each_public_name_is_described(self):
        output = self.folder / "output"
        output.mkdir()
        names, missing = reference.undescribed(ROOT, output)
        self.assertGreater(len(names), 300)
        self.assertEqual([f"{name.place}: {name.kind} {name.name}" for name in missing], [],
                         "say what it is in a comment above it")
        page = (output / "html" / "classhandoff_1_1ThreadPool.html").read_text()
        self.assertIn("Blocks", page)
        self.assertIn("submit", page)

    def test_what_is_not_described_is_told(self):
        names, missing = self.missing(HEADER)
        self.assertLessEqual({"Box", "Box::Box", "Box::size", "Box::empty", "Lid", "Lid::loose"},
                             names)
        self.assertEqual(missing, {"Box::shake", "Lid::tight"})

    def test_private_names_and_detail_are_nobodys_business(self):
        names, missing = self.missing(HEADER.replace(
            "class [[nodiscard(\"open it\")]] Box {",
            "namespace detail {\nclass Nail {\n public:\n  int length();\n};\n"
            "}  // namespace detail\n\nclass Box {"))
        self.assertNotIn("Box::size_", names)
        self.assertFalse([name for name in names if "Nail" in name])
        self.assertEqual(missing, {"Box::shake", "Lid::tight"})

    def test_a_head_comment_becomes_that_of_the_type(self):
        text = reference.converted(HEADER, "box")
        self.assertIn("/// ~~~{.cpp}\n/// Box box(3);\n", text)
        self.assertIn("/// - **Blocks:** never.\nclass [[nodiscard(\"open it\")]] Box {", text)
        self.assertIn("loose,  ///< it may fall off", text)
        self.assertNotIn("HANDOFF_ABI", text)


if __name__ == "__main__":
    unittest.main()
