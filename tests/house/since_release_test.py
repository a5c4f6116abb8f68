# SPDX-License-Identifier: MIT
"""What counts as changed since the last release (since_release.py)."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from since_release import changed_files, headers_that_include

PROJECT = "project(handoff VERSION {} LANGUAGES CXX)\n"


class SinceRelease(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("HANDOFF_TEST_DEEP", None)

    def write(self, **files):
        for name, text in files.items():
            path = self.root / "include" / "handoff" / "pool" / f"{name}.hpp"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, version):
        (self.root / "CMakeLists.txt").write_text(PROJECT.format(version))
        for command in (["init", "-q"], ["add", "-A"],
                        ["-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "it"]):
            subprocess.run(["git", "-C", str(self.root), *command], check=True)

    def test_what_changed_and_what_is_new(self):
        self.write(a="", b="#include <handoff/pool/a.hpp>\n", c="",
                   d="#include <handoff/pool/b.hpp>\n")
        self.commit("0.1.0")
        self.write(c="// before the release\n")
        self.commit("0.2.0")
        self.assertEqual(changed_files(self.root), set())
        self.write(a="// after it\n")
        self.commit("0.2.0")
        self.write(new="")
        changed = changed_files(self.root)
        self.assertEqual(changed, {"include/handoff/pool/a.hpp", "include/handoff/pool/new.hpp"})
        self.assertEqual(headers_that_include(changed, self.root),
                         {f"handoff/pool/{name}.hpp" for name in ("a", "b", "d", "new")})

    def test_all_in_a_deep_run_and_without_history(self):
        self.assertIsNone(changed_files(self.root))
        self.write(a="")
        self.commit("0.1.0")
        with mock.patch.dict(os.environ, HANDOFF_TEST_DEEP="1"):
            self.assertIsNone(changed_files(self.root))


if __name__ == "__main__":
    unittest.main()
