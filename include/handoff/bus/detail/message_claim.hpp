// SPDX-License-Identifier: MIT
//
// A place that was claimed, with a message in it that nobody sees yet: what claim() of a bus
// returns.
//
//   auto frame = bus.claim<Frame>();
//   if (frame) {
//     render_into(*frame);
//     frame.commit();
//   }
//
// Move-only. Its end without a commit() drops the message: the consumer steps over its place.
// Messages that were claimed later, of all producers or of its lane's, wait for the end of an open
// claim. It does not outlive the bus, nor the Producer that made it.
// Concurrency: of one thread at a time; of a lane's, the thread of its Producer.
#pragma once

#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/status.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

template <class Core, class T>
class [[nodiscard("a claim that is dropped is skipped")]] MessageClaim {
 public:
  using value_type = T;

  MessageClaim() noexcept = default;  // none
  explicit MessageClaim(Status refused) noexcept : status_(refused) {}
  MessageClaim(Core& core, const typename Core::Port& port, typename Core::Ticket ticket,
               T& message) noexcept
      : core_(&core), port_(port), ticket_(ticket), message_(&message), status_(Status::ok) {}
  MessageClaim(MessageClaim&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)),
        port_(other.port_),
        ticket_(other.ticket_),
        message_(other.message_),
        status_(std::exchange(other.status_, Status::empty)) {}
  MessageClaim& operator=(MessageClaim&& other) noexcept {
    if (this != &other) {
      drop();
      core_ = std::exchange(other.core_, nullptr);
      port_ = other.port_;
      ticket_ = other.ticket_;
      message_ = other.message_;
      status_ = std::exchange(other.status_, Status::empty);
    }
    return *this;
  }
  ~MessageClaim() { drop(); }

  // ok: there is a place. full or closed: there was none. empty: no more, or never.
  [[nodiscard]] Status status() const noexcept { return status_; }
  explicit operator bool() const noexcept { return core_ != nullptr; }

  // The message, if the claim has a place.
  T& operator*() const noexcept { return *message_; }
  T* operator->() const noexcept { return message_; }

  // Which message of the bus it will be.
  [[nodiscard]] std::uint64_t id() const noexcept { return core_->id_of(*port_.ring, ticket_); }

  // Publishes it. Misuse if there is none.
  void commit() {
    if (core_ == nullptr) misuse("a claim without a place was committed; test it first");
    Core& core = *std::exchange(core_, nullptr);
    status_ = Status::empty;  // equivalent(swap): a member that its owner alone reads
    core.template publish<T>(port_, ticket_);
    core.announce();
  }

  // Gives it up now.
  void drop() noexcept {
    if (core_ == nullptr) return;
    Core& core = *std::exchange(core_, nullptr);
    status_ = Status::empty;  // equivalent(swap): a member that its owner alone reads
    port_.ring->slot(ticket_).template destroy<T>();
    core.skip(port_, ticket_);
  }

 private:
  Core* core_ = nullptr;  // null: no place
  typename Core::Port port_{};
  typename Core::Ticket ticket_ = 0;
  T* message_ = nullptr;
  Status status_ = Status::empty;
};

}}}  // namespace handoff::HANDOFF_ABI::detail

#pragma pop_macro("Status")
