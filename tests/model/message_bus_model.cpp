// SPDX-License-Identifier: MIT
//
// A message bus of either order against a std::deque: classes, batches, claims that are committed
// or dropped late, drains of a few, the close in between, positions that run over.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <handoff/bus/admission.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/core/status.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "books/bus_books.hpp"
#include "model/item.hpp"
#include "model/model.hpp"

namespace message_bus_model { namespace {

using namespace handoff;
using namespace handoff::test;

const std::vector<Word> words{{"publish", 6}, {"publish_batch", 3}, {"claim", 3},
                              {"commit", 3},  {"drop", 2},          {"drain", 6},
                              {"wait", 1},    {"close", 1},         {"begin_anew", 1}};

template <class Policies>
class MessageBusModel : public Model {
  using Plain = BasicMessageBus<Policies, Item>;

 public:
  MessageBusModel() { begin_anew(2, 0); }
  ~MessageBusModel() override = default;

  void step(const Step& step) override {
    switch (step.what) {
      case 0: publish(static_cast<Admission>(step.a % 3)); break;
      case 1: publish_batch(step.a % 7, static_cast<Admission>(step.b % 3)); break;
      case 2: claim(static_cast<Admission>(step.a % 3)); break;
      case 3: end_claim(step.a, true); break;
      case 4: end_claim(step.a, false); break;
      case 5: drain(step.a % 6); break;
      case 6: wait(); break;
      case 7:
        bus_->shut();
        closed_ = true;
        break;
      default: begin_anew(step.a, step.b); break;
    }
    compare();
  }

  void end() override {
    begin_anew(1, 0);
    compare();
    producer_.reset();
    bus_.reset();
    agree_on("the number of items alive at the end", Item::alive(), alive_before_);
  }

 private:
  struct Bus : Plain {
    Bus(const typename Plain::Options& options, std::uint64_t position)
        : Plain(options, detail::RingStart{position}) {}
  };
  enum class ClaimState : std::uint8_t { open, there, dropped };
  struct Expected {
    int number;
    ClaimState state;
  };
  struct Open {
    typename Plain::template Claim<Item> claim;
    int number;
  };

  // Its positions begin a little before the end of their type, or of half of it.
  void begin_anew(unsigned capacity, unsigned before_the_end) {
    const std::uint64_t end = capacity > 7 ? std::uint64_t{1} << 32 : 0;
    open_.clear();
    producer_.reset();
    typename Plain::Options options;
    options.capacity = capacity % 7 + 1;
    options.reserve = {.urgent = 25, .normal = 25};
    capacity_ = std::bit_ceil(options.capacity);
    bus_ = std::make_unique<Bus>(options, end - before_the_end);
    producer_.emplace(bus_->producer());
    plain_.clear();
    closed_ = false;
    accepted_ = done_ = 0;
  }

  std::size_t room(Admission admission) const {
    const std::size_t percent[] = {100, 75, 50};
    const std::size_t most =
        std::max<std::size_t>(1, capacity_ * percent[static_cast<std::size_t>(admission)] / 100);
    return most > plain_.size() ? most - plain_.size() : 0;
  }
  Status verdict(Admission admission) const {
    if (closed_) return Status::closed;
    return room(admission) != 0 ? Status::ok : Status::full;
  }

  void publish(Admission admission) {
    Item item(++last_);
    const Status expected = verdict(admission);
    const Status status = producer_->publish(std::move(item), admission);
    agree_on("publish", status, expected);
    agree_on("what a publish leaves behind", item.number(),
             status == Status::ok ? Item::kNothing : last_);
    if (status != Status::ok) return;
    plain_.push_back({last_, ClaimState::there});
    ++accepted_;
  }

  void publish_batch(unsigned count, Admission admission) {
    std::vector<Item> items;
    for (unsigned i = 0; i < count; ++i) items.emplace_back(++last_);
    const std::size_t expected = closed_ ? 0 : std::min<std::size_t>(items.size(), room(admission));
    agree_on("publish_batch", producer_->publish_batch(items, admission), expected);
    const int first = last_ - static_cast<int>(count) + 1;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const int number = first + static_cast<int>(i);
      agree_on("an item of the batch", items[i].number(), i < expected ? Item::kNothing : number);
      if (i < expected) plain_.push_back({number, ClaimState::there});
    }
    accepted_ += expected;
  }

  void claim(Admission admission) {
    const Status expected = verdict(admission);
    auto claim = producer_->template claim_with<Item>({.admission = admission}, ++last_);
    agree_on("claim", claim.status(), expected);
    if (!claim) return;
    plain_.push_back({last_, ClaimState::open});
    open_.push_back({std::move(claim), last_});
    ++accepted_;
  }
  void end_claim(unsigned which, bool commits) {
    if (open_.empty()) return;
    const auto at = open_.begin() + static_cast<std::ptrdiff_t>(which % open_.size());
    const auto expected = std::ranges::find(plain_, at->number, &Expected::number);
    expected->state = commits ? ClaimState::there : ClaimState::dropped;
    if (commits) {
      at->claim.commit();
    } else {
      --accepted_;
    }
    open_.erase(at);
  }

  void drain(std::size_t most) {
    std::vector<int> expected;
    while (expected.size() < most && !plain_.empty()) {
      if (plain_.front().state == ClaimState::open) break;
      if (plain_.front().state == ClaimState::there) expected.push_back(plain_.front().number);
      plain_.pop_front();
    }
    std::size_t at = 0;
    const std::size_t count = bus_->drain(
        [&](const Item& item, std::uint64_t sequence, bool end) {
          agree(at < expected.size(), "no more than there are");
          agree_on("the oldest message", item.number(), expected[at]);
          agree_on("its sequence", sequence, done_ + at);
          ++at;
          agree(end == (at == expected.size()), "the last one knows it, and no other");
        },
        most);
    agree_on("drain", count, expected.size());
    done_ += count;
  }

  void wait() {
    while (!plain_.empty() && plain_.front().state == ClaimState::dropped) plain_.pop_front();
    const bool there = !plain_.empty() && plain_.front().state == ClaimState::there;
    const Status expected = there                       ? Status::ok
                            : closed_ && plain_.empty() ? Status::closed
                                                        : Status::timed_out;
    agree_on("wait", bus_->wait(std::chrono::seconds(0)), expected);
  }

  void compare() {
    agree_on("size", bus_->size(), plain_.size());
    agree_on("closed", bus_->closed(), closed_);
    const Tally tally = bus_->tally();
    agree_on("accepted", tally.accepted, std::uint64_t{accepted_});
    agree_on("done", tally.done, std::uint64_t{done_});
    agree(tally.balanced(), "the books balance");
    if (open_.empty()) agree_with_book<Plain>(*bus_);
  }

  const int alive_before_ = Item::alive();
  std::unique_ptr<Bus> bus_;
  std::optional<typename Plain::Producer> producer_;
  std::vector<Open> open_;
  std::deque<Expected> plain_;
  std::size_t capacity_ = 0;
  std::size_t accepted_ = 0;
  std::size_t done_ = 0;
  int last_ = 0;
  bool closed_ = false;
};

const ModelTest total("message_bus/total", model<MessageBusModel<BusPolicies>>(words), 1500);
const ModelTest laned("message_bus/lanes", model<MessageBusModel<LanedBusPolicies>>(words), 1500);

}}  // namespace message_bus_model
