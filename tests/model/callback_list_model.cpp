// SPDX-License-Identifier: MIT
//
// CallbackList against a list of numbers: additions at every place, removals by handles that are
// fresh and stale, all of it inside of calls too, passes inside of passes, listeners that throw.
#include <list>

#include <handoff/event/callback_list.hpp>

#include "books/event_books.hpp"
#include "model/item.hpp"
#include "model/model.hpp"

namespace {

using namespace handoff;
using namespace handoff::test;

const std::vector<Word> words{{"append", 8},          {"prepend", 3},        {"insert", 4},
                              {"append_copy", 1},     {"append_counted", 2}, {"remove", 6},
                              {"remove_and_wait", 2}, {"clear", 1},          {"call", 5},
                              {"for_each", 1},        {"script", 8}};

template <class List>
class ListModel : public Model {
 public:
  void step(const Step& step) override {
    if (step.what == 10) {
      script_.push_back(step);
      return;
    }
    act(step);
    agree_on("size", list_.size(), plain_.size());
    agree_on("functions alive", Item::alive() - alive_before_, static_cast<int>(plain_.size()));
    agree_with_book<CallbackList<void(int)>>(list_);
  }

  void end() override {
    handles_.clear();
    act({.what = 8});
    list_.clear();
    agree_on("functions alive at the end", Item::alive(), alive_before_);
    agree(detail::Books<detail::PassRecord>::fault().empty(), "no pass is under way");
  }

 private:
  struct Thrown {};
  struct Listener {
    std::size_t number;
    int priority;
    unsigned calls_left;  // 0: no end
  };
  struct Known {
    std::size_t number;
    ListenerHandle handle;
  };

  void act(const Step& step) {
    switch (step.what) {
      case 0:
      case 1:
      case 4: add(step); break;
      case 2: insert(step); break;
      case 3: append_copy(step); break;
      case 5: remove(step, [this](auto& handle) { return list_.remove(handle); }); break;
      case 6: remove(step, [this](auto& handle) { return list_.remove_and_wait(handle); }); break;
      case 7:
        list_.clear();
        plain_.clear();
        break;
      case 8: call(); break;
      default: visit(); break;
    }
  }

  // ---- What there is at the end of an operation, said plainly. ----

  using Plain = std::vector<Listener>;

  // Behind, or in front of, those of its priority.
  typename Plain::iterator place_of(int priority, bool in_front) {
    return std::find_if(plain_.begin(), plain_.end(), [&](const Listener& each) {
      return each.priority < priority || (in_front && each.priority == priority);
    });
  }
  auto find(std::size_t number) {
    return std::find_if(plain_.begin(), plain_.end(),
                        [number](const Listener& each) { return each.number == number; });
  }

  // ---- Operations ----

  auto function() {
    return [item = Item(static_cast<int>(++last_)), this](int) { called(item); };
  }

  void add(const Step& step) {
    const int priority = static_cast<int>(step.a % 3);
    const unsigned calls = step.what == 4 ? step.b % 3 + 1 : 0;
    const bool in_front = step.what == 1;
    ListenerHandle handle;
    const ListenerOptions options{.priority = priority, .calls = calls};
    if (!has_memory_for(step, [&] {
          handle =
              in_front ? list_.prepend(function(), options) : list_.append(function(), options);
        })) {
      return;
    }
    plain_.insert(place_of(priority, in_front), {last_, priority, calls});
    handles_.push_back({last_, handle});
  }

  // In front of a listener, which may be gone.
  void insert(const Step& step) {
    if (handles_.empty()) return;
    const Known before = handles_[step.a % handles_.size()];
    const int priority = static_cast<int>(step.b % 3);
    ListenerHandle handle;
    if (!has_memory_for(step, [&] {
          handle = list_.insert(before.handle, function(), {.priority = priority});
        })) {
      return;
    }
    const auto at = find(before.number);
    if (at != plain_.end()) {
      plain_.insert(at, {last_, at->priority, 0});
    } else {
      plain_.insert(place_of(priority, false), {last_, priority, 0});
    }
    handles_.push_back({last_, handle});
  }

  void append_copy(const Step& step) {
    const auto copied = function();
    try {
      const Item::FailingCopies failing(true);
      (void)has_memory_for(step, [&] { (void)list_.append(copied); });
    } catch (const Item::CopyFailed&) {
    }
  }

  template <class Remove>
  void remove(const Step& step, Remove remove) {
    if (handles_.empty()) return;
    const Known known = handles_[step.a % handles_.size()];
    const auto at = find(known.number);
    agree_on("attached", known.handle.attached(), at != plain_.end());
    bool removed = false;
    (void)has_memory_for(step, [&] { removed = remove(known.handle); });
    agree_on("remove", removed, at != plain_.end());
    if (at != plain_.end()) plain_.erase(at);
    if (step.b < 8) handles_.erase(handles_.begin() + (step.a % handles_.size()));
  }

  // Those that are there now, one after the other, unless they are removed meanwhile.
  void call() {
    if (depth_ == 3) return;
    Pass pass{plain_, 0, passes_};
    passes_ = &pass;
    ++depth_;
    bool thrown = false;
    try {
      list_(0);
    } catch (const Thrown&) {
      thrown = true;
    }
    --depth_;
    passes_ = pass.outer;
    if (!thrown) agree(next_in(pass) == nullptr, "a pass calls all that are there");
  }

  struct Pass {
    Plain snapshot;
    std::size_t next;
    Pass* outer;
  };

  // Skips what was removed since.
  const Listener* next_in(Pass& pass) {
    while (pass.next < pass.snapshot.size() &&
           find(pass.snapshot[pass.next].number) == plain_.end()) {
      ++pass.next;
    }
    return pass.next < pass.snapshot.size() ? &pass.snapshot[pass.next] : nullptr;
  }

  // By the listener: it is its turn; then the next thing of the script happens inside of it.
  void called(const Item& item) {
    const auto number = static_cast<std::size_t>(item.number());
    const Listener* const expected = next_in(*passes_);
    agree(expected != nullptr, "a listener that was not there is not called");
    agree_on("the listener called", number, expected->number);
    ++passes_->next;
    const auto at = find(number);
    if (at->calls_left != 0 && --at->calls_left == 0) plain_.erase(at);
    if (script_.empty()) return;
    const Step step = script_.back();
    script_.pop_back();
    if (step.b == 0) throw Thrown();
    act({.what = step.a % 10, .a = step.b, .b = step.b, .fails = step.fails});
    agree_on("the function that runs", static_cast<std::size_t>(item.number()), number);
  }

  void visit() {
    std::size_t next = 0;
    list_.for_each([&](const ListenerHandle& handle) {
      agree(handle.attached(), "what is visited is there");
      ++next;
    });
    agree_on("visited", next, plain_.size());
  }

  const int alive_before_ = Item::alive();
  List list_;
  Plain plain_;
  std::vector<Known> handles_;
  std::vector<Step> script_;  // what listeners do, the last one first
  Pass* passes_ = nullptr;    // the innermost
  std::size_t last_ = 0;
  int depth_ = 0;
};

const ModelTest list("callback_list", model<ListModel<CallbackList<void(int)>>>(words));

// A list that inserts behind instead of in front.
class Behind : public CallbackList<void(int)> {
 public:
  template <class F>
  ListenerHandle insert(const ListenerHandle&, F&& function, ListenerOptions options = {}) {
    return append(std::forward<F>(function), options);
  }
};

// Append, insert, call.
const ModelCanary wrong_place("callback_list/wrong_place", model<ListModel<Behind>>(words), 3);

}  // namespace
