// SPDX-License-Identifier: MIT
//
// The rings of shared memory by the same words, as C++ and as C have them: numbers go in and come
// out. A number whose bytes are not whole comes out as kTorn.
#pragma once

#include <handoff/process/shared.h>

#include "support/test.hpp"
#include "unit/process/forked.hpp"
#include "unit/process/shared_item.hpp"

namespace handoff::test {

inline constexpr std::uint64_t kTorn = ~std::uint64_t{0};

using Bytes = std::vector<std::byte>;
inline Bytes raw(const Message& message) {
  const auto bytes = std::as_bytes(std::span(&message, 1));
  return {bytes.begin(), bytes.end()};
}
inline Bytes raw(Bytes bytes) { return bytes; }

// A number as an item of one size.
struct OfOneSize {
  static Message written(std::uint64_t number) { return message_of(number); }
  static constexpr std::size_t most = sizeof(Message);
  static std::uint64_t read(std::span<const std::byte> found) {
    Message message{};
    if (found.size() != sizeof message) return kTorn;
    std::memcpy(&message, found.data(), sizeof message);
    return is_whole(message) ? message.number : kTorn;
  }
};
// As a record, whose length and end follow from it.
struct OfAnySize {
  static constexpr std::size_t most = 56;
  static Bytes written(std::uint64_t number) {
    Bytes record(sizeof(Message) + number * 7919 % (most - sizeof(Message) + 1));
    for (std::size_t i = 0; i < record.size(); ++i) record[i] = static_cast<std::byte>(number + i);
    const Message head = message_of(number);
    std::memcpy(record.data(), &head, sizeof head);
    return record;
  }
  static std::uint64_t read(std::span<const std::byte> found) {
    if (found.size() < sizeof(Message)) return kTorn;
    const std::uint64_t number = OfOneSize::read(found.first(sizeof(Message)));
    const Bytes wanted = written(number);
    return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end()) ? number : kTorn;
  }
};

// ---- In C++ ----

// What all four say of themselves. kProducers: how many, where the ring asks.
template <class RingInCpp, std::size_t... kProducers>
struct FaceInCpp {
  using Ring = RingInCpp;
  static constexpr bool has_end = requires { typename Ring::From; };  // its producer closes it
  static constexpr bool waits = !has_end;  // for room, while it is full
  static constexpr bool may_stop = true;  // waits end by a stop token
  static constexpr std::size_t producers = sizeof...(kProducers) == 0 ? 1 : (kProducers + ... + 0);

  struct Made : RingInPages<Ring> {
    using RingInPages<Ring>::RingInPages;
    std::span<std::byte> bytes() const { return this->pages.bytes(); }
    Ring attached() const { return Ring::attach(bytes()); }
  };
  struct Alarm : SharedRingAlarm {
    explicit Alarm(auto& /*of*/) {}
    bool arm(auto& of) { return SharedRingAlarm::arm(of.in); }
  };
  static void close(Ring ring) {
    if constexpr (has_end) typename Ring::Producer(ring).close();
    else ring.close();
  }
  // A producer that died has a successor, or none.
  static void replaced(Ring ring) {
    if constexpr (producers > 1) (void)ring.producer_died(0);
    else ring.recovered();
  }
  static void producer_died(Ring ring) {
    if constexpr (producers > 1) ring.close();
    else ring.producer_died();
  }
  static void consumer_died(Ring ring) { ring.consumer_died(); }
  static bool is_empty(const Ring& ring) { return ring.empty(); }
};

// SharedRing, SharedMpscRing and SharedBroadcast.
template <class RingOfMessages, std::size_t... kProducers>
struct FaceOfItems : FaceInCpp<RingOfMessages, kProducers...>, OfOneSize {
  using Face = FaceInCpp<RingOfMessages, kProducers...>;
  using Ring = RingOfMessages;
  struct Made : Face::Made {
    explicit Made(std::size_t items) : Face::Made(items, kProducers...) {}
  };

  class Producer {
   public:
    explicit Producer(const Ring& ring, [[maybe_unused]] std::size_t slot = 0)
        : out(ring, (static_cast<void>(kProducers), slot)...) {}
    Status try_push(std::uint64_t number) {
      if constexpr (Face::waits) return out.try_push(written(number));
      else return out.push(written(number));
    }
    Status push(std::uint64_t number, [[maybe_unused]] const Until& until = {}) {
      if constexpr (Face::waits) return out.push(written(number), until);
      else return out.push(written(number));
    }
    std::size_t try_push_batch(std::uint64_t first, std::size_t count) {
      std::vector<Message> items;
      for (std::size_t i = 0; i < count; ++i) items.push_back(written(first + i));
      return out.try_push_batch(items);
    }
    Status try_claim() { return out.try_claim(place_); }
    Status claim(const Until& until = {}) { return out.claim(place_, until); }
    const void* place() const { return place_; }
    Status publish(std::uint64_t number) {
      if (place_ != nullptr) *std::exchange(place_, nullptr) = written(number);
      return out.publish();
    }
    bool damaged() const { return out.damaged(); }

    typename Ring::Producer out;

   private:
    Message* place_ = nullptr;
  };

  class Consumer {
   public:
    explicit Consumer(const Ring& ring) : in(made(ring)) {}
    Status try_pop(std::uint64_t& number) { return taken(in.try_pop(item_), number); }
    Status pop(std::uint64_t& number, const Until& until = {}) {
      return taken(in.pop(item_, until), number);
    }
    std::vector<std::uint64_t> try_pop_batch(std::size_t most) {
      std::vector<Message> items(most);
      items.resize(in.try_pop_batch(items));
      std::vector<std::uint64_t> numbers;
      for (const Message& item : items) numbers.push_back(number_of(item));
      return numbers;
    }
    Status try_peek(std::span<const std::byte>& found) {
      const Message* item = nullptr;
      const Status said = in.try_peek(item);
      found = std::as_bytes(std::span(item, item == nullptr ? 0 : 1));
      return said;
    }
    void release() { in.release(); }
    template <class Visitor>
    std::size_t consume(const Visitor& visitor, std::size_t most) {
      return in.consume([&](const Message& item) { visitor(number_of(item)); }, most);
    }
    bool damaged() const { return in.damaged(); }

    typename Ring::Consumer in;

   private:
    static typename Ring::Consumer made(const Ring& ring) {
      if constexpr (Face::has_end) return typename Ring::Consumer(ring, Ring::From::oldest);
      else return typename Ring::Consumer(ring);
    }
    static std::uint64_t number_of(const Message& item) {
      return read(std::as_bytes(std::span(&item, 1)));
    }
    Status taken(Status said, std::uint64_t& number) const {
      if (said == Status::ok) number = number_of(item_);
      return said;
    }
    Message item_{};
  };
};

struct BytesInCpp : FaceInCpp<SharedByteRing>, OfAnySize {
  struct Made : FaceInCpp::Made {
    explicit Made(std::size_t items) : FaceInCpp::Made(64 * (items + 1)) {}
  };
  class Producer {
   public:
    explicit Producer(const Ring& ring, std::size_t /*slot*/ = 0) : out(ring) {}
    Status try_push(std::uint64_t number) { return out.try_push(written(number)); }
    Status push(std::uint64_t number, const Until& until = {}) {
      return out.push(written(number), until);
    }
    Status try_claim() { return out.try_claim(most, place_); }
    Status claim(const Until& until = {}) { return out.claim(most, place_, until); }
    const void* place() const { return place_.data(); }
    Status publish(std::uint64_t number) {
      const Bytes record = written(number);
      if (!place_.empty()) std::memcpy(std::exchange(place_, {}).data(), &record[0], record.size());
      return out.publish(record.size());
    }
    bool damaged() const { return out.damaged(); }

    Ring::Producer out;

   private:
    std::span<std::byte> place_;
  };
  class Consumer {
   public:
    explicit Consumer(const Ring& ring) : in(ring) {}
    Status try_pop(std::uint64_t& number) { return taken(in.try_peek(found_), number); }
    Status pop(std::uint64_t& number, const Until& until = {}) {
      return taken(in.peek(found_, until), number);
    }
    Status try_peek(std::span<const std::byte>& found) { return in.try_peek(found); }
    void release() { in.release(); }
    template <class Visitor>
    std::size_t consume(const Visitor& visitor, std::size_t count) {
      return in.consume([&](std::span<const std::byte> found) { visitor(read(found)); }, count);
    }
    bool damaged() const { return in.damaged(); }

    Ring::Consumer in;

   private:
    Status taken(Status said, std::uint64_t& number) {
      if (said == Status::ok) number = read(found_);
      in.release();
      return said;
    }
    std::span<const std::byte> found_;
  };
};

// ---- In C ----

// What a code is in C++: an end that is damaged is closed there.
inline Status status_of(int code) {
  const std::string said = code < 0 ? handoff_last_error() : "";
  if (code == -EPROTO) {
    EXPECT_NE(said.find("no end of it writes"), std::string::npos) << said;
    return Status::closed;
  }
  if (code == -EINVAL && said == "nothing is claimed") return Status::closed;
  switch (code) {
    case HANDOFF_OK: return Status::ok;
    case HANDOFF_EMPTY: return Status::empty;
    case HANDOFF_FULL: return Status::full;
    case HANDOFF_CLOSED: return Status::closed;
    case HANDOFF_TIMED_OUT: return Status::timed_out;
    default: ADD_FAILURE() << code << ": " << said; return Status::stopped;
  }
}
inline std::int64_t timeout_of(const Until& until) {
  if (!until.has_deadline()) return HANDOFF_FOREVER;
  const std::chrono::nanoseconds left = until.deadline() - sync::clock::now();
  return std::max<std::int64_t>(left.count(), 1);
}
// To be made, or an error as C++ throws it.
inline void must(int code) {
  if (code < 0) throw std::system_error(-code, std::generic_category(), handoff_last_error());
}

inline constexpr std::size_t kOffsetInC = 128;  // where a ring begins
inline constexpr std::uint64_t kLayoutInC = 7;

// Both kinds by the names that their calls have in common.
struct CallsOfBytes {
  using Handle = handoff_ring;
  using State = handoff_ring_state;
  using Item = OfAnySize;
  static constexpr std::size_t producers = 1;
  static constexpr auto free = handoff_ring_free;
  static constexpr auto close = handoff_ring_close;
  static constexpr auto recovered = handoff_ring_recovered;
  static constexpr auto consumer_died = handoff_ring_peer_died;
  static constexpr auto release = handoff_ring_release;
  static constexpr auto look = handoff_ring_look;
  static constexpr auto arm = handoff_ring_arm;
  static constexpr auto descriptor = handoff_ring_descriptor;
  static constexpr auto peek = handoff_ring_peek;
  static std::size_t bytes_for(std::size_t items) {
    std::size_t bytes = 0;
    must(handoff_ring_bytes(64 * (items + 1), &bytes));
    return bytes;
  }
  static int create(handoff_memory* memory, std::size_t items) {
    return handoff_ring_create(memory, kOffsetInC, 64 * (items + 1));
  }
  static int attach(handoff_memory* memory, int role, std::size_t /*slot*/, Handle** out) {
    return handoff_ring_attach(memory, kOffsetInC, role, out);
  }
  static int push(Handle* out, std::uint64_t number, std::int64_t timeout) {
    const Bytes record = Item::written(number);
    return handoff_ring_push(out, record.data(), record.size(), timeout);
  }
  static int claim(Handle* out, void** place, std::int64_t timeout) {
    return handoff_ring_claim(out, Item::most, place, timeout);
  }
  static int publish(Handle* out, std::size_t bytes) { return handoff_ring_publish(out, bytes); }
  static int pop(Handle* in, std::span<std::byte> into, std::size_t* bytes, std::int64_t timeout) {
    return handoff_ring_pop(in, into.data(), into.size(), bytes, timeout);
  }
  static int replaced(Handle* by) { return handoff_ring_recovered(by); }
  static int producer_died(Handle* by) { return handoff_ring_peer_died(by); }
};
struct CallsOfItems {
  using Handle = handoff_mpsc;
  using State = handoff_mpsc_state;
  using Item = OfOneSize;
  static constexpr std::size_t producers = 3;
  static constexpr auto free = handoff_mpsc_free;
  static constexpr auto close = handoff_mpsc_close;
  static constexpr auto consumer_died = handoff_mpsc_consumer_died;
  static constexpr auto release = handoff_mpsc_release;
  static constexpr auto look = handoff_mpsc_look;
  static constexpr auto arm = handoff_mpsc_arm;
  static constexpr auto descriptor = handoff_mpsc_descriptor;
  static std::size_t bytes_for(std::size_t items) {
    std::size_t bytes = 0;
    must(handoff_mpsc_bytes(items, Item::most, producers, &bytes));
    return bytes;
  }
  static int create(handoff_memory* memory, std::size_t items) {
    return handoff_mpsc_create(memory, kOffsetInC, items, Item::most, producers);
  }
  static int attach(handoff_memory* memory, int role, std::size_t slot, Handle** out) {
    return handoff_mpsc_attach(memory, kOffsetInC, Item::most, role, slot, out);
  }
  static int push(Handle* out, std::uint64_t number, std::int64_t timeout) {
    const Message item = Item::written(number);
    return handoff_mpsc_push(out, &item, timeout);
  }
  static int claim(Handle* out, void** place, std::int64_t timeout) {
    return handoff_mpsc_claim(out, place, timeout);
  }
  static int publish(Handle* out, std::size_t /*bytes*/) { return handoff_mpsc_publish(out); }
  static int pop(Handle* in, std::span<std::byte> into, std::size_t* bytes, std::int64_t timeout) {
    *bytes = Item::most;
    return handoff_mpsc_pop(in, into.data(), timeout);
  }
  static int peek(Handle* in, const void** item, std::size_t* bytes, std::int64_t timeout) {
    *bytes = Item::most;
    return handoff_mpsc_peek(in, item, timeout);
  }
  static int replaced(Handle* by) { return handoff_mpsc_producer_died(by, 0, nullptr); }
  static int producer_died(Handle* by) { return handoff_mpsc_close(by); }
};

template <class Calls>
struct FaceInC : Calls::Item {
  static constexpr bool has_end = false, waits = true, may_stop = false;
  static constexpr std::size_t producers = Calls::producers;
  using Handle = typename Calls::Handle;

  struct Ring {
    handoff_memory* memory;
    Handle* watcher;
  };
  class Made {
   public:
    explicit Made(std::size_t items) {
      const std::size_t bytes = kOffsetInC + Calls::bytes_for(items);
      must(handoff_memory_create(nullptr, bytes, kLayoutInC, 0, &ring.memory));
      must(Calls::create(ring.memory, items));
      must(handoff_memory_publish(ring.memory));
      must(Calls::attach(ring.memory, HANDOFF_WATCHER, 0, &ring.watcher));
    }
    ~Made() {
      EXPECT_EQ(Calls::free(ring.watcher), 0);
      EXPECT_EQ(handoff_memory_free(ring.memory), 0);
    }
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    std::span<std::byte> bytes() const {
      void* data = nullptr;
      std::size_t size = 0;
      must(handoff_memory_bytes(ring.memory, &data, &size));
      return std::span(static_cast<std::byte*>(data), size).subspan(kOffsetInC);
    }
    Ring attached() const { return ring; }  // as each end is

    Ring ring{};
  };

  class End {
   public:
    End(const Ring& ring, int role, std::size_t slot) {
      must(Calls::attach(ring.memory, role, slot, &handle));
    }
    ~End() { EXPECT_EQ(Calls::free(handle), 0); }
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    bool damaged() const {
      typename Calls::State state{};
      EXPECT_EQ(Calls::look(handle, &state), 0);
      return state.damaged != 0;
    }

    Handle* handle = nullptr;
  };
  class Producer : public End {
   public:
    explicit Producer(const Ring& ring, std::size_t slot = 0) : End(ring, HANDOFF_PRODUCER, slot) {}
    Status try_push(std::uint64_t number) { return push_for(number, HANDOFF_NO_WAIT); }
    Status push(std::uint64_t number, const Until& until = {}) {
      return push_for(number, timeout_of(until));
    }
    Status try_claim() { return status_of(Calls::claim(this->handle, &place_, HANDOFF_NO_WAIT)); }
    Status claim(const Until& until = {}) {
      return status_of(Calls::claim(this->handle, &place_, timeout_of(until)));
    }
    Status publish(std::uint64_t number) {
      const Bytes item = raw(Calls::Item::written(number));
      if (place_ != nullptr) std::memcpy(std::exchange(place_, nullptr), item.data(), item.size());
      return status_of(Calls::publish(this->handle, item.size()));
    }
    const void* place() const { return place_; }

   private:
    Status push_for(std::uint64_t number, std::int64_t timeout) {
      return status_of(Calls::push(this->handle, number, timeout));
    }
    void* place_ = nullptr;
  };
  class Consumer : public End {
   public:
    explicit Consumer(const Ring& ring) : End(ring, HANDOFF_CONSUMER, 0) {}
    Status try_pop(std::uint64_t& number) { return pop_for(number, HANDOFF_NO_WAIT); }
    Status pop(std::uint64_t& number, const Until& until = {}) {
      return pop_for(number, timeout_of(until));
    }
    Status try_peek(std::span<const std::byte>& found) {
      const void* item = nullptr;
      std::size_t bytes = 0;
      const Status said = status_of(Calls::peek(this->handle, &item, &bytes, HANDOFF_NO_WAIT));
      found = {static_cast<const std::byte*>(item), item == nullptr ? 0 : bytes};
      return said;
    }
    void release() { EXPECT_EQ(Calls::release(this->handle), 0); }

   private:
    Status pop_for(std::uint64_t& number, std::int64_t timeout) {
      std::array<std::byte, 256> into;
      std::size_t bytes = 0;
      const Status said = status_of(Calls::pop(this->handle, into, &bytes, timeout));
      if (said == Status::ok) number = Calls::Item::read(std::span(into).first(bytes));
      return said;
    }
  };
  class Alarm {
   public:
    explicit Alarm(Consumer& of) { must(Calls::descriptor(of.handle, &descriptor_)); }
    int descriptor() const { return descriptor_; }
    bool arm(Consumer& of) {
      const int said = Calls::arm(of.handle);
      EXPECT_TRUE(said == HANDOFF_OK || said == HANDOFF_READY) << said;
      return said == HANDOFF_OK;
    }

   private:
    int descriptor_ = -1;
  };
  static void close(const Ring& ring) { EXPECT_EQ(Calls::close(ring.watcher), 0); }
  static void replaced(const Ring& ring) { EXPECT_EQ(Calls::replaced(ring.watcher), 0); }
  static void producer_died(const Ring& ring) { EXPECT_EQ(Calls::producer_died(ring.watcher), 0); }
  static void consumer_died(const Ring& ring) { EXPECT_EQ(Calls::consumer_died(ring.watcher), 0); }
  static bool is_empty(const Ring& ring) {
    typename Calls::State state{};
    EXPECT_EQ(Calls::look(ring.watcher, &state), 0);
    return state.size == 0;
  }
};

using OneToOne = FaceOfItems<SharedRing<Message>>;
using ManyToOne = FaceOfItems<SharedMpscRing<Message>, 3>;
using OneToMany = FaceOfItems<SharedBroadcast<Message>>;
using BytesInC = FaceInC<CallsOfBytes>;
using ItemsInC = FaceInC<CallsOfItems>;

}  // namespace handoff::test
