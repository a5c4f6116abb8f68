// SPDX-License-Identifier: MIT
//
// The policies that the tests of compat/eventpp are run with: what chooses another way inside.
#pragma once

#include <eventpp/eventpolicies.h>

#include "support/test.hpp"

namespace eventpp_test {

struct OneThread {
  using Threading = eventpp::SingleThreading;
};
struct Spinning {
  using Threading = eventpp::GeneralThreading<eventpp::SpinLock>;
};
struct OwnMutex {  // counts, so that a test sees that it is used
  struct Mutex : std::mutex {
    void lock() {
      std::mutex::lock();
      ++locks;
    }
    static inline std::atomic<int> locks{0};
  };
  using Threading = eventpp::GeneralThreading<Mutex>;
};
struct OwnMap {
  template <class Key, class T>
  using Map = std::map<Key, T>;
};
struct OwnList {
  template <class Item>
  using QueueList = std::list<Item>;
};

struct OfTheFork : eventpp::HighPerfPolicy {};

// Under a sanitizer those that go other ways in memory; what locks and maps of their own change is
// said by the other builds, and each policy costs every build as much as the first.
#if defined(HANDOFF_TEST_FEWER_POLICIES)
using ListPolicies = testing::Types<eventpp::DefaultPolicies, OneThread>;
using DispatcherPolicies = testing::Types<eventpp::DefaultPolicies, OneThread>;
using QueuePolicies = testing::Types<eventpp::DefaultPolicies, OneThread, OfTheFork>;
#else
using ListPolicies = testing::Types<eventpp::DefaultPolicies, OneThread, Spinning, OwnMutex>;
using DispatcherPolicies =
    testing::Types<eventpp::DefaultPolicies, OneThread, Spinning, OwnMutex, OwnMap>;
using QueuePolicies = testing::Types<eventpp::DefaultPolicies, OneThread, Spinning, OwnMutex,
                                     OwnMap, OwnList, OfTheFork>;
#endif

}  // namespace eventpp_test
