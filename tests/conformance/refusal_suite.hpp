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
//     template <class Given> static void calls(auto& calls);   // adds to Calls<Subject, Given>
//     void fill(Item&& item);                  // makes it full, where it can be
//     void close();
//   };
#pragma once

#include <any>
#include <variant>

#include "support/test.hpp"

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
};

// ---- What is done with it ----

// Of a batch of one.
constexpr Status status_of(std::size_t accepted) {
  return accepted == 0 ? Status::full : Status::ok;
}

// The calls of a subject: each gives it an item.
template <class Subject, class Given>
class Calls {
 public:
  using Function = Status (*)(Subject& subject, Given& given, const Until& until);
  struct Call {
    const char* name;
    bool waits;
    Function call;
  };

  // Refuses at once.
  void add(const char* name, Function call) { all[count++] = {name, false, call}; }
  // Refuses after the wait that it is given.
  void add_waiting(const char* name, Function call) { all[count++] = {name, true, call}; }

  Call all[6];  // and no vector, of which each kind of each subject would have one to compile
  std::size_t count = 0;
};

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

// What went wrong, one line each.
using Wrongs = std::vector<std::string>;

// Given to a new subject, by one call.
template <class Subject, class KindType, class Call>
void refuse(const Call& call, Refusal refusal, const std::string& where, Wrongs& wrongs) {
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
  const sync::StopToken stopped = stop.token();
  const Until until =
      refusal == Refusal::stopped ? Until(stopped) : Until(std::chrono::microseconds(200));
  typename KindType::Given given = KindType::make();
  if (call.call(subject, given, until) == Status::ok) wrongs.push_back(where + ": accepted");
  if (!is_whole(given)) wrongs.push_back(where + ": moved");
}

template <template <class> class SubjectOf, class KindType>
void refuse_kind(const char* kind, Wrongs& wrongs) {
  using Subject = SubjectOf<typename KindType::Item>;
  if constexpr (Subject::converts || KindType::is_item) {
    Calls<Subject, typename KindType::Given> calls;
    Subject::template calls<typename KindType::Given>(calls);
    for (const Refusal refusal :
         {Refusal::full, Refusal::stopped, Refusal::closed, Refusal::closed_and_full}) {
      for (std::size_t i = 0; i < calls.count; ++i) {
        const auto& call = calls.all[i];
        if (refusal == Refusal::stopped && !call.waits) continue;
        const std::string where = std::string(call.name) + " of " + kind + ", ";
        refuse<Subject, KindType>(call, refusal, where + to_string(refusal), wrongs);
      }
    }
  }
}

// All kinds, calls and refusals of a subject.
inline constexpr std::size_t kKinds = 10;
template <template <class> class S>
Wrongs refuse_all() {
  using std::unique_ptr;
  using Variant = std::variant<unique_ptr<int>, unique_ptr<float>>;
  Wrongs wrongs;
  refuse_kind<S, Kind<unique_ptr<int>>>("the item", wrongs);
  refuse_kind<S, Kind<Owner>>("a class", wrongs);
  refuse_kind<S, Kind<CopiedOwner>>("what could be copied", wrongs);
  refuse_kind<S, Kind<unique_ptr<Animal>, unique_ptr<Cat>>>("a derived class's unique_ptr", wrongs);
  refuse_kind<S, Kind<Variant, unique_ptr<float>>>("a variant's alternative", wrongs);
  refuse_kind<S, Kind<std::optional<unique_ptr<int>>, unique_ptr<int>>>("an optional's value",
                                                                        wrongs);
  refuse_kind<S, Kind<std::any, CopiedOwner>>("an any's value", wrongs);
  refuse_kind<S, Kind<std::function<void()>, Callable<CopiedOwner>>>("a function's callable",
                                                                     wrongs);
  refuse_kind<S, Kind<UniqueFunction<void()>, Callable<Owner>>>("a UniqueFunction's callable",
                                                                wrongs);
  refuse_kind<S, Kind<Wrapped, Owner>>("what is made by throwing", wrongs);
  return wrongs;
}

}  // namespace handoff::test
