// SPDX-License-Identifier: MIT
//
// Takes one item from whichever of several channels has one first.
//
//   Status s = select(on_item(frames, [&](Frame f) { show(f); }),
//                     on_item(orders, [&](Order o) { obey(o); }));
//   s = select(10ms, on_item(frames, show), on_item(orders, obey));      // waits 10 ms at most
//   while (select(on_item(frames, show), on_item(orders, obey)) == Status::ok) {
//   }                                         // until all of them are closed and drained
//
// For: a thread that serves several channels, RendezvousChannels too. Not for: one channel (pop);
// dozens of channels (let the producers share one that carries a std::variant). Concurrency: any
// thread that may pop from all the channels. Order: each call of a thread starts with a different
// channel than the one before, so that a busy
//   channel does not starve the rest. Within a channel: its own order.
// Blocks: select(), while all channels are empty and at least one is not closed, as long as its
//   Until says; try_select() never. The thread that has slept longest on a channel is
//   woken; if both a pop and a select are asleep, an item may wake one of each.
// Allocates: never, except what an Until says.
// Closed: returns `closed` once all channels are closed and drained; until then the others go on.
// A wait that ends just as an item comes returns `ok`.
// Exceptions: a handler that throws has consumed its item.
// Protocol and proof: docs/design/channel.md.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/detail/select_list.hpp>
#include <handoff/queue/rendezvous_channel.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// One channel of a select, whatever it carries.
class SelectSource {
 public:
  virtual Status look() noexcept = 0;          // ok: an item has been taken out
  virtual void pass_on() noexcept = 0;         // wakes another for what is left in there
  virtual SelectList& sleepers() noexcept = 0;

  SelectNode node;

 protected:
  SelectSource() = default;
  ~SelectSource() = default;
};

struct Selected {
  Status status;      // ok, closed, stopped, timed_out; look_at_all: also empty
  std::size_t index;  // of the source that has taken an item
};

// Another one at each call of a thread: the source to look at first.
std::size_t next_turn() noexcept;

Selected look_at_all(std::span<SelectSource* const> sources, std::size_t first) noexcept;
Selected wait_for_any(std::span<SelectSource* const> sources, std::size_t first,
                      const Until& until);

}  // namespace detail

// A channel and what to do with its item; made by on_item().
template <class Source, class Handler>
class SelectCase final : public detail::SelectSource {
 public:
  // The channel outlives the call of select().
  SelectCase(Source& channel, Handler handler) : channel_(channel), handler_(std::move(handler)) {}
  SelectCase(const SelectCase&) = delete;
  SelectCase& operator=(const SelectCase&) = delete;

  // Gives the handler the item that was taken.
  void handle() { detail::call_and_drop(handler_, std::move(*item_)); }

 private:
  Status look() noexcept override { return channel_.look(item_); }
  void pass_on() noexcept override { channel_.pass_items_on(); }
  detail::SelectList& sleepers() noexcept override { return channel_.selects(); }

  Source& channel_;
  Handler handler_;
  std::optional<typename Source::value_type> item_;
};

// What to do with an item of `channel`: handler(T&&).
template <class T, class Queue, class Handler>
SelectCase<Channel<T, Queue>, std::decay_t<Handler>> on_item(Channel<T, Queue>& channel,
                                                             Handler&& handler) {
  static_assert(std::is_invocable_v<std::decay_t<Handler>&, T&&>,
                "on_item: the handler takes an item of the channel: a T, T&& or const T&, no T&");
  return {channel, std::forward<Handler>(handler)};
}
template <class T, class Handler>
SelectCase<RendezvousChannel<T>, std::decay_t<Handler>> on_item(RendezvousChannel<T>& channel,
                                                                Handler&& handler) {
  static_assert(std::is_invocable_v<std::decay_t<Handler>&, T&&>,
                "on_item: the handler takes an item of the channel: a T, T&& or const T&, no T&");
  return {channel, std::forward<Handler>(handler)};
}

namespace detail {
template <class Choose, class... Cases>
Status select_by(const Choose& choose, Cases&... cases) {
  static_assert(sizeof...(Cases) != 0, "select() needs a channel to wait for");
  SelectSource* const sources[]{&cases...};
  const Selected selected = choose(std::span<SelectSource* const>(sources), next_turn());
  if (selected.status == Status::ok) {
    std::size_t index = 0;
    // equivalent(negate): no other case has the index that was selected
    static_cast<void>(((index++ == selected.index && (cases.handle(), true)) || ...));
  }
  return selected.status;
}
}  // namespace detail

// ok: one handler has run. Otherwise closed, stopped or timed_out, and none has.
template <class... Channels, class... Handlers>
Status select(const Until& until, SelectCase<Channels, Handlers>&&... cases) {
  return detail::select_by(
      [&](auto sources, std::size_t first) { return detail::wait_for_any(sources, first, until); },
      cases...);
}
template <class... Channels, class... Handlers>
Status select(SelectCase<Channels, Handlers>&&... cases) {
  return select(Until(), std::move(cases)...);
}

// ok, empty or closed.
template <class... Channels, class... Handlers>
Status try_select(SelectCase<Channels, Handlers>&&... cases) {
  return detail::select_by(&detail::look_at_all, cases...);
}

}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
