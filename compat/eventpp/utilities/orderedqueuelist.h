// SPDX-License-Identifier: MIT
//
// eventpp's OrderedQueueList: a QueueList policy that keeps the events of a queue in an order.
//
//   struct MyPolicies {
//     template <class Item>
//     using QueueList = eventpp::OrderedQueueList<Item, MyCompare>;   // compare(event, event)
//   };
//
// For: programs written against eventpp. Not for: new ones, see EventPolicies' priority in
// handoff/event/, whose queue costs O(log n).
// Equal events keep the order in which they came. Cost: an event goes to its place from the back,
// O(n) at worst, O(1) where it belongs there. The comparison runs under the queue's mutex.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <iterator>
#include <list>

namespace eventpp {

// By the event.
struct OrderedQueueListCompare {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a.event < b.event;
  }
};

template <class Item, class Compare = OrderedQueueListCompare>
class OrderedQueueList : private std::list<Item> {
  using Base = std::list<Item>;

 public:
  using typename Base::const_iterator;
  using typename Base::const_reference;
  using typename Base::iterator;

  using Base::begin;
  using Base::emplace_back;
  using Base::empty;
  using Base::end;
  using Base::front;
  using Base::size;

  void swap(OrderedQueueList& other) noexcept { Base::swap(other); }

  // All of the other list, or one item of it, to where they belong; an empty list takes all as it
  // is. `position` is what the policy asks for.
  void splice(const_iterator /*position*/, OrderedQueueList& other) {
    if (this->empty()) {
      Base::splice(this->end(), other);
      return;
    }
    while (!other.empty()) take(other, other.begin());
  }
  void splice(const_iterator /*position*/, OrderedQueueList& other, const_iterator it) {
    take(other, it);
  }

 private:
  void take(OrderedQueueList& other, const_iterator it) {
    auto at = this->cend();
    while (at != this->cbegin() && Compare()(it->get(), std::prev(at)->get())) --at;
    Base::splice(at, other, it);
  }
};

}  // namespace eventpp
