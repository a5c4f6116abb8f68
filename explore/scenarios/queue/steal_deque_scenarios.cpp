// SPDX-License-Identifier: MIT
//
// StealDeque: the scenarios of docs/design/steal_deque.md.
#include <handoff/queue/steal_deque.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/queue_books.hpp"
#include "explore/scenario.hpp"

namespace steal_deque_scenarios { namespace {

using namespace handoff;
using test::Scenario;

// Items are places in here, written before the push and read by the thread that takes them.
struct Items {
  std::array<sync::cell<int>, 4> of;

  Items() {}  // not constexpr: clang 19 would make it, and all that calls it, immediate

  void push(StealDeque<std::uint32_t>& deque, std::uint32_t item) {
    of[item].write() = 1;
    deque.reserve();
    deque.push(item);
  }
  void took(std::uint32_t item) { explore::check(of[item].write()++ == 1, "each item once"); }
  std::uint32_t pop_all(StealDeque<std::uint32_t>& deque) {
    std::uint32_t count = 0;
    for (std::uint32_t item = 0; deque.pop(item) == Status::ok; ++count) took(item);
    return count;
  }
  std::uint32_t steal(StealDeque<std::uint32_t>& deque, int tries) {
    std::uint32_t count = 0;
    for (std::uint32_t item = 0; tries > 0; --tries) {
      if (deque.steal(item) != Status::ok) continue;
      took(item);
      ++count;
    }
    return count;
  }
};

// The owner and one thief after the last item.
const Scenario last_item("steal_deque/last_item", [] {
  test::Audited<StealDeque<std::uint32_t>> deque(2);
  Items items;
  items.push(deque, 0);
  std::uint32_t stolen = 0;
  explore::Thread thief([&] { stolen = items.steal(deque, 1); });
  const std::uint32_t popped = items.pop_all(deque);
  thief.join();
  explore::check(popped + stolen == 1, "taken by one");
  explore::outcome(stolen);
});

// Two thieves come down to where the owner pops: the case that needs the order on both sides.
const Scenario two_thieves("steal_deque/two_thieves", [] {
  test::Audited<StealDeque<std::uint32_t>> deque(2);
  Items items;
  items.push(deque, 0);
  items.push(deque, 1);
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  explore::Thread one([&] { first = items.steal(deque, 1); });
  explore::Thread two([&] { second = items.steal(deque, 1); });
  const std::uint32_t popped = items.pop_all(deque);
  one.join();
  two.join();
  explore::check(popped + first + second == 2, "each is taken");
  explore::outcome(first * 2 + second);
});

// Of two items the owner takes some, by take(items, deque), while a thief takes what it can.
template <class Take>
void beside_a_thief(Take&& take) {
  test::Audited<StealDeque<std::uint32_t>> deque(2);
  Items items;
  items.push(deque, 0);
  items.push(deque, 1);
  std::uint32_t stolen = 0;
  explore::Thread thief([&] { stolen = items.steal(deque, 2); });
  std::uint32_t popped = take(items, deque);
  thief.join();
  popped += items.pop_all(deque);
  explore::check(popped + stolen == 2, "each is taken");
  explore::outcome(stolen);
}

// One thief takes twice, so that it passes the middle while the owner pops.
const Scenario thief_twice("steal_deque/thief_twice", [] {
  beside_a_thief(
      [](Items& items, StealDeque<std::uint32_t>& deque) { return items.pop_all(deque); });
});

// The owner takes one of two without an exchange, and a thief may not know yet that it is gone.
const Scenario not_beyond_the_owner("steal_deque/not_beyond_the_owner", [] {
  beside_a_thief([](Items& items, StealDeque<std::uint32_t>& deque) -> std::uint32_t {
    std::uint32_t item = 0;
    if (deque.pop(item) != Status::ok) return 0;
    items.took(item);
    return 1;
  });
});

// The owner says whose the items are, and something else before one of another is pushed. A thief
// that looks there when it has seen the item takes none of another.
const Scenario steals_if("steal_deque/steals_if", [] {
  test::Audited<StealDeque<std::uint32_t>> deque(2);
  sync::atomic<int> whose{0};
  std::uint32_t stolen = 2;
  explore::Thread thief([&] {
    const auto may = [&whose]() noexcept {
      return whose.load(sync::order::relaxed) == 1;  // order: relaxed, before the exchange
    };
    (void)deque.steal_if(stolen, may);
  });
  std::uint32_t item = 0;
  whose.store(1, sync::order::relaxed);  // order: relaxed, the push brings it
  deque.reserve(2);
  deque.push(0);
  const bool mine = deque.pop(item) == Status::ok;
  whose.store(0, sync::order::relaxed);  // order: relaxed, as above
  deque.push(1);
  const bool last = deque.pop(item) == Status::ok;
  thief.join();
  explore::check(last && item == 1, "nobody else may take it");
  explore::check(mine == (stolen == 2), "the other one is taken by one");
  explore::outcome(stolen);
});

// Pushes while a thief is at it, and places that are used again.
const Scenario used_again("steal_deque/used_again", [] {
  test::Audited<StealDeque<std::uint32_t>> deque(1);
  Items items;
  std::uint32_t stolen = 0;
  explore::Thread thief([&] { stolen = items.steal(deque, 2); });
  std::uint32_t popped = 0;
  items.push(deque, 0);
  popped += items.pop_all(deque);
  items.push(deque, 1);
  popped += items.pop_all(deque);
  thief.join();
  explore::check(popped + stolen == 2, "each is taken");
  explore::outcome(stolen);
});

// The owner grows while a thief reads.
const Scenario grows("steal_deque/grows", [] {
  test::Audited<StealDeque<std::uint32_t>> deque(1);
  Items items;
  items.push(deque, 0);
  std::uint32_t stolen = 0;
  explore::Thread thief([&] { stolen = items.steal(deque, 2); });
  items.push(deque, 1);
  items.push(deque, 2);
  const std::uint32_t popped = items.pop_all(deque);
  thief.join();
  explore::check(popped + stolen == 3, "each is taken");
  explore::outcome(stolen);
});

}}  // namespace steal_deque_scenarios
