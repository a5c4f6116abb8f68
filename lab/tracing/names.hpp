// SPDX-License-Identifier: MIT
// Names of slices by small numbers. A name of one category is another one than that of a second.
#pragma once

#include "replay/slice_kind.hpp"

namespace handoff::lab::tracing {

using replay::is_wait;
using replay::SliceKind;

class Names {
 public:
  // Numbers are below this. All names that come later share the last one.
  static constexpr std::uint32_t most = 1 << 15;

  std::uint32_t number(std::string_view category, std::string_view name);

  struct Name {
    std::string category;
    std::string text;
    SliceKind kind;
    bool spins;  // a wait in which the thread is awake
  };
  [[nodiscard]] const Name& at(std::uint32_t number) const { return names_[number]; }
  [[nodiscard]] bool spins(std::uint32_t number) const { return names_[number].spins; }
  [[nodiscard]] SliceKind kind(std::uint32_t number) const { return names_[number].kind; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct Category {
    std::string name;
    std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers;
  };
  std::vector<Category> categories_;
  std::vector<Name> names_;
};

}  // namespace handoff::lab::tracing
