// SPDX-License-Identifier: MIT
//
// Shared memory, rings of records and queues of items in it: for C, and for what calls C.
//
//   // The process that makes them:
//   struct handoff_memory* memory;
//   struct handoff_ring* ring;
//   size_t bytes;
//   handoff_ring_bytes(1 << 20, &bytes);
//   if (handoff_memory_create(NULL, bytes, 0, 0, &memory) != 0) return fail(handoff_last_error());
//   handoff_ring_create(memory, 0, 1 << 20);
//   handoff_memory_publish(memory);
//   handoff_ring_attach(memory, 0, HANDOFF_PRODUCER, &ring);
//   handoff_ring_push(ring, text, strlen(text), HANDOFF_FOREVER);
//
//   // The other one, which was given the descriptor of the memory:
//   handoff_memory_attach(descriptor, 0, 0, 0, &memory);
//   handoff_ring_attach(memory, 0, HANDOFF_CONSUMER, &ring);
//   while (handoff_ring_pop(ring, buffer, sizeof buffer, &bytes, HANDOFF_FOREVER) == 0) { ... }
//
// For: C from C99 on, and languages that call it (Python by ctypes). The memory is that of
// SharedMemory, a ring is a SharedByteRing, a queue a SharedMpscRing: one end may be in C++, and
// what holds for those types holds here. Not for: C++ programs.
// - Returns: HANDOFF_OK; or more than that: an outcome that is no error; or less: a negative errno,
//   and handoff_last_error() says why. A handle that could not be made is null.
//   -EINVAL    a null pointer, a handle of another kind, an end that this handle is not, nothing
//              claimed, a number that can never be
//   -EMSGSIZE  a record longer than the ring takes or than the buffer is
//   -EPROTO    no such memory or ring there, or another process has damaged it
//   -EAGAIN    memory that its creator has not published yet
//   -EACCES    a ring in memory that was mapped for reading only; or as the system says
//   -ENOENT    no memory of this name;  -EEXIST  there is one
//   -ENOMEM, and others, as the system says. -EIO: none of these.
// - Concurrency: a handle belongs to one thread at a time; close(), recovered() and words about
//   deaths are thread-safe; one thread at a time calls handoff_mpsc_producer_died().
// - Blocks: push, pop, claim and peek, unless the timeout is HANDOFF_NO_WAIT. Signals do not end
//   that: if Ctrl-C matters (Python), wait for 100 ms at a time. Allocates: a handle. Exceptions:
//   none.
#pragma once

// NOLINTBEGIN(modernize-deprecated-headers): C has no others.
#include <stddef.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#if defined(__cplusplus)
extern "C" {
#endif

// Grows when anything here changes.
#define HANDOFF_SHARED_VERSION 2  // of this header

// That of the library which is loaded. Not a code.
int handoff_shared_version(void);

// What is not an error. The values are those of handoff::Status, as far as it has them.
enum handoff_outcome {
  HANDOFF_OK = 0,
  HANDOFF_FULL = 1,  // no room now, and no wait was asked for
  HANDOFF_EMPTY = 2,  // no record now, and no wait was asked for
  HANDOFF_CLOSED = 3,  // never again: nothing is accepted, or all has been taken
  HANDOFF_TIMED_OUT = 5,  // waited for as long as was asked
  HANDOFF_READY = 6,  // of arm() alone: look now
};

// Timeouts, in nanoseconds: up to 0 and from then on. Less than 0 waits for ever.
enum handoff_timeout {
  HANDOFF_FOREVER = -1,  // as long as it takes
  HANDOFF_NO_WAIT = 0,  // one look
};

// The last call of this thread that failed: one line, or "". It stays until another one fails.
const char* handoff_last_error(void);

// --- Memory. ---

struct handoff_memory;

// May be joined by |.
enum handoff_memory_flag {
  HANDOFF_HUGE_PAGES = 1,  // create: pages of 2 MiB, where the system has some
  HANDOFF_ONLY_CREATOR_WRITES = 2,  // create, without a name: sealed so
  HANDOFF_READ_ONLY = 4,  // attach, open: a store ends the process that makes it
};

// New and all zero. `name`: "/name", or null for none. `layout`: any number that says what will lie
// there; others must say the same.
int handoff_memory_create(const char* name, size_t bytes, uint64_t layout, unsigned flags,
                          struct handoff_memory** out);
// What another handle or process made. `bytes`: the least it has, 0: as many as there are. The
// descriptor stays the caller's.
int handoff_memory_attach(int descriptor, uint64_t layout, size_t bytes, unsigned flags,
                          struct handoff_memory** out);
int handoff_memory_open(const char* name, uint64_t layout, size_t bytes, unsigned flags,
                        struct handoff_memory** out);
// Gives the handle back; null does nothing. Memory that rings of this process use stays mapped
// until the last of them is given back. The creator's takes the name away.
int handoff_memory_free(struct handoff_memory* memory);
// Takes away a name that its creator left behind when it was killed. -EBUSY: it lives.
int handoff_memory_remove(const char* name);

// By the creator, once the memory is filled: from now on others may attach.
int handoff_memory_publish(struct handoff_memory* memory);
// Where it lies in this process, and how many bytes.
int handoff_memory_bytes(struct handoff_memory* memory, void** data, size_t* bytes);
// The handle's, close-on-exec: to be handed over.
int handoff_memory_descriptor(struct handoff_memory* memory, int* descriptor);
// A new one, the caller's to close, which can only be mapped for reading.
int handoff_memory_read_only_descriptor(struct handoff_memory* memory, int* descriptor);

// --- Rings. ---

struct handoff_ring;

// What a handle does. One producer and one consumer at a time, in whatever processes.
enum handoff_ring_role {
  HANDOFF_WATCHER = 0,  // neither: it closes, looks, and tells of deaths
  HANDOFF_PRODUCER = 1,  // it pushes
  HANDOFF_CONSUMER = 2,  // it pops
};

// What a look at a ring finds.
struct handoff_ring_state {
  uint64_t capacity;  // bytes that records share, with a word of 8 bytes before each
  uint64_t most;  // bytes of the longest record
  uint64_t size;  // about how many bytes there were, with those words
  uint32_t closed;  // 1: no more is accepted
  uint32_t damaged;  // 1: this end found what cannot be, and has stopped working
};

// The memory that a ring of `capacity` bytes needs: a multiple of 128, so that another one may lie
// behind it.
int handoff_ring_bytes(size_t capacity, size_t* bytes);
// Makes a ring from byte `offset` on, a multiple of 128; by the memory's creator, before it
// publishes.
int handoff_ring_create(struct handoff_memory* memory, size_t offset, size_t capacity);
// A handle of the ring that was made there; `role`: a handoff_ring_role. The successor of an end
// that died goes on where that one came to.
int handoff_ring_attach(struct handoff_memory* memory, size_t offset, int role,
                        struct handoff_ring** out);
// Gives the handle back, and does not close the ring; null does nothing.
int handoff_ring_free(struct handoff_ring* ring);

// A record of 0 bytes and more. HANDOFF_FULL, _TIMED_OUT, _CLOSED: it was not pushed.
int handoff_ring_push(struct handoff_ring* ring, const void* record, size_t bytes,
                      int64_t timeout_ns);
// Copies the first record into `buffer`, which has room for `room` bytes, and takes it. `bytes`:
// how long it is, also with -EMSGSIZE: then it is still there.
int handoff_ring_pop(struct handoff_ring* ring, void* buffer, size_t room, size_t* bytes,
                     int64_t timeout_ns);

// In place: room for a record of up to `bytes`, to be written in any way; then the first `bytes` of
// it are a record. A later claim or push replaces it.
int handoff_ring_claim(struct handoff_ring* ring, size_t bytes, void** place, int64_t timeout_ns);
int handoff_ring_publish(struct handoff_ring* ring, size_t bytes);
// In place: the first record, where it lies, until it is released; then it is taken. Nothing peeked
// is nothing done.
int handoff_ring_peek(struct handoff_ring* ring, const void** record, size_t* bytes,
                      int64_t timeout_ns);
int handoff_ring_release(struct handoff_ring* ring);

// By any process, again and again: no push that begins later succeeds, and both ends are woken.
// What was pushed can still be popped.
int handoff_ring_close(struct handoff_ring* ring);
// By what knows from the system that the process of an end is gone, and not before: closes the
// ring, so that nobody waits for the dead.
int handoff_ring_peer_died(struct handoff_ring* ring);
// Instead, once a successor is there: wakes what the dead one left asleep.
int handoff_ring_recovered(struct handoff_ring* ring);
int handoff_ring_look(struct handoff_ring* ring, struct handoff_ring_state* state);

// --- For a loop that waits for several things: poll(), epoll, asyncio. ---

// A descriptor of this process that becomes readable when the consumer should look. It goes with
// the handle, has a thread of its own, and is not to be read from.
int handoff_ring_descriptor(struct handoff_ring* ring, int* descriptor);
// By the consumer, after HANDOFF_EMPTY. HANDOFF_OK: the descriptor is not readable now, and becomes
// so, once. HANDOFF_READY: look now; nothing is armed. After a pop or peek that waited, arm again.
int handoff_ring_arm(struct handoff_ring* ring);

// --- Queues of items of one size, from many producers to one consumer. ---

// The queue is SharedMpscRing<T> in C++, of a T of `item_bytes` bytes and an alignment of up to 8.
struct handoff_mpsc;

// What a look at a queue finds.
struct handoff_mpsc_state {
  uint64_t capacity;  // items that fit in
  uint64_t size;  // about how many items there were, claimed places included
  uint64_t producers;  // how many there may be: their numbers are below this
  uint32_t closed;  // 1: no more is accepted
  uint32_t damaged;  // 1: this end found what cannot be, and has stopped working
};

// The memory that a queue needs: a multiple of 128. `producers`: up to 65536.
int handoff_mpsc_bytes(size_t capacity, size_t item_bytes, size_t producers, size_t* bytes);
// Makes a queue from byte `offset` on, a multiple of 128; by the memory's creator, before it
// publishes.
int handoff_mpsc_create(struct handoff_memory* memory, size_t offset, size_t capacity,
                        size_t item_bytes, size_t producers);
// A handle of the queue that was made there; `role`: a handoff_ring_role. A producer has the number
// `slot`, which is free once it is given back, or its death was told; others say 0. -EPROTO: no
// such queue, or a number that is taken or too large.
int handoff_mpsc_attach(struct handoff_memory* memory, size_t offset, size_t item_bytes, int role,
                        size_t slot, struct handoff_mpsc** out);
// Gives the handle back, and does not close the queue; null does nothing. What was claimed is
// dropped.
int handoff_mpsc_free(struct handoff_mpsc* queue);

// One item. HANDOFF_FULL, _TIMED_OUT, _CLOSED: it was not pushed.
int handoff_mpsc_push(struct handoff_mpsc* queue, const void* item, int64_t timeout_ns);
// The first of `count` items, as many as have room, at once; HANDOFF_FULL, _CLOSED: none.
int handoff_mpsc_push_batch(struct handoff_mpsc* queue, const void* items, size_t count,
                            size_t* pushed);
// Copies the first item, and takes it.
int handoff_mpsc_pop(struct handoff_mpsc* queue, void* item, int64_t timeout_ns);
// As many items as there are, and at most `most`; HANDOFF_EMPTY, _CLOSED: none.
int handoff_mpsc_pop_batch(struct handoff_mpsc* queue, void* items, size_t most, size_t* popped);

// In place: room for one item, to be written in any way, and then an item, or dropped. The same one
// again until then.
int handoff_mpsc_claim(struct handoff_mpsc* queue, void** place, int64_t timeout_ns);
int handoff_mpsc_publish(struct handoff_mpsc* queue);
int handoff_mpsc_drop(struct handoff_mpsc* queue);
// In place: the first item, where it lies, until it is released; then it is taken. Nothing peeked
// is nothing done.
int handoff_mpsc_peek(struct handoff_mpsc* queue, const void** item, int64_t timeout_ns);
int handoff_mpsc_release(struct handoff_mpsc* queue);

// By any process, again and again: no push that begins later succeeds, and all are woken. What was
// pushed can still be popped.
int handoff_mpsc_close(struct handoff_mpsc* queue);
// By what knows from the system that the process of producer `slot` is gone, and not before: what
// it had claimed is passed over, and its number is free. `dropped`: how many places that was; or
// null.
int handoff_mpsc_producer_died(struct handoff_mpsc* queue, size_t slot, size_t* dropped);
// The same of the consumer: closes the queue.
int handoff_mpsc_consumer_died(struct handoff_mpsc* queue);
// Instead, once a successor is there: wakes what the dead one left asleep.
int handoff_mpsc_recovered(struct handoff_mpsc* queue);
// What it is like now.
int handoff_mpsc_look(struct handoff_mpsc* queue, struct handoff_mpsc_state* state);

// As those of rings.
int handoff_mpsc_descriptor(struct handoff_mpsc* queue, int* descriptor);
int handoff_mpsc_arm(struct handoff_mpsc* queue);

#if defined(__cplusplus)
}
#endif
