// SPDX-License-Identifier: MIT
//
// What no command bucket, no command and no key can be, and what may not be asked of them.
#include <handoff/command/command_bucket.hpp>

#include <cstdint>
#include <span>
#include <string>

#include <handoff/command/hash_backend.hpp>
#include <handoff/command/sort_key.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/memory/linear_arena.hpp>

struct Gpu {
  int calls = 0;
};
struct Other {};
struct Draw {
  std::uint32_t mesh;
  void operator()(Gpu& gpu) const { ++gpu.calls; }
};
struct Silent {
  std::uint32_t mesh;
};
struct Owner {
  std::string text;
  void operator()(Gpu& gpu) const { ++gpu.calls; }
};
struct Huge {
  char bytes[100'000];
  void operator()(Gpu& gpu) const { ++gpu.calls; }
};
struct Padded {
  char small;
  std::uint32_t large;
};
using Bucket = handoff::CommandBucket<std::uint64_t, Gpu>;
using Key =
    handoff::SortKey<std::uint16_t, handoff::KeyField<"layer", 4>, handoff::KeyField<"depth", 8>>;

// What is no bucket, and no key.
int kinds() {
  // wrong: names the backends that its commands are for
  // handoff::CommandBucket<std::uint64_t> nobody;
  // wrong: key is std::uint16_t, std::uint32_t or std::uint64_t
  // handoff::CommandBucket<int, Gpu> numbers;
  // wrong: deleted
  // Bucket one;
  // Bucket other = one;
  // wrong: the fields have more bits than the key
  // handoff::SortKey<std::uint16_t, handoff::KeyField<"a", 9>, handoff::KeyField<"b", 8>> key;
  // wrong: a field has at least one bit
  // handoff::SortKey<std::uint16_t, handoff::KeyField<"a", 0>> key;
  // wrong: none of its fields has this name
  // return static_cast<int>(Key().get<"material">());
  // wrong: of\(\) takes a value for each field
  // return static_cast<int>(Key::of(1).bits());
  // wrong: refuse_key_field
  // constexpr Key key = Key::of(16, 0);
  return 0;
}

int main() {
  Bucket bucket;
  handoff::InlineExecutor here;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    recorder.add<Draw>(Key::of(1, 2)).mesh = 7;
    // wrong: a command says what it does for each backend of the bucket
    // recorder.add<Silent>(1);
    // wrong: a command says what it does for each backend
    // recorder.append<Silent>(recorder.add<Draw>(1));
    // wrong: a command is a plain struct
    // recorder.add<Owner>(1);
    // wrong: too large: put its bytes into its auxiliary memory
    // recorder.add<Huge>(1);
    // wrong: append: it is appended to a command
    // std::string text;
    // recorder.append<Draw>(text);
  }
  bucket.record(here, 1, 1, [](Bucket::Recorder&, handoff::IndexRange) {});
  // wrong: the function takes a recorder for each bucket
  // bucket.record(here, 1, 1, [](handoff::IndexRange) {});
  // wrong: record: runs on a ThreadTeam, a ThreadPool
  // bucket.record(bucket, 1, 1, [](Bucket::Recorder&, handoff::IndexRange) {});
  // wrong: sorting and dispatching run on a ThreadTeam, a ThreadPool
  // bucket.sort(bucket);
  // wrong: this is none of the bucket's backends
  // Other other;
  // bucket.dispatch(other);
  // wrong: this is none of the bucket's backends
  // Other others[2];
  // bucket.dispatch(here, std::span(others));
  // wrong: merge: the function takes
  // bucket.merge<Draw>([](int) { return true; });
  // wrong: name the types of commands that it may have
  // bucket.load("file");
  // wrong: a command says what it does for each backend of the bucket
  // handoff::CommandBucket<std::uint64_t, handoff::HashBackend> hashed;
  // hashed.recorder(0).add<Padded>(1);
  // wrong: an arena calls no destructor
  // handoff::LinearArena arena;
  // arena.make<std::string>();
  // wrong: a hold that is dropped holds nothing
  // handoff::Frame frame;
  // frame.hold();
  Gpu gpu;
  return bucket.dispatch(gpu) == 1 ? kinds() : 1;
}
