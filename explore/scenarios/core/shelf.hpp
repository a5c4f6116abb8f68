// SPDX-License-Identifier: MIT
//
// For scenarios of loops and graphs: an executor whose functions the scenario's own threads run.
#pragma once

#include <array>
#include <cstddef>
#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>
#include <optional>
#include <utility>

namespace handoff::test {

// Keeps functions for threads that run them; `most` are taken, others refused.
class Shelf {
 public:
  explicit Shelf(std::size_t most) : most_(most) {}

  template <class F>
  Status try_post(F&& function) {
    const sync::Lock lock(mutex_);
    if (taken_.read() == most_) return Status::full;
    functions_[taken_.read()].write().emplace(std::forward<F>(function));
    taken_.write() += 1;
    return Status::ok;
  }
  std::size_t width() const { return 2; }
  bool empty() noexcept {
    const sync::Lock lock(mutex_);
    return taken_.read() == 0;
  }

  // Takes it off the shelf; false if there is none.
  bool run_one(std::size_t place) {
    UniqueFunction<void()> function;
    {
      const sync::Lock lock(mutex_);
      if (!functions_[place].read()) return false;
      function = std::move(*functions_[place].write());
      functions_[place].write().reset();
    }
    function();
    return true;
  }

 private:
  const std::size_t most_;
  sync::Mutex mutex_;
  sync::cell<std::size_t> taken_{0};
  std::array<sync::cell<std::optional<UniqueFunction<void()>>>, 3> functions_;
};

}  // namespace handoff::test
