// SPDX-License-Identifier: MIT
//
// Whose turn it is among classes that wait, the most urgent first: class 0 before class 1 and so
// on. With a limit no class waits for ever: after `limit` more urgent ones in a row it comes, if it
// has something. Of several that are due the least urgent comes first. So `limit` holds for each:
// what is less urgent does not count. Not for users.
//
// Concurrency: of one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <std::size_t kClasses>
class ClassTurns {
 public:
  // What take(class) returns for the first one that has something; it returns something false
  // where there is nothing. `limit`: 0 for none; the same in each call.
  template <class Take>
  auto next(std::uint32_t limit, Take&& take) noexcept {
    if (limit != 0) [[unlikely]]
      return next_within(limit, take);
    return first(take, [](std::size_t) {});
  }

 private:
  template <class Take, class Note>
  static auto first(Take& take, const Note& note) noexcept {
    for (std::size_t i = 0; i < kClasses; ++i) {
      if (auto taken = take(i)) {
        note(i);
        return taken;
      }
    }
    return decltype(take(0)){};
  }

  template <class Take>
  [[gnu::noinline]] auto next_within(std::uint32_t limit, Take& take) noexcept {
    for (std::size_t i = kClasses - 1; i > 0; --i) {
      if (passed_[i] < limit) continue;
      passed_[i] = 0;  // where nothing waits nothing was passed
      if (auto taken = take(i)) {
        note(i);
        return taken;
      }
    }
    return first(take, [this](std::size_t i) { note(i); });
  }

  void note(std::size_t taken) noexcept {
    passed_[taken] = 0;
    for (std::size_t i = taken + 1; i < kClasses; ++i) ++passed_[i];
  }

  std::uint32_t passed_[kClasses] = {};  // by more urgent ones, in a row
};

}}}  // namespace handoff::HANDOFF_ABI::detail
