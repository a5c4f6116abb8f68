// SPDX-License-Identifier: MIT
//
// One end of a ring, in C99: peer produce|consume DESCRIPTOR COUNT. Record i is its number and
// i % 40 bytes that follow from it. Or producer SLOT of a queue: peer report DESCRIPTOR COUNT SLOT.
// An item is the slot and a number.
#include <handoff/process/shared.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLongest = 48 };

static size_t make_record(uint64_t i, unsigned char* record) {
  size_t more = (size_t)(i % 40);
  size_t k;
  memcpy(record, &i, sizeof i);
  for (k = 0; k < more; ++k) record[sizeof i + k] = (unsigned char)(i + k);
  return sizeof i + more;
}

static int failed(const char* what, int code) {
  fprintf(stderr, "%s: %d, %s\n", what, code, handoff_last_error());
  return 1;
}

static int produce(struct handoff_ring* ring, uint64_t count) {
  unsigned char record[kLongest];
  uint64_t i;
  for (i = 0; i < count; ++i) {
    const size_t bytes = make_record(i, record);
    const int said = handoff_ring_push(ring, record, bytes, HANDOFF_FOREVER);
    if (said != HANDOFF_OK) return failed("push", said);
  }
  return handoff_ring_close(ring);
}

static int consume(struct handoff_ring* ring, uint64_t count) {
  unsigned char found[kLongest];
  unsigned char wanted[kLongest];
  size_t bytes = 0;
  uint64_t i = 0;
  int said;
  while ((said = handoff_ring_pop(ring, found, sizeof found, &bytes, HANDOFF_FOREVER)) == 0) {
    if (bytes != make_record(i, wanted) || memcmp(found, wanted, bytes) != 0) {
      return failed("a wrong record", (int)i);
    }
    ++i;
  }
  if (said != HANDOFF_CLOSED || i != count) return failed("pop", said);
  printf("%lu right\n", (unsigned long)i);
  return 0;
}

struct item {
  uint64_t slot, number;
};

// Pairs in one call, and one by one where there is no room for any.
static int report(struct handoff_memory* memory, size_t slot, uint64_t count) {
  struct handoff_mpsc* queue = NULL;
  struct item items[2];
  uint64_t i = 0;
  size_t pushed = 0;
  int said = handoff_mpsc_attach(memory, 0, sizeof items[0], HANDOFF_PRODUCER, slot, &queue);
  while (said == HANDOFF_OK && i < count) {
    items[0].slot = items[1].slot = slot;
    items[0].number = i;
    items[1].number = i + 1;
    said = handoff_mpsc_push_batch(queue, items, count - i < 2 ? 1 : 2, &pushed);
    if (said == HANDOFF_FULL) {
      said = handoff_mpsc_push(queue, items, HANDOFF_FOREVER);
      pushed = 1;
    }
    i += pushed;
  }
  if (said != HANDOFF_OK) return failed("report", said);
  return handoff_mpsc_free(queue);
}

int main(int argc, char** argv) {
  struct handoff_memory* memory = NULL;
  struct handoff_ring* ring = NULL;
  int is_producer, said;
  uint64_t count;
  if (argc != 4 && argc != 5) return failed("peer produce|consume DESCRIPTOR COUNT", argc);
  if (handoff_shared_version() != HANDOFF_SHARED_VERSION) return failed("another version", 0);
  is_producer = strcmp(argv[1], "produce") == 0;
  count = strtoul(argv[3], NULL, 10);
  said = handoff_memory_attach(atoi(argv[2]), 42, 0, 0, &memory);
  if (said != HANDOFF_OK) return failed("memory", said);
  if (argc == 5) {
    said = report(memory, strtoul(argv[4], NULL, 10), count);
    handoff_memory_free(memory);
    return said;
  }
  said = handoff_ring_attach(memory, 0, is_producer ? HANDOFF_PRODUCER : HANDOFF_CONSUMER, &ring);
  if (said != HANDOFF_OK) return failed("ring", said);
  said = is_producer ? produce(ring, count) : consume(ring, count);
  handoff_ring_free(ring);
  handoff_memory_free(memory);
  return said;
}
