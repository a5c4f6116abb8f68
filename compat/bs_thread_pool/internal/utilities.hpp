// SPDX-License-Identifier: MIT
//
// What both versions have beside the pool.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <iostream>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace BS {

// Futures of tasks that were submitted together.
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

// Prints the items of a call together, to each of its streams.
class [[nodiscard]] synced_stream {
 public:
  explicit synced_stream() { add_stream(std::cout); }
  template <typename... T>
  explicit synced_stream(T&... streams) {
    (add_stream(streams), ...);
  }

  void add_stream(std::ostream& stream) { streams_.push_back(&stream); }
  void remove_stream(std::ostream& stream) { std::erase(streams_, &stream); }
  std::vector<std::ostream*>& get_streams() noexcept { return streams_; }

  template <typename... T>
  void print(const T&... items) {
    const std::scoped_lock lock(mutex_);
    for (std::ostream* const stream : streams_) (*stream << ... << items);
  }
  template <typename... T>
  void println(T&&... items) {
    print(std::forward<T>(items)..., '\n');
  }

  inline static std::ostream& (&endl)(std::ostream&) = std::endl<char, std::char_traits<char>>;
  inline static std::ostream& (&flush)(std::ostream&) = std::flush<char, std::char_traits<char>>;

 private:
  std::mutex mutex_;
  std::vector<std::ostream*> streams_;
};

}  // namespace BS
