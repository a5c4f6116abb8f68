// SPDX-License-Identifier: MIT
//
// FileEngine: admission, order, bytes in flight, its threads, closing.
// docs/design/file_engine.md.
#include <handoff/file/file_engine.hpp>

#include <sys/uio.h>

#include <cerrno>
#include <handoff/core/closing.hpp>
#include <handoff/file/detail/file_tap.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/stop_token.hpp>

#include "explore/scenario.hpp"
#include "explore/scenarios/file/file_scenarios.hpp"
#include "file/file_core.hpp"

namespace file_engine_scenarios { namespace {

namespace explore = handoff::explore;
using namespace handoff;
using detail::FileCallView;
using sync::order;
using namespace test;

// ---- Admission and closing ----------------------------------------------------------------------

// With one place.
FileEngineOptions narrow(Tap& tap, FileBackend backend, OnFull on_full = OnFull::wait) {
  FileEngineOptions options = with(tap, backend);
  options.capacity = 1;
  options.on_full = on_full;
  return options;
}

// A request beside the close: done, or refused and not counted.
void submit_beside_close(FileBackend backend) {
  Tap tap;
  FileEngine files(with(tap, backend));
  const OpenFile file = open_file(100, 1, tap);
  bool ok = false;
  explore::Thread other([&] {
    try {
      ok = files.submit(write_to(file, 0)).get().ok();
      explore::check(ok, "what was let in is done");
    } catch (const NotRun& refused) {
      explore::check(refused.status() == Status::closed, "refused");
    }
  });
  const Tally tally = files.close();
  explore::check(tally.pending == 0 && tally.balanced(), "nothing is left");
  explore::check(tally.done == tally.accepted, "all that was accepted was done");
  other.join();
  explore::check(tally.accepted == (ok ? 1u : 0u), "what was refused is not counted");
  explore::outcome(ok);
}
const Scenario close_by_thread("file_engine/submit_beside_close",
                               [] { submit_beside_close(FileBackend::io_thread); });
const Scenario close_by_caller("file_engine/submit_beside_close_by_caller",
                               [] { submit_beside_close(FileBackend::caller); });
const Scenario close_by_one_each("file_engine/submit_beside_close_thread_each",
                                 [] { submit_beside_close(FileBackend::thread_per_request); });

// Two close: both return when all is over.
const Scenario two_close("file_engine/two_close", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::thread_per_request));
  sync::cell<bool> delivered{false};
  const Status said = files.post(write_to(open_file(100, 1, tap), 0), [&](FileResult result) {
    explore::check(result.ok(), "nothing fails");
    delivered.write() = true;
  });
  explore::check(said == Status::ok, "there is room");
  explore::Thread other([&] {
    explore::check(files.close().done == 1, "all is over");
    explore::check(delivered.read(), "and was delivered");
  });
  explore::check(files.close().done == 1, "all is over");
  explore::check(delivered.read(), "and was delivered");
});

// wait() returns when the results of what came before have been delivered, whatever comes beside.
void wait_after_delivery(FileBackend backend, std::size_t width) {
  Tap tap;
  FileEngine files(with(tap, backend, width));
  const OpenFile file = open_file(100, 1, tap);
  explore::Thread other([&] {
    const Status said = files.post(write_to(file, 1), [](const FileResult&) {});
    explore::check(said == Status::ok, "there is room");
  });
  sync::cell<bool> delivered{false};
  const Status said = files.post(write_to(file, 0), [&](FileResult result) {
    explore::check(result.ok(), "nothing fails");
    delivered.write() = true;
  });
  explore::check(said == Status::ok, "there is room");
  explore::check(files.wait() == Status::ok, "it waits for ever");
  explore::check(delivered.read(), "delivered before");
}
const Scenario wait_one("file_engine/wait",
                        [] { wait_after_delivery(FileBackend::thread_per_request, 1); });
const Scenario wait_two("file_engine/wait_by_callers",
                        [] { wait_after_delivery(FileBackend::caller, 1); });

// Also of one that another thread has submitted, and of its Future.
const Scenario wait_of_other("file_engine/wait_of_another", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::io_thread));
  Future<FileResult> future = files.submit(write_to(open_file(100, 1, tap), 0));
  explore::Thread other([&] {
    explore::check(files.wait() == Status::ok, "it waits for ever");
    explore::check(future.is_ready(), "delivered before");
  });
  explore::check(files.wait() == Status::ok, "it waits for ever");
  other.join();
  explore::check(future.get().ok(), "nothing fails");
});

// One place, which the engine's thread gives back.
const Scenario full("file_engine/full_waits", [] {
  Tap tap;
  FileEngine files(narrow(tap, FileBackend::io_thread));
  Future<FileResult> first = files.submit(write_to(open_file(100, 1, tap), 0));
  Future<FileResult> second = files.submit(write_to(open_file(101, 2, tap), 0));
  explore::check(first.get().ok() && second.get().ok(), "let in at last");
  explore::check(files.refused() == 0, "none was refused");
});

// A place, and three on their own threads: each place that gets free wakes one that waits.
const LargeScenario full_caller("file_engine/full_waits_callers", [] {
  Tap tap;
  FileEngine files(narrow(tap, FileBackend::caller));
  const auto write = [&] {
    explore::check(files.submit(write_to(open_file(100, 1, tap), 0)).get().ok(), "let in at last");
  };
  explore::Thread second(write);
  explore::Thread third(write);
  write();
});

// A caller that waits for room is refused when the engine closes or its stop is requested. Neither
// swallows the notification of a free place.
const Scenario full_closed("file_engine/full_and_closed", [] {
  Tap tap;
  FileEngine files(narrow(tap, FileBackend::io_thread));
  const OpenFile file = open_file(100, 1, tap);
  Future<FileResult> first = files.submit(write_to(file, 0));
  bool ok = false;
  explore::Thread other([&] {
    FileRequest request = write_to(file, 1);
    FileEngine::Callback callback = [](const FileResult& result) {
      explore::check(result.ok(), "nothing fails");
    };
    const Status said = files.post(std::move(request), std::move(callback));
    ok = said == Status::ok;
    if (!ok) {
      explore::check(said == Status::closed, "why");
      explore::check(request.file.valid() && static_cast<bool>(callback), "given back");
    }
  });
  const Tally tally = files.close();
  other.join();
  explore::check(first.get().ok(), "was accepted");
  explore::check(tally.done == (ok ? 2u : 1u) && tally.pending == 0, "each is counted");
  explore::outcome(ok);
});

class StopsWhileItWrites final : public Tap {
 public:
  sync::StopSource stop;

 private:
  long write(const FileCallView& call) override {
    stop.request_stop();
    return static_cast<long>(call.bytes);
  }
};

const Scenario full_stopped("file_engine/full_and_stopped", [] {
  StopsWhileItWrites tap;
  FileEngine files(narrow(tap, FileBackend::io_thread));
  const OpenFile file = open_file(100, 1, tap);
  Future<FileResult> first = files.submit(write_to(file, 0));
  const sync::StopToken token = tap.stop.token();
  const Status said = files.post(
      write_to(file, 1),
      [](const FileResult& result) { explore::check(result.ok(), "nothing fails"); }, token);
  explore::check(said == Status::ok || said == Status::stopped, "let in, or stopped");
  explore::check(first.get().ok(), "nothing fails");
  explore::check(files.refused() == (said == Status::ok ? 0u : 1u), "counted");
  explore::outcome(said == Status::ok);
});

// Full: on the thread that submits, in the order of the file all the same.
const Scenario full_run_here("file_engine/full_runs_here", [] {
  Tap tap;
  FileEngine files(narrow(tap, FileBackend::io_thread, OnFull::run_here));
  const OpenFile file = open_file(100, 1, tap);
  FileRequest first = write_to(file, 0);
  first.barrier = true;
  Future<FileResult> before = files.submit(std::move(first));
  Future<FileResult> behind = files.submit(write_to(file, 1));
  explore::check(behind.get().ok(), "nothing fails");
  explore::check(before.get().ok(), "nothing fails");
});

// A stop: what has not begun may end so, what was written is told.
const Scenario stopped("file_engine/stopped", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::caller));
  sync::StopSource stop;
  FileRequest request = write_to(open_file(100, 1, tap), 0);
  request.until = stop.token();
  explore::Thread other([&] { stop.request_stop(); });
  const FileResult result = files.submit(std::move(request)).get();
  if (!result.ok()) explore::check(result.failure().error == ECANCELED, "stopped");
  const Tally tally = files.close();
  explore::check(tally.done == (result.ok() ? 1u : 0u), "counted");
  explore::check(tally.done + tally.cancelled + tally.failed == 1, "once");
  explore::outcome(tally.done * 2 + tally.cancelled);
});

// Abandoned: each was done or cancelled, and says so.
const Scenario abandoned("file_engine/abandoned", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::io_thread));
  const OpenFile file = open_file(100, 1, tap);
  Future<FileResult> first = files.submit(write_to(file, 0));
  Future<FileResult> second = files.submit(write_to(file, 1));
  const Tally tally = files.close(Closing::abandon);
  explore::check(tally.done + tally.cancelled == 2, "each once");
  unsigned done = 0;
  for (Future<FileResult>* const future : {&first, &second}) {
    const FileResult result = future->get();
    done += result.ok() ? 1 : 0;
    if (!result.ok()) explore::check(result.failure().error == ECANCELED, "cancelled");
  }
  explore::check(tally.done == done, "as told");
  explore::outcome(done);
});

// ---- Order --------------------------------------------------------------------------------------

// The file's contents are a cell: the explorer finds two writes at once, and one beside a read.
class Contents final : public Tap {
 public:
  int number() const { return number_.read(); }

 private:
  long read(const FileCallView& call) override {
    *static_cast<std::byte*>(call.pieces[0].iov_base) = static_cast<std::byte>(number_.read());
    return static_cast<long>(call.bytes);
  }
  long write(const FileCallView& call) override {
    ++number_.write();
    return static_cast<long>(call.bytes);
  }

  sync::cell<int> number_{0};
};

struct Read {
  std::byte into{255};
  Future<FileResult> future;

  void from(FileEngine& files, const OpenFile& file) {
    future = files.read(file, std::span(&into, 1), 0);
  }
  void expect(int number) {
    explore::check(future.get().ok(), "nothing fails");
    explore::check(into == static_cast<std::byte>(number), "in the order of submission");
  }
};

FileRequest truncating(const OpenFile& file) {
  FileRequest request = write_to(file, 0);
  request.truncate = true;
  return request;
}

// A write that truncates: after the ranges before it ...
const HugeScenario behind_a_range("file_engine/truncate_behind_a_range", [] {
  Contents contents;
  FileEngine files(with(contents, FileBackend::thread_per_request, 2));
  const OpenFile file = open_file(empty_file(), 1, contents);
  Read before;
  before.from(files, file);
  Future<FileResult> written = files.submit(truncating(file));
  before.expect(0);
  explore::check(written.get().ok(), "nothing fails");
});

// ... and before those behind it.
const LargeScenario range_behind("file_engine/range_behind_a_truncate", [] {
  Contents contents;
  FileEngine files(with(contents, FileBackend::thread_per_request, 2));
  const OpenFile file = open_file(empty_file(), 1, contents);
  Future<FileResult> written = files.submit(truncating(file));
  Read behind;
  behind.from(files, file);
  behind.expect(1);
  explore::check(written.get().ok(), "nothing fails");
});

// A barrier, on threads that submit: they run one after the other whatever comes first.
const Scenario barrier("file_engine/barrier", [] {
  Contents contents;
  FileEngine files(with(contents, FileBackend::caller));
  const OpenFile file = open_file(100, 1, contents);
  explore::Thread other([&] {
    FileRequest request = write_to(file, 0);
    request.barrier = true;
    explore::check(files.submit(std::move(request)).get().ok(), "nothing fails");
  });
  Read first;
  first.from(files, file);
  explore::check(first.future.get().ok(), "nothing fails");
  Read second;
  second.from(files, file);
  explore::check(second.future.get().ok(), "nothing fails");
  explore::check(first.into <= second.into, "nothing goes back");
  explore::outcome(static_cast<std::uint64_t>(first.into) * 2 +
                   static_cast<std::uint64_t>(second.into));
});

// Appends of two threads: never two at once, and each is one.
const Scenario appends("file_engine/two_append", [] {
  Contents contents;
  FileEngine files(with(contents, FileBackend::caller));
  const OpenFile file = open_file(empty_file(), 1, contents);
  const auto append = [&] {
    FileRequest request = write_to(file, 0);
    request.operation = FileOperation::append;
    explore::check(files.submit(std::move(request)).get().ok(), "nothing fails");
  };
  explore::Thread other(append);
  append();
  other.join();
  explore::check(files.close().done == 2 && contents.number() == 2, "both");
});

// ---- Callbacks ----------------------------------------------------------------------------------

// A callback submits to an engine that is full: one more is let in, and closing waits for it too.
const Scenario callback("file_engine/callback_submits", [] {
  Tap tap;
  sync::cell<bool> second{false};
  {
    FileEngine files(narrow(tap, FileBackend::io_thread));
    const OpenFile file = open_file(100, 1, tap);
    const auto behind = [&](const FileResult& result) {
      explore::check(result.ok(), "nothing fails");
      second.write() = true;
    };
    const auto submits = [&](const FileResult& result) {
      explore::check(result.ok(), "nothing fails");
      explore::check(files.post(write_to(file, 1), behind) == Status::ok, "never waits here");
    };
    explore::check(files.post(write_to(file, 0), submits) == Status::ok, "let in");
    // Takes the only place, maybe just before the callback wants one.
    explore::check(files.submit(write_to(file, 2)).get().ok(), "let in");
    explore::check(files.wait() == Status::ok, "it waits for ever");
  }
  explore::check(second.read(), "the end waits for what a callback submitted");
});

// ---- Bytes in flight ----------------------------------------------------------------------------

// Requests for different files: only their bytes keep them apart.
class OneAtATime final : public Tap {
  long write(const FileCallView& call) override {
    ++under_way_.write();
    return static_cast<long>(call.bytes);
  }
  sync::cell<int> under_way_{0};
};

// One byte in flight: a request that wants more runs alone, and each hands on to the next.
void bytes_in_flight(FileBackend backend, unsigned threads) {
  OneAtATime tap;
  FileEngineOptions options = with(tap, backend, 2);
  options.bytes_in_flight = 1;
  FileEngine files(options);
  const auto write = [&](int number, std::size_t count) {
    const OpenFile file = open_file(100 + number, static_cast<std::uint64_t>(number), tap);
    const FileResult result = files.submit(write_to(file, 0, count)).get();
    explore::check(result.ok() && result.bytes() == count, "nothing fails");
  };
  explore::Thread second([&] { write(1, 2); });
  if (threads > 2) {
    explore::Thread third([&] { write(2, 1); });
    write(0, 1);
  } else {
    write(0, 1);
  }
}
const Scenario bytes_two("file_engine/bytes_in_flight",
                         [] { bytes_in_flight(FileBackend::caller, 2); });
const Scenario bytes_three(
    "file_engine/bytes_in_flight_three", [] { bytes_in_flight(FileBackend::caller, 3); },
    Size::large);

// ---- Threads ------------------------------------------------------------------------------------

// Two threads share a queue: none is forgotten, and closing ends them.
const HugeScenario two_threads("file_engine/two_threads", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::pool, 2));
  sync::cell<int> first{0};
  sync::cell<int> second{0};
  const auto write = [&](sync::cell<int>& told) {
    const auto tell = [&told](const FileResult& result) { told.write() += result.ok(); };
    const Status said = files.post(write_to(open_file(100, 1, tap), 0), tell);
    explore::check(said == Status::ok, "there is room");
  };
  write(first);
  write(second);
  explore::check(files.close().done == 2, "all");
  explore::check(first.read() == 1 && second.read() == 1, "each once");
});

// What a callback posts: the thread keeps the first one for itself, and the others are anybody's. A
// request from outside comes at the same time.
const HugeScenario follows("file_engine/callback_posts_two", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::pool, 2));
  sync::cell<int> outside{0};
  std::array<sync::cell<int>, 2> inside{};
  const auto post = [&](std::uint64_t number, auto then) {
    const Status said = files.post(write_to(open_file(100, number, tap), 0), then);
    explore::check(said == Status::ok, "there is room");
  };
  post(1, [&](const FileResult& result) {
    explore::check(result.ok(), "nothing fails");
    post(2, [&](const FileResult& one) { inside[0].write() += one.ok(); });
    post(3, [&](const FileResult& one) { inside[1].write() += one.ok(); });
  });
  post(4, [&](const FileResult& one) { outside.write() += one.ok(); });
  explore::check(files.wait() == Status::ok, "it waits for ever");
  explore::check(files.close().done == 4, "all");
  explore::check(inside[0].read() == 1 && inside[1].read() == 1, "each once");
  explore::check(outside.read() == 1, "and that from outside");
});

// A thread each, two at once: the third waits for one to end, or for its place.
const HugeScenario thread_each("file_engine/thread_each", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::thread_per_request, 2));
  std::array<Future<FileResult>, 3> futures;
  std::uint64_t number = 0;
  for (auto& future : futures) {
    future = files.submit(write_to(open_file(100, ++number, tap), 0));
  }
  for (auto& future : futures) explore::check(future.get().ok(), "nothing fails");
});

// One at a time, again and again: each place is used again, and its thread ended.
const Scenario thread_each_again("file_engine/thread_each_again", [] {
  Tap tap;
  FileEngine files(with(tap, FileBackend::thread_per_request));
  for (std::uint64_t number = 1; number <= 3; ++number) {
    explore::check(files.submit(write_to(open_file(100, number, tap), 0)).get().ok(), "ok");
  }
  explore::check(files.close().done == 3, "all");
});

}}  // namespace file_engine_scenarios
