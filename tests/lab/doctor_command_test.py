# SPDX-License-Identifier: MIT
"""`handoff doctor` as a user meets it; its self-test with few comparisons, and next to a process
that burns a core."""

import json
import os

from lab_support import DEEP, LabTest, MISBEHAVING

FINDINGS = ("processor", "caches", "cpus", "siblings", "governor", "pages", "io_uring", "counters",
            "load", "others", "second_CPU", "contenders")
SMALL_TEST = ("doctor", "--self-test", "--equals", "3", "--planted", "2",
              "--canary-launches", "8", "--seed", "7")


class Doctor(LabTest):
    def test_says_the_same_to_people_and_to_tools(self):
        text = self.run_lab("doctor", "--manifest", MISBEHAVING)
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        lines = text.stdout.splitlines()
        tools = self.run_lab("doctor", "--json", "--output", "doctor.json")
        self.assertEqual((tools.returncode, tools.stderr), (0, ""))
        found = json.loads(tools.stdout)
        self.assertEqual(json.loads((self.folder / "doctor.json").read_text()), found)
        self.assertEqual(sorted(found), sorted(FINDINGS))
        for name in FINDINGS:
            self.assertEqual(sorted(found[name]), ["advice", "text", "value"])
            self.assertIn(name, [line[:12].strip().replace(" ", "_") for line in lines])

    def test_names_the_package_of_what_is_missing(self):
        done = self.run_lab("doctor", "--manifest", MISBEHAVING)
        self.assertIn("! matmul peer.absent: apt-get install libmoon-dev", done.stdout)
        found = self.json_of("doctor", "--manifest", MISBEHAVING)
        missing = found["contenders"]["value"]["missing"]
        self.assertEqual(missing["libmoon-dev"], ["matmul peer.absent"])

    def test_refuses_what_makes_no_sense(self):
        self.assert_refused("doctor", "--equals", "5", mentions=("--self-test",))
        self.assert_refused("doctor", "--self-test", "--equals", "0", mentions=("--equals",))
        self.assert_refused("doctor", "--self-test", "--canary-launches", "4",
                            mentions=("--canary-launches",))
        self.assert_refused("doctor", "--self-test", "--output", "no/where.json",
                            mentions=("no/where.json",))



class SelfTest(LabTest):
    beside_a_burner = []

    def self_test_beside_a_burner(self):
        """What both tests look at is run once."""
        if not self.beside_a_burner:
            self.burn(max(1, len(os.sched_getaffinity(0)) // 2))
            self.beside_a_burner.extend(self.self_test())
        return self.beside_a_burner

    def self_test(self):
        done = self.run_lab(*SMALL_TEST, "--json", "--output", "self.json")
        self.assertIn(done.returncode, (0, 3, 4), done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(json.loads((self.folder / "self.json").read_text()), said)
        return done.returncode, said["self_test"]

    def test_counts_what_it_compared(self):
        # Among the other tests of an ordinary run the machine is disturbed either way.
        code, test = self.self_test() if DEEP else self.self_test_beside_a_burner()
        compared = test["comparisons"]
        self.assertEqual((test["equals"], test["planted"], len(compared)), (3, 2, 5))
        self.assertEqual(sum(one["planted"] == 1.05 for one in compared), 2)
        canaries = test["canaries"]
        self.assertEqual(sorted(one["canary"].split()[0] for one in canaries),
                         ["algorithms", "channels", "commands", "events", "forkjoin", "grain",
                          "matmul", "tasks"])
        equal = all(one["verdict"] == "unchanged" for one in canaries)
        self.assertLessEqual(code == 0, equal)  # not believable unless all are equal
        for one in compared + canaries:
            self.assertLessEqual(one["low"], one["high"])
            self.assertIn(one["launches"], (5, 8, 32))
        noisy = [one for one in compared if one["verdict"] == "too noisy"]
        self.assertEqual(test["too_noisy"], len(noisy))
        self.assertEqual(test["believable"], code == 0)

    def test_beside_a_process_that_burns_a_core_it_is_too_noisy(self):
        code, test = self.self_test_beside_a_burner()
        self.assertEqual(code, 4)
        self.assertEqual((test["too_noisy"], test["disturbed"], test["wrong"]), (5, 5, 0))
        self.assertEqual({one["verdict"] for one in test["canaries"]}, {"too noisy"})
