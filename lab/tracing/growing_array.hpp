// SPDX-License-Identifier: MIT
// Millions of small records in a row. It grows where it lies, or by moving pages: a vector would
// need the old and the new memory at the same time.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::tracing {

template <class Record>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<Record> && std::is_trivially_destructible_v<Record>);

 public:
  void push_back(const Record& record) {
    if (size_ == capacity_) grow();
    records_.get()[size_++] = record;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<Record> all() { return {records_.get(), size_}; }
  [[nodiscard]] std::span<const Record> all() const { return {records_.get(), size_}; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  void grow() {
    const std::size_t more = capacity_ < 64 ? 64 : capacity_ + capacity_ / 2;
    void* const moved = std::realloc(records_.get(), more * sizeof(Record));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(records_.release());
    records_.reset(static_cast<Record*>(moved));
    capacity_ = more;
  }

  std::unique_ptr<Record, Free> records_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace handoff::lab::tracing
