// SPDX-License-Identifier: MIT
//
// handoff/process/shared.h: the C face of SharedMpscRing, for items of a size that is known when it
// runs. They lie behind the word of their place, as in C++.
#include <handoff/process/shared.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <handoff/core/status.hpp>
#include <handoff/process/detail/shared_ring_head.hpp>
#include <handoff/process/detail/shared_ticket_ring.hpp>
#include <handoff/process/detail/shared_tickets.hpp>
#include <limits>
#include <memory>

#include "c_call.hpp"

namespace {

using handoff::Status;
using handoff::detail::c_call;
using handoff::detail::c_check;
using handoff::detail::c_check_answer;
using handoff::detail::c_checked;
using handoff::detail::c_consumer;
using handoff::detail::c_done;
using handoff::detail::c_outcome;
using handoff::detail::c_producer;
using handoff::detail::SharedTicketRing;

handoff::detail::SharedRingShape c_mpsc_shape(std::size_t item_bytes) {
  constexpr std::size_t word = sizeof(handoff::detail::SharedTickets::Word);
  c_check(item_bytes != 0 && item_bytes <= std::numeric_limits<std::uint32_t>::max(),
          "an item has between 1 byte and 4 GiB");
  const std::size_t place = word + (item_bytes + word - 1) / word * word;
  return SharedTicketRing::shape(place, item_bytes, word);
}

handoff::detail::SharedRingShape c_mpsc_shape(std::size_t item_bytes, std::size_t capacity,
                                              std::size_t producers) {
  return handoff::detail::with_capacity(
      handoff::detail::with_producers(c_mpsc_shape(item_bytes), producers), capacity);
}

Status c_claim(handoff::detail::SharedTicketProducer& end, std::int64_t timeout_ns) {
  return timeout_ns == 0 ? end.try_claim() : end.claim(handoff::detail::c_until(timeout_ns));
}
Status c_find(handoff::detail::SharedTicketConsumer& end, std::int64_t timeout_ns) {
  return timeout_ns == 0 ? end.try_find() : end.find(handoff::detail::c_until(timeout_ns));
}

}  // namespace

using RingOfItems =
    handoff::detail::CRing<0x6370'736d, SharedTicketRing, handoff::detail::SharedTicketProducer,
                           handoff::detail::SharedTicketConsumer>;
struct handoff_mpsc : RingOfItems {
  handoff_mpsc(handoff_memory& in, std::size_t offset, std::size_t size)
      : RingOfItems(in, SharedTicketRing::attach(handoff::detail::c_behind(in, offset),
                                                 c_mpsc_shape(size))),
        item_bytes(size) {}

  [[nodiscard]] std::byte* item(std::uint64_t position) const noexcept {
    return ring.tickets().place(position) + sizeof(handoff::detail::SharedTickets::Word);
  }

  const std::size_t item_bytes;
};

extern "C" {

int handoff_mpsc_bytes(size_t capacity, size_t item_bytes, size_t producers, size_t* bytes) {
  return c_call([&] {
    c_check_answer(bytes);
    *bytes = handoff::detail::bytes_of(c_mpsc_shape(item_bytes, capacity, producers));
    return HANDOFF_OK;
  });
}

int handoff_mpsc_create(handoff_memory* memory, size_t offset, size_t capacity, size_t item_bytes,
                        size_t producers) {
  return c_call([&] {
    (void)SharedTicketRing::create(handoff::detail::c_behind(c_checked(memory), offset),
                                   c_mpsc_shape(item_bytes, capacity, producers));
    return HANDOFF_OK;
  });
}

int handoff_mpsc_attach(handoff_memory* memory, size_t offset, size_t item_bytes, int role,
                        size_t slot, handoff_mpsc** out) {
  const auto make = [&] {
    c_check(role == HANDOFF_PRODUCER || slot == 0, "only a producer has a number");
    return std::make_unique<handoff_mpsc>(c_checked(memory), offset, item_bytes);
  };
  return handoff::detail::c_attach(out, role, make, slot);
}

int handoff_mpsc_free(handoff_mpsc* queue) { return handoff::detail::c_free(queue); }

int handoff_mpsc_push(handoff_mpsc* queue, const void* item, int64_t timeout_ns) {
  return c_call([&] {
    auto& end = c_producer(queue);
    c_check(item != nullptr, "the item is null");
    Status status = c_claim(end, timeout_ns);
    if (status == Status::ok) {
      std::memcpy(queue->item(end.position()), item, queue->item_bytes);
      status = end.publish();
    }
    return c_outcome(status, end.damaged());
  });
}

int handoff_mpsc_push_batch(handoff_mpsc* queue, const void* items, size_t count, size_t* pushed) {
  return c_call([&] {
    c_check_answer(pushed);
    *pushed = 0;
    auto& end = c_producer(queue);
    c_check(items != nullptr || count == 0, "the items are null");
    const auto* next = static_cast<const std::byte*>(items);
    while (*pushed != count) {
      const Status status = end.try_claim(count - *pushed);
      if (status != Status::ok) {
        return *pushed != 0 ? int{HANDOFF_OK} : c_outcome(status, end.damaged());
      }
      for (std::uint64_t i = 0; i < end.count(); ++i, next += queue->item_bytes) {
        std::memcpy(queue->item(end.position() + i), next, queue->item_bytes);
      }
      *pushed += static_cast<std::size_t>(end.count());
      (void)end.publish();
    }
    return int{HANDOFF_OK};
  });
}

int handoff_mpsc_pop(handoff_mpsc* queue, void* item, int64_t timeout_ns) {
  return c_call([&] {
    auto& end = c_consumer(queue);
    c_check(item != nullptr, "the place of the item is null");
    const Status status = c_find(end, timeout_ns);
    if (status == Status::ok) {
      std::memcpy(item, queue->item(end.position()), queue->item_bytes);
      end.release();
    }
    return c_outcome(status, end.damaged());
  });
}

int handoff_mpsc_pop_batch(handoff_mpsc* queue, void* items, size_t most, size_t* popped) {
  return c_call([&] {
    c_check_answer(popped);
    *popped = 0;
    auto& end = c_consumer(queue);
    c_check(items != nullptr || most == 0, "the place of the items is null");
    auto* next = static_cast<std::byte*>(items);
    Status status = Status::ok;
    for (; *popped != most && (status = end.try_find()) == Status::ok; ++*popped) {
      std::memcpy(next, queue->item(end.position()), queue->item_bytes);
      next += queue->item_bytes;
      end.give_back();
    }
    if (*popped == 0) return c_outcome(status, end.damaged());
    end.tell();
    return int{HANDOFF_OK};
  });
}

int handoff_mpsc_claim(handoff_mpsc* queue, void** place, int64_t timeout_ns) {
  return c_call([&] {
    c_check_answer(place);
    *place = nullptr;
    auto& end = c_producer(queue);
    const Status status = c_claim(end, timeout_ns);
    if (status == Status::ok) *place = queue->item(end.position());
    return c_outcome(status, end.damaged());
  });
}

int handoff_mpsc_publish(handoff_mpsc* queue) {
  return c_call([&] {
    c_check(c_producer(queue).publish() == Status::ok, "nothing is claimed");
    return HANDOFF_OK;
  });
}

int handoff_mpsc_drop(handoff_mpsc* queue) {
  return c_done(queue, [](handoff_mpsc& mine) { c_producer(&mine).drop(); });
}

int handoff_mpsc_peek(handoff_mpsc* queue, const void** item, int64_t timeout_ns) {
  return c_call([&] {
    c_check_answer(item);
    *item = nullptr;
    auto& end = c_consumer(queue);
    const Status status = c_find(end, timeout_ns);
    if (status == Status::ok) *item = queue->item(end.position());
    return c_outcome(status, end.damaged());
  });
}

int handoff_mpsc_release(handoff_mpsc* queue) {
  return c_done(queue, [](handoff_mpsc& mine) { c_consumer(&mine).release(); });
}

int handoff_mpsc_close(handoff_mpsc* queue) {
  return c_done(queue, [](handoff_mpsc& mine) { mine.ring.close(); });
}

int handoff_mpsc_producer_died(handoff_mpsc* queue, size_t slot, size_t* dropped) {
  return c_call([&] {
    SharedTicketRing& ring = c_checked(queue).ring;
    c_check(slot < ring.producers(), "there is no producer of this number");
    const std::size_t count = ring.producer_died(slot);
    if (dropped != nullptr) *dropped = count;
    return HANDOFF_OK;
  });
}

int handoff_mpsc_consumer_died(handoff_mpsc* queue) {
  return c_done(queue, [](handoff_mpsc& mine) { mine.ring.consumer_died(); });
}

int handoff_mpsc_recovered(handoff_mpsc* queue) {
  return c_done(queue, [](handoff_mpsc& mine) { mine.ring.recovered(); });
}

int handoff_mpsc_look(handoff_mpsc* queue, handoff_mpsc_state* state) {
  return c_call([&] {
    const handoff_mpsc& mine = c_checked(queue);
    c_check_answer(state);
    *state = {.capacity = mine.ring.capacity(),
              .size = mine.ring.tickets().size(),
              .producers = mine.ring.producers(),
              .closed = mine.ring.closed() ? 1U : 0U,
              .damaged = mine.damaged() ? 1U : 0U};
    return HANDOFF_OK;
  });
}

int handoff_mpsc_descriptor(handoff_mpsc* queue, int* descriptor) {
  return handoff::detail::c_descriptor(queue, descriptor);
}

int handoff_mpsc_arm(handoff_mpsc* queue) { return handoff::detail::c_arm(queue); }

}  // extern "C"
