// SPDX-License-Identifier: MIT
//
// The order of requests that name one file: first come, first begun, as far as they get in each
// other's way.
//
//   PO-1  Of two requests that get in each other's way (kWaitsFor), the later one begins after the
//         earlier one has ended. A file's requests begin in the order in which they came.
//   PO-2  A request holds its places from when it is accepted until it has ended, those of both its
//         files at once. So requests wait for earlier ones only, and never in a circle.
// Concurrency: none of its own; the engine's mutex. Allocates: a key for each file with requests;
//   keys are used again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class PathOrder {
 public:
  // How a request uses a file.
  enum Use : std::uint8_t { read_range, read_whole, write_range, sync, exclusive };
  static constexpr std::size_t kUses = 5;

  class Key;

  // One request's place in one file's order. Part of the request.
  struct Place {
    Key* key = nullptr;
    Use use = read_range;
    Place* behind = nullptr;  // waits behind this one
    void* owner = nullptr;
  };

  // A file: a path as it was spelled, or an open file.
  struct Name {
    std::string_view path;
    const void* open_file = nullptr;
    bool operator==(const Name&) const noexcept = default;
  };

  PathOrder();
  ~PathOrder();
  PathOrder(const PathOrder&) = delete;
  PathOrder& operator=(const PathOrder&) = delete;

  // True: it may begin. False: it waits, until a leave() says that it may. Throws std::bad_alloc;
  // then it has no place.
  bool enter(Place& place, const Name& name, Use use);
  // Gives the place up, whether it was waited for or not. For each that may begin now
  // `may_begin(place)` is called.
  template <class MayBegin>
  void leave(Place& place, MayBegin&& may_begin) {
    Place* begins = take_away(place);
    while (begins != nullptr) {
      Place& one = *begins;
      begins = one.behind;
      may_begin(one);
    }
  }

 private:
  static bool gets_in_the_way(const Key& key, Use use) noexcept;
  Key& key_of(const Name& name);
  Place* take_away(Place& place) noexcept;
  void grow();

  std::vector<Key*> buckets_;
  std::size_t used_ = 0;
  Key* spare_ = nullptr;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
