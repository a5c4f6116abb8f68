# SPDX-License-Identifier: MIT
"""`handoff try`: a loop of the user's own under every way. What breaks is named and not timed."""

import os
import shutil
import subprocess
from pathlib import Path

from lab_support import NO_TIME, SOURCE, LabTest
from left_behind import assert_nothing_left

COMPILER = os.environ["HANDOFF_COMPILER"]
THREADS = {"own.thread_team", "own.pool", "own.pool.tasks", "own.event_queue", "own.workers",
           "peer.openmp", "peer.onetbb", "peer.std_thread", "peer.std_async"}
FAST = ("--no-probe", "--launches", "1", *NO_TIME, "--width", "2")


class Try(LabTest):
    @classmethod
    def compiled(cls, folder, kernel, *flags, name=None):
        path = Path(folder) / f"{name or kernel}.so"
        subprocess.run([COMPILER, "-std=c++17", "-O1", "-fPIC", "-shared", f"-DKERNEL={kernel}",
                        f"-I{SOURCE / 'include'}", *flags,
                        str(SOURCE / "tests" / "lab" / "kernels" / "kernel.cpp"), "-o", str(path)],
                       check=True)
        return path

    def tried(self, kernel, *arguments, exit_code):
        path = self.compiled(self.folder, kernel)
        done = self.run_lab("try", path, *FAST, *arguments, "--output", "out.json")
        allowed = (0, 4) if exit_code is None else (exit_code,)  # 4: too noisy to tell
        self.assertIn(done.returncode, allowed, done.stdout + done.stderr)
        result = self.result_in("out.json")
        assert_nothing_left(self)
        return done.stdout, {row["contender"]: row for row in result["rows"]}

    def assert_unsafe(self, kernel, reason, *arguments):
        """Serially all is well, under threads it breaks; no row has a time."""
        text, rows = self.tried(kernel, *arguments, exit_code=1)
        self.assertTrue(text.startswith("stay serial: the kernel is not safe"), text)
        broken = {name for name, row in rows.items() if row["status"] in ("wrong", "failed")}
        self.assertTrue(broken and broken <= THREADS, rows)
        for name, row in rows.items():
            self.assertIsNone(row["median"], row)
            if name in broken:
                self.assertRegex(row["reason"], reason)
            else:
                self.assertEqual(row["status"], "unavailable", row)
        self.assertRegex(text.splitlines()[1], reason)
        return rows

    def test_a_race_is_named(self):
        self.assert_unsafe("race", "^ *[^:]*:? ?(digest|its digest changes)", "--contenders",
                           "own.thread_team,own.event_queue,peer.openmp")

    def test_a_crash_off_the_main_thread_is_named(self):
        self.assert_unsafe("crash", r"crashed with SIGSEGV")

    def test_a_hang_is_named_within_the_limit(self):
        rows = self.assert_unsafe("hang", r"hung .* \(more --limit waits longer\)", "--limit",
                                  "0.5", "--contenders", "own.thread_team,peer.std_thread")
        self.assertEqual(rows["peer.std_thread"]["status"], "failed")

    def test_a_process_that_is_ended_is_named(self):
        self.assert_unsafe("leave", r"ended with exit code 0 in a burst", "--contenders",
                           "own.workers,peer.std*")

    def test_an_exception_is_named_with_its_text(self):
        self.assert_unsafe("throw", r"the kernel threw: no more rows", "--contenders",
                           "own.pool*,own.workers,peer.onetbb")

    def assert_broken_serially(self, kernel, reason):
        text, rows = self.tried(kernel, exit_code=1)
        self.assertTrue(text.startswith("take no way: the kernel does not even run serially\n"),
                        text)
        self.assertRegex(text.splitlines()[1], "^  serial: .*" + reason)
        self.assertEqual({row["median"] for row in rows.values()}, {None})

    def test_what_does_not_run_serially_is_named(self):
        self.assert_broken_serially("crash_always", "crashed with SIGABRT")
        self.assert_broken_serially("hidden", "its result depends on the order of its items")
        self.assert_broken_serially("restless", "its digest changes from pass to pass")
        self.assert_broken_serially("of_a_process", "digest .*, but the first serial run had")

    def test_a_sound_kernel_is_ranked(self):
        text, rows = self.tried("sound", exit_code=None)
        self.assertRegex(text, r"^(take|stay serial|too noisy)")
        self.assertIn("every result was the serial one", text)
        self.assertIn("\nthe code for ", text)
        self.assertIn("ProcessTeam: its result does not lie in memory that processes share", text)
        self.assertEqual({name for name, row in rows.items() if row["status"] == "ok"},
                         THREADS | {"limit.serial"})
        self.assertEqual(rows["own.process_team"]["status"], "unavailable")
        for row in rows.values():
            if row["status"] == "ok":
                self.assertGreater(row["figures"]["busy_ns"], 0)

    def test_processes_run_what_writes_to_memory_that_was_given(self):
        _, rows = self.tried("shared", "--contenders", "own.process_team,own.pool", exit_code=None)
        self.assertEqual({name: row["status"] for name, row in rows.items()},
                         {"limit.serial": "ok", "own.process_team": "ok", "own.pool": "ok"})

    def test_what_is_no_kernel_is_refused(self):
        sound = self.compiled(self.folder, "sound")
        (self.folder / "text.so").write_text("no object")
        (self.folder / "folder.so").mkdir()
        other = bytearray(sound.read_bytes())
        other[18] ^= 0x55  # the machine
        (self.folder / "other.so").write_bytes(other)
        (self.folder / "half.so").write_bytes(sound.read_bytes()[:3000])
        subprocess.run([COMPILER, "-c", "-x", "c++", "/dev/null", "-o", str(self.folder / "a.o")],
                       check=True)
        kernels = {"empty": "items() says 0", "newer": "of version 99", "short_one": "8 bytes",
                   "incomplete": "one of items, run, reset and digest is null",
                   "refuses": "its setup() returned 7"}
        for kernel in kernels:
            self.compiled(self.folder, kernel)
        self.compiled(self.folder, "sound", "-DNO_SYMBOL", name="bare")
        self.compiled(self.folder, "sound", "-DUNDEFINED", name="undefined")
        for name, words in {"none.so": "there is no such file", "text.so": "no shared object",
                            "folder.so": "no file", "a.o": "no shared object",
                            "other.so": "another processor", "half.so": "ends too early",
                            "bare.so": "it has no handoff_try_entry()",
                            "undefined.so": "undefined symbol",
                            **{f"{name}.so": words for name, words in kernels.items()}}.items():
            with self.subTest(name):
                self.assert_refused("try", name, *FAST, mentions=(name, words))

    def test_what_cannot_be_asked_for_is_refused(self):
        self.assert_refused("try", mentions=("--new DIR",))
        self.assert_refused("try", "--new", "a", "b.so", mentions=("takes no kernel",))
        sound = self.compiled(self.folder, "sound")
        self.assert_refused("try", sound, "--limit", "0", mentions=("0.1 to 3600",))
        self.assert_refused("try", sound, "--width", "0", mentions=("'width'",))
        self.assert_refused("try", sound, "--contenders", "own.tram",
                            mentions=("no contender matches 'own.tram'",))
        self.assert_refused("try", sound, "--output", "no/out.json", mentions=("no/out.json",))

    TSAN = ("-fsanitize=thread", "-g")

    def looked_at(self, kernel, exit_code):
        path = self.compiled(self.folder, kernel, *self.TSAN)
        done = self.run_lab("try", "--tsan", path, "--width", "2")
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        assert_nothing_left(self)
        return done.stdout

    def test_thread_sanitizer_tells_a_race_by_its_line(self):
        text = self.looked_at("race", exit_code=1)
        self.assertRegex(text, "^a race: data race .*kernel.cpp:[0-9]+")
        self.assertRegex(text, "(Write|Read) of size 8(.|\n)*#0 ")

    def test_thread_sanitizer_sees_none_in_a_sound_kernel(self):
        self.assertEqual(self.looked_at("sound", exit_code=0),
                         "no race: ThreadSanitizer saw none in 64 items on 2 threads\n")
        self.assertIn("no race was seen, but the kernel is broken: crashed",
                      self.looked_at("crash_always", exit_code=1))

    def test_what_is_built_for_the_other_one_is_refused(self):
        self.compiled(self.folder, "sound")
        self.compiled(self.folder, "sound", *self.TSAN, name="tsan")
        self.compiled(self.folder, "empty", *self.TSAN)
        self.assert_refused("try", "--tsan", "sound.so", mentions=("-fsanitize=thread",))
        self.assert_refused("try", "tsan.so", mentions=("handoff try --tsan",))
        self.assert_refused("try", "--tsan", "empty.so", mentions=("items() says 0",))
        self.assert_refused("try", "--tsan", "none.so", mentions=("no such file",))

    def test_it_is_no_part_of_a_run(self):
        self.assertNotIn("own.event_queue ", self.run_lab("list").stdout)
        self.assert_refused("run", "try", mentions=("there is no scenario or rung 'try'",))


class NewProject(LabTest):
    FILES = ["CMakeLists.txt", "Makefile", "README.md", "kernel.cpp", "try_kernel.h"]

    def test_it_is_made_compiled_and_ranked(self):
        done = self.run_lab("try", "--new", "mine")
        self.assertEqual((done.returncode, self.files()), (0, ["mine"]), done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "mine").iterdir()),
                         self.FILES)
        subprocess.run(["make", "-s", "-C", "mine", f"CXX={COMPILER}",
                        "CXXFLAGS=-O2 -Werror"], cwd=self.folder, check=True)
        for compiler in filter(shutil.which, {COMPILER, "clang++-19"}):
            subprocess.run(["make", "-s", "-B", "-C", "mine", f"CXX={compiler}", "tsan"],
                           cwd=self.folder, check=True)
            done = self.run_lab("try", "--tsan", "mine/kernel_tsan.so", "--width", "2")
            self.assertEqual((done.returncode, done.stdout[:8]), (0, "no race:"),
                             compiler + done.stdout + done.stderr)
        rows = self.result_of("try", "mine/kernel.so", *FAST, "--contenders",
                              "own.thread_team,own.process_team", exit_code=None)["rows"]
        self.assertEqual([row["status"] for row in rows], ["ok"] * 3, rows)

    def test_nothing_is_replaced(self):
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "Makefile").write_text("all:\n")
        self.assert_refused("try", "--new", "mine", mentions=("mine/Makefile", "there already"))
        self.assertEqual([path.name for path in mine.iterdir()], ["Makefile"])
        self.assertEqual((mine / "Makefile").read_text(), "all:\n")
        (mine / "Makefile").unlink()
        (mine / "notes").write_text("mine")
        self.assertEqual(self.run_lab("try", "--new", "mine/").returncode, 0)
        self.assertEqual(sorted(path.name for path in mine.iterdir()),
                         sorted([*self.FILES, "notes"]))

    def test_where_it_cannot_be_is_refused(self):
        (self.folder / "file").write_text("")
        self.assert_refused("try", "--new", "file", mentions=("file", "no folder"))
        self.assert_refused("try", "--new", "no/mine", mentions=("no such folder",))
        self.assert_refused("try", "--new", "", mentions=("--new",))
