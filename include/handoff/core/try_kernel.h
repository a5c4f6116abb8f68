// SPDX-License-Identifier: MIT
//
// Your own loop for `handoff try`, which runs it under every way of handing out work and says which
// one to take. For C, for C++, and for what makes shared objects with C functions.
//
//   static uint64_t items(void) { return image_rows; }
//   static void run(uint64_t first, uint64_t last) { for (; first < last; ++first) blur(first); }
//   static void reset(void) { memset(blurred, 0, sizeof blurred); }
//   static uint64_t digest(void) { return handoff_try_digest(blurred, sizeof blurred); }
//
//   static const struct handoff_try_kernel kernel = {
//       HANDOFF_TRY_VERSION, sizeof kernel, "blur", items, run, reset, digest};
//   const struct handoff_try_kernel* handoff_try_entry(void) { return &kernel; }
//
// For: loops whose items may run in any order and at the same time, from some 10 us a loop on. Not
//   for: tasks that wait for each other.
// Contract: what the functions may expect.
// - A process loads the object, calls setup(), then passes, then teardown(). A pass is reset(),
//   run() for all items, digest(). Only run() is timed.
// - Concurrency: run() by several threads at once, for different items. All others by one thread,
//   while no run() is under way.
// - Order: each item once in a pass, in any order. What came before the pass happens before run();
//   all of run() before digest().
// - The digest is the same after every pass: a result with floating-point sums in the order of the
//   items must be rounded first. reset() brings all back, so that items that were left out show.
// - Exceptions may leave run(): they are reported. A C++ kernel is compiled with exceptions.
// - Processes: where `result_bytes` is not 0, setup() is given that much memory, zero at first,
//   which processes share. A kernel writes its whole result there and nowhere else: then worker
//   processes run it too. They are forked after setup(), and have the rest of the memory as it was
//   then.
#pragma once

// NOLINTBEGIN(modernize-deprecated-headers): C has no others.
#include <stddef.h>
#include <stdint.h>
// NOLINTEND(modernize-deprecated-headers)

#if defined(__cplusplus)
extern "C" {
#endif

// Grows when what is there changes its meaning. New members come at the end, and `bytes` tells.
#define HANDOFF_TRY_VERSION 1  // of this header

struct handoff_try_kernel {
  uint32_t version;  // HANDOFF_TRY_VERSION
  uint32_t bytes;  // of this struct
  const char* name;  // of one line, for the table; or null

  uint64_t (*items)(void);  // how many, at least 1; after setup()
  void (*run)(uint64_t first, uint64_t last);  // does the items from first to before last
  void (*reset)(void);  // as if no item had been done
  uint64_t (*digest)(void);  // of the result

  uint64_t result_bytes;  // 0, or the memory that setup() wants for the result
  int (*setup)(void* result);  // or null; `result` is null without result_bytes. 0: all is well
  void (*teardown)(void);  // or null
};

// A digest of some bytes: FNV-1a, of eight of them at a time. `from`: the digest of what came
// before.
static inline uint64_t handoff_try_digest_from(uint64_t from, const void* data, size_t bytes) {
  const unsigned char* byte = (const unsigned char*)data;
  uint64_t digest = from;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word = 0;
    for (size_t j = 0; j < 8; ++j) word |= (uint64_t)byte[i + j] << (8 * j);
    digest = (digest ^ word) * UINT64_C(0x100000001b3);
    digest ^= digest >> 29;
  }
  for (; i < bytes; ++i) digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
  return digest;
}

// The same of all that there is.
static inline uint64_t handoff_try_digest(const void* data, size_t bytes) {
  return handoff_try_digest_from(UINT64_C(0xcbf29ce484222325), data, bytes);
}

// The one function that `handoff try` looks for: the kernel's author defines it. What it returns
// stays as it is.
__attribute__((visibility("default"))) const struct handoff_try_kernel* handoff_try_entry(void);

#if defined(__cplusplus)
}
#endif
