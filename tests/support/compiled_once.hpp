// SPDX-License-Identifier: MIT
//
// Tests of a typed suite whose bodies are compiled once for all families that differ in values
// alone, as the modes of a pool do:
//
//   struct Pools {
//     static inline PoolMode mode;
//     static auto make(std::size_t width);   // by the mode
//   };
//   template <PoolMode kMode> struct PoolsOf : Pools {
//     using Same = Pools;                    // what TypeParam is in the tests' bodies
//     static void choose() { mode = kMode; }
//   };
#pragma once

#include <gtest/gtest.h>

namespace handoff::test {

template <class Family>
struct SameOf {
  using Type = Family;
};
template <class Family>
  requires requires { typename Family::Same; }
struct SameOf<Family> {
  using Type = typename Family::Same;
};

// The base of such a suite's fixture.
template <class Family>
struct ChosenFamily : testing::Test {
  ChosenFamily() {
    if constexpr (requires { Family::choose(); }) Family::choose();
  }
};

}  // namespace handoff::test

// As TYPED_TEST_P.
#define HANDOFF_TYPED_TEST_P(Suite, Name)                                                       \
  template <class TypeParam>                                                                    \
  void Suite##Name();                                                                           \
  TYPED_TEST_P(Suite, Name) { Suite##Name<typename handoff::test::SameOf<TypeParam>::Type>(); } \
  template <class TypeParam>                                                                    \
  void Suite##Name()
