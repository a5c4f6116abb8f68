// SPDX-License-Identifier: MIT
//
// Updates to a store of records in pages, made by many threads in any order. Done as they come they
// jump from page to page; as sorted commands each page is fetched once, and updates of the same
// record are summed up before. The result is the same, and the program says what sorting gained.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <handoff/command/command_bucket.hpp>
#include <handoff/command/sort_key.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/team/thread_team.hpp>

namespace {

constexpr std::uint32_t kPages = 512;
constexpr std::uint32_t kRecordsPerPage = 64;
constexpr std::size_t kUpdates = 100'000;

// A store that has few pages at hand. Fetching one is what costs.
class Store {
 public:
  void add(std::size_t page, std::size_t record, std::int64_t amount) {
    if (std::size_t& here = at_hand_[page % at_hand_.size()]; here != page) {
      here = page;
      ++fetched_;
    }
    records_[page * kRecordsPerPage + record] += amount;
    ++updates_;
  }
  std::size_t fetched() const { return fetched_; }
  std::size_t updates() const { return updates_; }
  bool equals(const Store& other) const { return records_ == other.records_; }

 private:
  std::vector<std::int64_t> records_ = std::vector<std::int64_t>(kPages * kRecordsPerPage);
  std::array<std::size_t, 8> at_hand_{~std::size_t{0}, ~std::size_t{0}, ~std::size_t{0},
                                      ~std::size_t{0}, ~std::size_t{0}, ~std::size_t{0},
                                      ~std::size_t{0}, ~std::size_t{0}};
  std::size_t fetched_ = 0;
  std::size_t updates_ = 0;
};

struct Update {
  std::uint32_t page;
  std::uint32_t record;
  std::int64_t amount;
  void operator()(Store& store) const { store.add(page, record, amount); }
};

// By page, then by record.
using Key =
    handoff::SortKey<std::uint32_t, handoff::KeyField<"page", 9>, handoff::KeyField<"record", 6>>;
using Bucket = handoff::CommandBucket<std::uint32_t, Store>;

Update update_of(std::size_t i) {
  const std::uint64_t mixed = (i + 1) * 0x9e3779b97f4a7c15U;
  return {static_cast<std::uint32_t>(mixed >> 20) % kPages,
          static_cast<std::uint32_t>(mixed >> 40) % kRecordsPerPage,
          static_cast<std::int64_t>(i % 100)};
}

}  // namespace

int main() {
  Store in_any_order;
  for (std::size_t i = 0; i < kUpdates; ++i) update_of(i)(in_any_order);

  handoff::ThreadTeam team;
  handoff::Frame frame;
  Bucket bucket(frame);
  bucket.record(team, kUpdates, 256, [](Bucket::Recorder& recorder, handoff::IndexRange range) {
    for (const std::size_t i : range) {
      const Update update = update_of(i);
      recorder.add<Update>(Key::of(update.page, update.record)) = update;
    }
  });
  bucket.sort(team);
  const handoff::CommandMerge merged =
      bucket.merge<Update>([](Update& previous, const Update& next) {
        if (previous.page != next.page || previous.record != next.record) return false;
        previous.amount += next.amount;
        return true;
      });
  Store by_page;
  bucket.dispatch(by_page);

  std::printf("in any order: %zu updates, %zu pages fetched\n", in_any_order.updates(),
              in_any_order.fetched());
  std::printf("by page:      %zu updates made of %zu, %zu pages fetched\n", merged.after,
              merged.before, by_page.fetched());
  const bool gained = by_page.fetched() == kPages && by_page.updates() == merged.after &&
                      in_any_order.fetched() > 10 * by_page.fetched();
  return by_page.equals(in_any_order) && gained && bucket.tally().balanced() ? 0 : 1;
}
