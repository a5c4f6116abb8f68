// SPDX-License-Identifier: MIT
//
// The rows of the executor tier: what the calls of each executor do (contract_page.hpp).
#include <latch>

#include "conformance/contract_page.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"

namespace handoff::test {
namespace {

using Work = std::function<void()>;

// ---- Faces: what is handed over is called once, on whatever thread the executor has for it. They
// name the two calls that they make ----

struct OfPool {
  static constexpr const char* call = "`post`";
  static constexpr const char* try_call = "`try_post`";

  explicit OfPool(std::size_t capacity = unbounded) : pool({.width = 1, .capacity = capacity}) {}
  void hand_over(Work work) { pool.post(std::move(work)); }
  Status try_hand_over(Work work) { return pool.try_post(std::move(work)); }
  Tally close() { return pool.close(); }

  ThreadPool pool;
};

struct OfStrand {
  static constexpr const char* call = "`post`";
  static constexpr const char* try_call = "`try_post`";

  explicit OfStrand(std::size_t capacity = unbounded)
      : pool({.width = 1, .capacity = capacity}), strand(pool) {}
  void hand_over(Work work) { strand.post(std::move(work)); }
  Status try_hand_over(Work work) { return strand.try_post(std::move(work)); }
  Tally close() { return strand.close(); }

  ThreadPool pool;
  SerialExecutor<ThreadPool> strand;
};

struct OfWorkers {
  static constexpr const char* call = "`publish`";
  static constexpr const char* try_call = "`try_publish`";

  explicit OfWorkers(std::size_t capacity = 64)
      : workers({.width = 1, .capacity = capacity}, [](Work& work) { work(); }) {}
  Status hand_over(Work work) { return workers.publish(std::move(work)); }
  Status try_hand_over(Work work) { return workers.try_publish(std::move(work)); }
  Tally close() { return workers.close(); }

  MessageWorkers<Work> workers;
};

struct Performs {
  void operator()(Work& work) const { work(); }
};
struct OfObject {
  static constexpr const char* call = "`publish`";
  static constexpr const char* try_call = "`try_publish`";

  explicit OfObject(std::size_t capacity = 64) : object({.capacity = capacity}) {}
  Status hand_over(Work work) { return object.publish(std::move(work)); }
  Status try_hand_over(Work work) { return object.try_publish(std::move(work)); }
  Tally close() { return object.close(); }

  ActiveObject<Performs, Work> object;
};

inline void perform(Work& work) { work(); }
struct OfPipeline {
  static constexpr const char* call = "`push`";
  static constexpr const char* try_call = "`try_push`";
  using Line = decltype(Pipeline(std::declval<ThreadPool&>(), PipelineOptions(), Pushed<Work>(),
                                 parallel_stage(&perform)));

  explicit OfPipeline(std::size_t tokens = 64)
      : pool({.width = 1}),
        line(pool, {.tokens = tokens}, Pushed<Work>(), parallel_stage(&perform)) {}
  Status hand_over(Work work) { return line.push(std::move(work)); }
  Status try_hand_over(Work work) { return line.try_push(std::move(work)); }
  Tally close() { return line.close(); }

  ThreadPool pool;
  Line line;
};

// Requests that read this program's own file; the work is their callback.
struct OfFiles {
  static constexpr const char* call = "`post`";
  static constexpr const char* try_call = "`try_post`";

  explicit OfFiles(std::size_t capacity = 64)
      : files({.width = 1, .capacity = capacity, .backend = FileBackend::io_thread}) {}
  static FileRequest request() {
    FileRequest stat;
    stat.operation = FileOperation::stat;
    stat.path = "/proc/self/exe";
    return stat;
  }
  Status hand_over(Work work) {
    FileRequest stat = request();
    FileEngine::Callback callback = [work = std::move(work)](FileResult&&) { work(); };
    return files.post(std::move(stat), std::move(callback));
  }
  Status try_hand_over(Work work) {
    FileRequest stat = request();
    FileEngine::Callback callback = [work = std::move(work)](FileResult&&) { work(); };
    return files.try_post(std::move(stat), std::move(callback));
  }
  Tally close() { return files.close(); }

  FileEngine files;
};

// ---- Cells ----

// Holds the only thread of an executor until the end of this object.
class Held {
 public:
  template <class Face>
  explicit Held(Face& face) {
    (void)face.hand_over([this] {
      entered_ = true;
      idle_until([this] { return left_.load(); });
      gone_ = true;
    });
    idle_until([this] { return entered_.load(); });
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    let_go();
    idle_until([this] { return gone_.load(); });
  }
  void let_go() { left_ = true; }

 private:
  std::atomic<bool> entered_{false}, left_{false}, gone_{false};
};

// Whether hand_over() waits until let_go(). A call that waits has no way to say so: give it some
// time to be wrong in.
template <class HandOver, class LetGo>
bool waits_for_room(const HandOver& hand_over, const LetGo& let_go) {
  std::atomic<bool> told{false};
  std::thread other([&] {
    hand_over();
    told = true;
  });
  for (int i = 0; i < 50 && !told; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool waits = !told;
  let_go();
  other.join();
  return waits;
}

// The thread is held and all places are taken: what one more says, by either form.
template <class Face>
std::string with_no_room() {
  Face face(2);
  Held held(face);
  while (face.try_hand_over([] {}) == Status::ok) {
  }
  const std::string tried = Face::try_call + (" returns " + said(face.try_hand_over([] {})));
  std::atomic<bool> ran{false};
  bool ran_there = false;
  std::string word;
  const bool waits =
      waits_for_room([&] { word = outcome([&] { return face.hand_over([&] { ran = true; }); }); },
                     [&] {
                       ran_there = ran;
                       held.let_go();
                     });
  return Face::call + (' ' + (waits ? "waits" : ran_there ? "runs it there" : word)) + "; " + tried;
}

template <class Face>
std::string once_closed() {
  Face face;
  (void)face.close();
  const std::string told = outcome([&] { return face.hand_over([] {}); });
  return Face::call + (' ' + told) + "; " + Face::try_call + " returns " +
         said(face.try_hand_over([] {}));
}

// What a close without an argument does with what has not begun.
template <class Face>
std::string closing() {
  std::atomic<int> ran{0};
  Face face;
  {
    Held held(face);
    for (int i = 0; i < 3; ++i) (void)face.hand_over([&] { ++ran; });
  }
  const Tally tally = face.close();
  if (!tally.balanced() || tally.pending != 0) return "leaves it";
  return ran == 3 ? "runs it" : "cancels it";
}

// How many wait when the one thread is held.
template <class Face>
std::string sizes() {
  return capacities([](std::size_t capacity) {
    Face face(capacity);
    const Held held(face);
    std::size_t count = 0;
    while (face.try_hand_over([] {}) == Status::ok) ++count;
    return count;
  });
}

template <class Face>
std::string used_by() {
  constexpr int each = 200;
  std::atomic<int> ran{0};
  {
    Face face;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) (void)face.hand_over([&] { ++ran; });
      });
    }
    for (std::thread& thread : threads) thread.join();
    (void)face.close();
  }
  return ran == 2 * each ? "any thread, tasks too" : "lost some";
}

template <class Face>
std::string runs_on() {
  Caller caller;
  Face face;
  (void)face.hand_over([&] { caller.here(); });
  (void)face.close();
  return caller.is_caller() ? "the caller" : "its threads";
}

template <class Face>
std::string function_that_throws() {
  Face face;
  (void)face.hand_over([] { throw std::runtime_error("a function"); });
  std::atomic<bool> next{false};
  (void)face.hand_over([&] { next = true; });
  const Tally tally = face.close();
  if (!next) return "ends the executor";
  return tally.failed == 1 && tally.first_failure ? "counts as failed; the next ones run"
                                                  : "is lost";
}

template <class Face>
std::string in_a_child() {
  auto face = std::make_unique<Face>();
  (void)face->hand_over([] {});
  return end_in_a_child(std::move(face));
}

template <class Face>
ContractRow row(const std::string& type, const std::string& calls, const std::string& failures,
                const std::string& also_closed = {}) {
  return {type,
          calls,
          with_no_room<Face>(),
          once_closed<Face>() + also_closed,
          closing<Face>(),
          sizes<Face>(),
          used_by<Face>(),
          failures,
          runs_on<Face>(),
          in_a_child<Face>()};
}

std::string stage_that_throws() {
  OfPipeline face;
  (void)face.hand_over([] { throw std::runtime_error("a function"); });
  const std::string told = outcome([&] { (void)face.line.wait(); });
  const bool ends = face.hand_over([] {}) == Status::closed;
  const bool names_it = told == "Pipeline: stage 0 threw at item 0: a function";
  return names_it && ends ? "ends the pipeline; `wait()` throws `PipelineFailed`" : told;
}

// Whoever comes first works: a thread of its executor, or the caller who waits.
ContractRow pipeline_row() {
  ContractRow cells = row<OfPipeline>("`Pipeline`", "`push`, `try_push`", stage_that_throws());
  cells[8] = "its executor's threads, callers that wait";
  return cells;
}

std::string submit_once_closed() {
  FileEngine files;
  (void)files.close();
  return outcome([&] { (void)files.submit(OfFiles::request()); });
}

// ---- TaskGroup, SerialExecutor, LoopExecutor, InlineExecutor, ProcessPool ----

std::uint32_t twice(const std::uint32_t& number) { return 2 * number; }
std::uint32_t throws(const std::uint32_t&) { throw std::runtime_error("a kernel"); }

// Of a pool that dropped what waited in it when it was closed.
std::string drops_tasks_of_groups(Closing how) {
  for (int tries = 0; tries < 100; ++tries) {
    ThreadPool pool(1);
    std::latch begun(1);
    pool.post([&] {
      begun.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    });
    pool.post([] {});
    begun.wait();
    if (pool.close(how).done == 2) continue;  // this thread came too late
    TaskGroup group(pool);
    group.run([] {});
    return outcome([&] { group.wait(); });
  }
  return "drops nothing";
}

ContractRow group_row() {
  ThreadPool pool(1);
  std::atomic<int> ran{0};
  {
    TaskGroup group(pool);
    for (int i = 0; i < 1000; ++i) group.run([&] { ++ran; });
    group.wait();
  }
  const bool all = ran == 1000;
  (void)pool.close();
  TaskGroup late(pool);
  late.run([&] { ++ran; });
  late.wait();
  const bool runs_late = ran == 1001;
  late.run([] { throw std::runtime_error("a function"); });
  const std::string told = outcome([&] { late.wait(); });
  const bool drops = drops_tasks_of_groups(Closing::abandon) == "throws `NotRun` (`stopped`)" &&
                     drops_tasks_of_groups(Closing::finish_until(sync::Deadline{})) ==
                         "throws `NotRun` (`timed_out`)";
  return {
      "`TaskGroup`",
      "`run`",
      all ? "grows" : "loses some",
      both(runs_late ? "runs it, even if its pool is closed" : "loses it",
           drops ? "but if the close dropped tasks (`abandon`, `finish_until`), it is dropped too, "
                   "and `wait()` throws `NotRun`"
                 : "loses it"),
      "has no `close()`; `wait()` runs it",
      "no bound",
      "its owner, its tasks",
      told == "a function" ? "`wait()` rethrows the first exception" : told,
      "the owner, the pool's threads",
      "not to be used"};
}

// Some tasks wait in it, more than its executor has room for; and one comes to an empty strand
// whose executor has no room.
std::string strand_with_no_room() {
  OfStrand face(1);
  bool grows = true;
  {
    const Held held(face);
    for (int i = 0; i < 1000; ++i) grows = grows && face.try_hand_over([] {}) == Status::ok;
  }
  (void)face.strand.wait();
  face.pool.pause();
  face.pool.post([] {});
  const std::string tried = said(face.try_hand_over([] {}));
  std::atomic<bool> told{false};
  std::thread other([&] {
    face.hand_over([] {});
    told = true;
  });
  for (int i = 0; i < 50 && !told; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool waits = !told;
  face.pool.resume();
  other.join();
  return std::string(grows ? "grows" : "loses some") +
         "; if the strand is empty and its executor full, `post` " +
         (waits ? "waits" : "does not wait") + ", `try_post` returns " + tried;
}

ContractRow strand_row() {
  const std::string runs = runs_on<OfStrand>();
  return {"`SerialExecutor`",
          "`post`, `submit`, `try_post`",
          strand_with_no_room(),
          once_closed<OfStrand>(),
          closing<OfStrand>(),
          "no bound",
          used_by<OfStrand>(),
          function_that_throws<OfStrand>(),
          runs == "its threads" ? "its executor's threads" : runs,
          in_a_child<OfStrand>()};
}

ContractRow loop_row() {
  LoopExecutor loop;
  Caller caller;
  int ran = 0;
  bool grows = true;
  for (int i = 0; i < 1000; ++i) grows = grows && loop.try_post([&] { ++ran; }) == Status::ok;
  loop.post([&] {
    caller.here();
    loop.post([&] { ++ran; });
  });
  (void)loop.drain();
  (void)loop.drain();
  const bool all = ran == 1001;
  loop.post([] { throw std::runtime_error("a function"); });
  loop.post([&] { ++ran; });
  const std::string told = outcome([&] { (void)loop.drain(); });
  const bool stays = ran == 1001 && loop.tally().pending == 1;
  const Tally tally = loop.close();
  const std::string closed = outcome([&] { loop.post([] {}); });
  const std::string tries = said(loop.try_post([] {}));
  auto copied = std::make_unique<LoopExecutor>();
  copied->post([] {});
  const bool child = child_ends([&] { return copied->drain() == 1; });
  return {"`LoopExecutor`",
          "`post`, `submit`, `try_post`",
          grows ? "grows" : "loses some",
          "`post` " + closed + "; `try_post` returns " + tries,
          ran == 1002 && tally.done == 1003 ? "runs it" : "leaves it",
          "no bound",
          all ? "any thread, tasks too" : "lost some",
          told == "a function" && stays ? "its exception leaves `drain()`; the rest stays" : told,
          caller.is_caller() ? "the thread in `drain()`" : "another thread",
          child ? "it is a copy" : "not to be used"};
}

ContractRow inline_row() {
  const InlineExecutor here;
  Caller caller;
  const std::string tried = said(here.try_post([&] { caller.here(); }));
  const std::string told =
      outcome([&] { (void)here.try_post([] { throw std::runtime_error("a function"); }); });
  const bool child = child_ends([&] { return here.try_post([] {}) == Status::ok; });
  return {"`InlineExecutor`",
          "`try_post`",
          "`try_post` runs it and returns " + tried,
          "has no `close()`",
          "has no `close()`",
          "no bound",
          "any thread, tasks too",
          told == "a function" ? "its exception leaves `try_post()`" : told,
          caller.is_caller() ? "the caller" : "another thread",
          child ? "works as before" : "not to be used"};
}

// A pool of processes whose only worker is held until let_go().
class HeldProcess {
 public:
  explicit HeldProcess(std::size_t capacity) : pool({.width = 1, .capacity = capacity}) {
    first_ = pool.submit<hold>(flags_.get());
    idle_until([this] { return flags_->entered.load(); });
  }
  ~HeldProcess() { let_go(); }
  Status one_more() {
    Future<void> future;
    return pool.try_submit<count>(future, flags_.get());
  }
  void submit() { (void)pool.submit<count>(flags_.get()); }
  void let_go() { flags_->left = true; }
  int counted() const { return flags_->counted; }

 private:
  struct Flags {
    std::atomic<bool> entered{false}, left{false};
    std::atomic<int> counted{0};
  };
  struct Unmap {
    void operator()(Flags* flags) const { ::munmap(flags, sizeof(Flags)); }
  };
  static void hold(Flags* const& flags) {
    flags->entered = true;
    idle_until([&] { return flags->left.load(); });
  }
  static void count(Flags* const& flags) { ++flags->counted; }

  // Before the pool: its processes have what is mapped by then.
  std::unique_ptr<Flags, Unmap> flags_{new (::mmap(nullptr, sizeof(Flags), PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Flags};

 public:
  ProcessPool pool;

 private:
  Future<void> first_;
};

std::string processes_with_no_room() {
  HeldProcess held(2);
  while (held.one_more() == Status::ok) {
  }
  const std::string tried = said(held.one_more());
  const bool waits = waits_for_room([&] { held.submit(); }, [&] { held.let_go(); });
  return std::string("`submit` ") + (waits ? "waits" : "does not wait") +
         "; `try_submit` returns " + tried;
}

std::string processes_closing() {
  HeldProcess held(4);
  for (int i = 0; i < 3; ++i) held.submit();
  held.let_go();
  const Tally tally = held.pool.close();
  if (!tally.balanced() || tally.pending != 0) return "leaves it";
  return held.counted() == 3 ? "runs it" : "cancels it";
}

std::string processes_sizes() {
  return capacities([](std::size_t capacity) {
    HeldProcess held(capacity);
    std::size_t waiting = 0;
    while (held.one_more() == Status::ok) ++waiting;
    return waiting;
  });
}

ContractRow process_row() {
  ProcessPool pool({.width = 1, .capacity = 3});
  std::atomic<int> right{0};
  const auto submit_one = [&] {
    if (pool.submit<twice>(std::uint32_t{21}).get() == 42) ++right;
  };
  std::thread first(submit_one);
  std::thread second(submit_one);
  first.join();
  second.join();
  auto failed = pool.submit<throws>(std::uint32_t{0});
  const std::string told = outcome([&] { (void)failed.get(); });
  (void)pool.close();
  const std::string closed = outcome([&] { (void)pool.submit<twice>(std::uint32_t{1}); });
  Future<std::uint32_t> future;
  const std::string tries = said(pool.try_submit<twice>(future, std::uint32_t{1}));
  return {"`ProcessPool`",
          "`submit`, `try_submit`",
          processes_with_no_room(),
          "`submit` " + closed + "; `try_submit` returns " + tries,
          processes_closing(),
          processes_sizes(),
          right == 2 ? "any thread" : "one thread",
          told.find("a kernel") != std::string::npos ? "its Future throws `WorkFailed`" : told,
          "its processes",
          end_in_a_child(std::make_unique<ProcessPool>(1))};
}

}  // namespace

ContractTable executor_table() {
  return {"executor",
          {"type", "calls that hand over", "when there is no room", "after `close()`",
           "what `close()` does with waiting work", "capacity", "handed over by",
           "a function that throws", "work runs on", "in a forked child"},
          {
              row<OfPool>("`ThreadPool`", "`post`, `submit`, `try_post`, `try_submit`",
                          function_that_throws<OfPool>()),
              group_row(),
              strand_row(),
              loop_row(),
              inline_row(),
              row<OfWorkers>("`MessageWorkers`", "`publish`, `try_publish`",
                             function_that_throws<OfWorkers>()),
              row<OfObject>("`ActiveObject`", "`publish`, `try_publish`",
                            function_that_throws<OfObject>()),
              row<OfFiles>("`FileEngine`", "`submit`, `post`, `try_post`",
                           "callbacks must not throw", "; `submit` " + submit_once_closed()),
              process_row(),
              pipeline_row(),
          }};
}

}  // namespace handoff::test
