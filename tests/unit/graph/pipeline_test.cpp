// SPDX-License-Identifier: MIT
//
// A pipeline's sources, stages, sinks, pushes and ends, on executors that do as they please.
#include "support/unheard.hpp"

namespace handoff_pipeline_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;

// Does what it is told to with functions.
struct Stubborn {
  enum Way { refuses, throws, loses, keeps, runs };
  template <class F>
  Status try_post(F&& function) {
    if (way == refuses) return Status::full;
    if (way == throws) throw std::bad_alloc();
    if (way == loses) {
      [[maybe_unused]] const auto taken = std::forward<F>(function);
      return Status::ok;
    }
    if (way == runs) {
      auto taken = std::forward<F>(function);
      taken();
      return Status::ok;
    }
    kept.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  std::size_t width() const { return 2; }

  Way way;
  std::vector<UniqueFunction<void()>> kept = {};
};

auto counting(int count) {
  return [i = 0, count]() mutable -> std::optional<int> {
    return i == count ? std::nullopt : std::optional(i++);
  };
}

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Pipeline, takes_a_generator_a_range_and_what_it_owns) {
  ThreadPool pool({.width = 2});
  std::vector<int> seen;
  const auto keep = [&](int i) { seen.push_back(i); };
  EXPECT_EQ(Pipeline(pool, {.tokens = 4}, counting(100), parallel_stage([](int i) { return i; }),
                     ordered_stage(keep))
                .run()
                .done,
            100U);
  EXPECT_EQ(seen, up_to(100));

  seen.clear();
  const std::list<int> list{1, 2, 3};
  EXPECT_EQ(Pipeline(pool, {}, list, ordered_stage(keep)).run().done, 3U);
  EXPECT_EQ(seen, (std::vector{1, 2, 3}));
  EXPECT_EQ(list.size(), 3U);

  std::vector<std::unique_ptr<int>> owned;
  for (int i = 0; i < 3; ++i) owned.push_back(std::make_unique<int>(i));
  int sum = 0;
  Pipeline moves(pool, {}, std::move(owned),
                 parallel_stage([](std::unique_ptr<int> i) { return i; }),
                 serial_stage([&](const std::unique_ptr<int>& i) { sum += *i; }));
  EXPECT_EQ(moves.run().done, 3U);
  EXPECT_EQ(sum, 3);
}

TEST(Pipeline, goes_from_channel_to_channel_and_closes_it) {
  ThreadPool pool({.width = 2});
  Channel<int> in(2);
  Channel<std::string> out(2);
  Pipeline between(pool, {.tokens = 3}, in, parallel_stage([](int i) { return std::to_string(i); }),
                   out);
  between.start();
  std::jthread feeder([&] {
    for (int i = 0; i < 50; ++i) ASSERT_EQ(in.push(i), Status::ok);
    in.close();
  });
  int next = 0;
  for (const std::string& text : out) EXPECT_EQ(text, std::to_string(next++));
  EXPECT_EQ(next, 50);
  EXPECT_EQ(between.wait(), Status::ok);
  EXPECT_EQ(between.tally().done, 50U);
}

TEST(Pipeline, items_of_all_types_lie_where_they_may) {
  struct Odd {
    char text[33];
  };
  struct alignas(64) Line {
    char first;
  };
  ThreadPool pool({.width = 2});
  int lie_right = 0;
  Pipeline line(pool, {.tokens = 3}, counting(9),
                parallel_stage([](int i) { return Odd{{static_cast<char>(i)}}; }),
                parallel_stage([](const Odd& odd) { return Line{odd.text[0]}; }),
                parallel_stage([](const Line& item) {
                  return std::pair(item.first,
                                   reinterpret_cast<std::uintptr_t>(&item) % alignof(Line) == 0);
                }),
                ordered_stage([&](std::pair<char, bool> item) {
                  if (item.second) lie_right += item.first;
                }));
  line.run();
  EXPECT_EQ(lie_right, 36);
}

TEST(Pipeline, drops_and_multiplies_in_order) {
  ThreadPool pool({.width = 2});
  std::vector<int> seen;
  Pipeline line(pool, {.tokens = 4}, counting(6),
                parallel_stage([](int i) { return i % 2 == 0 ? std::optional(i) : std::nullopt; }),
                ordered_stage([](int i) {
                  Several<int> parts;
                  for (int k = 0; k < i; ++k) parts.push_back(10 * i + k);
                  return parts;
                }),
                serial_stage([](int i) { return Several<int>(std::vector{i, -i}); }),
                parallel_stage([](int i) { return i == -40 ? std::nullopt : std::optional(i); }),
                ordered_stage([&](int i) { seen.push_back(i); }));
  const Tally tally = line.run();
  EXPECT_EQ(tally.done, 6U);
  EXPECT_EQ(seen, (std::vector{20, -20, 21, -21, 40, 41, -41, 42, -42, 43, -43}));
}

TEST(Pipeline, tells_the_item_and_the_stage_that_threw) {
  ThreadPool pool({.width = 2});
  std::vector<int> seen;
  const auto boom = [](int i) {
    if (i == 5) throw std::runtime_error("no good");
    return i;
  };
  Pipeline line(pool, {.tokens = 2, .at_failure = Closing::finish}, counting(1000),
                parallel_stage([](int i) { return i; }), parallel_stage(boom, "check"),
                ordered_stage([&](int i) { seen.push_back(i); }));
  try {
    (void)line.run();
    ADD_FAILURE() << "nothing thrown";
  } catch (const PipelineFailed& failed) {
    EXPECT_EQ(failed.item(), 5U);
    EXPECT_EQ(failed.stage(), 1U);
    EXPECT_STREQ(failed.what(), "Pipeline: stage 1 'check' threw at item 5: no good");
    EXPECT_THROW(std::rethrow_exception(failed.cause()), std::runtime_error);
  }
  const Tally tally = line.close();
  EXPECT_EQ(tally.failed, 1U);
  EXPECT_EQ(tally.cancelled, 0U);
  EXPECT_LE(tally.accepted, 7U);  // two at most were in flight
  EXPECT_EQ(seen.size(), tally.done);
  EXPECT_TRUE(tally.first_failure != nullptr);
}

TEST(Pipeline, a_source_that_throws_ends_it) {
  ThreadPool pool({.width = 2});
  int i = 0;
  Pipeline line(
      pool, {.at_failure = Closing::finish},
      [&]() -> std::optional<int> {
        if (i == 3) throw 7;
        return i++;
      },
      ordered_stage([](int) {}));
  try {
    (void)line.run();
    ADD_FAILURE() << "nothing thrown";
  } catch (const PipelineFailed& failed) {
    EXPECT_EQ(failed.item(), 3U);
    EXPECT_EQ(failed.stage(), PipelineFailed::source);
    EXPECT_STREQ(failed.what(), "Pipeline: the source threw at item 3");
  }
  const Tally tally = line.close();
  EXPECT_EQ(tally.done, 3U);
  EXPECT_EQ(tally.failed, 1U);  // the item that it did not give
  EXPECT_TRUE(tally.balanced());
}

TEST(Pipeline, a_failure_that_nobody_takes_is_told) {
  const test::Unheard unheard;
  {
    InlineExecutor here;
    Pipeline line(here, {.name = "mill"}, Pushed<int>(),
                  serial_stage([](int) { throw std::runtime_error("sand"); }));
    EXPECT_EQ(line.push(1), Status::ok);
    EXPECT_EQ(line.push(2), Status::closed);
  }
  ASSERT_EQ(unheard.told().size(), 1U);
  EXPECT_NE(unheard.told()[0].find("mill"), std::string::npos);
  EXPECT_NE(unheard.told()[0].find("sand"), std::string::npos);
}

TEST(Pipeline, ends_on_any_executor) {
  for (const auto way :
       {Stubborn::refuses, Stubborn::throws, Stubborn::loses, Stubborn::keeps, Stubborn::runs}) {
    Stubborn stubborn{way};
    {
      std::vector<int> seen;
      const auto keep = ordered_stage([&](int i) { seen.push_back(i); });
      EXPECT_EQ(Pipeline(stubborn, {.tokens = 3}, counting(20), keep).run().done, 20U);
      EXPECT_EQ(seen, up_to(20));
      Pipeline started(stubborn, {.tokens = 3}, counting(20), keep);
      started.start();
      EXPECT_EQ(started.close().done, 20U);
      Pipeline pushed(stubborn, {.tokens = 3, .on_full = OnFull::reject}, Pushed<int>(), keep);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(pushed.push(i), Status::ok);
      if (way != Stubborn::runs) {
        EXPECT_EQ(pushed.push(3), Status::full);
      }
      EXPECT_EQ(pushed.wait(), Status::ok);
      EXPECT_EQ(pushed.push(3), Status::ok);
      EXPECT_EQ(pushed.close().done, 4U);
      EXPECT_EQ(seen.size(), 44U);
      // A push that waits for room does the work itself, at once or when the executor lost it.
      if (way == Stubborn::keeps) continue;
      Pipeline alone(stubborn, {.tokens = 3}, Pushed<int>(), keep);
      for (int i = 0; i < 10; ++i) EXPECT_EQ(alone.push(i), Status::ok);
      EXPECT_EQ(alone.close().done, 10U);
    }
    for (auto& late : stubborn.kept) late();  // touch nothing
  }
}

TEST(Pipeline, a_push_that_waits_hears_that_the_executor_dropped_what_it_had) {
  Stubborn keeps{Stubborn::keeps};
  Pipeline line(keeps, {.tokens = 1}, Pushed<int>(), serial_stage([](int) {}));
  EXPECT_EQ(line.push(1), Status::ok);
  std::thread waits([&] { EXPECT_EQ(line.push(2), Status::ok); });
  std::this_thread::sleep_for(1ms);
  keeps.kept.clear();
  waits.join();
  EXPECT_EQ(line.close().done, 2U);
}

TEST(Pipeline, pushes_wait_work_or_are_refused_with_the_item_unmoved) {
  Stubborn nobody{Stubborn::refuses};
  std::vector<int> seen;
  const auto keep = serial_stage([&](std::unique_ptr<int> i) { seen.push_back(*i); });
  auto item = std::make_unique<int>(2);
  {
    Pipeline line(nobody, {.tokens = 1}, Pushed<std::unique_ptr<int>>(), keep);
    EXPECT_EQ(line.push(std::make_unique<int>(1)), Status::ok);
    EXPECT_EQ(line.try_push(std::move(item)), Status::full);
    EXPECT_EQ(line.push(std::move(item), 1ms), Status::timed_out);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(line.push(std::move(item), stop.get_token()), Status::stopped);
    ASSERT_TRUE(item != nullptr);
    EXPECT_EQ(line.wait(1ms), Status::timed_out);
    EXPECT_EQ(line.wait(stop.get_token()), Status::stopped);
    EXPECT_EQ(line.close().done, 1U);
    EXPECT_EQ(line.push(std::move(item)), Status::closed);
    ASSERT_TRUE(item != nullptr);
  }
  Pipeline line(nobody, {.tokens = 1, .on_full = OnFull::run_here}, Pushed<std::unique_ptr<int>>(),
                keep);
  EXPECT_EQ(line.push(std::move(item)), Status::ok);
  EXPECT_EQ(line.push(std::make_unique<int>(3)), Status::ok);
  EXPECT_EQ(seen, (std::vector{1, 2}));
}

TEST(Pipeline, a_push_waits_until_an_item_has_ended) {
  ThreadPool pool({.width = 1});
  std::atomic<int> ended{0};
  Pipeline line(pool, {.tokens = 1}, Pushed<int>(), parallel_stage([&](int) {
                  std::this_thread::sleep_for(1ms);
                  ++ended;
                }));
  for (int i = 0; i < 10; ++i) ASSERT_EQ(line.push(i), Status::ok);
  EXPECT_GE(ended.load(), 9);
  EXPECT_EQ(line.wait(), Status::ok);
  EXPECT_EQ(ended.load(), 10);
}

TEST(Pipeline, inside_its_own_stage_it_neither_waits_nor_ends) {
  ThreadPool pool({.width = 2});
  std::atomic<int> misuses{0};
  std::atomic<Status> said{Status::ok};
  UniqueFunction<void()> inside;
  Pipeline line(pool, {.tokens = 1}, Pushed<int>(), serial_stage([&](int) { inside(); }));
  inside = [&] {
    said.store(line.push(2));
    try {
      (void)line.wait();
    } catch (const Misuse&) {
      ++misuses;
    }
    try {
      (void)line.close();
    } catch (const Misuse&) {
      ++misuses;
    }
  };
  EXPECT_EQ(line.push(1), Status::ok);
  EXPECT_EQ(line.wait(), Status::ok);
  EXPECT_EQ(line.close().done, 1U);
  EXPECT_EQ(said.load(), Status::full);
  EXPECT_EQ(misuses.load(), 2);
}

TEST(Pipeline, refuses_what_makes_no_sense) {
  InlineExecutor here;
  const auto stage = serial_stage([](int) {});
  EXPECT_THROW(Pipeline(here, {.tokens = 0}, counting(1), stage), Misuse);
  EXPECT_THROW(Pipeline(here, {.on_full = OnFull::grow}, Pushed<int>(), stage), Misuse);
  EXPECT_THROW(Pipeline(here, {.on_full = OnFull::overwrite_oldest}, Pushed<int>(), stage), Misuse);
  Pipeline twice(here, {}, counting(1), stage);
  (void)twice.run();
  EXPECT_THROW((void)twice.run(), Misuse);
  Pipeline never(here, {}, counting(1), stage);  // not started: nothing to wait for
  EXPECT_THROW((void)never.wait(), Misuse);
  EXPECT_EQ(never.close().accepted, 0U);
}

TEST(Pipeline, stops_and_expires) {
  ThreadPool pool({.width = 2});
  std::stop_source stop;
  Pipeline stopped(pool, {.tokens = 4, .until = stop.get_token()}, counting(1 << 30),
                   parallel_stage([&](int i) {
                     if (i == 10) stop.request_stop();
                     return i;
                   }),
                   ordered_stage([](int) {}));
  Tally tally = stopped.run();
  EXPECT_TRUE(tally.balanced());
  EXPECT_GE(tally.cancelled, 1U);
  EXPECT_EQ(tally.expired + tally.pending + tally.failed, 0U);
  EXPECT_EQ(stopped.wait(), Status::stopped);

  Pipeline late(pool, {.tokens = 4, .until = 5ms}, counting(1 << 30), parallel_stage([](int i) {
                  std::this_thread::sleep_for(1ms);
                  return i;
                }),
                ordered_stage([](int) {}));
  tally = late.run();
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.cancelled + tally.pending + tally.failed, 0U);
  EXPECT_EQ(late.wait(), Status::timed_out);

  Pipeline refused(pool, {.until = stop.get_token()}, Pushed<int>(), serial_stage([](int) {}));
  EXPECT_EQ(refused.push(1), Status::closed);
  EXPECT_EQ(refused.wait(), Status::stopped);
  Pipeline too_late(pool, {.until = 0ms}, Pushed<int>(), serial_stage([](int) {}));
  EXPECT_EQ(too_late.wait(), Status::ok) << "nothing was cut off";
  EXPECT_EQ(too_late.push(1), Status::closed);
  EXPECT_EQ(too_late.wait(), Status::timed_out);
}

// Nothing in the tally says so.
TEST(Pipeline, cut_off_with_no_item_in_flight_says_so) {
  InlineExecutor here;
  const std::vector<int> ten(10, 1);
  for (const int last : {0, 5}) {
    std::stop_source stop;
    int count = 0;
    const auto act = [&] {
      if (count++ == last) stop.request_stop();
    };
    if (last == 0) act();
    Pipeline line(here, {.tokens = 1, .until = stop.get_token()}, ten,
                  ordered_stage([&](int) { act(); }));
    const Tally tally = line.run();
    EXPECT_EQ(tally.accepted, tally.done);
    EXPECT_LT(tally.done, 10U);
    EXPECT_EQ(line.wait(), Status::stopped);
  }
  Pipeline late(here, {.until = 0ms}, ten, ordered_stage([](int) {}));
  EXPECT_EQ(late.run().accepted, 0U);
  EXPECT_EQ(late.wait(10s), Status::timed_out);
  std::stop_source stop;
  Pipeline whole(here, {.until = stop.get_token()}, ten, ordered_stage([](int) {}));
  EXPECT_EQ(whole.run().done, 10U);
  stop.request_stop();
  EXPECT_EQ(whole.wait(), Status::ok);
}

// No member is there to say that it is over.
TEST(Pipeline, a_wait_with_a_limit_hears_of_a_stop_and_of_a_close) {
  for (const bool closes : {false, true}) {
    Stubborn nobody{Stubborn::keeps};
    std::stop_source stop;
    Channel<int> out(1);
    Pipeline line(nobody, {.until = stop.get_token()}, counting(1),
                  serial_stage([](int i) { return i; }), out);
    line.start();
    std::thread waits([&] {
      EXPECT_EQ(line.wait(1h), closes ? Status::ok : Status::stopped);
      EXPECT_TRUE(out.closed());
    });
    std::this_thread::sleep_for(1ms);
    closes ? (void)line.close(Closing::abandon) : (void)stop.request_stop();
    waits.join();
  }
}

TEST(Pipeline, waits_for_a_channel_end_with_it) {
  ThreadPool pool({.width = 2});
  const auto pass = parallel_stage([](int i) { return i; });
  Channel<int> in(4);
  Channel<int> out(1);
  {
    std::stop_source stop;  // a source that waits
    Pipeline line(pool, {.until = stop.get_token()}, in, pass, serial_stage([](int) {}));
    line.start();
    std::this_thread::sleep_for(1ms);
    stop.request_stop();
    EXPECT_EQ(line.wait(), Status::stopped);
  }
  {
    Pipeline line(pool, {}, in, pass, serial_stage([](int) {}));
    line.start();
    EXPECT_EQ(line.close(Closing::abandon).accepted, 0U);
  }
  {
    Pipeline line(pool, {}, in, pass, serial_stage([](int) {}));
    line.start();
    EXPECT_EQ(line.close(Closing::finish_until(1ms)).accepted, 0U);
  }
  {  // a failure
    Pipeline line(pool, {}, in, serial_stage([](int) { throw 1; }));
    line.start();
    EXPECT_EQ(in.push(1), Status::ok);
    EXPECT_THROW((void)line.wait(), PipelineFailed);
  }
  {  // a sink that waits
    Pipeline line(pool, {.tokens = 4}, Pushed<int>(), pass, out);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(line.push(i), Status::ok);
    const Tally tally = line.close(Closing::abandon);
    EXPECT_TRUE(tally.balanced());
    EXPECT_LE(tally.done, 1U);
    EXPECT_TRUE(out.closed());
  }
  for (const bool by_option : {true, false}) {  // or waits too long
    Channel<int> full(1);
    EXPECT_EQ(full.push(0), Status::ok);
    Pipeline line(pool, {.tokens = 4, .until = by_option ? KeptUntil(5ms) : KeptUntil()},
                  Pushed<int>(), pass, full);
    while (!by_option && line.tally().accepted < 4) (void)line.push(1);
    if (by_option) (void)line.push(1);
    const Tally tally = line.close(by_option ? Closing::finish : Closing::finish_until(5ms));
    EXPECT_EQ(tally.expired, tally.accepted);
    EXPECT_EQ(tally.cancelled, 0U);
  }
  Pipeline line(pool, {.tokens = 4}, counting(10), pass, out);  // one that is closed
  const Tally tally = line.run();
  EXPECT_EQ(tally.done, 0U);
  EXPECT_EQ(tally.cancelled, tally.accepted);
}

TEST(Pipeline, no_item_is_left_where_they_are_dropped) {
  struct Counted {
    explicit Counted(int& its_live) : live(&its_live) { ++*live; }
    Counted(Counted&& other) noexcept : live(other.live) { ++*live; }
    ~Counted() { --*live; }
    int* live;
  };
  Stubborn nobody{Stubborn::refuses};
  int live = 0;
  {
    Pipeline line(nobody, {.tokens = 4}, Pushed<Counted>(),
                  parallel_stage([](Counted c) { return c; }), serial_stage([](Counted&) {}));
    for (int i = 0; i < 4; ++i) EXPECT_EQ(line.push(Counted(live)), Status::ok);
    EXPECT_EQ(live, 4);
    EXPECT_EQ(line.close(Closing::abandon).cancelled, 4U);
    EXPECT_EQ(live, 0);
  }
}

TEST(Pipeline, a_copy_that_throws_leaves_the_push_undone) {
  struct Fragile {
    Fragile() = default;
    Fragile(const Fragile& /*unused*/) { throw 3; }
    Fragile(Fragile&&) noexcept = default;
  };
  InlineExecutor here;
  Pipeline line(here, {.tokens = 1}, Pushed<Fragile>(), serial_stage([](const Fragile&) {}));
  const Fragile fragile;
  EXPECT_THROW((void)line.push(fragile), int);
  EXPECT_EQ(line.push(Fragile()), Status::ok);
  EXPECT_EQ(line.close().accepted, 1U);
}

}}  // namespace handoff_pipeline_test
