// SPDX-License-Identifier: MIT
//
// Random pipelines: stages that throw, drop, multiply and take their time, stops and closes in
// between. Order is kept where it is promised, tokens are never exceeded, and each item has exactly
// one fate.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <handoff/graph/pipeline.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "support/support.hpp"

namespace handoff_pipeline_random_test { namespace {

using namespace handoff;

enum class Act : std::uint8_t { pass, drop, multiply, slow, fail };

constexpr std::size_t kStages = 4;

// What happens to each item at each stage, and what has happened.
struct Script {
  explicit Script(std::mt19937_64& random) : items(random() % 151) {
    const auto draw = [&](std::size_t most) { return std::size_t{random()} % (most + 1); };
    tokens = 1 + draw(draw(1) == 0 ? 3 : 40);
    width = 1 + draw(3);
    is_pushed = draw(1) == 0;
    ending = draw(5);
    ends_at = draw(150);
    finishes = draw(1) == 0;
    const std::size_t rarity = 1 + draw(60);
    const bool fails = draw(1) == 0;
    for (auto& acts : items) {
      for (Act& act : acts) {
        if (draw(rarity) != 0) continue;
        act = static_cast<Act>(1 + draw(fails ? 3 : 2));  // the last one is to fail
      }
    }
  }

  struct Fate {
    std::atomic<int> parts{0};  // that have reached the end
    std::atomic<int> dropped{0};
    std::atomic<int> failed{0};
  };

  std::vector<std::array<Act, kStages>> items;
  std::size_t tokens;
  std::size_t width;
  std::size_t ending;  // 0: by a stop, 1 and 2: by a close, else by itself
  std::size_t ends_at;
  bool is_pushed;
  bool finishes;
  std::vector<Fate> fates{items.size()};
  std::atomic<std::int64_t> live{0};
  std::atomic<std::int64_t> most_live{0};
  std::atomic<int> inside[kStages] = {};
  std::int64_t last[kStages] = {-1, -1, -1, -1};
  bool in_order = true;
  bool alone = true;
};

// An item in flight, and its parts; what was moved from is none.
struct Item {
  explicit Item(const std::pair<std::size_t, Script*>& of) : number(of.first), script(of.second) {
    const std::int64_t now = script->live.fetch_add(1) + 1;
    std::int64_t most = script->most_live.load();
    while (most < now && !script->most_live.compare_exchange_weak(most, now)) {
    }
  }
  Item(Item&& other) noexcept
      : number(other.number), part(other.part), script(std::exchange(other.script, nullptr)) {}
  Item& operator=(Item&& other) noexcept {
    std::swap(number, other.number);
    std::swap(part, other.part);
    std::swap(script, other.script);
    return *this;
  }
  ~Item() {
    if (script != nullptr && part == 0) script->live.fetch_sub(1);
  }
  Item part_of(int index) const {
    Item other(*this);
    other.part = index;
    return other;
  }

  std::size_t number;
  int part = 0;
  Script* script;

 private:
  Item(const Item& other) : number(other.number), script(other.script) {}
};

template <std::size_t S, bool serial, bool ordered>
struct Turn {
  explicit Turn(const Item& item) : script(*item.script) {
    if (serial && script.inside[S].fetch_add(1) != 0) script.alone = false;
    if (!ordered) return;
    const auto at =
        static_cast<std::int64_t>(item.number * 8 + static_cast<std::size_t>(item.part));
    if (at <= script.last[S]) script.in_order = false;
    script.last[S] = at;
  }
  ~Turn() {
    if (serial) script.inside[S].fetch_sub(1);
  }
  Script& script;
};

template <std::size_t S, bool serial, bool ordered>
struct Filter {
  std::optional<Item> operator()(Item item) const {
    const Turn<S, serial, ordered> turn(item);
    Script& script = *item.script;
    switch (script.items[item.number][S]) {
      case Act::drop: ++script.fates[item.number].dropped; return std::nullopt;
      case Act::fail: ++script.fates[item.number].failed; throw item.number;
      case Act::slow: std::this_thread::sleep_for(std::chrono::microseconds(50)); break;
      default: break;
    }
    return item;
  }
};

template <std::size_t S, bool serial, bool ordered>
struct Splitter {
  Several<Item> operator()(Item item) const {
    const Turn<S, serial, ordered> turn(item);
    Script& script = *item.script;
    Several<Item> parts;
    const Act act = script.items[item.number][S];
    if (act == Act::fail) {
      ++script.fates[item.number].failed;
      throw item.number;
    }
    if (act == Act::drop) {
      ++script.fates[item.number].dropped;
      return parts;
    }
    if (act == Act::multiply) {
      for (int part = 1; part < 4; ++part) parts.push_back(item.part_of(part));
    }
    parts.parts().insert(parts.parts().begin(), std::move(item));
    return parts;
  }
};

template <bool serial, bool ordered>
struct End {
  void operator()(Item item) const {
    const Turn<3, serial, ordered> turn(item);
    Script& script = *item.script;
    if (script.items[item.number][3] == Act::fail) {
      ++script.fates[item.number].failed;
      throw item.number;
    }
    ++script.fates[item.number].parts;
  }
};

// Counts each item by what it came to, which can only be what its script says, or nothing at all.
void check(Script& script, const Tally& tally) {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < script.items.size(); ++i) {
    const auto& acts = script.items[i];
    const auto& fate = script.fates[i];
    const auto first = std::find_if(acts.begin(), acts.end(),
                                    [](Act act) { return act == Act::drop || act == Act::fail; });
    const auto stage = first - acts.begin();
    const int parts = acts[1] == Act::multiply ? 4 : 1;
    const bool ends = first == acts.end() || (stage == 3 && *first == Act::drop);
    if (ends) {
      EXPECT_TRUE(fate.parts == 0 || fate.parts == parts) << i;
      EXPECT_EQ(fate.dropped + fate.failed, 0) << i;
      done += fate.parts != 0 ? 1U : 0U;
    } else if (*first == Act::fail) {
      EXPECT_LE(fate.failed, 1) << i;
      EXPECT_EQ(fate.dropped + fate.parts, 0) << i;
      failed += fate.failed != 0 ? 1U : 0U;
    } else {
      EXPECT_TRUE(fate.dropped == 0 || fate.dropped == (stage == 2 ? parts : 1)) << i;
      EXPECT_EQ(fate.failed + fate.parts, 0) << i;
      done += fate.dropped != 0 ? 1U : 0U;
    }
  }
  EXPECT_TRUE(tally.balanced());
  EXPECT_EQ(tally.pending, 0U);
  EXPECT_EQ(tally.done, done);
  EXPECT_EQ(tally.failed, failed);
  EXPECT_EQ(tally.first_failure != nullptr, failed != 0);
  EXPECT_TRUE(script.in_order);
  EXPECT_TRUE(script.alone);
  EXPECT_EQ(script.live.load(), 0);
  EXPECT_LE(script.most_live.load(), static_cast<std::int64_t>(script.tokens));
  if (script.ending <= 2) return;
  if (failed == 0) {
    EXPECT_EQ(tally.accepted, script.items.size());
  }
  if (failed == 0 || script.finishes) {
    EXPECT_EQ(tally.cancelled + tally.expired, 0U);
  }
}

// What it throws is in the tally.
template <class Line>
Tally close(Line& line, const Closing& closing = Closing::finish) {
  const Tally tally = line.close(closing);
  try {
    (void)line.wait();
  } catch (const PipelineFailed& failed) {
    EXPECT_TRUE(tally.first_failure != nullptr) << failed.what();
  }
  return tally;
}

template <class... Stages>
void run(Script& script, ThreadPool& pool, Stages... stages) {
  std::stop_source stop;
  PipelineOptions options{.tokens = script.tokens,
                          .on_full = script.ends_at % 2 == 0 ? OnFull::wait : OnFull::run_here,
                          .at_failure = script.finishes ? Closing::finish : Closing::abandon};
  if (script.ending == 0) options.until = stop.get_token();
  const auto end = [&](auto& line) {
    if (script.ending == 1) (void)close(line, Closing::abandon);
    if (script.ending == 2) {
      (void)close(line, Closing::finish_until(std::chrono::microseconds(100)));
    }
  };
  if (script.is_pushed) {
    Pipeline line(pool, options, Pushed<Item>(), std::move(stages)...);
    for (std::size_t i = 0; i < script.items.size(); ++i) {
      if (i == script.ends_at) {
        stop.request_stop();
        end(line);
      }
      // The item is made where there is a place only, so that it counts among those in flight.
      if (line.push(std::pair(i, &script)) != Status::ok) break;
    }
    return check(script, close(line));
  }
  std::size_t next = 0;
  const auto generate = [&]() -> std::optional<Item> {
    if (next == script.ends_at) stop.request_stop();
    if (next == script.items.size()) return std::nullopt;
    return std::optional<Item>(std::in_place, std::pair(next++, &script));
  };
  Pipeline line(pool, options, generate, std::move(stages)...);
  line.start();
  if (script.ending == 1 || script.ending == 2) {
    std::this_thread::sleep_for(std::chrono::microseconds(script.ends_at));
    end(line);
  }
  check(script, close(line));
}

TEST(Pipeline, random_ones_keep_what_is_promised) {
  std::mt19937_64 random = test::random();
  std::vector<std::unique_ptr<ThreadPool>> pools;
  for (std::size_t width = 1; width <= 4; ++width) {
    pools.push_back(std::make_unique<ThreadPool>(ThreadPoolOptions{.width = width}));
  }
  const std::size_t rounds = test::deep() ? 10'000 : test::slow ? 300 : 1'000;
  for (std::size_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(round);
    Script script(random);
    ThreadPool& pool = *pools[script.width - 1];
    switch (round % 4) {
      case 0:
        run(script, pool, parallel_stage(Filter<0, false, false>()),
            ordered_stage(Splitter<1, true, true>()), parallel_stage(Filter<2, false, false>()),
            ordered_stage(End<true, true>()));
        break;
      case 1:
        run(script, pool, ordered_stage(Filter<0, true, true>()),
            parallel_stage(Splitter<1, false, false>()), serial_stage(Filter<2, true, false>()),
            serial_stage(End<true, false>()));
        break;
      case 2:
        run(script, pool, serial_stage(Filter<0, true, false>()),
            serial_stage(Splitter<1, true, false>()), ordered_stage(Filter<2, true, true>()),
            ordered_stage(End<true, true>()));
        break;
      default:
        run(script, pool, parallel_stage(Filter<0, false, false>()),
            parallel_stage(Splitter<1, false, false>()), serial_stage(Filter<2, true, false>()),
            parallel_stage(End<false, false>()));
    }
  }
}

}}  // namespace handoff_pipeline_random_test
