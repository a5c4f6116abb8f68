// SPDX-License-Identifier: MIT
//
// A broadcast that one consumer follows, which is a queue then.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

template <class T, class Policies>
class FollowedByOne {
 public:
  using value_type = T;

  explicit FollowedByOne(std::size_t capacity)
      : broadcast_(capacity), consumer_(broadcast_.consumer()) {}

  std::size_t capacity() const { return broadcast_.capacity(); }
  std::size_t size() const { return consumer_.behind(); }
  Status try_push(T&& item) { return broadcast_.try_push(std::move(item)); }
  Status try_push(const T& item) { return broadcast_.try_push(item); }
  Status push(T&& item, const Until& until) { return broadcast_.push(std::move(item), until); }
  std::size_t try_push_batch(std::span<T> items) { return broadcast_.try_push_batch(items); }
  void close() { broadcast_.close(); }
  bool closed() const { return broadcast_.closed(); }

  Status try_pop(T& out) {
    if (try_pop_batch(std::span(&out, 1)) == 1) return Status::ok;
    return consumer_.closed() ? Status::closed : Status::empty;
  }
  std::size_t try_pop_batch(std::span<T> out) {
    std::size_t count = 0;
    consumer_.consume([&](T& item) { out[count++] = std::move(item); }, out.size());
    return count;
  }
  template <class Visitor>
  std::size_t consume(const Visitor& visitor, std::size_t most) {
    return consumer_.consume([&](T& item) { visitor(item); }, most);
  }

 private:
  Broadcast<T, Policies> broadcast_;
  typename Broadcast<T, Policies>::Consumer consumer_;
};

}  // namespace handoff::test
