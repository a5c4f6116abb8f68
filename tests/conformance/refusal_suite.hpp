// SPDX-License-Identifier: MIT
//
// Refused means unmoved: whatever a call takes by value, in whatever form it is given, is still the
// caller's after each refusal: full, closed, timed out, stopped.
//
// The forms are the kinds below: an item itself, and what becomes one on its way in. A subject has
// the calls:
//
//   template <class Item> struct Subject {
//     static constexpr bool converts = true;   // false: it takes its items themselves alone
//     static constexpr bool fills = true;      // false: it is never full
//     template <class Given> static auto calls();   // a tuple of Calls
//     void fill(Item&& item);                  // makes it full, where it can be
//     void close();
//   };
//
// A Call refuses at once, or after the wait that it is given.
#pragma once

#include <any>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/stop_token.hpp>

namespace handoff::test {

// ---- What is given ----

// Owns something, and says whether it still does.
struct Owner {
  Owner() : owned(std::make_unique<int>(7)) {}
  bool is_whole() const { return owned != nullptr && *owned == 7; }
  std::unique_ptr<int> owned;
};
struct CopiedOwner {
  CopiedOwner() : owned(100, 7) {}
  bool is_whole() const { return owned.size() == 100 && owned.back() == 7; }
  std::vector<int> owned;
};
// Something to call, of more bytes than any function keeps in itself.
template <class Base>
struct Callable : Base {
  void operator()() const {}
  std::byte filling[256]{};
};

struct Animal {
  virtual ~Animal() = default;
};
struct Cat : Animal {};

// Made of an Owner, perhaps by throwing.
struct Wrapped {
  explicit(false) Wrapped(Owner&& its_owner) : owner(std::move(its_owner)) {}
  Wrapped(Wrapped&&) noexcept = default;
  Wrapped& operator=(Wrapped&&) noexcept = default;
  Owner owner;
};

template <class T>
bool is_whole(const T& value) {
  if constexpr (requires { value.is_whole(); }) {
    return value.is_whole();
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() && is_whole(*value);
  } else {
    return value != nullptr;
  }
}

// A kind: what the queue holds, and how what is given is made. A copied one is given as an lvalue.
template <class ItemType, class GivenType = ItemType>
struct Kind {
  using Item = ItemType;
  using Given = GivenType;
  static constexpr bool is_item = std::is_same_v<Item, Given>;
  static Given make() {
    if constexpr (requires { typename Given::element_type; }) {
      return std::make_unique<typename Given::element_type>();
    } else {
      return Given();
    }
  }
  const char* name;
};
inline constexpr std::tuple kKinds{
    Kind<std::unique_ptr<int>>{"the item"},
    Kind<Owner>{"a class"},
    Kind<CopiedOwner>{"what could be copied"},
    Kind<std::unique_ptr<Animal>, std::unique_ptr<Cat>>{"a derived class's unique_ptr"},
    Kind<std::variant<std::unique_ptr<int>, std::unique_ptr<float>>, std::unique_ptr<float>>{
        "a variant's alternative"},
    Kind<std::optional<std::unique_ptr<int>>, std::unique_ptr<int>>{"an optional's value"},
    Kind<std::any, CopiedOwner>{"an any's value"},
    Kind<std::function<void()>, Callable<CopiedOwner>>{"a function's callable"},
    Kind<UniqueFunction<void()>, Callable<Owner>>{"a UniqueFunction's callable"},
    Kind<Wrapped, Owner>{"what is made by throwing"}};

// ---- What is done with it ----

// `call(subject, given, until)`: the status, or for a batch, how many were accepted.
template <class Function>
struct Call {
  const char* name;
  bool waits;
  Function call;
};
template <class Function>
Call(const char*, bool, Function) -> Call<Function>;

enum class Refusal { full, stopped, closed, closed_and_full };

inline const char* to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::full: return "full";
    case Refusal::stopped: return "full, and stopped";
    case Refusal::closed: return "closed";
    case Refusal::closed_and_full: return "closed while it was full";
  }
  return "?";
}

constexpr bool was_refused(Status status) { return status != Status::ok; }
constexpr bool was_refused(std::size_t accepted) { return accepted == 0; }

// What went wrong, one line each.
using Wrongs = std::vector<std::string>;

template <class Subject, class KindType, class CallType>
void refuse(const CallType& call, const KindType& kind, Refusal refusal, Wrongs& wrongs) {
  Subject subject;
  if (refusal != Refusal::closed) {
    if constexpr (Subject::fills) {
      subject.fill(typename KindType::Item(KindType::make()));
    } else {
      return;
    }
  }
  if (refusal == Refusal::closed || refusal == Refusal::closed_and_full) subject.close();
  sync::StopSource stop;
  stop.request_stop();
  const Until until =
      refusal == Refusal::stopped ? Until(stop.token()) : Until(std::chrono::microseconds(200));
  typename KindType::Given given = KindType::make();
  const auto said = call.call(subject, given, until);
  const std::string where = std::string(call.name) + " of " + kind.name + ", " + to_string(refusal);
  if (!was_refused(said)) wrongs.push_back(where + ": accepted");
  if (!is_whole(given)) wrongs.push_back(where + ": moved");
}

template <template <class> class SubjectOf, class KindType>
void refuse_kind(const KindType& kind, Wrongs& wrongs) {
  using Subject = SubjectOf<typename KindType::Item>;
  if constexpr (Subject::converts || KindType::is_item) {
    std::apply(
        [&](const auto&... calls) {
          for (const Refusal refusal :
               {Refusal::full, Refusal::stopped, Refusal::closed, Refusal::closed_and_full}) {
            const auto each = [&](const auto& call) {
              if (refusal == Refusal::stopped && !call.waits) return;
              refuse<Subject>(call, kind, refusal, wrongs);
            };
            (each(calls), ...);
          }
        },
        Subject::template calls<typename KindType::Given>());
  }
}

// All kinds, calls and refusals of a subject.
template <template <class> class SubjectOf>
Wrongs refuse_all() {
  Wrongs wrongs;
  std::apply([&](const auto&... kinds) { (refuse_kind<SubjectOf>(kinds, wrongs), ...); }, kKinds);
  return wrongs;
}

}  // namespace handoff::test
