// SPDX-License-Identifier: MIT
//
// What may not be broadcast, and what may not be asked of a broadcast or a Latest.

#include <memory>
#include <string>

#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>

struct ThrowingMove {
  ThrowingMove() = default;
  ThrowingMove(ThrowingMove&&) noexcept(false) {}
};

struct ThrowingAssignment {
  ThrowingAssignment(ThrowingAssignment&&) noexcept = default;
  ThrowingAssignment& operator=(ThrowingAssignment&&) noexcept(false) { return *this; }
};

struct LosesOldest : handoff::BroadcastPolicies {
  static constexpr handoff::OnFull on_full = handoff::OnFull::overwrite_oldest;
};

struct Rejects : handoff::BroadcastPolicies {
  static constexpr handoff::OnFull on_full = handoff::OnFull::reject;
};

struct NoDefault {
  explicit NoDefault(int number) noexcept : value(number) {}
  int value;
};

struct Incomparable {};

namespace {

void newest_values() {
  handoff::Latest<int> pose;
  handoff::LatestByKey<int, int> prices(4);
  if (pose.store(1) != prices.try_push(1, 1)) return;

#if defined(WRONG_latest_reference)  // expect: holds a value
  handoff::Latest<int&> reference;
#endif
#if defined(WRONG_latest_throwing_assignment)  // expect: value must move without throwing
  handoff::Latest<ThrowingAssignment> lossy;
#endif
#if defined(WRONG_latest_visitor_that_writes)  // expect: read
  handoff::Latest<int> latest;
  (void)latest.read([](int& value) { value = 1; });
#endif
#if defined(WRONG_latest_copy_of_an_owner)  // expect: load
  handoff::Latest<std::unique_ptr<int>> latest;
  (void)latest.load();
#endif
#if defined(WRONG_key_that_cannot_be_compared)  // expect: copies and compares its keys
  struct Hash {
    std::size_t operator()(const Incomparable&) const { return 0; }
  };
  handoff::LatestByKey<Incomparable, int, Hash> by_key(4);
#endif
#if defined(WRONG_by_key_throwing_move)  // expect: values must move without throwing
  handoff::LatestByKey<int, ThrowingMove> by_key(4);
#endif
#if defined(WRONG_by_key_visitor_that_writes_the_key)  // expect: consume
  handoff::LatestByKey<int, int> by_key(4);
  by_key.consume([](int& key, int&) { key = 1; });
#endif
}

}  // namespace

int main() {
  handoff::Broadcast<std::unique_ptr<int>> owners(4);
  handoff::Broadcast<int, LosesOldest> ticks(4);
  handoff::Broadcast<NoDefault> numbers(4);
  auto all = owners.consumer();
  auto after_all = owners.consumer({.after = {all}});
  auto some = ticks.consumer({.spin_for = {}});
  if (ticks.try_push(1) != owners.try_push(nullptr) || some.lost() != 0) return 1;

#if defined(WRONG_reference)  // expect: holds values
  handoff::Broadcast<int&> references(4);
#endif
#if defined(WRONG_throwing_move)  // expect: must move without throwing
  handoff::Broadcast<ThrowingMove> throwing(4);
#endif
#if defined(WRONG_policy)  // expect: a broadcast waits or overwrites the oldest
  handoff::Broadcast<int, Rejects> rejecting(4);
#endif
#if defined(WRONG_copies_of_what_has_none)  // expect: visits copies: the message must be copyable
  handoff::Broadcast<std::unique_ptr<int>, LosesOldest> owners_of_some(4);
#endif
#if defined(WRONG_after_where_messages_are_lost)  // expect: consumer
  auto after_some = ticks.consumer({.after = {some}});
#endif
#if defined(WRONG_lost_where_nothing_is_lost)  // expect: lost
  if (all.lost() != 0) return 1;
#endif
#if defined(WRONG_visitor)  // expect: consume
  all.consume([](const std::string&) {});
#endif
#if defined(WRONG_renewal_of_what_has_no_default)  // expect: renew
  (void)numbers.claim().renew();
#endif
#if defined(WRONG_copy_of_a_consumer)  // expect: deleted
  auto twice = all;
#endif
#if defined(WRONG_consumer_nobody_keeps)  // expect: nodiscard
  owners.consumer();
#endif
#if defined(WRONG_claim_nobody_keeps)  // expect: nodiscard
  owners.claim();
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: says whether the call did what it should
  ticks.try_push(2);
#endif
  newest_values();
  return 0;
}
