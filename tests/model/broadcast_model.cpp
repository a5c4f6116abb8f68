// SPDX-License-Identifier: MIT
//
// Broadcasts of all four policies against a list of what was published: batches, claims that are
// filled in part, published or dropped late, consumers that come, follow others and leave, visitors
// and copies that throw, the close in between, positions that run over.
#include <chrono>
#include <handoff/bus/broadcast.hpp>
#include <handoff/core/status.hpp>
#include <iterator>
#include <list>

#include "books/broadcast_books.hpp"
#include "model/item.hpp"
#include "model/model.hpp"
#include "support/policies.hpp"
#include "support/started_at.hpp"

namespace broadcast_model { namespace {

using namespace handoff;
using namespace handoff::test;

using LosesOldest = test::Overwrites<BroadcastPolicies>;
using OneLosesOldest = test::Overwrites<OneProducer>;

const std::vector<Word> words{{"push", 6},      {"push_batch", 3}, {"claim", 3},   {"fill", 4},
                              {"publish", 3},   {"drop", 2},       {"consume", 8}, {"trouble", 3},
                              {"wait", 2},      {"join", 3},       {"leave", 1},   {"close", 1},
                              {"begin_anew", 1}};

template <class Policies>
class BroadcastModel : public Model {
  using Plain = Broadcast<Item, Policies>;
  static constexpr bool kMany = Policies::many_producers;
  static constexpr bool kLossy = Policies::on_full == OnFull::overwrite_oldest;

 public:
  BroadcastModel() { begin_anew(2, 0); }
  ~BroadcastModel() override = default;

  void step(const Step& step) override {
    switch (step.what) {
      case 0: push(); break;
      case 1: push_batch(step.a % 6); break;
      case 2: claim(step.a % 6); break;
      case 3: fill(step.a, step.b % 2 == 0); break;
      case 4: end_claim(step.a, true); break;
      case 5: end_claim(step.a, false); break;
      case 6: consume(step.a, step.b < 8 ? step.b : 100, Trouble::none); break;
      case 7: consume(step.a, 100, static_cast<Trouble>(1 + step.b % 3)); break;
      case 8: wait(step.a); break;
      case 9: join(step); break;
      case 10: leave(step.a); break;
      case 11: close(); break;
      default: begin_anew(step.a, step.b); break;
    }
    compare();
  }

  void end() override {
    followers_.clear();
    open_.clear();
    broadcast_.reset();
    agree_on("the number of items alive at the end", Item::alive(), alive_before_);
  }

 private:
  enum class ClaimState : std::uint8_t { open, there, dropped };
  struct Published {
    int number;
    ClaimState state;
  };
  struct Open {
    typename Plain::Claim claim;
    std::size_t first;  // among all that was claimed
    std::vector<int> made;
  };
  struct Follower {
    typename Plain::Consumer consumer;
    int name;
    std::vector<int> after;
    std::size_t next;  // as moved up
    std::size_t known;  // as it knows
    std::uint64_t lost;  // of which it knows
  };
  enum class Trouble : std::uint8_t { none, throws, leaves, copy_fails };
  struct Thrown {};
  struct Visit {
    std::size_t at;
    bool end_of_batch;
  };

  // Its positions begin a little before tickets run over, or pass 2^32.
  void begin_anew(unsigned capacity, unsigned before_the_end) {
    followers_.clear();
    open_.clear();
    all_.clear();
    closed_ = false;
    start_ = (std::uint64_t{1} << (capacity > 7 ? 30 : 62)) - before_the_end;
    broadcast_ = std::make_unique<StartedAt<Plain>>(capacity % 7 + 1, start_);
    capacity_ = std::bit_ceil(std::size_t{capacity} % 7 + 1);
  }

  // --- Producers. ---

  bool may_publish() const { return kMany || open_.empty(); }
  bool is_over(std::size_t at) const { return all_[at].state != ClaimState::open; }

  // How many places in a row a claim gets; where the oldest are lost it moves others up.
  std::size_t claimed(std::size_t most) {
    if (closed_) return 0;
    const std::size_t tail = all_.size();
    std::size_t count = 0;
    while (count < std::min(most, capacity_) &&
           (tail + count < capacity_ || is_over(tail + count - capacity_))) {
      ++count;
    }
    std::size_t least = tail;
    for (Follower& follower : followers_) {
      const std::size_t keep = tail + count < capacity_ ? 0 : tail + count - capacity_;
      if (kLossy && count != 0) follower.next = std::max(follower.next, keep);
      least = std::min(least, follower.next);
    }
    return std::min(count, capacity_ - (tail - least));
  }
  Status verdict(std::size_t places) const {
    if (closed_) return Status::closed;
    return places != 0 ? Status::ok : Status::full;
  }

  void push() {
    if (!may_publish()) return;
    Item item(++last_);
    const Status expected = verdict(claimed(1));
    const Status status = broadcast_->try_push(std::move(item));
    agree_on("push", status, expected);
    agree_on("what a push leaves behind", item.number(),
             status == Status::ok ? Item::kNothing : last_);
    if (status == Status::ok) all_.push_back({last_, ClaimState::there});
  }

  void push_batch(unsigned count) {
    if (!may_publish()) return;
    std::vector<Item> items;
    for (unsigned i = 0; i < count; ++i) items.emplace_back(++last_);
    const std::size_t expected = claimed(count);
    agree_on("push_batch", broadcast_->try_push_batch(items), expected);
    const int first = last_ - static_cast<int>(count) + 1;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const int number = first + static_cast<int>(i);
      agree_on("an item of the batch", items[i].number(), i < expected ? Item::kNothing : number);
      if (i < expected) all_.push_back({number, ClaimState::there});
    }
  }

  void claim(std::size_t most) {
    if (!may_publish()) return;
    const std::size_t expected = claimed(most);
    auto claim = broadcast_->try_claim(most);
    agree_on("the size of a claim", claim.size(), expected);
    agree_on("claim", claim.status(), most == 0 ? Status::ok : verdict(expected));
    if (!claim) return;
    open_.push_back({std::move(claim), all_.size(), {}});
    if (kMany) all_.resize(all_.size() + expected, {0, ClaimState::open});
  }
  auto open_at(unsigned which) {
    return std::next(open_.begin(), static_cast<std::ptrdiff_t>(which % open_.size()));
  }
  void fill(unsigned which, bool renews) {
    if (open_.empty()) return;
    Open& open = *open_at(which);
    if (open.made.size() == open.claim.size()) return;
    open.made.push_back(++last_);
    if (renews) {
      open.claim.renew() = Item(last_);
    } else {
      agree_on("a new message", open.claim.emplace(last_).number(), last_);
    }
  }
  void end_claim(unsigned which, bool publishes) {
    if (open_.empty()) return;
    const auto at = open_at(which);
    const std::size_t made = publishes ? at->made.size() : 0;
    const std::size_t size = kMany ? at->claim.size() : made;
    if (!kMany) all_.resize(at->first + size, {0, ClaimState::open});
    for (std::size_t i = 0; i < size; ++i) {
      all_[at->first + i] =
          i < made ? Published{at->made[i], ClaimState::there} : Published{0, ClaimState::dropped};
    }
    if (publishes) {
      at->claim.publish();
    } else {
      at->claim.drop();
    }
    open_.erase(at);
  }

  void close() {
    if (!may_publish()) return;
    broadcast_->close();
    closed_ = true;
  }

  // --- Consumers. ---

  void join(const Step& step) {
    if (followers_.size() == 3) return;
    typename Plain::ConsumerOptions options;
    std::vector<int> after;
    if constexpr (!kLossy) {
      if (step.b % 2 != 0 && !followers_.empty()) {
        const Follower& first = followers_[step.a % followers_.size()];
        const Follower& second = followers_.front();
        options.after = {first.consumer, second.consumer};
        after = {first.name, second.name};
      }
    }
    std::optional<typename Plain::Consumer> made;
    if (!has_memory_for(step, [&] { made.emplace(broadcast_->consumer(options)); })) return;
    const std::size_t tail = all_.size();
    followers_.push_back({std::move(*made), ++names_, std::move(after), tail, tail, 0});
  }
  void leave(unsigned which) {
    if (followers_.empty()) return;
    const std::size_t at = which % followers_.size();
    followers_[at].consumer.leave();
    agree(followers_[at].consumer.closed(), "a consumer that has left is at its end");
    followers_.erase(followers_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Up to where it may visit.
  std::size_t limit_of(const Follower& follower) const {
    std::optional<std::size_t> limit;
    for (const Follower& other : followers_) {
      if (std::ranges::find(follower.after, other.name) == follower.after.end()) continue;
      limit = limit ? std::min(*limit, other.next) : other.next;
    }
    if (limit) return *limit;
    std::size_t at = follower.next;
    while (at < all_.size() && is_over(at)) ++at;
    return at;
  }

  // What it visits, and where it is then: in place.
  std::vector<Visit> visits_in_place(Follower& follower, std::size_t most) const {
    std::vector<Visit> visits;
    const std::size_t limit = limit_of(follower);
    for (; follower.next < limit && visits.size() < most; ++follower.next) {
      if (all_[follower.next].state == ClaimState::there) visits.push_back({follower.next, false});
    }
    if (!visits.empty()) visits.back().end_of_batch = true;
    follower.known = follower.next;
    return visits;
  }
  // By copies.
  std::vector<Visit> visits_of_copies(Follower& follower, std::size_t most) const {
    std::vector<Visit> visits;
    const std::size_t limit = std::min(most, capacity_);
    if (limit == 0) return visits;
    catch_up(follower);
    const std::size_t end = limit_of(follower);
    std::size_t at = follower.next;
    for (; at < end && visits.size() < limit; ++at) {
      if (all_[at].state == ClaimState::there) visits.push_back({at, false});
    }
    if (!visits.empty()) visits.back().end_of_batch = true;
    // Nothing is passed over behind the end of a batch.
    follower.known = follower.next = visits.empty() ? end : visits.back().at + 1;
    return visits;
  }
  void catch_up(Follower& follower) const {
    follower.lost += follower.next - follower.known;
    follower.known = follower.next;
  }

  void consume(unsigned which, std::size_t most, Trouble trouble) {
    if (followers_.empty()) return;
    const std::size_t who = which % followers_.size();
    Follower& follower = followers_[who];
    auto visits = kLossy ? visits_of_copies(follower, most) : visits_in_place(follower, most);
    if (visits.empty()) trouble = Trouble::none;
    if (!kLossy && trouble == Trouble::copy_fails) trouble = Trouble::none;
    if (trouble != Trouble::none) {
      visits.resize(1);
      follower.known = follower.next = visits.front().at + 1;
    }
    if (trouble == Trouble::copy_fails) visits.clear();
    std::size_t at = 0;
    const auto look = [&](const Item& item, std::uint64_t sequence, bool end_of_batch) {
      agree(at < visits.size(), "no more than there are");
      const Visit& visit = visits[at++];
      agree_on("the next message", item.number(), all_[visit.at].number);
      agree_on("its sequence", sequence, (start_ + visit.at) & ((std::uint64_t{1} << 62) - 1));
      if (trouble == Trouble::throws) throw Thrown();
      if (trouble == Trouble::leaves) {
        follower.consumer.leave();
        return;
      }
      agree(end_of_batch == visit.end_of_batch, "the last one knows it");
    };
    try {
      const Item::FailingCopies failing(trouble == Trouble::copy_fails);
      agree_on("consume", follower.consumer.consume(look, most), visits.size());
      agree(trouble == Trouble::none || trouble == Trouble::leaves, "what was thrown comes out");
    } catch (const Thrown&) {
      agree(trouble == Trouble::throws, "it throws because it was asked to");
    } catch (const Item::CopyFailed&) {
      agree(trouble == Trouble::copy_fails, "a copy fails because it was asked to");
    }
    agree_on("what was visited", at, visits.size());
    if (trouble == Trouble::leaves) {
      followers_.erase(followers_.begin() + static_cast<std::ptrdiff_t>(who));
    }
  }

  void wait(unsigned which) {
    if (followers_.empty()) return;
    Follower& follower = followers_[which % followers_.size()];
    if (kLossy) catch_up(follower);
    const bool there = limit_of(follower) > follower.next;
    const Status expected = there                                     ? Status::ok
                            : closed_ && follower.next == all_.size() ? Status::closed
                                                                      : Status::timed_out;
    agree_on("wait", follower.consumer.wait(std::chrono::seconds(0)), expected);
  }

  void compare() {
    agree_on("closed", broadcast_->closed(), closed_);
    for (const Follower& follower : followers_) {
      const auto& consumer = follower.consumer;
      agree_on("behind", consumer.behind(), all_.size() - follower.next);
      agree_on("at its end", consumer.closed(), closed_ && follower.known == all_.size());
      if constexpr (kLossy) agree_on("lost", consumer.lost(), follower.lost);
    }
    if (open_.empty()) agree_with_book<Plain>(*broadcast_);
  }

  const int alive_before_ = Item::alive();
  std::unique_ptr<StartedAt<Plain>> broadcast_;
  std::vector<Published> all_;  // claimed ones included
  std::list<Open> open_;  // claims do not move about
  std::vector<Follower> followers_;
  std::size_t capacity_ = 0;
  std::uint64_t start_ = 0;
  int last_ = 0;
  int names_ = 0;
  bool closed_ = false;
};

const ModelTest many("broadcast/many", model<BroadcastModel<BroadcastPolicies>>(words), 1000);
const ModelTest one("broadcast/one", model<BroadcastModel<OneProducer>>(words), 1000);
const ModelTest lossy("broadcast/lossy", model<BroadcastModel<LosesOldest>>(words), 1000);
const ModelTest one_lossy("broadcast/one_lossy", model<BroadcastModel<OneLosesOldest>>(words),
                          1000);

}}  // namespace broadcast_model
