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

  // wrong: holds a value
  // handoff::Latest<int&> reference;
  // wrong: value must move without throwing
  // handoff::Latest<ThrowingAssignment> lossy;
  // wrong: read
  // handoff::Latest<int> latest;
  // (void)latest.read([](int& value) { value = 1; });
  // wrong: load
  // handoff::Latest<std::unique_ptr<int>> latest;
  // (void)latest.load();
  // wrong: copies and compares its keys
  // struct Hash {
  //   std::size_t operator()(const Incomparable&) const { return 0; }
  // };
  // handoff::LatestByKey<Incomparable, int, Hash> by_key(4);
  // wrong: values must move without throwing
  // handoff::LatestByKey<int, ThrowingMove> by_key(4);
  // wrong: consume
  // handoff::LatestByKey<int, int> by_key(4);
  // by_key.consume([](int& key, int&) { key = 1; });
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

  // wrong: holds values
  // handoff::Broadcast<int&> references(4);
  // wrong: must move without throwing
  // handoff::Broadcast<ThrowingMove> throwing(4);
  // wrong: a broadcast waits or overwrites the oldest
  // handoff::Broadcast<int, Rejects> rejecting(4);
  // wrong: visits copies: the message must be copyable
  // handoff::Broadcast<std::unique_ptr<int>, LosesOldest> owners_of_some(4);
  // wrong: overwrites the oldest comes after no other
  // auto after_some = ticks.consumer({.after = {some}});
  // wrong: overwrites the oldest comes after no other
  // auto after_both = ticks.consumer({.after = {some, some}});
  // wrong: lost
  // if (all.lost() != 0) return 1;
  // wrong: consume
  // all.consume([](const std::string&) {});
  // wrong: renew
  // (void)numbers.claim().renew();
  // wrong: deleted
  // auto twice = all;
  // wrong: nodiscard
  // owners.consumer();
  // wrong: nodiscard
  // owners.claim();
  // wrong: says whether the call did what it should
  // ticks.try_push(2);
  newest_values();
  return 0;
}
