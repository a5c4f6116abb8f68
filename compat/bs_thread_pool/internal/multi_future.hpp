// SPDX-License-Identifier: MIT
//
// Futures of tasks that were submitted together.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <type_traits>
#include <vector>

namespace BS {

template <typename T>
class [[nodiscard]] multi_future : public std::vector<std::future<T>> {
 public:
  using std::vector<std::future<T>>::vector;

  // All results in order; rethrows the first exception in that order.
  [[nodiscard]] std::conditional_t<std::is_void_v<T>, void, std::vector<T>> get() {
    if constexpr (std::is_void_v<T>) {
      for (std::future<T>& future : *this) future.get();
    } else {
      std::vector<T> results;
      results.reserve(this->size());
      for (std::future<T>& future : *this) results.push_back(future.get());
      return results;
    }
  }
  [[nodiscard]] std::size_t ready_count() const {
    return static_cast<std::size_t>(
        std::count_if(this->begin(), this->end(), [](const std::future<T>& future) {
          return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        }));
  }
  [[nodiscard]] bool valid() const noexcept {
    return std::all_of(this->begin(), this->end(),
                       [](const std::future<T>& future) { return future.valid(); });
  }
  void wait() const {
    for (const std::future<T>& future : *this) future.wait();
  }
  // Whether all became ready in time.
  template <typename R, typename P>
  bool wait_for(const std::chrono::duration<R, P>& duration) const {
    return wait_until(std::chrono::steady_clock::now() + duration);
  }
  template <typename C, typename D>
  bool wait_until(const std::chrono::time_point<C, D>& moment) const {
    return std::all_of(this->begin(), this->end(), [&](const std::future<T>& future) {
      return future.wait_until(moment) == std::future_status::ready;
    });
  }
};

}  // namespace BS
