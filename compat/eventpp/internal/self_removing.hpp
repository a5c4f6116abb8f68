// SPDX-License-Identifier: MIT
//
// How a listener takes itself away: what CounterRemover and ConditionalRemover put into theirs.
//
// A call may come before the adding has returned with the handle; then the adding takes the
// listener away. A copy of a listener, as copies of a list have it, does not know its handle: it
// stops calling, and stays.
// Not for: users. Concurrency: know() by the thread that adds, remove() by any calls.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/sync/internal/atomic.hpp>

#include <eventpp/internal/target.hpp>

namespace eventpp::internal {

template <class T>
class SelfRemoval {
  using order = handoff::sync::order;
  using Note = typename Target<T>::Note;
  enum class Stage : unsigned char { added, known, over };

  struct State {
    explicit State(T& where) noexcept : target(where) {}
    T& target;
    Note note;
    handoff::sync::atomic<Stage> stage{Stage::added};
  };

 public:
  explicit SelfRemoval(T& target) : state_(std::make_shared<State>(target)) {}
  SelfRemoval(const SelfRemoval&) noexcept {}
  SelfRemoval(SelfRemoval&&) noexcept = default;
  SelfRemoval& operator=(const SelfRemoval&) = delete;
  ~SelfRemoval() = default;

  void remove() {
    if (state_ == nullptr) return;
    // order: acq_rel: acquire pairs with knows() for the note, release with it for what was called.
    if (state_->stage.exchange(Stage::over, order::acq_rel) != Stage::known) return;
    state_->note.remove_from(state_->target);
  }

  // What tells it its handle, when the listener itself has gone into the list.
  auto knows() const {
    return [state = state_](Note note) {
      state->note = std::move(note);
      Stage now = Stage::added;
      // order: acq_rel pairs with remove(), either way
      if (state->stage.compare_exchange_strong(now, Stage::known, order::acq_rel, order::acquire)) {
        return;
      }
      state->note.remove_from(state->target);
    };
  }

 private:
  std::shared_ptr<State> state_;
};

// Adds listeners that remove themselves, under the names of the target: each as a
// Listener<Target, F, Rule>, made of the target, the function and its rule, which has a `removal`.
// The rule is a number of calls unless another one is given.
template <class T, template <class, class, class> class Listener>
class SelfRemover {
 public:
  using Handle = typename T::Handle;

  explicit SelfRemover(T& target) noexcept : target_(target) {}

  // Of a dispatcher or a queue.
  template <class Event, class F, class Rule = int>
  Handle appendListener(const Event& event, F&& f, Rule rule = 1) {
    return add(
        std::forward<F>(f), std::move(rule),
        [&](auto made) { return target_.appendListener(event, std::move(made)); }, event);
  }
  template <class Event, class F, class Rule = int>
  Handle prependListener(const Event& event, F&& f, Rule rule = 1) {
    return add(
        std::forward<F>(f), std::move(rule),
        [&](auto made) { return target_.prependListener(event, std::move(made)); }, event);
  }
  template <class Event, class F, class Rule = int>
  Handle insertListener(const Event& event, F&& f, const Handle& before, Rule rule = 1) {
    return add(
        std::forward<F>(f), std::move(rule),
        [&](auto made) { return target_.insertListener(event, std::move(made), before); }, event);
  }

  // Of a callback list.
  template <class F, class Rule = int>
  Handle append(F&& f, Rule rule = 1) {
    return add(std::forward<F>(f), std::move(rule),
               [&](auto made) { return target_.append(std::move(made)); });
  }
  template <class F, class Rule = int>
  Handle prepend(F&& f, Rule rule = 1) {
    return add(std::forward<F>(f), std::move(rule),
               [&](auto made) { return target_.prepend(std::move(made)); });
  }
  template <class F, class Rule = int>
  Handle insert(F&& f, const Handle& before, Rule rule = 1) {
    return add(std::forward<F>(f), std::move(rule),
               [&](auto made) { return target_.insert(std::move(made), before); });
  }

 private:
  // `where` is the event, if there is one.
  template <class F, class Rule, class Add, class... Where>
  Handle add(F&& f, Rule rule, Add&& how, const Where&... where) {
    Listener<T, std::decay_t<F>, Rule> made(target_, std::forward<F>(f), std::move(rule));
    const auto know = made.removal.knows();
    Handle handle = how(std::move(made));
    know(Target<T>::note(handle, where...));
    return handle;
  }

  T& target_;
};

}  // namespace eventpp::internal
