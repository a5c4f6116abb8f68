// SPDX-License-Identifier: MIT
//
// A command bucket against a vector: recorders by hand and by chunks, chains, states, sorts, folded
// neighbours, dispatches whole, in lists and thrown out of, captures, recordings that are forgotten
// or whose frame is over, and one that may be full.
#include <handoff/command/command_aux.hpp>
#include <handoff/command/command_bucket.hpp>
#include <handoff/command/command_options.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/capacity.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/memory/frame.hpp>
#include <span>

#include "books/command_books.hpp"
#include "model/model.hpp"

namespace command_bucket_model { namespace {

using namespace handoff;
using namespace handoff::test;

const std::vector<Word> words{{"by_hand", 5}, {"record", 5},   {"state", 1},           {"sort", 2},
                              {"merge", 2},   {"dispatch", 4}, {"dispatch_throws", 2}, {"lists", 2},
                              {"capture", 1}, {"forget", 1}};

// What is dispatched, in its order; it has room for all of it. Throws at the one that it is told.
struct Seen {
  struct AsAsked : std::exception {
    const char* what() const noexcept override { return "as asked"; }
  };

  void see(std::uint64_t what) {
    if (all.size() == throws_at) throw AsAsked();
    all.push_back(what);
  }

  std::vector<std::uint64_t> all;
  std::size_t throws_at = ~std::size_t{0};
};

constexpr std::uint64_t kTail = std::uint64_t{1} << 61;
constexpr std::uint64_t kTarget = std::uint64_t{1} << 62;
constexpr std::uint64_t kBroken = std::uint64_t{1} << 63;

struct Call {
  std::uint32_t number;
  std::uint32_t count;
  std::uint64_t seen() const { return std::uint64_t{count} << 32 | number; }
  void operator()(Seen& to) const { to.see(seen()); }
};
// With auxiliary memory, of a size that follows from its number, and full of it.
struct Tail {
  std::uint32_t number;
  static std::size_t bytes_of(std::uint32_t its) { return its % 3 * 5; }
  void operator()(Seen& to) const {
    const AuxBytes aux = aux_of(*this);
    const bool whole = aux.size() == bytes_of(number) &&
                       std::all_of(aux.begin(), aux.end(), [this](std::byte byte) {
                         return byte == static_cast<std::byte>(number & 255);
                       });
    to.see((whole ? kTail : kBroken) | number);
  }
};
struct Target {
  std::uint32_t number;
  void operator()(Seen& to) const { to.see(kTarget | number); }
};

// A command with its chain, and where it was recorded.
struct Plain {
  auto place() const { return std::tuple(round, recorder, opened); }

  std::uint64_t round = 0;
  std::uint64_t recorder = 0;
  std::uint64_t opened = 0;
  std::uint16_t key = 0;
  std::size_t length = 0;
  std::array<std::uint64_t, 3> seen{};
};

// Runs a loop from its end, one index at a time, as if it had been stolen so.
class BackToFront {
 public:
  struct BulkStorage {};
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& = {}) {
    for (std::size_t i = count; i-- > 0;) body(IndexRange{i, i + 1});
    return {.accepted = count, .done = count};
  }
  Status start(std::size_t, BulkWork&, BulkStorage&, const RunOptions& = {}) {
    return Status::full;
  }
  std::size_t width() const { return 2; }
};
static_assert(Bulk<BackToFront>);

constexpr std::size_t kMemoryMost = 6000;

// kInFrame: its recordings end with their frame; else by clear().
template <bool kBounded, bool kInFrame>
class CommandBucketModel : public Model {
  using Bucket = CommandBucket<std::uint16_t, Seen>;
  using Recorder = typename Bucket::Recorder;

 public:
  CommandBucketModel() {
    constexpr CommandBucketOptions options{.memory_most = kBounded ? kMemoryMost : unbounded};
    bucket_ =
        kInFrame ? std::make_unique<Bucket>(frame_, options) : std::make_unique<Bucket>(options);
  }
  ~CommandBucketModel() override = default;

  void step(const Step& step) override {
    switch (step.what) {
      case 0: by_hand(step); break;
      case 1: record(step); break;
      case 2: add_state(step); break;
      case 3: sort(step); break;
      case 4: merge(step); break;
      case 5: dispatch(step, ~std::size_t{0}); break;
      case 6: dispatch(step, (step.a + Step::kNumbers * step.b) % (expected().size() + 1)); break;
      case 7: dispatch_lists(step); break;
      case 8: capture(step); break;
      default: forget(); break;
    }
    compare();
  }

  void end() override {
    forget();
    compare();
    bucket_.reset();
  }

 private:
  // --- Recording. ---

  // A recorder is opened, or it is tried: that ends a recording whose frame is over.
  void begin() {
    if (over_) forget_plain();
    there_ = true;
    stale_ = true;
  }

  static std::uint16_t key_of(const Step& step, std::size_t i) {
    return static_cast<std::uint16_t>((step.a * 7 + i * 5) % 6);
  }

  // A command with so many behind it; `made` is what came of it, also if this throws.
  void add(Recorder& recorder, std::uint16_t key, std::size_t tails, Plain& made) {
    Call* const call = recorder.template try_add<Call>(key);
    if (call == nullptr) {
      ++refused_;
      return;
    }
    *call = {++last_, 1};
    made.key = key;
    made.seen[made.length++] = call->seen();
    for (std::size_t i = 0; i < tails; ++i) {
      const std::uint32_t number = ++last_;
      Tail* const tail = recorder.template try_append<Tail>(*call, Tail::bytes_of(number));
      if (tail == nullptr) {
        ++refused_;
        return;
      }
      tail->number = number;
      std::ranges::fill(aux_of(*tail), static_cast<std::byte>(number & 255));
      made.seen[made.length++] = kTail | number;
    }
  }

  void keep(const Plain& made) {
    if (made.length == 0) return;
    plain_.push_back(made);
    recorded_ += made.length;
  }

  void by_hand(const Step& step) {
    begin();
    std::array<Plain, 4> made{};
    ++opened_;
    has_memory_for(step, [&] {
      Recorder recorder = bucket_->recorder(step.a % 3);
      for (unsigned i = 0; i <= step.b % 4; ++i) add(recorder, key_of(step, i), i % 3, made[i]);
    });
    for (Plain& each : made) {  // those that it had added stay
      each.round = 2 * round_;
      each.recorder = step.a % 3;
      each.opened = opened_;
      keep(each);
    }
  }

  void record(const Step& step) {
    begin();
    const std::size_t count = step.a;
    const std::size_t chunk = 1 + step.b % 4;
    std::array<Plain, Step::kNumbers> made{};
    std::array<bool, Step::kNumbers> whole{};  // by chunk
    bool called = count == 0;
    const bool had_memory = has_memory_for(step, [&] {
      bucket_->record(back_to_front_, count, chunk, [&](Recorder& recorder, IndexRange range) {
        called = true;
        for (const std::size_t i : range) add(recorder, key_of(step, i), i % 3, made[i]);
        whole[range.first / chunk] = true;
      });
    });
    for (std::size_t i = 0; i < count; ++i) {
      made[i].round = 2 * round_ + 1;
      made[i].recorder = i / chunk;
      if (whole[i / chunk]) {
        keep(made[i]);
      } else {
        dropped_ += made[i].length;
      }
    }
    if (called && (had_memory || count != 0)) ++round_;
  }

  void add_state(const Step& step) {
    begin();
    const std::uint32_t number = ++last_;
    bool added = false;
    try {
      added = has_memory_for(step, [&] { bucket_->template state<Target>().number = number; });
    } catch (const std::length_error&) {
      ++refused_;
    }
    if (added) states_.push_back(kTarget | number);
  }

  // --- Order. ---

  // Its frame is over; or it was folded, and more was recorded.
  bool is_misuse() const { return over_ || (folded_ != 0 && stale_); }

  // By a member; equal ones stay in their order. (Clang warns of what libstdc++ does for
  // std::stable_sort.)
  template <class By>
  static std::vector<Plain> sorted(const std::vector<Plain>& all, By by) {
    std::vector<Plain> sorted;
    for (const Plain& each : all) {
      sorted.insert(std::ranges::upper_bound(sorted, std::invoke(by, each), {}, by), each);
    }
    return sorted;
  }
  std::vector<Plain> order() const {
    if (folded_ != 0) return folded_order_;
    const std::vector<Plain> order = sorted(plain_, &Plain::place);
    return sorted_ ? sorted(order, &Plain::key) : order;
  }
  std::vector<std::uint64_t> commands() const {
    std::vector<std::uint64_t> all;
    for (const Plain& each : order()) {
      const auto end = each.seen.begin() + static_cast<std::ptrdiff_t>(each.length);
      all.insert(all.end(), each.seen.begin(), end);
    }
    return all;
  }
  std::vector<std::uint64_t> expected() const {
    std::vector<std::uint64_t> all = states_;
    const auto rest = commands();
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  // Whether it was done; if not, memory has failed, or it was refused as it should be.
  template <class F>
  bool done(const Step& step, bool misuse, const F& operation) {
    bool refused = false;
    const bool had_memory = has_memory_for(step, [&] {
      try {
        operation();
      } catch (const std::logic_error&) {
        refused = true;
      }
    });
    if (!had_memory) return false;
    agree_on("misuse", refused, misuse);
    return !refused;
  }

  void sort(const Step& step) {
    const bool again = folded_ != 0 && !sorted_;
    const bool was_done = done(step, is_misuse() || again, [&] {
      if (step.a % 2 == 0) {
        bucket_->sort();
      } else {
        bucket_->sort(back_to_front_);
      }
    });
    if (was_done && there_) sorted_ = true;
  }

  void merge(const Step& step) {
    CommandMerge merged;
    const std::vector<Plain> before = order();
    const bool was_done = done(step, is_misuse(), [&] {
      merged = bucket_->template merge<Call>([](Call& previous, const Call& next) {
        if (previous.number % 3 != next.number % 3) return false;
        previous.count += next.count;
        return true;
      });
    });
    if (!was_done) return;
    std::vector<Plain> after;
    for (const Plain& next : before) {
      const auto number = [](const Plain& of) { return static_cast<std::uint32_t>(of.seen[0]); };
      const bool folds = !after.empty() && after.back().length == 1 && next.length == 1 &&
                         number(after.back()) % 3 == number(next) % 3;
      if (folds) {
        after.back().seen[0] += next.seen[0] >> 32 << 32;
      } else {
        after.push_back(next);
      }
    }
    agree_on("merge, before", merged.before, before.size());
    agree_on("merge, after", merged.after, after.size());
    folded_ += before.size() - after.size();
    stale_ = false;
    folded_order_ = after;
  }

  // --- Dispatching. ---

  void dispatch(const Step& step, std::size_t throws_at) {
    const auto right = expected();
    Seen seen;
    seen.all.reserve(right.size() + 1);
    seen.throws_at = throws_at;
    bool threw = false;
    std::size_t dispatched = 0;
    const bool was_done = done(step, is_misuse(), [&] {
      try {
        dispatched = bucket_->dispatch(seen);
      } catch (const Seen::AsAsked&) {
        threw = true;
      }
    });
    if (!was_done) {
      agree(seen.all.empty(), "nothing is dispatched");
      return;
    }
    agree_on("a dispatch that throws", threw, throws_at < right.size());
    const std::size_t seen_most = std::min(throws_at, right.size());
    agree(std::ranges::equal(seen.all, std::span(right).first(seen_most)), "what is dispatched");
    if (!threw) {
      agree_on("dispatch", dispatched, right.size() - states_.size());
      done_ = recorded_;
      failed_ = 0;
    } else {
      const bool in_commands = throws_at >= states_.size();
      done_ = in_commands ? throws_at - states_.size() : 0;
      failed_ = in_commands ? 1 : 0;
    }
  }

  void dispatch_lists(const Step& step) {
    const auto right = commands();
    std::vector<Seen> lists(1 + step.a % 4);
    for (Seen& list : lists) list.all.reserve(states_.size() + right.size() + 1);
    std::size_t dispatched = 0;
    const bool was_done = done(step, is_misuse(), [&] {
      dispatched = bucket_->dispatch(back_to_front_, std::span(lists));
    });
    if (!was_done) return;
    agree_on("dispatch to lists", dispatched, right.size());
    std::vector<std::uint64_t> together;
    for (const Seen& list : lists) {
      agree(list.all.size() >= states_.size(), "each list has the state");
      const auto begin = list.all.begin() + static_cast<std::ptrdiff_t>(states_.size());
      agree(std::equal(list.all.begin(), begin, states_.begin()), "each list has the state");
      together.insert(together.end(), begin, list.all.end());
    }
    agree(together == right, "lists are the whole, one after the other");
    done_ = recorded_;
    failed_ = 0;
  }

  void capture(const Step& step) {
    const auto right = expected();
    std::vector<std::byte> image;
    if (!done(step, is_misuse(), [&] { image = bucket_->captured(); })) return;
    CommandBucket<std::uint16_t, Seen> other;
    const std::size_t loaded = other.load<Call, Tail, Target>(std::span<const std::byte>(image));
    agree_on("load", loaded, right.size());
    Seen seen;
    (void)other.dispatch(seen);
    agree(seen.all == right, "what is loaded");
  }

  // --- The end of a recording. ---

  void forget_plain() {
    accepted_before_ += recorded_ + dropped_;
    done_before_ += done_;
    failed_before_ += failed_;
    recorded_ = dropped_ = done_ = failed_ = 0;
    plain_.clear();
    states_.clear();
    folded_order_.clear();
    folded_ = 0;
    round_ = 0;
    over_ = there_ = sorted_ = stale_ = false;
  }

  void forget() {
    if constexpr (kInFrame) {
      agree_on("next", frame_.next(), Status::ok);
      over_ = there_;
    } else {
      bucket_->clear();
      forget_plain();
    }
  }

  void compare() {
    const Tally tally = bucket_->tally();
    agree_on("accepted", tally.accepted, accepted_before_ + recorded_ + dropped_);
    agree_on("done", tally.done, done_before_ + done_);
    agree_on("failed", tally.failed, failed_before_ + failed_);
    agree_on("pending", tally.pending, recorded_ - done_ - failed_);
    agree(tally.balanced(), "the books balance");
    const CommandStatistics figures = bucket_->statistics();
    agree_on("refused", figures.refused, refused_);
    if constexpr (kBounded) {
      agree(figures.memory <= kMemoryMost, "it keeps to its memory");
    } else {
      agree_on("refused", refused_, std::uint64_t{0});
    }
    agree_on("commands", figures.commands, over_ ? std::uint64_t{0} : std::uint64_t{plain_.size()});
    agree_on("folded", figures.folded, folded_);
    if (!over_) agree_with_book<Bucket>(*bucket_);
  }

  Frame frame_{FrameOptions{.in_flight = 1, .chunk_bytes = 4096}};
  std::unique_ptr<Bucket> bucket_;
  BackToFront back_to_front_;

  std::vector<Plain> plain_;  // as they were recorded
  std::vector<std::uint64_t> states_;
  std::vector<Plain> folded_order_;
  std::uint64_t folded_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t opened_ = 0;
  std::uint32_t last_ = 0;
  bool there_ = false;  // a recording
  bool over_ = false;  // its frame
  bool sorted_ = false;  // by key, whatever else is recorded
  bool stale_ = false;  // more was recorded since it was folded

  std::uint64_t recorded_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t accepted_before_ = 0;
  std::uint64_t done_before_ = 0;
  std::uint64_t failed_before_ = 0;
};

const ModelTest cleared("command_bucket/cleared", model<CommandBucketModel<false, false>>(words),
                        1500);
const ModelTest in_frames("command_bucket/in_frames", model<CommandBucketModel<false, true>>(words),
                          1500);
const ModelTest bounded("command_bucket/bounded", model<CommandBucketModel<true, true>>(words),
                        1500);

}}  // namespace command_bucket_model
