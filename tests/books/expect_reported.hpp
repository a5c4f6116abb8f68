// SPDX-License-Identifier: MIT
//
// For the canaries of the books: breaks a structure at one word.
#pragma once

#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/relaxed.hpp>

#include "books/books.hpp"
#include "support/test.hpp"

namespace handoff::test {

template <class T>
T get(const sync::atomic<T>& word) {
  return now(word);
}
template <class T>
T get(const sync::relaxed<T>& word) {
  return now(word);
}
template <class T>
T get(const T& word) {
  return word;
}
template <class T, class Value>
void set(sync::atomic<T>& word, Value value) {
  word.store(static_cast<T>(value), sync::order::seq_cst);  // order: seq_cst, at rest; no partner
}
template <class T, class Value>
void set(sync::relaxed<T>& word, Value value) {
  word.set(static_cast<T>(value));
}
template <class T, class Value>
void set(T& word, Value value) {
  word = static_cast<T>(value);
}
inline std::uint64_t get(const detail::RingPosition& word) { return now(word); }
template <class Value>
void set(detail::RingPosition& word, Value value) {
  word.move_to(value);
}

// Sets a word to something wrong, which is reported, and back, which is not.
template <class Structure, class Word, class Value>
void expect_reported(Structure& structure, Word& word, Value wrong, const char* fault) {
  const auto right = get(word);
  EXPECT_EQ(fault_in(structure), "");
  set(word, wrong);
  EXPECT_EQ(fault_in(structure), fault);
  set(word, right);
  EXPECT_EQ(fault_in(structure), "");
}

}  // namespace handoff::test
