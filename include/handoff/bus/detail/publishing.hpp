// SPDX-License-Identifier: MIT
//
// The calls of a producer, which a bus and its Producers have alike. Not for users but by their
// names.
//
// Concurrency, order and the rest: message_bus.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/detail/message_types.hpp>
#include <handoff/bus/message_meta.hpp>
#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/core/priority.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

template <class R>
class Future;

namespace detail {

// Where no Until is given; at an address that outlives the call.
[[gnu::visibility("hidden")]] inline constexpr Until kForEver;  // docs/adr/0013

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

// `Derived` has core() and port().
template <class Derived, class Core, class Policies>
class Publishing {  // NOLINT(bugprone-crtp-*): of a bus and its producers
  using Class = typename Core::Class;  // Admission; in a PriorityMessageBus Priority
  using Types = typename Core::Types;
  using OtherClass =
      std::conditional_t<std::is_same_v<Class, Priority>, handoff::Admission, Priority>;
  template <class T>
  static constexpr bool kIsMessage = Types::template kHas<std::remove_cvref_t<T>>;

 public:
  // What publish() may be told besides the message.
  using Given = PublishOptions<Policies>;
  // What claim<T>() returns.
  template <class T>
  using Claim = MessageClaim<Core, T>;

  // ok, full or closed. Where the option on_full says wait, it waits for room until `until` and may
  // say timed_out or stopped; in a handler of the same bus it does not wait, and says full.
  template <class T>
    requires kIsMessage<T>
  Status publish(T&& message, Class its = Class::normal, const Until& until = kForEver) {
    return put<std::remove_cvref_t<T>>(&until, of(its), std::forward<T>(message));
  }
  template <class T>
    requires kIsMessage<T>
  Status publish(T&& message, const Given& given, const Until& until = kForEver) {
    return put<std::remove_cvref_t<T>>(&until, given, std::forward<T>(message));
  }
  template <class T>
    requires kIsMessage<T>
  Status publish(T&& message, const Until& until) {
    return put<std::remove_cvref_t<T>>(&until, Given{}, std::forward<T>(message));
  }
  // The class of another bus: says so.
  template <class T, class... Rest>
    requires kIsMessage<T>
  Status publish(T&&, OtherClass, const Rest&...) {
    return of_another_bus<T>();
  }
  // No message: says so.
  template <class T, class... Rest>
    requires(!kIsMessage<T>)
  Status publish(T&&, const Rest&...) {
    static_assert(kIsMessage<T>,
                  "publish: this type is none of the messages of the bus; nor is what converts to "
                  "one, which is not looked for; an Until comes last");
    return Status::closed;
  }

  // Never waits.
  template <class T>
    requires kIsMessage<T>
  Status try_publish(T&& message, Class its = Class::normal) {
    return put<std::remove_cvref_t<T>>(nullptr, of(its), std::forward<T>(message));
  }
  template <class T>
    requires kIsMessage<T>
  Status try_publish(T&& message, const Given& given) {
    return put<std::remove_cvref_t<T>>(nullptr, given, std::forward<T>(message));
  }
  template <class T>
    requires kIsMessage<T>
  Status try_publish(T&&, OtherClass) {
    return of_another_bus<T>();
  }
  template <class T, class... Rest>
    requires(!kIsMessage<T>)
  Status try_publish(T&&, const Rest&...) {
    static_assert(kIsMessage<T>, "try_publish: this type is none of the messages of the bus");
    return Status::closed;
  }

  // Publishes the first messages of an array, a vector or a span, as many as are accepted, and
  // returns how many: moved, or copied if they are const; the rest is untouched. Where on_full says
  // wait, it waits until `until` for room for all. What fits is claimed at once, so it comes in a
  // row.
  template <class Messages>
  std::size_t publish_batch(Messages&& messages, Class its = Class::normal,
                            const Until& until = kForEver) {
    return put_all(&until, of(its), std::span(messages));
  }
  template <class Messages>
  std::size_t publish_batch(Messages&& messages, const Given& given,
                            const Until& until = kForEver) {
    return put_all(&until, given, std::span(messages));
  }
  template <class Messages>
  std::size_t publish_batch(Messages&& messages, const Until& until) {
    return put_all(&until, Given{}, std::span(messages));
  }
  template <class Messages, class... Rest>
  std::size_t publish_batch(Messages&&, OtherClass, const Rest&...) {
    (void)of_another_bus<Messages>();
    return 0;
  }

  // Makes a message of these arguments in its place, to be filled there and committed. Never waits:
  // see status() of what it returns.
  template <class T, class... Args>
  Claim<T> claim(Args&&... args) {
    static_assert(kIsMessage<T>, "claim: this type is none of the messages of the bus");
    return claim_with<T>(Given{}, std::forward<Args>(args)...);
  }
  template <class T, class... Args>
  Claim<T> claim_with(const Given& given, Args&&... args) {
    static_assert(kIsMessage<T>, "claim_with: this type is none of the messages of the bus");
    typename Core::Slot::template Box<T> box;
    const auto carried = Core::carried(given);
    const typename Core::Port port = port_for(given);
    const auto claimed = core().claim(port, 1, Core::admission_of(given), nullptr);
    if (claimed.count == 0) return Claim<T>(claimed.refused);
    T& message =
        core().template fill<T>(port, claimed.first, box, carried, std::forward<Args>(args)...);
    return Claim<T>(core(), port, claimed.first, message);
  }

  // Publishes a Request<Question, Reply>, one of the types of the bus: include
  // <handoff/bus/request.hpp>. If it is refused, the Future says so, and the question is still the
  // caller's.
  template <class Reply, class Question>
  Future<Reply> request(Question&& question, const Until& until = {}) {
    return request<Reply>(std::forward<Question>(question), Given{}, until);
  }
  template <class Reply, class Question>
  Future<Reply> request(Question&& question, const Given& given, const Until& until = {});

 private:
  Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  Core& core() noexcept { return derived().core(); }

  typename Core::Port port_for(const Given& given) noexcept {
    return core().port_for(derived().port(), given);
  }

  static Given of(Class its) noexcept {
    Given given;
    if constexpr (std::is_same_v<Class, Priority>) {
      given.priority = its;
    } else {
      given.admission = its;
    }
    return given;
  }
  template <class T>
  static Status of_another_bus() {
    static_assert(sizeof(T) == 0,
                  "publish: a PriorityMessageBus takes a Priority, which says what comes first; "
                  "other buses take an Admission, which says what goes in when they are nearly "
                  "full, and hand out as it came");
    return Status::closed;
  }

  template <class T, class... Args>
  Status put(const Until* until, const Given& given, Args&&... args) {
    typename Core::Slot::template Box<T> box;
    const auto carried = Core::carried(given);
    const typename Core::Port port = port_for(given);
    const auto claimed = core().claim(port, 1, Core::admission_of(given), until);
    if (claimed.count == 0) [[unlikely]]
      return claimed.refused;
    core().template fill<T>(port, claimed.first, box, carried, std::forward<Args>(args)...);
    core().template publish<T>(port, claimed.first);
    core().announce();
    return Status::ok;
  }

  template <class T, std::size_t kExtent>
  std::size_t put_all(const Until* until, const Given& given, std::span<T, kExtent> messages) {
    using Message = std::remove_cv_t<T>;
    static_assert(kIsMessage<Message>, "publish_batch: of messages of the bus");
    const typename Core::Port port = port_for(given);
    const auto admission = Core::admission_of(given);
    std::size_t published = 0;
    while (published < messages.size()) {
      const auto claimed = core().claim(port, messages.size() - published, admission, until);
      if (claimed.count == 0) break;
      fill_all<Message>(port, claimed, given, messages.data() + published);
      published += claimed.count;
    }
    return published;
  }

  // The first message is published last: until then the consumer sees none of them, and leaves
  // alone the lines of memory that are being filled. A message that cannot be made is skipped, and
  // so are those behind it.
  template <class Message, class T>
  void fill_all(const typename Core::Port& port, const typename Core::Claim& claimed,
                const Given& given, T* messages) {
    struct Rest {
      ~Rest() {
        for (; begun < claimed.count; ++begun) core.skip(port, claimed.first + 2 * begun);
        if (has_first) core.template publish<Message>(port, claimed.first);
        core.announce();
      }
      Core& core;
      const typename Core::Port& port;
      const typename Core::Claim& claimed;
      std::size_t begun = 0;
      bool has_first = false;
    } rest{core(), port, claimed};
    const auto carried = Core::carried(given);
    while (rest.begun < claimed.count) {
      typename Core::Slot::template Box<Message> box;
      const auto ticket = claimed.first + 2 * rest.begun;
      T& message = messages[rest.begun++];
      if constexpr (std::is_const_v<T>) {
        core().template fill<Message>(port, ticket, box, carried, message);
      } else {
        core().template fill<Message>(port, ticket, box, carried, std::move(message));
      }
      if (rest.begun == 1) {
        rest.has_first = true;
      } else {
        core().template publish<Message>(port, ticket);
      }
    }
  }
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
