# SPDX-License-Identifier: MIT
"""Where the program writes: whatever the name and the place are, the file is there as a whole, or
one line says why not; nobody may do more with it than with the one before; and what was measured is
shown in any case."""

import json
import os
import shutil
import stat
import subprocess
import unittest

import synthetic_results as synthetic
from copy_cp_test import ACCESS_LIST as LIST, access_list
from lab_support import ONCE, PROGRAM, LabTest

NOBODY = 65534
needs_root = unittest.skipUnless(os.geteuid() == 0, "only root gives files away or is another")


def list_of(user, rights, group=0):
    """Owner rw-, one user, the group, a mask that is all, others nothing."""
    none = 0xFFFFFFFF
    return access_list((0x01, 6, none), (0x02, rights, user), (0x04, group, none),
                       (0x10, 7, none), (0x20, 0, none))


class Outputs(LabTest):
    def setUp(self):
        super().setUp()
        self.write("r.json", synthetic.overview())
        self.csv = self.run_lab("export", "r.json", "--to", "csv").stdout

    def export_to(self, path, program=PROGRAM, **how):
        return subprocess.run([program, "export", "r.json", "--to", "csv", "-o", path],
                              cwd=self.folder, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, **how)

    def assert_written(self, path, **how):
        done = self.export_to(path, **how)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), path)
        self.assertEqual((self.folder / path).read_text(), self.csv)

    def assert_one_line(self, path, words, **how):
        done = self.export_to(path, **how)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1),
                         done.stderr)
        self.assertIn(words, done.stderr)

    def test_names_of_every_length(self):
        before = self.files()
        for letter in ("a", "\u4f60"):
            for length in (1, 100, 107, 143, 200, *range(240, 256)):
                name = letter * max(1, length // len(letter.encode()))
                for _ in range(2):  # once new, once in the place of another
                    self.assert_written(name)
                (self.folder / name).unlink()
        self.assert_one_line("a" * 256, "File name too long")
        self.assert_one_line("a" * 256 + "/x.csv", "File name too long")
        self.assertEqual(self.files(), before)

    def test_the_mode_of_the_old_file_stays(self):
        umask = os.umask(0o022)
        os.umask(umask)
        for mode in (0o600, 0o640, 0o644, 0o400, 0o666, 0o660):
            (self.folder / "x.csv").write_text("old")
            (self.folder / "x.csv").chmod(mode)
            self.assert_written("x.csv")
            self.assertEqual(stat.S_IMODE((self.folder / "x.csv").stat().st_mode), mode)
            (self.folder / "x.csv").unlink()
        self.assert_written("x.csv")
        self.assertEqual(stat.S_IMODE((self.folder / "x.csv").stat().st_mode), 0o666 & ~umask)

    @needs_root
    def test_the_owner_of_the_old_file_stays(self):
        (self.folder / "x.csv").write_text("old")
        (self.folder / "x.csv").chmod(0o600)
        os.chown(self.folder / "x.csv", NOBODY, NOBODY)
        self.assert_written("x.csv")
        now = (self.folder / "x.csv").stat()
        self.assertEqual((now.st_uid, now.st_gid, stat.S_IMODE(now.st_mode)),
                         (NOBODY, NOBODY, 0o600))

    def test_the_access_list_of_the_old_file_stays(self):
        old = self.folder / "x.csv"
        old.write_text("old")
        try:
            os.setxattr(old, LIST, list_of(4242, 6))
        except OSError:
            self.skipTest("no access lists here")
        before = os.getxattr(old, LIST)
        self.assert_written("x.csv")
        self.assertEqual(os.getxattr(old, LIST), before)

    def test_a_link_stays_and_what_it_leads_to_is_written(self):
        (self.folder / "there").mkdir()
        (self.folder / "link.csv").symlink_to("there/x.csv")
        self.assert_written("link.csv")
        self.assertTrue((self.folder / "link.csv").is_symlink())
        (self.folder / "round").symlink_to("round")
        self.assert_one_line("round", "Too many levels of symbolic links")
        (self.folder / "first").symlink_to(self.folder / "second")
        (self.folder / "second").symlink_to("there/x.csv")
        self.assert_written("first")
        self.assertEqual([path.is_symlink() for path in map(self.folder.joinpath,
                                                            ("first", "second"))], [True, True])

    @needs_root
    def test_where_nothing_may_be_made_a_line_says_so(self):
        self.folder.chmod(0o755)
        # Not the one below a home that others may not enter.
        program = shutil.copy(PROGRAM, self.folder)
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "program": program}
        closed = self.folder / "closed"
        closed.mkdir(mode=0o700)
        self.assert_one_line("closed/x.csv", "Permission denied", **other)
        self.assert_one_line("x.csv", "Permission denied", **other)
        # A file of one's own in a folder of somebody else's.
        (self.folder / "x.csv").touch()
        os.chown(self.folder / "x.csv", NOBODY, NOBODY)
        self.assert_written("x.csv", **other)

    @needs_root
    def test_a_group_that_cannot_be_kept_leaves_no_rights_to_another(self):
        self.folder.chmod(0o777)
        program = shutil.copy(PROGRAM, self.folder)
        old = self.folder / "x.csv"
        old.touch()
        os.chown(old, 0, 4321)
        old.chmod(0o664)
        self.assert_written("x.csv", user=NOBODY, group=NOBODY, extra_groups=[], program=program)
        now = old.stat()
        # Its group may do no more than all others could.
        self.assertEqual((now.st_uid, stat.S_IMODE(now.st_mode)), (NOBODY, 0o644))

    def in_own_mounts(self, line, *arguments):
        """Runs a line of a shell with mounts of its own."""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", line, "sh", *arguments],
                              cwd=self.folder, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL)
        if "unshare" in done.stderr or "mount:" in done.stderr or "mount failed" in done.stderr:
            self.skipTest("no mounts of one's own here")
        return done

    def test_a_file_that_is_mounted_by_itself_is_written(self):
        for name in ("host", "mounted.json"):
            (self.folder / name).touch()
        done = self.in_own_mounts(
            'mount --bind host mounted.json && exec "$@"', PROGRAM, "run", "machine", "--metrics",
            "system_call", *ONCE, "--output", "mounted.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("system_call", done.stdout)
        self.assertEqual(len(json.loads((self.folder / "host").read_text())["rows"]), 1)

    def test_what_was_measured_is_shown_though_it_cannot_be_kept(self):
        (self.folder / "full").mkdir()
        done = self.in_own_mounts(
            'mount -t tmpfs -o size=4k tmpfs full && head -c 4096 /dev/zero > full/other && '
            'exec "$@"', PROGRAM, "run", "machine", "--metrics", "system_call", *ONCE,
            "--output", "full/x.json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("full/x.json: cannot be written: No space left", done.stderr)
        self.assertIn("system_call", done.stdout)
