// SPDX-License-Identifier: MIT
//
// A message bus of each order against std::deques: classes, batches, claims that are committed
// or dropped late, drains of a few, the close in between, positions that run over.
#include <handoff/bus/admission.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/status.hpp>

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
  static constexpr bool kByPriority = Policies::order == MessageOrder::by_priority;
  using Class = std::conditional_t<kByPriority, Priority, Admission>;
  static constexpr unsigned kClasses = kByPriority ? 4 : 3;

 public:
  MessageBusModel() { begin_anew(2, 0); }
  ~MessageBusModel() override = default;

  void step(const Step& step) override {
    switch (step.what) {
      case 0: publish(static_cast<Class>(step.a % kClasses)); break;
      case 1: publish_batch(step.a % 7, static_cast<Class>(step.b % kClasses)); break;
      case 2: claim(static_cast<Class>(step.a % kClasses)); break;
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
    Class its;
  };

  // Its positions begin a little before the end of their type, or of half of it.
  void begin_anew(unsigned capacity, unsigned before_the_end) {
    const std::uint64_t end = capacity > 7 ? std::uint64_t{1} << 32 : 0;
    open_.clear();
    producer_.reset();
    typename Plain::Options options;
    options.capacity = capacity % 7 + 1;
    if constexpr (!kByPriority) options.reserve = {.urgent = 25, .normal = 25};
    capacity_ = std::bit_ceil(options.capacity);
    bus_ = std::make_unique<Bus>(options, end - before_the_end);
    producer_.emplace(bus_->producer());
    for (auto& ring : plain_) ring.clear();
    closed_ = false;
    accepted_ = done_ = 0;
  }

  std::deque<Expected>& ring_of(Class its) {
    return plain_.at(kByPriority ? static_cast<std::size_t>(its) : 0);
  }
  std::size_t room(Class its) {
    const std::size_t percent[] = {100, 75, 50, 0};
    const std::size_t part = kByPriority ? 100 : percent[static_cast<std::size_t>(its)];
    const std::size_t most = std::max<std::size_t>(1, capacity_ * part / 100);
    return most > ring_of(its).size() ? most - ring_of(its).size() : 0;
  }
  Status verdict(Class its) {
    if (closed_) return Status::closed;
    return room(its) != 0 ? Status::ok : Status::full;
  }

  void publish(Class its) {
    Item item(++last_);
    const Status expected = verdict(its);
    const Status status = producer_->publish(std::move(item), its);
    agree_on("publish", status, expected);
    agree_on("what a publish leaves behind", item.number(),
             status == Status::ok ? Item::kNothing : last_);
    if (status != Status::ok) return;
    ring_of(its).push_back({last_, ClaimState::there});
    ++accepted_;
  }

  void publish_batch(unsigned count, Class its) {
    std::vector<Item> items;
    for (unsigned i = 0; i < count; ++i) items.emplace_back(++last_);
    const std::size_t expected = closed_ ? 0 : std::min<std::size_t>(items.size(), room(its));
    agree_on("publish_batch", producer_->publish_batch(items, its), expected);
    const int first = last_ - static_cast<int>(count) + 1;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const int number = first + static_cast<int>(i);
      agree_on("an item of the batch", items[i].number(), i < expected ? Item::kNothing : number);
      if (i < expected) ring_of(its).push_back({number, ClaimState::there});
    }
    accepted_ += expected;
  }

  void claim(Class its) {
    const Status expected = verdict(its);
    typename Plain::Given given;
    if constexpr (kByPriority) given.priority = its;
    else given.admission = its;
    auto claim = producer_->template claim_with<Item>(given, ++last_);
    agree_on("claim", claim.status(), expected);
    if (!claim) return;
    ring_of(its).push_back({last_, ClaimState::open});
    open_.push_back({std::move(claim), last_, its});
    ++accepted_;
  }
  void end_claim(unsigned which, bool commits) {
    if (open_.empty()) return;
    const auto at = open_.begin() + static_cast<std::ptrdiff_t>(which % open_.size());
    const auto expected = std::ranges::find(ring_of(at->its), at->number, &Expected::number);
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
    std::vector<bool> ends;  // none lies ready behind it, in its ring
    while (expected.size() < most) {
      std::deque<Expected>* const ring = first_there();
      if (ring == nullptr) break;
      expected.push_back(ring->front().number);
      ring->pop_front();
      ends.push_back(expected.size() == most || !is_ready(*ring));
    }
    std::size_t at = 0;
    const std::size_t count = bus_->drain(
        [&](const Item& item, std::uint64_t sequence, bool end) {
          agree(at < expected.size(), "no more than there are");
          agree_on("the oldest message", item.number(), expected[at]);
          agree_on("its sequence", sequence, done_ + at);
          ++at;
          agree(end == ends[at - 1], "the last one knows it, and no other");
        },
        most);
    agree_on("drain", count, expected.size());
    done_ += count;
  }

  void wait() {
    const bool there = first_there() != nullptr;
    const Status expected = there                    ? Status::ok
                            : closed_ && size() == 0 ? Status::closed
                                                     : Status::timed_out;
    agree_on("wait", bus_->wait(std::chrono::seconds(0)), expected);
  }

  // Steps over what was dropped.
  static bool is_there(std::deque<Expected>& ring) {
    while (!ring.empty() && ring.front().state == ClaimState::dropped) ring.pop_front();
    return !ring.empty() && ring.front().state == ClaimState::there;
  }
  static bool is_ready(std::deque<Expected> copy) { return is_there(copy); }
  std::deque<Expected>* first_there() {
    for (auto& ring : plain_) {
      if (is_there(ring)) return &ring;
    }
    return nullptr;
  }
  std::size_t size() const {
    std::size_t size = 0;
    for (const auto& ring : plain_) size += ring.size();
    return size;
  }

  void compare() {
    agree_on("size", bus_->size(), size());
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
  std::array<std::deque<Expected>, 4> plain_;  // by Priority, or the first one alone
  std::size_t capacity_ = 0;
  std::size_t accepted_ = 0;
  std::size_t done_ = 0;
  int last_ = 0;
  bool closed_ = false;
};

const ModelTest total("message_bus/total", model<MessageBusModel<BusPolicies>>(words), 1500);
const ModelTest by_priority("message_bus/by_priority",
                            model<MessageBusModel<PriorityBusPolicies>>(words), 1500);
const ModelTest laned("message_bus/lanes", model<MessageBusModel<LanedBusPolicies>>(words), 1500);

}}  // namespace message_bus_model
