// SPDX-License-Identifier: MIT
//
// Where an exception goes: the ways to hand over a function, one a row, each with one that throws.
// The second column is asked for one taker after the other; the last one is what a program sees
// that takes nothing (contract_page.hpp).
#include "conformance/contract_page.hpp"
#include "support/job.hpp"
#include "support/patience.hpp"
#include "support/test.hpp"

namespace handoff::test {
namespace {

using std::chrono::milliseconds;

// ---- What the handler of the program is told ----

std::mutex told_mutex;
int told_count = 0;

class Listening {
 public:
  Listening() {
    set_unheard_handler([](const char*) noexcept {
      const std::scoped_lock lock(told_mutex);
      ++told_count;
    });
    (void)told();
  }
  ~Listening() { set_unheard_handler(nullptr); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  // Since the last call.
  static bool told() {
    const std::scoped_lock lock(told_mutex);
    return std::exchange(told_count, 0) != 0;
  }
};

[[noreturn]] void fail() { throw std::runtime_error("a function"); }
void fail_with(const int&) { fail(); }

// A taker: whether the exception came to it, and nobody else was told.
struct Taker {
  std::string name;
  std::function<bool()> takes;
};
std::string takers(const std::initializer_list<Taker>& all) {
  std::string names;
  for (const Taker& taker : all) {
    const bool takes = taker.takes();
    if (!takes || Listening::told()) continue;
    names += (names.empty() ? "" : ", ") + taker.name;
  }
  return names;
}

// Whether call() throws what a function threw. That is kept for good: how many hold an exception is
// counted where ThreadSanitizer does not look, so that its end by another thread were a race to it.
template <class Call>
bool rethrows(Call&& call) {
  static auto& kept = *new std::vector<std::exception_ptr>;
  try {
    (void)call();
  } catch (const std::exception& error) {
    kept.push_back(std::current_exception());
    return std::string(error.what()).find("a function") != std::string::npos;
  }
  return false;
}
template <class Call>
Taker rethrowing(const std::string& name, Call call) {
  return {name, [call] { return rethrows(call); }};
}

// Takes nothing: `use(threw)` calls threw() once a function has thrown, while all that could take
// its exception is there. The end is looked at for so long.
template <class Use>
std::string neglected(const Use& use, const std::string& end,
                      std::chrono::milliseconds within = {}) {
  (void)Listening::told();
  bool at_once = false;
  try {
    use([&] { at_once = Listening::told(); });
  } catch (const std::exception&) {
    return "the caller has it";
  }
  bool at_end = Listening::told();
  for (; !at_end && within.count() > 0; --within) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    at_end = Listening::told();
  }
  if (at_once) return at_end ? "told twice" : "told at once";
  return at_end ? "told " + end : "silence";
}

// Whether the program of a child that calls this is ended by std::terminate().
template <class Child>
std::string ends_program(const Child& child) {
  const pid_t id = ::fork();
  if (id == 0) {
    ::close(STDERR_FILENO);
    ::alarm(20);
    child();
    ::_exit(0);
  }
  int status = 0;
  if (id < 0 || ::waitpid(id, &status, 0) != id) return "no child";
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? "ends the program" : "silence";
}

template <class Executor>
void until_failed(const Executor& executor, std::uint64_t count = 1) {
  idle_until([&] { return executor.tally().failed >= count; });
}

// ---- The rows, by type ----

std::string first_and_next() {
  const auto one = neglected(
      [](const auto& threw) {
        ThreadPool pool(1);
        pool.post(fail);
        until_failed(pool);
        threw();
      },
      "at the end of the pool");
  const auto next = neglected(
      [](const auto& threw) {
        ThreadPool pool(1);
        pool.post(fail);
        pool.post(fail);
        until_failed(pool, 2);
        threw();
        (void)rethrows([&] { pool.wait(); });
      },
      "at the end of the pool");
  return "the first exception since the last `wait()` is " + one + "; all others are " + next;
}

ContractRow posted() {
  return {"`ThreadPool`", "`post`, `try_post`",
          takers({{"`on_error`",
                   [] {
                     bool heard = false;
                     ThreadPool pool({.width = 1, .on_error = [&](const auto&) { heard = true; }});
                     pool.post(fail);
                     (void)pool.close();
                     return heard;
                   }},
                  rethrowing("`wait()`",
                             [] {
                               ThreadPool pool(1);
                               (void)pool.try_post(fail);
                               pool.wait();
                             })}),
          first_and_next()};
}

// As posted tasks; `begin(pool)` hands one over.
template <class Begin>
ContractRow as_posted(const std::string& calls, const Begin& begin) {
  return {"`ThreadPool`", calls,
          takers({{"`on_error`",
                   [&] {
                     std::atomic<bool> heard{false};
                     ThreadPool pool({.width = 1, .on_error = [&](const auto&) { heard = true; }});
                     begin(pool);
                     idle_until([&] { return heard.load(); });
                     return true;
                   }},
                  rethrowing("`wait()`",
                             [&] {
                               ThreadPool pool(1);
                               begin(pool);
                               until_failed(pool);
                               pool.wait();
                             })}),
          neglected(
              [&](const auto& threw) {
                ThreadPool pool(1);
                begin(pool);
                until_failed(pool);
                threw();
              },
              "at the end of the pool")};
}

Job go_on_and_fail(ThreadPool& pool) {
  co_await pool.schedule();
  fail();
}

// What has a Future: `make()` returns it.
template <class Make>
std::string future_takers(const Make& make) {
  return takers({rethrowing("`get()`", [&] { make().get(); }),
                 {"`on_failure()`",
                  [&] {
                    bool heard = false;
                    auto replaced = make().on_failure([&](const std::exception_ptr&) {
                      heard = true;
                      return typename decltype(make())::value_type();
                    });
                    replaced.wait();
                    return heard;
                  }},
                 rethrowing("`share()`", [&] { make().share().get(); })});
}
template <class Make>
std::string neglected_future(const Make& make) {
  return neglected(
      [&](const auto& threw) {
        const auto future = make();
        future.wait();
        threw();
      },
      // By the thread that made the result, if that still has it then.
      "at the end of the Future", std::chrono::seconds(10));
}
template <class Make>
ContractRow with_future(const std::string& type, const std::string& calls, const Make& make) {
  return {type, calls, future_takers(make), neglected_future(make)};
}

ThreadPool& pool_of_all() {
  static ThreadPool pool(2);
  return pool;
}
int fail_for_a_number() { fail(); }
Future<int> failing() { return pool_of_all().submit(fail_for_a_number); }

ContractRow std_future() {
  return {"`ThreadPool`", "`submit_std`, `to_std`",
          takers({rethrowing("the `std::future`",
                             [] { (void)submit_std(pool_of_all(), fail_for_a_number).get(); })}),
          neglected(
              [](const auto& threw) {
                submit_std(pool_of_all(), fail_for_a_number).wait();
                threw();
              },
              "") +
              ", as of any `std::future`"};
}

ContractRow hooks() {
  return {"`ThreadPool`", "`on_start`, `on_stop`, `on_error`", "must not throw", ends_program([] {
            const ThreadPool pool({.width = 1, .on_start = [](std::size_t) { fail(); }});
          })};
}

ContractRow group() {
  return {"`TaskGroup`", "`run`, `run_and_wait`",
          takers({rethrowing("`wait()`",
                             [] {
                               TaskGroup group(pool_of_all());
                               group.run(fail);
                               group.wait();
                             })}),
          neglected(
              [](const auto& threw) {
                TaskGroup group(pool_of_all());
                group.run_and_wait([] {});
                group.run(fail);
                threw();
              },
              "at the end of the group")};
}

ContractRow graph() {
  static TaskGraph failing_graph;
  static const GraphNode<void> node = failing_graph.add("node", fail);
  (void)node;
  return {"`TaskGraph`", "`add`",
          takers({{"`on_error`",
                   [] {
                     std::atomic<bool> taken = false;
                     (void)failing_graph.run(
                         pool_of_all(), {.on_error = [&](const TaskFailure&) { taken = true; }});
                     return taken.load();
                   }},
                  rethrowing("`run()`", [] { (void)failing_graph.run(pool_of_all()); }),
                  rethrowing("`wait()`", [] { (void)failing_graph.start(pool_of_all()).wait(); })}),
          neglected(
              [](const auto& threw) {
                const GraphRun run = failing_graph.start(pool_of_all());
                threw();
              },
              "at the end of the GraphRun")};
}

ContractRow workers() {
  using Workers = MessageWorkers<int>;
  return {"`MessageWorkers`", "a handler",
          takers({{"`on_error`",
                   [] {
                     bool heard = false;
                     Workers workers({.width = 1, .on_error = [&](const auto&) { heard = true; }},
                                     fail_with);
                     (void)workers.publish(1);
                     (void)workers.close();
                     return heard;
                   }},
                  rethrowing("`publish_and_wait()`",
                             [] {
                               Workers workers({.width = 1}, fail_with);
                               (void)workers.publish_and_wait(1);
                             }),
                  rethrowing("`wait()`",
                             [] {
                               Workers workers({.width = 1}, fail_with);
                               (void)workers.publish(1);
                               (void)workers.wait();
                             })}),
          neglected(
              [](const auto& threw) {
                Workers workers({.width = 1}, fail_with);
                (void)workers.publish(1);
                until_failed(workers);
                threw();
              },
              "at the end of the workers")};
}

struct Fails {
  void operator()(const int&) const { fail(); }
};
ContractRow object() {
  using Object = ActiveObject<Fails, int>;
  return {"`ActiveObject`", "a handler",
          takers({{"`on_error`",
                   [] {
                     bool heard = false;
                     Object object({.on_error = [&](const auto&) { heard = true; }});
                     (void)object.publish(1);
                     (void)object.publish(1);  // by the close, perhaps
                     (void)object.close();
                     return heard;
                   }}}),
          neglected(
              [](const auto& threw) {
                Object object;
                (void)object.publish(1);
                until_failed(object);
                threw();
              },
              "at the end of the object")};
}

ContractRow files() {
  return {"`FileEngine`", "`post`, `try_post`", "must not throw", ends_program([] {
            FileEngine engine({.backend = FileBackend::io_thread});
            FileRequest stat;
            stat.operation = FileOperation::stat;
            stat.path = "/proc/self/exe";
            (void)engine.post(std::move(stat), [](FileResult&&) { fail(); });
            (void)engine.wait();
          })};
}

int kernel(const int&) { fail(); }
ContractRow processes() {
  ProcessPool pool(1);
  return with_future("`ProcessPool`", "`submit`, `try_submit`",
                     [&] { return pool.submit<kernel>(1); });
}

ContractRow events() {
  using Queue = EventQueue<int, void(int)>;
  const auto with_event = [](const auto& use) {
    Queue queue;
    const auto handle = queue.append_listener(0, [](int) { fail(); });
    (void)queue.enqueue(0, 1);
    use(queue);
  };
  return {"`EventQueue`", "a listener, a visitor",
          takers({rethrowing("`drain()`",
                             [&] { with_event([](Queue& queue) { (void)queue.drain(); }); })}),
          "in `close()` it is " + neglected(
                                      [&](const auto& threw) {
                                        with_event([&](Queue& queue) {
                                          (void)queue.close();
                                          threw();
                                        });
                                      },
                                      "later")};
}

template <class Bus>
ContractRow bus(const std::string& type) {
  const auto with_message = [](const auto& use) {
    Bus bus({.capacity = 4});
    const auto handle = bus.template subscribe<int>([](int) { fail(); });
    (void)bus.publish(1);
    use(bus);
  };
  return {
      type, "a subscriber, a visitor",
      takers({rethrowing("`drain()`", [&] { with_message([](Bus& bus) { (void)bus.drain(); }); })}),
      "in `close()` it is " + neglected(
                                  [&](const auto& threw) {
                                    with_message([&](Bus& bus) {
                                      (void)bus.close();
                                      threw();
                                    });
                                  },
                                  "later")};
}

ContractRow requests() {
  using Asked = Request<int, int>;
  return with_future("`Request`, `Answer`", "none: the exception given to `fail`", [] {
    MessageBus<Asked> bus({.capacity = 4});
    auto future = bus.request<int>(1);
    (void)bus.drain([](Asked& asked) {
      (void)asked.fail(std::make_exception_ptr(std::runtime_error("a function")));
    });
    return future;
  });
}

struct Backend {};
struct Draw {
  void operator()(Backend&) const { fail(); }
};
ContractRow commands() {
  return {"`CommandBucket`", "`record`, `dispatch`",
          takers({rethrowing("`record()`",
                             [] {
                               CommandBucket<std::uint32_t, Backend> bucket;
                               bucket.record(pool_of_all(), 1, 1,
                                             [](auto&, IndexRange) { fail(); });
                             }),
                  rethrowing("`dispatch()`",
                             [] {
                               CommandBucket<std::uint32_t, Backend> bucket;
                               bucket.record(pool_of_all(), 1, 1, [](auto& recorder, IndexRange) {
                                 (void)recorder.template add<Draw>(1U);
                               });
                               bucket.sort();
                               Backend backend;
                               bucket.dispatch(backend);
                             })}),
          "the caller has it"};
}

// `bulk` is a team of threads, or a pool.
template <class Bulk>
ContractRow loops(const std::string& type, Bulk& bulk) {
  return {
      type, "`run`, `start`, `parallel_for`",
      takers(
          {rethrowing("`run()`", [&] { (void)bulk.run(9, [](IndexRange) { fail(); }); }),
           rethrowing("`parallel_for()`", [&] { parallel_for(bulk, 0, 9, [](int) { fail(); }); }),
           {"the completion",
            [&] {
              std::atomic<bool> heard{false};
              BulkOperation operation(
                  bulk, 9, [](std::size_t, std::size_t) { fail(); },
                  [&](const Tally& tally) noexcept { heard = tally.first_failure != nullptr; });
              if (operation.start() != Status::ok) return false;
              idle_until([&] { return heard.load(); });
              return true;
            }}}),
      "the caller has it"};
}

void fail_in_block(IndexRange, const int&) { fail(); }
ContractRow process_team() {
  return {"`ProcessTeam`", "`run`",
          takers({rethrowing("`run()`",
                             [] {
                               ProcessTeam team(1);
                               (void)team.run<fail_in_block>(1, 1);
                             })}),
          "the caller has it"};
}

ContractRow strand() {
  return {"`SerialExecutor`", "`post`, `try_post`",
          takers({{"`on_error`",
                   [] {
                     std::atomic<bool> heard{false};
                     SerialExecutor strand(pool_of_all(),
                                           {.on_error = [&](const auto&) { heard = true; }});
                     strand.post(fail);
                     (void)strand.close();
                     return heard.load();
                   }},
                  rethrowing("`wait()`",
                             [] {
                               SerialExecutor strand(pool_of_all());
                               strand.post(fail);
                               (void)strand.wait();
                             })}),
          neglected(
              [](const auto& threw) {
                SerialExecutor strand(pool_of_all());
                strand.post(fail);
                until_failed(strand);
                threw();
              },
              "at the end of the strand")};
}

ContractRow strand_futures() {
  static SerialExecutor strand(pool_of_all());
  return with_future("`SerialExecutor`", "`submit`",
                     [] { return strand.submit(fail_for_a_number); });
}

ContractRow loop_futures() {
  return with_future("`LoopExecutor`", "`submit`", [] {
    LoopExecutor loop;
    auto future = loop.submit(fail_for_a_number);
    (void)loop.drain();
    return future;
  });
}

ContractRow pipeline() {
  const auto stage = [] { return parallel_stage([](int) { fail(); }, "stage"); };
  return {"`Pipeline`", "a stage, a source",
          takers({rethrowing("`run()`",
                             [&] {
                               const int one = 1;
                               Pipeline line(pool_of_all(), {}, std::vector{one}, stage());
                               (void)line.run();
                             }),
                  rethrowing("`wait()`",
                             [&] {
                               Pipeline line(pool_of_all(), {}, Pushed<int>(), stage());
                               (void)line.push(1);
                               (void)line.wait();
                             })}),
          neglected(
              [&](const auto& threw) {
                Pipeline line(pool_of_all(), {}, Pushed<int>(), stage());
                (void)line.push(1);
                until_failed(line);
                threw();
              },
              "at the end of the pipeline")};
}

ContractRow loop() {
  return {"`LoopExecutor`", "`post`, `try_post`",
          takers({rethrowing("`drain()`",
                             [] {
                               LoopExecutor loop;
                               loop.post(fail);
                               (void)loop.drain();
                             })}),
          "in `close()` it is " + neglected(
                                      [](const auto& threw) {
                                        LoopExecutor loop;
                                        loop.post(fail);
                                        (void)loop.close();
                                        threw();
                                      },
                                      "later")};
}

ContractRow here() {
  return {
      "`InlineExecutor`", "`try_post`",
      takers({rethrowing("`try_post()`", [] { (void)InlineExecutor().try_post([] { fail(); }); })}),
      neglected([](const auto&) { (void)InlineExecutor().try_post([] { fail(); }); }, "later")};
}

ContractRow listeners() {
  return {"`CallbackList`, `EventDispatcher`", "a listener",
          takers({rethrowing("the call",
                             [] {
                               CallbackList<void()> list;
                               list.append(fail);
                               list();
                             }),
                  rethrowing("the executor of `append_on()`",
                             [] {
                               ThreadPool pool(1);
                               CallbackList<void()> list;
                               list.append_on(pool, fail);
                               list();
                               pool.wait();
                             })}),
          neglected(
              [](const auto&) {
                CallbackList<void()> list;
                list.append(fail);
                list();
              },
              "later")};
}

ContractRow queues() {
  const auto with_item = [](const auto& use) {
    Channel<int> channel(2);
    (void)channel.push(1);
    use(channel);
  };
  return {
      "all queues", "`consume`, `select`",
      takers(
          {rethrowing("`consume()`",
                      [&] { with_item([](auto& channel) { (void)channel.consume(fail_with); }); }),
           rethrowing("`select()`",
                      [&] {
                        with_item([](auto& channel) { (void)select(on_item(channel, fail_with)); });
                      })}),
      neglected(
          [&](const auto&) { with_item([](auto& channel) { (void)channel.consume(fail_with); }); },
          "later")};
}

ContractRow shared() {
  return {"`SharedFuture`", "a task whose Future is shared",
          takers({rethrowing("`get()`", [] { (void)failing().share().get(); })}),
          neglected(
              [](const auto& threw) {
                const SharedFuture<int> future = failing().share();
                const SharedFuture<int> other = future;
                other.wait();
                threw();
              },
              "at the end of the last copy")};
}

Job await_and_fail(Future<int> future) {
  const int number = co_await std::move(future);
  if (number != 0) fail();
}
Job await(Future<int> future, bool& heard) {
  try {
    (void)co_await std::move(future);
  } catch (const std::runtime_error&) {
    heard = true;
  }
}
ContractRow awaited() {
  return {"`Future`", "a task that a coroutine awaits",
          takers({{"`co_await`",
                   [] {
                     bool heard = false;
                     auto future = failing();
                     future.wait();
                     await(std::move(future), heard);
                     return heard;
                   }}}),
          "an exception that leaves the resumed coroutine " + ends_program([] {
            std::atomic<bool> awaits{false};
            ThreadPool pool(1);
            await_and_fail(pool.submit([&] {
              idle_until([&] { return awaits.load(); });
              return 1;
            }));
            awaits = true;
          })};
}

ContractRow all_of() {
  return {"`Future`", "a task of `when_all`",
          takers({rethrowing("`get()`", [] { (void)when_all(failing(), failing()).get(); })}),
          neglected(
              [](const auto& threw) {
                const auto both = when_all(failing(), failing());
                both.wait();
                threw();
              },
              "at the end of the Future") +
              ", only the first"};
}

ContractRow any_of() {
  return {"`Future`", "a task of `when_any`",
          takers({rethrowing("`get()`", [] { (void)when_any(failing(), failing()).get(); })}),
          neglected(
              [](const auto& threw) {
                const auto first = when_any(failing(), failing());
                first.wait();
                threw();
              },
              "at the end of the Future") +
              "; those of the other tasks: " +
              neglected(
                  [](const auto& threw) {
                    auto won = pool_of_all().submit([] { return 1; });
                    won.wait();
                    auto first = when_any(std::move(won), failing());
                    (void)first.get();
                    threw();
                    pool_of_all().wait();
                  },
                  "later")};
}

}  // namespace

ContractTable unheard_table() {
  const Listening listening;
  ThreadTeam team(2);
  return {"unheard",
          {"type", "function given to", "its exception is taken by", "if nobody takes it"},
          {
              posted(),
              as_posted("`post_after`, `post_every`",
                        [](ThreadPool& pool) { (void)pool.post_after(milliseconds(0), fail); }),
              as_posted("a coroutine after `schedule`", go_on_and_fail),
              with_future("`ThreadPool`", "`submit`, `try_submit`", failing),
              std_future(),
              loops("`ThreadPool`", pool_of_all()),
              hooks(),
              group(),
              graph(),
              strand(),
              strand_futures(),
              pipeline(),
              loop(),
              loop_futures(),
              here(),
              workers(),
              object(),
              files(),
              processes(),
              events(),
              bus<MessageBus<int>>("`MessageBus`"),
              bus<LanedMessageBus<int>>("`LanedMessageBus`"),
              bus<PriorityMessageBus<int>>("`PriorityMessageBus`"),
              requests(),
              commands(),
              loops("`ThreadTeam`", team),
              process_team(),
              with_future("`Future`", "`then`, `on_failure`",
                          [] { return pool_of_all().submit([] {}).then([]() -> int { fail(); }); }),
              awaited(),
              shared(),
              all_of(),
              any_of(),
              listeners(),
              queues(),
          }};
}

}  // namespace handoff::test
