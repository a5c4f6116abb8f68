# SPDX-License-Identifier: MIT
"""Canaries of tools/tidy: a clean tree passes, and each rule reports the one fault put into it.

A tree is made in a temporary folder: a few files that obey every rule, and for each canary one
more file with one fault. Tidy must report that file and line, name the rule, and nothing else.
"""

import importlib.machinery
import itertools
import re
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
TIDY = ROOT / "tools" / "tidy"
LICENCE = "SPDX-License-Identifier: MIT"
HEAD = f"// {LICENCE}\n//\n// A part that exists to be looked at by the tests.\n"
HEADER = HEAD + "#pragma once\n\n"  # what follows begins on line 6
UNIT = HEAD + "\n"  # what follows begins on line 5

CLEAN = {
    "include/handoff/config.hpp": HEADER + "#define HANDOFF_ABI abi_0\n",
    "include/handoff/probe/internal/hook.hpp": HEADER + "#include <atomic>\n"
    "std::atomic<int> a;\nint b = a.load(std::memory_order_relaxed);  // order: relaxed, b\n",
    "include/handoff/sync/internal/atomic.hpp": HEADER
    + "#include <atomic>\nusing order = std::memory_order;\n",
    "include/handoff/core/status.hpp": HEADER + "#include <handoff/config.hpp>\n",
    "include/handoff/event/event_queue.hpp": HEADER + "#include <handoff/core/status.hpp>\n",
    "include/handoff/pool/thread_pool.hpp": HEADER
    + "#include <handoff/sync/internal/atomic.hpp>\n",
    "include/handoff/handoff.hpp": HEADER + "#include <handoff/pool/thread_pool.hpp>\n",
    "src/pool/engine.hpp": HEADER + "#include <handoff/pool/thread_pool.hpp>\n",
    "src/pool/thread_pool.cpp": f"// {LICENCE}\n#include <handoff/pool/thread_pool.hpp>\n",
    "src/pool/engine.cpp": f"// {LICENCE}\n" + '#include "engine.hpp"\n',
    "src/pool/orders.cpp": UNIT
    + "int f() { return a.load(order::acquire); }  // order: acquire pairs with store() in g().\n"
    + "// order: both are relaxed: the count publishes nothing.\n"
    + "bool g() { return a.compare_exchange_weak(expected, wanted, order::relaxed,\n"
    + "                                          order::relaxed); }\n"
    + "void end() {\n  // terminate: there is nobody left who could handle this.\n"
    + "  std::terminate();\n}\n",
    "src/sync/internal/descriptor.cpp": UNIT + "int f() { return ::open(p, O_RDONLY); }\n",
    "src/pool/opens.cpp": UNIT
    + "int f() { return descriptors::of_file(p, O_RDONLY); }\n"
    + "// descriptor: a child's own.\nint g() { return ::dup2(1, 2); }\n"
    + "void h() { file.open(p); gate->open(); range_.open(1, 2); open(folder, p, O_RDONLY); }\n"
    + "int socket() { return socket_.socket(); }\nvoid dup(); void pipe();\n",
    "tests/fault/descriptors_test.cpp": UNIT
    + 'const char* files[] = {"src/pool/opens.cpp", "src/sync/internal/descriptor.cpp"};\n',
    "src/pool/literals.cpp": UNIT
    + 'const char* names = "std::mutex printf( // order";  // std::mutex is only spoken of here\n'
    + 'const char* raw = R"(std::thread \' " abort( )";\n'
    + "char quote = '\"'; int million = 1'000'000;\n",
    "explore/engine/memory.cpp": UNIT
    + "bool f(std::memory_order o) { return o == std::memory_order_acquire; }\n"
    + "bool g(order o) { return o == order::acquire; }\n",
    "lab/harness/clock.cpp": UNIT
    + "#include <handoff/handoff.hpp>\n#include <cstdio>\n#include <thread>\n",
    "lab/report/read_result.cpp": UNIT
    + "#include <nlohmann/json.hpp>\nint f(const nlohmann::json& j) { return j.at(\"rows\"); }\n",
    "lab/report/exports.cpp": UNIT
    + "#include <nlohmann/json.hpp>\nnlohmann::json f() { return {{\"low\", 1}}; }\n",
    "tools/helper.py": f"# {LICENCE}\n",
    "README.zh.md": "\u7ebf\u7a0b\u6c60\uff0c" * 30 + "\n",
    "run": f"#!/usr/bin/env bash\n# {LICENCE}\n",
    "picture.png": "no text: \t\n\n",
}


def body(lines):
    return "".join(f"  step({number});\n" for number in range(lines))


CPP_FAULTS = {
    # name of the canary: (path, text after the head, line of the fault, words of the report)
    "include points up": (
        "include/handoff/sync/a.hpp",
        "#include <handoff/core/status.hpp>\n", 6, "includes only point down"),
    "include of a sibling": (
        "include/handoff/event/a.hpp",
        "#include <handoff/pool/thread_pool.hpp>\n", 6, "sibling pool/"),
    "source includes up": (
        "src/core/a.cpp",
        "#include <handoff/pool/thread_pool.hpp>\n", 5, "includes only point down"),
    "source includes up by quotes": (
        "src/core/a.cpp", '#include "../pool/engine.hpp"\n', 5, "includes only point down"),
    "source includes up by room": (
        "src/core/a.cpp", '#include "pool/engine.hpp"\n', 5, "includes only point down"),
    "ground includes a room": (
        "include/handoff/version.hpp",
        "#include <handoff/core/status.hpp>\n", 6, "no room of the house"),
    "unknown room": (
        "include/handoff/attic/a.hpp",
        "#include <handoff/core/status.hpp>\n", 6, "no room of the house"),
    "library includes the lab": (
        "src/pool/a.cpp", '#include "lab/harness/clock.hpp"\n', 5, "neither the lab"),
    "library includes tests": (
        "src/pool/a.cpp", '#include "../../tests/support/x.hpp"\n', 5, "nor the tests"),
    "lab includes sources": (
        "lab/harness/a.cpp", '#include "src/pool/engine.hpp"\n', 5, "public headers"),
    "lab includes what is inside": (
        "lab/harness/a.cpp",
        "#include <handoff/core/detail/x.hpp>\n", 5, "promised to nobody"),
    "example includes what is inside": (
        "examples/a.cpp",
        "#include <handoff/core/detail/x.hpp>\n", 5, "promised to nobody"),
    "long comment": (
        "include/handoff/pool/a.hpp", "// More.\n" * 41 + "int a;\n", 46, "a comment of 41 lines"),
    "long header": ("include/handoff/pool/a.hpp", "int x;\n" * 596, 601, "a file of 601 lines"),
    "long source": ("src/pool/a.cpp", "int x;\n" * 597, 601, "a file of 601 lines"),
    "long file of the lab": ("lab/harness/a.cpp", "int x;\n" * 700, 601, "a file of 704 lines"),
    "JSON amid the lab": (
        "lab/commands/a.hpp", "#include <nlohmann/json.hpp>\n", 6, "use the typed Row"),
    "JSON parsed by a reader": (
        "lab/report/json.cpp", "auto j = json::parse(text);\n", 5, "use parse_foreign()"),
    "a key read by a writer": (
        "lab/commands/doctor.cpp", 'int f() { return j.at("rows"); }\n', 5, "looked into by key"),
    "a key of a writer": (
        "lab/harness/diagnosis.cpp", 'int f() { return j["rows"]; }\n', 5, "looked into by key"),
    "a pointer of a writer": (
        "lab/commands/self_test.cpp", 'auto p = "/a/b"_json_pointer;\n', 5, "looked into by key"),
    "seam header": ("include/handoff/pool/a.hpp", "#include <mutex>\n", 6, "<mutex> outside sync/"),
    "output header": ("src/pool/a.cpp", "#include <iostream>\n", 5, "<iostream> in the library"),
    "system header": (
        "include/handoff/pool/a.hpp", "#include <sys/mman.h>\n", 6, "leak into users' files"),
    "no pragma once": ("include/handoff/pool/a.hpp", None, 4, "no `#pragma once`"),
    "order without reason": (
        "src/pool/a.cpp",
        "int x = a.load(order::acquire);\n", 5, "memory order without its reason"),
    "one reason for two": (
        "src/pool/a.cpp",
        "// order: relaxed, a mere count.\n"
        "a.store(1, order::relaxed);\n"
        "b.store(1, order::relaxed);\n",
        7, "memory order without its reason"),
    "reason not right above": (
        "src/pool/a.cpp",
        "// order: relaxed, a mere count.\n"
        "\n"
        "a.store(1, order::relaxed);\n",
        7, "memory order without its reason"),
    "standard order in sync": (
        "src/sync/a.cpp",
        "// order: relaxed, a mere count.\n"
        "auto o = std::memory_order_relaxed;\n",
        6, "write sync::order"),
    "terminate without note": (
        "src/pool/a.cpp", "void f() { std::terminate(); }\n", 5, "terminate without a note"),
    "NDEBUG": ("src/pool/a.cpp", "#ifdef NDEBUG\n#endif\n", 5, "NDEBUG in the library"),
    "using namespace": (
        "include/handoff/pool/a.hpp", "using namespace std;\n", 6, "using namespace in a header"),
    "long function": (
        "lab/harness/a.cpp", f"void f() {{\n{body(69)}}}\n", 5, "a function of 71 lines"),
    "long member": (
        "tests/unit/a.cpp",
        "class A {\n"
        " public:\n"
        "  template <class T>\n"
        f"  A(T t) noexcept : a_{{t}}, b_(1) {{\n"
        f"{body(68)}  }}\n"
        "};\n",
        7, "a function of 71 lines"),
    "long test": (
        "tests/unit/a.cpp",
        f"namespace n {{\nTEST(A, B) {{\n{body(69)}}}\n}}\n", 6, "a function of 71 lines"),
    "long lambda": (
        "src/pool/a.cpp",
        f"const auto f = [](int x) {{\n{body(69)}}};\n", 5, "a function of 71 lines"),
    "beyond ASCII": ("src/pool/a.cpp", "// \u00e9\n", 5, "beyond ASCII"),
    "tab": ("src/pool/a.cpp", "\tint x;\n", 5, "a tab"),
    "trailing space": ("src/pool/a.cpp", "int x; \n", 5, "spaces at the end"),
    "long line": ("src/pool/a.cpp", "// " + "x" * 98 + "\n", 5, "101 columns"),
    "unfinished": ("src/pool/a.cpp", "// TO" + "DO: the rest\n", 5, "unfinished work"),
    "no newline at the end": ("src/pool/a.cpp", "int x;", 5, "no newline"),
}
for name in ("std::atomic<int> a;", "std::mutex m;", "std::shared_mutex m;",
             "std::lock_guard l(m);", "std::unique_lock l(m);", "std::scoped_lock l(m);",
             "std::shared_lock l(m);",
             "std::condition_variable c;", "std::condition_variable_any c;", "std::thread t;",
             "std::jthread t;", "std::this_thread::yield();", "std::promise<int> p;",
             "std::future<int> f;", "auto f = std::async(g);", "std::packaged_task<int()> t;",
             "std::call_once(flag, f);", "std::once_flag flag;", "std::shared_ptr<int> p;",
             "std::weak_ptr<int> p;", "auto p = std::make_shared<int>(1);",
             "std::counting_semaphore<2> s{0};", "std::binary_semaphore s{0};", "std::latch l{1};",
             "std::barrier b{1};", "thread_local int x;", "syscall(SYS_futex, &x);",
             "pthread_t t;", "__atomic_clear(&x, 0);", "__sync_synchronize();", "volatile int x;"):
    CPP_FAULTS[name] = ("src/pool/a.cpp", name + "\n", 5, "outside sync/")
# The hook has one atomic variable, and relaxed loads.
for name in ("std::mutex m;", "a.load(std::memory_order_acquire);  // order: b"):
    CPP_FAULTS["probe: " + name] = ("src/probe/a.cpp", name + "\n", 5, "outside sync/")
for name in ("std::cout << 1;", "std::cerr << 1;", "std::clog << 1;", 'printf("x");',
             'std::fprintf(f, "x");', 'puts("x");', 'std::fputs("x", f);', 'perror("x");',
             "abort();", "std::abort();", "std::exit(1);", "::_exit(1);", "assert(x);",
             'fmt::print("x");', "dprintf(2, text);", "syslog(1, text);", "__builtin_trap();"):
    CPP_FAULTS[name] = ("include/handoff/pool/a.hpp", name + "\n", 6, "neither prints nor aborts")

# All that opens a descriptor does it in one place.
for name in ('int f = ::open(p, flags);', 'int f = open(p.c_str(), flags);',
             'int f = open("/a", 0);',
             'int f = open(path, O_RDONLY | O_CLOEXEC);', "int f = openat(d, p, O_PATH);",
             "int f = syscall(SYS_openat2, d, p, &how, 24);", "int f = ::creat(p, 0600);",
             "int f = socket(AF_UNIX, kind, 0);", "int f = ::socket(family, kind, 0);",
             "socketpair(AF_UNIX, 0, 0, ends);", "int f = accept4(s, a, b, 0);",
             "int f = ::accept(s, a, b);", "int f = ::dup(g);", "int f = dup(g);", "dup2(f, g);",
             "::dup3(f, g, 0);", "int f = fcntl(g, F_DUPFD, 3);",
             "int f = fcntl(g, F_DUPFD_CLOEXEC, 0);", "pipe2(ends, 0);", "::pipe(ends);",
             "pipe(ends);", "int f = ::memfd_create(n, 0);", "int f = shm_open(n, 0, 0);",
             "int f = ::eventfd(0, 0);", "int f = epoll_create1(0);",
             "int f = timerfd_create(c, 0);", "int f = signalfd(-1, &s, 0);",
             "int f = inotify_init1(0);", "int f = perf_event_open(a, b);",
             "int f = syscall(SYS_pidfd_open, p, 0);", "int f = pidfd_getfd(p, 1, 0);",
             "int f = syscall(SYS_io_uring_setup, 8, &p);", "io_uring_queue_init(8, &r, 0);",
             "io_uring_prep_openat(e, d, p, 0, 0);", "recvmsg(s, &m, 0);",
             "clone(f, s, CLONE_PIDFD, a);", 'FILE* f = fopen(p, "r");', "DIR* d = ::opendir(p);",
             "FILE* f = tmpfile();", "int f = mkostemp(p, 0);", "std::ifstream f(p);",
             "std::ofstream f(p);", "for (auto& e : fs::directory_iterator(p)) g(e);",
             "std::random_device d;"):
    CPP_FAULTS["opens: " + name] = ("src/pool/a.cpp", name + "\n", 5, "opens a descriptor")
CPP_FAULTS["an opener that no test names"] = (
    "src/pool/a.cpp", "int f = descriptors::of_file(p, 0);\n", 5, "that no test sees")
CPP_FAULTS["a noted opener that no test names"] = (
    "src/pool/a.cpp", "// descriptor: in a child\nint f = ::dup(g);\n", 6, "that no test sees")

OTHER_FAULTS = {
    "C++ without licence": ("src/pool/a.cpp", HEAD.replace("MIT", "ABC"), 1, "no licence line"),
    "long head": (
        "include/handoff/pool/a.hpp", HEAD + "// More.\n" * 38 + "#pragma once\n", 41,
        "a comment of 41 lines"),
    "C++ without head": ("src/pool/a.cpp", f"// {LICENCE}\n\nint x;\n", 2, "no head comment"),
    "Python without licence": ("tools/a.py", "import os\n", 1, "no licence line"),
    "bash without licence": ("tools/a", "#!/usr/bin/env bash\nset -e\n", 2, "no licence line"),
    "long Python function": (
        "tools/a.py", f"# {LICENCE}\ndef f():\n" + "    g()\n" * 70, 2, "71 lines"),
    "long bash function": (
        "tools/a.sh", f"# {LICENCE}\nf() {{\n" + "  g\n" * 69 + "}\n", 2, "71 lines"),
    "unfinished text": ("docs/a.md", "FIX" + "ME\n", 1, "unfinished work"),
    "beyond ASCII in text": ("docs/a.md", "na\u00efve\n", 1, "beyond ASCII"),
    "beyond Chinese in Chinese": ("docs/zh/a.md", "\u7ebf\u7a0b\u6c60\u200b\n", 1, "beyond ASCII"),
    "long line in CMake": ("cmake/a.cmake", "#" * 101 + "\n", 1, "101 columns"),
}


def load_tidy():
    """tools/tidy as a module; a process for each canary would take most of the time."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("tidy", str(TIDY))
    module = types.ModuleType("tidy")
    sys.modules["tidy"] = module  # where its dataclass looks for its own module
    loader.exec_module(module)
    return module


def write_tree(folder, files):
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def call_tidy(*arguments):
    done = subprocess.run([sys.executable, TIDY, *arguments], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def floors_of_the_house():
    """The floors as CONTRIBUTING tells them, from the ground up: each a list of rooms."""
    text = re.sub(r"\s+", " ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    told = re.search(r"Includes only point down: (.*?)\.", text)[1]
    return [floor.strip("` ").split(", ") for floor in told.split("<-")]


class TidyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tidy = load_tidy()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        write_tree(self.root, CLEAN)

    def test_clean_tree_passes(self):
        self.assertEqual(call_tidy(self.root), (0, "", ""))

    def test_a_fault_is_printed_and_fails(self):
        write_tree(self.root, {"docs/a.md": "\ttab\n"})
        self.assertEqual(call_tidy(self.root),
                         (1, "docs/a.md:1: a tab, indent with spaces\n", ""))

    def test_functions_of_the_greatest_length_pass(self):
        text = UNIT + f"void f() {{\n{body(68)}}}\n\nvoid g() {{\n{body(68)}}}\n"
        write_tree(self.root, {"src/pool/long.cpp": text})
        self.assertEqual(list(self.tidy.faults(self.root)), [])

    def test_each_fault_is_reported_once_where_it_is(self):
        canaries = dict(OTHER_FAULTS)
        for name, (path, text, line, words) in CPP_FAULTS.items():
            head = HEADER if path.endswith(".hpp") else UNIT
            canaries[name] = (path, HEAD + "int x;\n" if text is None else head + text, line, words)
        for name, (path, text, line, words) in canaries.items():
            with self.subTest(name):
                write_tree(self.root, {path: text})
                found = list(self.tidy.faults(self.root))
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(f"{path}:{line}: "), found[0])
                self.assertIn(words, found[0])
            (self.root / path).unlink()

    def test_comments_of_the_greatest_length_pass(self):
        head = HEAD + "// More.\n" * 37 + "#pragma once\n"
        write_tree(self.root, {"include/handoff/pool/a.hpp": head + "// More.\n" * 40 + "int a;\n",
                               "include/handoff/pool/detail/b.hpp": HEADER + "// More.\n" * 50,
                               "src/pool/c.cpp": UNIT + "// More.\n" * 50})
        self.assertEqual(list(self.tidy.faults(self.root)), [])

    def test_files_of_the_greatest_length_pass(self):
        write_tree(self.root, {"include/handoff/pool/long.hpp": HEADER + "int x;\n" * 595,
                               "tests/unit/long.cpp": UNIT + "int x;\n" * 700,
                               "docs/long.md": "word\n" * 700})
        self.assertEqual(list(self.tidy.faults(self.root)), [])

    def test_every_arrow_that_does_not_point_down_is_reported(self):
        floors = floors_of_the_house()
        floor_of = {room: number for number, floor in enumerate(floors) for room in floor}
        self.assertGreaterEqual(len(floor_of), 13)
        self.assertEqual(set(floor_of), set(self.tidy.FLOOR))
        for ours, theirs in itertools.product(floor_of, repeat=2):
            down = ours == theirs or floor_of[ours] > floor_of[theirs]
            words = "sibling" if floor_of[ours] == floor_of[theirs] else "only point down"
            for path, include in itertools.product(
                    (f"include/handoff/{ours}/a.hpp", f"include/handoff/{ours}/detail/a.hpp",
                     f"src/{ours}/a.hpp", f"src/{ours}/a.cpp"),
                    (f"<handoff/{theirs}/b.hpp>", f"<handoff/{theirs}/internal/b.hpp>",
                     f'"{theirs}/internal/b.hpp"')):
                with self.subTest(f"{path} includes {include}"):
                    text = f"// {LICENCE}\n#include {include}\n"
                    if include[0] == '"' and path.startswith("include/"):
                        continue  # a public header has no way into src/
                    source = self.tidy.Source(PurePosixPath(path), text, "cpp")
                    found = list(self.tidy.rule_includes(source))
                    self.assertEqual([line for line, _ in found], [] if down else [2])
                    self.assertTrue(down or words in found[0][1], found)

    def test_what_is_another_rooms_own_is_reported(self):
        for include in ("<handoff/sync/detail/b.hpp>", '"../sync/b.hpp"', '"sync/b.hpp"'):
            source = self.tidy.Source(PurePosixPath("src/pool/a.cpp"),
                                      f"// {LICENCE}\n#include {include}\n", "cpp")
            found = list(self.tidy.rule_includes(source))
            self.assertEqual([line for line, _ in found], [2], include)
            self.assertIn("sync/'s own", found[0][1])

    def test_a_callable_that_is_called_by_itself_is_reported(self):
        part = "include/handoff/queue/pipe.hpp"
        write_tree(self.root, {part: HEADER + "void each() {\n  visitor(item);\n"
                                              "  detail::call_and_drop(visitor, item);\n}\n"})
        found = list(self.tidy.faults(self.root))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{part}:7: a callable of the user's"), found[0])

    def test_an_atomic_without_a_scenario_is_reported(self):
        part = "include/handoff/pool/notifier.hpp"
        write_tree(self.root, {part: HEADER + "sync::atomic<int> waiting_;\n"})
        found = list(self.tidy.faults(self.root))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{part}:6: an atomic that no scenario"), found[0])
        scenario = UNIT + "#include <handoff/pool/notifier.hpp>\n"
        write_tree(self.root, {"explore/scenarios/pool/notifier_scenarios.cpp": scenario})
        self.assertEqual(list(self.tidy.faults(self.root)), [])

    def test_an_atomic_of_a_header_that_is_not_installed_is_looked_for_too(self):
        part = "src/pool/notifier.hpp"
        write_tree(self.root, {part: HEADER + "sync::atomic<int> waiting_;\n",
                               "src/pool/parts.hpp": HEADER + '#include "notifier.hpp"\n'})
        found = list(self.tidy.faults(self.root))
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{part}:6: an atomic that no scenario"), found[0])
        for header in ("notifier.hpp", "parts.hpp"):
            scenario = UNIT + f'#include "pool/{header}"\n'
            write_tree(self.root, {"explore/scenarios/pool/notifier_scenarios.cpp": scenario})
            self.assertEqual(list(self.tidy.faults(self.root)), [])

    def test_a_close_and_a_refusal_that_no_suite_tries_are_reported(self):
        part = "include/handoff/queue/pipe.hpp"
        write_tree(self.root, {part: HEADER + "class Pipe {\n  Status try_push(T&& item);\n"
                                              "  void close() noexcept;\n};\n"})
        found = list(self.tidy.faults(self.root))
        self.assertEqual(len(found), 2, found)
        self.assertTrue(found[0].startswith(f"{part}:8: a close() that is not tried"), found[0])
        self.assertTrue(found[1].startswith(f"{part}:7: a value that may be refused"), found[1])
        for suite, left in (("closes", 1), ("refusals", 0)):
            unit = UNIT + "#include <handoff/queue/pipe.hpp>\n"
            write_tree(self.root, {f"tests/conformance/{suite}_test.cpp": unit})
            self.assertEqual(len(list(self.tidy.faults(self.root))), left)

    def test_an_invariant_has_one_label_and_stands_once(self):
        one = HEAD + "//   RO-1  The count is that of the items.\n"
        write_tree(self.root, {"src/pool/room.cpp": one, "docs/design/room.md": "By RO-1.\n"})
        self.assertEqual(list(self.tidy.faults(self.root)), [])
        for text, words in (("So by RO-2.\n", "docs/design/room.md:1: RO-2 is stated nowhere"),
                            ("**I1** The items.\n", "docs/design/room.md:1: 'I1' is no label"),
                            ("**RO-1** Again.\n", "RO-1 is stated in docs/design/room.md")):
            with self.subTest(words):
                write_tree(self.root, {"docs/design/room.md": text})
                found = list(self.tidy.faults(self.root))
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])

    def test_walks_are_true_and_short(self):
        row = "src/pool/orders.cpp: f   a step\n"
        other = "src/sync/internal/descriptor.cpp: Open::f   another\n"
        write_tree(self.root, {"HACKING.md": "## The way of a task\n" + row * 20})
        self.assertEqual(list(self.tidy.faults(self.root)), [])
        for text, words in (
                (row * 21, "HACKING.md:22: the way of task has 21 stays and 0 returns"),
                ((row + other) * 5, "HACKING.md:11: the way of task has 10 stays and 8 returns"),
                (row + "src/pool/none.cpp: f\n", "HACKING.md:3: src/pool/none.cpp is no file"),
                (row + "src/pool/orders.cpp: A::gone\n", "HACKING.md:3: src/pool/orders.cpp has "
                                                         "no A::gone()")):
            with self.subTest(words):
                write_tree(self.root, {"HACKING.md": "## The way of a task\n" + text})
                found = list(self.tidy.faults(self.root))
                self.assertEqual(len(found), 1, found)
                self.assertTrue(found[0].startswith(words), found[0])

    def test_a_missing_root_is_one_clear_line(self):
        self.assertEqual(
            call_tidy("/nowhere"),
            (2, "", "tidy: /nowhere is no folder, give the root of the project\n"))


if __name__ == "__main__":
    unittest.main()
