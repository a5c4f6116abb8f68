# SPDX-License-Identifier: MIT
"""The two commands `run` and `check` where things are missing, wrong or fail.

Each test copies the scripts into a temporary project and gives them a folder of stand-ins for the
programs they call (dpkg-query, apt-get, cmake, ctest, ...), which is all that PATH names. A
stand-in writes its name and arguments to a record, so a test sees what was asked of the system.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from terminal import call_at_a_terminal, terminals_exist  # noqa: E402  (found by the line above)

REAL = ("bash", "basename", "cat", "date", "dirname", "env", "grep", "kill", "mkdir", "sed",
        "sleep", "tail", "tr")
STAND_INS = {
    "dpkg-query": 'for p in $(cat "$STATE/installed"); do echo "installed $p"; done',
    "apt-get": '''case "$*" in
*--print-uris*) printf "%s\\n" "Need to get 12.5 MB of archives." \\
  "After this operation, 170 MB of additional disk space will be used." "'http://a.deb' a.deb 1" ;;
*--no-remove*) echo "$*" | tr " " "\\n" >> "$STATE/installed" ;;
esac''',
    "cmake": "true",
    "ctest": "echo '100% tests passed, 0 tests failed out of 7'",
    "git": 'case "$1" in rev-parse) echo c0ffee ;; esac',
    "id": "echo 0",
    "nproc": "echo 2",
}


class Project:
    """A copy of the two commands with stand-ins for the system around them."""

    def __init__(self, folder):
        self.root = Path(folder, "a project")  # a path with a space must do
        self.state = Path(folder, "state")
        self.bin = Path(folder, "bin")
        self.caller = Path(folder, "caller")
        for path in (self.root / "tools", self.root / ".ci", self.state, self.bin, self.caller):
            path.mkdir(parents=True)
        for name in ("run", "check", ".ci/run", "tools/house.sh", "tools/packages.sh"):
            shutil.copy(ROOT / name, self.root / name)
        for name in REAL:
            (self.bin / name).symlink_to(shutil.which(name))
        for name, script in STAND_INS.items():
            self.stand_in(name, script)
        program = self.root / "build" / "release" / "handoff"
        program.parent.mkdir(parents=True)
        self.write_script(program, "handoff", 'pwd > "$STATE/folder"; case "$*" in\n'
                          '*--targets) echo "one_target"; echo "another" ;; *) exit 3 ;; esac')
        self.write_script(self.root / "tools" / "beside_neighbours", "beside_neighbours",
                          'echo "deep=${HANDOFF_TEST_DEEP-no}" >> "$STATE/record"')
        self.write_script(self.root / "tools" / "seconds", "seconds", 'echo "where they went" >&2')
        (self.state / "installed").write_text("")
        self.install_all()

    def write_script(self, path, name, script):
        head = f'#!{shutil.which("bash")}\necho {name} "$@" >> "$STATE/record"\n'
        path.write_text(f"{head}{script}\n", encoding="ascii")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def stand_in(self, name, script):
        self.write_script(self.bin / name, name, script)

    def remove(self, name):
        (self.bin / name).unlink()

    def install_all(self):
        listed = subprocess.run(
            ["bash", "-c", 'source tools/packages.sh; printf "%s\\n" "${packages_check[@]}"'],
            cwd=self.root, capture_output=True, text=True, check=True)
        (self.state / "installed").write_text(listed.stdout)

    def uninstall(self, name):
        path = self.state / "installed"
        path.write_text("".join(f"{p}\n" for p in path.read_text().split() if p != name))

    def settings(self):
        return {"cwd": self.caller, "env": {"PATH": str(self.bin), "STATE": str(self.state)}}

    def call(self, *command):
        return subprocess.run(
            [self.root / command[0], *command[1:]], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False, timeout=60, **self.settings())

    def call_at_a_terminal(self, answer, *command):
        return call_at_a_terminal(answer, self.root / command[0], *command[1:], **self.settings())

    def record(self):
        path = self.state / "record"
        return path.read_text().splitlines() if path.exists() else []


class CommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = Project(folder.name)

    def expect_refusal(self, done, words):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(words, done.stderr.splitlines()[-1])
        asked = [line for line in self.project.record()
                 if not line.startswith(("dpkg", "git", "id"))]
        self.assertEqual(asked, [], "nothing may be done after a refusal")

    def test_run_passes_arguments_exit_code_and_folder_on(self):
        done = self.project.call("run", "matmul", "--set", "n=512")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.project.record()[-1], "handoff run matmul --set n=512")
        self.assertEqual((self.project.state / "folder").read_text().strip(),
                         os.path.realpath(self.project.caller))

    def test_run_without_arguments_writes_a_report_below_the_current_folder(self):
        self.project.call("run")
        self.assertEqual(self.project.record()[-1], "handoff run --quick --output "
                         "report/results.json --page report/index.html")
        self.assertTrue((self.project.caller / "report").is_dir())

    def targets(self):
        """What was to be built, build by build; nothing: all of it."""
        return [line.partition("--target ")[2] for line in self.project.record()
                if line.startswith("cmake --build")]

    def test_run_builds_what_its_arguments_need(self):
        done = self.project.call("run", "matmul", "--set", "n=512")
        self.assertEqual(self.targets(), ["handoff_program", "one_target another"])
        self.assertIn("handoff run matmul --set n=512 --targets", self.project.record())
        self.assertRegex(done.stderr, r"(?m)^build release handoff_program: \d+ s\n"
                         r"build release 2 targets: \d+ s$")

    def test_run_all_builds_and_measures_all(self):
        self.project.call("run", "--all")
        self.assertEqual(self.targets(), [""])
        self.assertEqual(self.project.record()[-1], "handoff run --output report/results.json "
                         "--page report/index.html")

    def test_run_ends_where_the_program_refuses_its_arguments(self):
        program = self.project.root / "build" / "release" / "handoff"
        self.project.write_script(program, "handoff", "echo 'handoff: no such' >&2; exit 2")
        done = self.project.call("run", "matmull")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, "handoff: no such"))
        self.assertEqual(self.targets(), ["handoff_program"])

    def test_run_builds_no_contender_to_show_help_of_the_program(self):
        self.project.call("run", "matmul", "--help")
        self.assertEqual(self.targets(), ["handoff_program"])
        self.assertEqual(self.project.record()[-1], "handoff run matmul --help")

    def test_run_names_a_folder_it_cannot_make(self):
        (self.project.caller / "report").write_text("in the way")
        done = self.project.call("run")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot make the folder report", done.stderr.splitlines()[-1])

    def test_run_build_only_stops_after_the_build(self):
        done = self.project.call("run", "--build-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.project.record()[-1].startswith("cmake --build "))

    def test_help_is_the_head_of_the_script(self):
        for name in ("run", "check"):
            done = self.project.call(name, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(f"./{name} "), done.stdout)
            self.assertIn("--yes", done.stdout)

    def test_root_installs_what_is_missing_and_only_that(self):
        self.project.uninstall("ninja-build")
        done = self.project.call("run", "--build-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("missing packages: ninja-build\n", done.stderr)
        installs = [line for line in self.project.record() if line.startswith("apt-get install")]
        self.assertEqual(installs, ["apt-get install --yes --no-remove --no-install-recommends "
                                    "ninja-build"])

    def test_a_failing_install_is_tried_again_with_fresh_lists_then_shown(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("apt-get", "echo no such thing; exit 100")
        done = self.project.call("run", "--build-only")
        self.assertEqual(done.returncode, 100)
        self.assertIn("no such thing", done.stderr)
        self.assertIn("apt-get update", self.project.record())
        self.assertFalse([line for line in self.project.record() if line.startswith("cmake")])

    def test_an_install_that_brings_nothing_is_noticed(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("apt-get", "true")
        done = self.project.call("run", "--build-only")
        self.assertEqual(done.returncode, 2)
        self.assertIn("still missing after apt-get: ninja-build", done.stderr.splitlines()[-1])

    def test_another_distribution_is_told_the_names(self):
        self.project.remove("apt-get")
        self.expect_refusal(self.project.call("run"), "libcli11-dev")

    def test_no_root_and_no_sudo(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("id", "echo 1000")
        self.expect_refusal(self.project.call("check"), "as root, type: apt-get install")

    def test_no_root_no_terminal_and_no_yes(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("id", "echo 1000")
        self.project.stand_in("sudo", '[ "$1" = -v ] || "$@"')
        self.expect_refusal(self.project.call("check"), "give --yes, or type: sudo apt-get install")

    @unittest.skipUnless(terminals_exist(), "no terminal can be made here")
    def test_a_person_is_asked_before_sudo(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("id", "echo 1000")
        self.project.stand_in("sudo", '[ "$1" = -v ] || "$@"')
        code, seen = self.project.call_at_a_terminal("n\n", "run", "--build-only")
        self.assertEqual(code, 2, seen)
        self.assertIn("install them through sudo?", seen)
        self.assertFalse([line for line in self.project.record() if line.startswith("sudo")])
        code, seen = self.project.call_at_a_terminal("y\n", "run", "--build-only")
        self.assertEqual(code, 0, seen)
        self.assertTrue([line for line in self.project.record() if line.startswith("sudo")])

    def test_yes_installs_through_sudo(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("id", "echo 1000")
        self.project.stand_in("sudo", '[ "$1" = -v ] || "$@"')
        done = self.project.call("run", "--yes", "--build-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-remove "
                      "--no-install-recommends ninja-build", self.project.record())

    def test_a_refusing_sudo(self):
        self.project.uninstall("ninja-build")
        self.project.stand_in("id", "echo 1000")
        self.project.stand_in("sudo", "exit 1")
        done = self.project.call("run", "--yes", "--build-only")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sudo refused", done.stderr.splitlines()[-1])

    def installs(self):
        return [line for line in self.project.record()
                if "apt-get install" in line and "--print-uris" not in line]

    def expect_to_go_on(self, done, words):
        """Built without the library, and not asked of the system."""
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("other libraries to compare with: libpthreadpool-dev "
                      "(12.5 MB to fetch, 170 MB on disk)\n", done.stderr)
        self.assertIn(f"going on without them: {words}", done.stderr)
        self.assertEqual(self.installs(), [])
        self.assertIn("cmake --preset release", self.project.record())

    def test_other_libraries_are_not_installed_where_nobody_can_be_asked(self):
        self.project.uninstall("libpthreadpool-dev")
        self.expect_to_go_on(self.project.call("run", "--build-only"), "nothing installed; give "
                             "--yes, or type: apt-get install --no-remove libpthreadpool-dev")

    def test_other_libraries_without_root_and_sudo(self):
        self.project.uninstall("libpthreadpool-dev")
        self.project.stand_in("id", "echo 1000")
        self.expect_to_go_on(self.project.call("run", "--yes", "--build-only"), "no sudo here; as "
                             "root, type: apt-get install --no-remove libpthreadpool-dev")

    def test_other_libraries_with_a_refusing_sudo(self):
        self.project.uninstall("libpthreadpool-dev")
        self.project.stand_in("id", "echo 1000")
        self.project.stand_in("sudo", "exit 1")
        self.expect_to_go_on(self.project.call("run", "--yes", "--build-only"), "sudo refused; as "
                             "root, type: apt-get install --no-remove libpthreadpool-dev")

    def test_yes_installs_other_libraries(self):
        for name in ("libasio-dev", "libpthreadpool-dev"):
            self.project.uninstall(name)
        done = self.project.call("run", "--yes", "--build-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.installs()), 1)
        self.assertRegex(self.installs()[0], "^apt-get install .*--yes --no-remove "
                         "--no-install-recommends libasio-dev libpthreadpool-dev$")
        self.assertRegex(done.stderr, r"(?m)^install other libraries: \d+ s$")

    def test_a_machine_without_network_goes_on_without_other_libraries(self):
        self.project.uninstall("libpthreadpool-dev")
        self.project.stand_in("apt-get", "echo cannot reach anything; exit 100")
        done = self.project.call("run", "--yes", "--build-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libpthreadpool-dev (size unknown)\n", done.stderr)
        self.assertIn("going on without them: apt-get failed", done.stderr)
        self.assertNotIn("cannot reach anything", done.stderr)
        log = self.project.root / "build" / "peers.log"
        self.assertIn("cannot reach anything", log.read_text())
        self.assertIn("cmake --preset release", self.project.record())

    @unittest.skipUnless(terminals_exist(), "no terminal can be made here")
    def test_a_person_is_asked_once_about_other_libraries_by_root_too(self):
        self.project.uninstall("libpthreadpool-dev")
        code, seen = self.project.call_at_a_terminal("n\n", "run", "--build-only")
        self.assertEqual(code, 0, seen)
        self.assertIn("install them? [Y/n]", seen)
        self.assertEqual(self.installs(), [])
        code, seen = self.project.call_at_a_terminal("y\n", "run", "--build-only")
        self.assertEqual(code, 0, seen)
        self.assertNotIn("install them?", seen)
        self.assertEqual(self.installs(), [])
        self.project.uninstall("libasio-dev")
        code, seen = self.project.call_at_a_terminal("y\n", "run", "--build-only")
        self.assertEqual(code, 0, seen)
        self.assertIn("install them? [Y/n]", seen)
        self.assertIn("libasio-dev libpthreadpool-dev", self.installs()[0])

    def test_yes_installs_what_was_declined(self):
        self.project.uninstall("libpthreadpool-dev")
        (self.project.root / "build" / "peers.declined").write_text("libpthreadpool-dev")
        self.assertNotIn("libpthreadpool-dev", self.project.call("run", "--build-only").stderr)
        self.assertEqual(self.installs(), [])
        self.project.call("run", "--yes", "--build-only")
        self.assertEqual(len(self.installs()), 1)

    def test_check_needs_what_run_only_offers(self):
        self.project.uninstall("libpthreadpool-dev")
        self.assertIn("missing packages: libpthreadpool-dev\n", self.project.call("check").stderr)

    def test_a_failing_build_shows_its_output_and_stops(self):
        self.project.stand_in("cmake", "echo the reason; exit 9")
        done = self.project.call("check")
        self.assertEqual(done.returncode, 9)
        self.assertIn("the reason", done.stderr)
        self.assertIn("build debug failed", done.stderr.splitlines()[-1])
        self.assertNotIn("ctest", " ".join(self.project.record()))

    def test_the_last_lines_of_check_are_those_of_ctest(self):
        for command in ("check", ".ci/run"):
            done = self.project.call(command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, "100% tests passed, 0 tests failed out of 7\n")
            for preset in ("debug", "full", "asan-ubsan", "tsan", "clang"):
                self.assertRegex(done.stderr, rf"(?m)^build {preset}: \d+ s$")

    def test_at_the_end_it_says_where_the_seconds_went(self):
        done = self.project.call("check")
        self.assertEqual(done.stderr.splitlines()[-1], "where they went")
        self.assertRegex(self.project.record()[-1],
                         r"^seconds .*/a project/build \d+ \d+ debug asan-ubsan tsan clang full$")
        self.project.call("check", "--quick")
        self.assertRegex(self.project.record()[-1], r"build \d+ \d+ debug$")

    def test_check_fails_without_them(self):
        self.project.write_script(self.project.root / "tools" / "seconds", "seconds", "exit 4")
        self.assertEqual(self.project.call("check").returncode, 4)

    def test_quick_is_one_build(self):
        done = self.project.call("check", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        builds = [line for line in self.project.record() if line.startswith("cmake --preset")]
        self.assertEqual(builds, ["cmake --preset debug"])

    def test_a_room_is_built_and_tested_alone(self):
        (self.project.root / "tests" / "unit" / "pool").mkdir(parents=True)
        (self.project.root / "tests" / "unit" / "queue").mkdir()
        for words in ([], ["attic"], ["ool"]):
            self.expect_refusal(self.project.call("check", "--room", *words), "pool queue")
        done = self.project.call("check", "--room", "pool")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(any(line.startswith("cmake --build") and line.endswith("--target unit_pool")
                            for line in self.project.record()))
        self.assertIn("-R ^(unit_pool|", self.project.record()[-1])

    def test_long_tests_run_in_a_deep_run_only(self):
        for arguments, left_out in (([], True), (["--quick"], True), (["--deep"], False)):
            self.project.call("check", *arguments)
            run = [line for line in self.project.record() if line.startswith("ctest")][-1]
            self.assertEqual("-LE ^deep$" in run, left_out, run)

    def test_deep_builds_two_presets_more(self):
        done = self.project.call("check", "--deep")
        self.assertEqual(done.returncode, 0, done.stderr)
        builds = [line for line in self.project.record() if line.startswith("cmake --preset")]
        self.assertEqual(builds[-2:], ["cmake --preset asan-explorer", "cmake --preset optimised"])
        self.assertRegex(self.project.record()[-1], r"asan-ubsan .* asan-explorer optimised$")

    def test_deep_tells_the_tests(self):
        self.project.stand_in("ctest", 'echo "deep=$HANDOFF_TEST_DEEP"')
        self.assertEqual(self.project.call("check", "--deep").stdout, "deep=1\n")

    def test_deep_goes_on_beside_neighbours(self):
        self.project.call("check", "--deep")
        build = self.project.root / "build"
        self.assertEqual(self.project.record()[-5:-1],
                         [f"beside_neighbours {build}/debug", "deep=no",
                          f"beside_neighbours {build}/full -R ^stress_", "deep=no"])

    def test_only_deep_does_and_only_after_all_has_passed(self):
        self.project.call("check")
        self.project.stand_in("ctest", "exit 8")
        self.assertNotEqual(self.project.call("check", "--deep").returncode, 0)
        self.assertNotIn("beside_neighbours", " ".join(self.project.record()))

    def test_deep_fails_with_a_test_beside_neighbours(self):
        self.project.write_script(self.project.root / "tools" / "beside_neighbours",
                                  "beside_neighbours", "exit 8")
        self.assertEqual(self.project.call("check", "--deep").returncode, 8)

    def test_figures_asks_the_program(self):
        done = self.project.call("check", "--figures")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.project.record()[-1],
                         "handoff gate tests/figures.toml --keep build/figures/c0ffee")
        self.assertEqual((self.project.state / "folder").read_text(), f"{self.project.root}\n")

    def test_figures_takes_parts(self):
        self.project.call("check", "--figures", "files", "a pool")
        self.assertEqual(self.project.record()[-1],
                         "handoff gate tests/figures.toml --keep build/figures/c0ffee files a pool")

    def test_figures_are_those_of_a_commit(self):
        self.project.stand_in("git", '[ "$1" != diff ]')
        self.expect_refusal(self.project.call("check", "--figures"), "commit what was changed")

    def test_guard_builds_what_its_cells_name_and_asks_the_program(self):
        done = self.project.call("check", "--guard", "HEAD~1")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.targets(), ["handoff_program", "one_target another"])
        said = re.fullmatch("handoff guard tests/guard.toml --ref HEAD~1 --within ([0-9]+)",
                            self.project.record()[-1])
        self.assertTrue(said, self.project.record()[-1])
        self.assertLessEqual(int(said[1]), 25 * 60)

    def test_failing_tests_fail_check_and_name_their_preset(self):
        self.project.stand_in("ctest", 'case "$*" in *rerun-failed*) echo "Labels: tsan";'
                              ' echo "  Test #2: t" ;; *) exit 8 ;; esac')
        done = self.project.call("check")
        self.assertEqual(done.returncode, 8)
        self.assertIn("Labels: tsan\n  Test #2: t\n", done.stderr)

    def test_the_log_of_failing_tests_is_kept(self):
        log = self.project.root / "build" / "Testing" / "Temporary" / "LastTest.log"
        self.project.stand_in("ctest", f'mkdir -p "{log.parent}"; echo "$*" > "{log}"; exit 8')
        self.project.call("check")
        self.assertNotIn("--rerun-failed", log.read_text())

    def test_check_fails_when_it_took_too_long(self):
        path = self.project.root / "check"
        path.write_text(re.sub(r"limit_s=\S+ \* 60\)\)", "limit_s=-1", path.read_text(), count=1))
        done = self.project.call("check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("find what became slow", done.stderr.splitlines()[-1])
        self.assertEqual(self.project.call("check", "--deep").returncode, 0)

    def test_wrong_arguments_of_check(self):
        self.expect_refusal(self.project.call("check", "--slow"), "unknown argument '--slow'")
        self.expect_refusal(self.project.call("check", "--quick", "--deep"), "choose one of")
        self.expect_refusal(self.project.call("check", "--quick", "pool"), "'pool': only --figures")
        self.expect_refusal(self.project.call("check", "--guard"), "needs a commit")


if __name__ == "__main__":
    unittest.main()
