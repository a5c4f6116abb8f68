// SPDX-License-Identifier: MIT
//
// How a listener takes itself away: what CounterRemover and ConditionalRemover put into theirs.
//
// A call may come before the adding has returned with the handle; then the adding takes the
// listener away. A copy of a listener, as copies of a list have it, does not know its handle: it
// stops calling, and stays.
// Not for: users. Concurrency: know() by who adds, remove() by any calls.
#pragma once

#include <memory>
#include <utility>

#include <handoff/sync/atomic.hpp>

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

// Adds `made`, which has a `removal`, and tells it its handle; `where` is the event, if there is
// one.
template <class T, class Made, class Add, class... Where>
typename T::Handle add_self_removing(Made made, Add&& add, const Where&... where) {
  const auto know = made.removal.knows();
  typename T::Handle handle = add(std::move(made));
  know(Target<T>::note(handle, where...));
  return handle;
}

}  // namespace eventpp::internal
