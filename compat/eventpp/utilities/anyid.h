// SPDX-License-Identifier: MIT
//
// eventpp's AnyId: an event of any type.
//
//   eventpp::EventQueue<eventpp::AnyId<>, void()> queue;
//   queue.appendListener(3, [] { ... });
//   queue.appendListener(std::string("hello"), [] { ... });
//
// For: programs written against eventpp. Not for: new ones, see handoff::AnyId, which compares the
// values themselves.
// Ids are equal if their digests are, and their values where the Storage compares them. The default
// one keeps no value: two values with one hash are then one event.
// Concurrency: as an int.
// Source: the interface is that of github.com/wqking/eventpp, as its documentation describes it.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace eventpp {

// Keeps nothing.
struct EmptyAnyStorage {
  EmptyAnyStorage() = default;
  template <class T>
  EmptyAnyStorage(const T&) {}  // NOLINT(google-explicit-constructor)
};

template <template <class> class Digester = std::hash, class Storage = EmptyAnyStorage>
class AnyId {
 public:
  using DigestType = decltype(Digester<int>()(std::declval<int>()));

  AnyId() = default;
  template <class T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, AnyId>)
  AnyId(const T& value)  // NOLINT(google-explicit-constructor)
      : digest_(Digester<T>()(value)), value_(value) {}

  DigestType getDigest() const { return digest_; }
  const Storage& getValue() const { return value_; }

  friend bool operator==(const AnyId& a, const AnyId& b) {
    if (!(a.digest_ == b.digest_)) return false;
    if constexpr (kKeeps && requires(const Storage& s) { static_cast<bool>(s == s); }) {
      return static_cast<bool>(a.value_ == b.value_);
    } else {
      return true;
    }
  }
  friend bool operator<(const AnyId& a, const AnyId& b) {
    if (a.digest_ < b.digest_) return true;
    if (b.digest_ < a.digest_) return false;
    if constexpr (kKeeps && requires(const Storage& s) { static_cast<bool>(s < s); }) {
      return static_cast<bool>(a.value_ < b.value_);
    } else {
      return false;
    }
  }

 private:
  // The empty one is made of anything, another storage too, so it must not be asked.
  static constexpr bool kKeeps = !std::is_same_v<Storage, EmptyAnyStorage>;

  DigestType digest_{};
  Storage value_{};
};

using AnyHashableId = AnyId<>;

}  // namespace eventpp

template <template <class> class Digester, class Storage>
struct std::hash<eventpp::AnyId<Digester, Storage>> {
  std::size_t operator()(const eventpp::AnyId<Digester, Storage>& id) const {
    return std::hash<typename eventpp::AnyId<Digester, Storage>::DigestType>()(id.getDigest());
  }
};
