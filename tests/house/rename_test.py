# SPDX-License-Identifier: MIT
"""tools/rename-v0.2: what a program for 0.2 becomes, and what it leaves alone."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "rename-v0.2"

BECOMES = [
    ("catch (const handoff::FileError& e)", "catch (const std::system_error& e)"),
    ("catch (const handoff::WorkerDied& e) { log(e.end().kind); }",
     "catch (const handoff::WorkFailed& e) { log(e.lost().end.kind); }"),
    ("catch (const handoff::WorkerDied& e) { log(e.attempts()); } "
     "catch (const handoff::KernelFailure& e) { log(e.what()); }",
     "catch (const handoff::WorkFailed& e) { log(e.lost().attempts); }"),
    ("using Log = handoff::MessageBus<Line>;\nvoid end(Log& log) { log.close(); }",
     "using Log = handoff::MessageBus<Line>;\nvoid end(Log& log) { log.shut(); }"),
    ("handoff::BasicActiveObject<Waits, State, Line> object;",
     "handoff::ActiveObject<State, Line> object;"),
    ("if (ring.was_empty()) sleep();", "if (ring.empty()) sleep();"),
    ("bucket.submit(gpu);", "bucket.dispatch(gpu);"),
    ("ScopedListener scoped(list.append(f),\n    handoff::Removal::and_wait);",
     "ScopedListener scoped(list.append(f));"),
    ("handoff::ListenerGroup group(handoff::Removal::and_wait);", "handoff::ListenerGroup group;"),
    ("handoff::Status s = desk.submit(Order{1});", "handoff::Status s = desk.publish(Order{1});"),
    ("bus.publish(stop, handoff::Priority::high);",
     "bus.publish(stop, handoff::Admission::urgent);"),
    ("bus.close();", "bus.shut();"),
    ("pool.post(f, {.stop = token, .deadline = late, .name = \"f\"});",
     "pool.post(f, {.name = \"f\", .until = {late, token}});"),
    ("pool.post(f, {.priority = handoff::Priority::high,\n              .stop = token});",
     "pool.post(f, {.until = token,\n              .priority = handoff::Priority::high});"),
    ("files.append(path, bytes, true);", "files.append(path, bytes, {.durable = true});"),
    ("struct Waits : BusPolicies {\n  static constexpr OnFull on_full = OnFull::wait;\n};\n"
     "BasicMessageBus<Waits, int> bus({.capacity = 2});",
     "struct Waits : BusPolicies {\n};\n"
     "BasicMessageBus<Waits, int> bus({.capacity = 2, .on_full = OnFull::wait});"),
    ("MessageWorkers<int> desk({}, book);\n(void)desk.submit(1);\n(void)desk.try_submit(2);",
     "MessageWorkers<int> desk({}, book);\n(void)desk.publish(1);\n(void)desk.try_publish(2);"),
    ("struct Waits : EventPolicies {\n  static constexpr OnFull on_full = OnFull::wait;\n};\n"
     "EventQueue<int, void(), Waits> a;\nEventQueue<int, void(), Waits> b({.capacity = 4});",
     "struct Waits : EventPolicies {\n  static constexpr bool bounded = true;\n};\n"
     "EventQueue<int, void(), Waits> a({.on_full = OnFull::wait});\n"
     "EventQueue<int, void(), Waits> b({.capacity = 4, .on_full = OnFull::wait});"),
]
STAYS = [
    "auto f = pool.submit(describe, 1, 2);",
    "pool.post(f, {.priority = handoff::Priority::high});",
    "channel.close();",
    "pool.close(handoff::Closing::finish);",
    "for (auto i = names.begin(); i != names.end(); ++i) use(*i);",
]


def renamed(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.cpp"
        path.write_text(text)
        subprocess.run([TOOL, path], check=True)
        return path.read_text()


class RenameTest(unittest.TestCase):
    def test_what_has_another_name(self):
        for before, after in BECOMES:
            with self.subTest(before):
                self.assertEqual(renamed(before + "\n"), after + "\n")
                self.assertEqual(renamed(after + "\n"), after + "\n")  # again: as it is

    def test_what_has_none(self):
        for text in STAYS:
            with self.subTest(text):
                self.assertEqual(renamed(text + "\n"), text + "\n")

    def test_without_a_file_it_says_how(self):
        done = subprocess.run([TOOL], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "usage: tools/rename-v0.2 FILE...\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
