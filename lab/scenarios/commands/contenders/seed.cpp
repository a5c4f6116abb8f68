// SPDX-License-Identifier: MIT
// The article's versions, of which each has one thing more.
#include "scenarios/commands/sorted_keys.hpp"

namespace handoff::lab::commands {
namespace {

// The seven versions of the article, each with its own way to the memory of a packet and to a place
// among keys and packets:
//
//   1  one thread, global new                    5  as 4, sizes rounded up to a cache line
//   2  one thread, linear memory                 6  memory of each thread, an atomic index
//   3  global new, an atomic index               7  as 6, 32 indices at a time for each thread
//   4  linear memory by an atomic offset
//
// As printed there, but for what would make them end: all of them have bounds, packets are freed
// before the next frame, and entries that version 7 has reserved and not used are passed over.
// A packet: the next one, the function, the command. Sizes are whatever commands have, so it lies
// at multiples of 4 and is written byte by byte, which compilers make words of.
namespace packet {

using Function = void (*)(const char* command);

constexpr std::size_t kNext = 0;
constexpr std::size_t kFunction = sizeof(char*);
constexpr std::size_t kCommand = kFunction + sizeof(Function);

template <class T>
void store(char* at, const T& value) {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace packet

// The article's backend: its functions know no context, so there is one in the program.
namespace backend {

Sink* sink = nullptr;

void draw(const char* command) { sink->draw(packet::load<DrawArguments>(command)); }
void map(const char* command) { sink->map(packet::load<MapArguments>(command)); }
void light(const char* command) { sink->light(packet::load<DrawArguments>(command)); }

}  // namespace backend

// What the article calls thread-local.
struct Local {
  std::int32_t id = 0;
  char* memory = nullptr;
  char* end = nullptr;
  std::uint64_t frame = 0;  // that the memory is for
};
thread_local Local local;

constexpr bool is_alone(int version) { return version <= 2; }
constexpr bool is_by_new(int version) { return version == 1 || version == 3; }
constexpr bool has_own_memory(int version) { return version >= 6; }

// Where packets lie.
template <int kVersion>
class PacketMemory {
 public:
  PacketMemory(std::size_t bytes, std::size_t threads) : bytes_(bytes) {
    if constexpr (!is_by_new(kVersion)) {
      for (std::size_t i = 0; i < (has_own_memory(kVersion) ? threads : 1); ++i) {
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes + kLine));
      }
    }
  }

  void begin() {
    ++frame_;
    offset_.store(0, std::memory_order_relaxed);
    current_ = 0;
  }

  // By a thread that begins with some tasks.
  void enter(std::size_t member) {
    local.id = static_cast<std::int32_t>(member);
    if constexpr (has_own_memory(kVersion)) {
      if (local.frame == frame_) return;
      local.frame = frame_;
      local.memory = begin_of(member);
      local.end = local.memory + bytes_;
    }
  }

  char* allocate(std::size_t bytes) {
    if constexpr (is_by_new(kVersion)) {
      return static_cast<char*>(::operator new(bytes));
    } else if constexpr (has_own_memory(kVersion)) {
      char* const memory = local.memory;
      if (static_cast<std::size_t>(local.end - memory) < bytes) full();
      local.memory = memory + bytes;
      return memory;
    } else if constexpr (kVersion == 2) {
      if (bytes_ - current_ < bytes) full();
      char* const memory = begin_of(0) + current_;
      current_ += bytes;
      return memory;
    } else {
      const std::size_t size = kVersion == 5 ? (bytes + kLine - 1) / kLine * kLine : bytes;
      const auto offset = static_cast<std::size_t>(
          offset_.fetch_add(static_cast<std::int32_t>(size), std::memory_order_relaxed));
      if (bytes_ < offset + size) full();
      return begin_of(0) + offset;
    }
  }

 private:
  static constexpr std::size_t kLine = 64;

  [[noreturn]] static void full() { throw std::length_error("the packets' memory is full"); }
  char* begin_of(std::size_t block) {
    void* at = blocks_[block].get();
    std::size_t room = bytes_ + kLine;
    return static_cast<char*>(std::align(kLine, bytes_, at, room));
  }

  const std::size_t bytes_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::uint64_t frame_ = 0;
  std::size_t current_ = 0;
  std::atomic<std::int32_t> offset_{0};
};

// Keys and packets.
template <int kVersion, class Key>
class SeedBucket : Pinned {
 public:
  SeedBucket(PacketMemory<kVersion>& memory, std::size_t commands, std::size_t threads)
      : memory_(memory),
        keys_(commands + (kVersion == 7 ? threads * kAtOnce : 0)),
        packets_(keys_.size()) {}
  ~SeedBucket() { free_packets(); }

  void begin() {
    free_packets();
    if constexpr (kVersion == 7) packets_.assign(packets_.size(), nullptr);
    current_.store(0, std::memory_order_relaxed);
    alone_ = 0;
    remaining_ = {};
  }

  template <class Command>
  char* add(Key key, packet::Function function) {
    char* const added = memory_.allocate(packet::kCommand + sizeof(Command));
    const std::size_t index = next_index();
    if (index >= keys_.size()) throw std::length_error("the bucket is full");
    keys_[index] = key;
    packets_[index] = added;
    packet::store<char*>(added + packet::kNext, nullptr);
    packet::store(added + packet::kFunction, function);
    return added + packet::kCommand;
  }
  template <class Command>
  char* append(char* command, packet::Function function) {
    char* const added = memory_.allocate(packet::kCommand + sizeof(Command));
    packet::store(command - packet::kCommand + packet::kNext, added);
    packet::store<char*>(added + packet::kNext, nullptr);
    packet::store(added + packet::kFunction, function);
    return added + packet::kCommand;
  }

  void sort() {
    auto& items = radix_.items();
    items.clear();
    const std::size_t count = used();
    for (std::size_t i = 0; i < count; ++i) {
      if (kVersion == 7 && packets_[i] == nullptr) continue;
      items.push_back({keys_[i], static_cast<std::uint32_t>(i)});
    }
    radix_.sort();
  }
  void submit() {
    for (const auto& item : radix_.items()) {
      const char* each = packets_[item.index];
      do {
        const auto function = packet::load<packet::Function>(each + packet::kFunction);
        function(each + packet::kCommand);
        each = packet::load<const char*>(each + packet::kNext);
      } while (each != nullptr);
    }
  }
  std::uint64_t falls() { return falls_in(radix_.items()); }

 private:
  static constexpr std::size_t kAtOnce = 32;
  static constexpr std::size_t kThreadsMost = 64;

  std::size_t next_index() {
    if constexpr (is_alone(kVersion)) {
      return alone_++;
    } else if constexpr (kVersion == 7) {
      const auto id = static_cast<std::size_t>(local.id);
      std::int32_t remaining = remaining_[id];
      std::int32_t offset = offsets_[id];
      if (remaining == 0) {
        offset = current_.fetch_add(kAtOnce, std::memory_order_relaxed);
        remaining = kAtOnce;
        offsets_[id] = offset;
      }
      remaining_[id] = remaining - 1;
      return static_cast<std::size_t>(offset + (static_cast<std::int32_t>(kAtOnce) - remaining));
    } else {
      return static_cast<std::size_t>(current_.fetch_add(1, std::memory_order_relaxed));
    }
  }
  std::size_t used() const {
    if (is_alone(kVersion)) return alone_;
    return static_cast<std::size_t>(current_.load(std::memory_order_relaxed));
  }
  void free_packets() {
    if constexpr (is_by_new(kVersion)) {
      for (std::size_t i = 0; i < used(); ++i) {
        for (char* each = packets_[i]; each != nullptr;) {
          char* const next = packet::load<char*>(each + packet::kNext);
          ::operator delete(each);
          each = next;
        }
      }
    }
  }

  PacketMemory<kVersion>& memory_;
  std::vector<Key> keys_;
  std::vector<char*> packets_;
  std::size_t alone_ = 0;
  std::atomic<std::int32_t> current_{0};
  // As printed: those of all threads side by side.
  std::array<std::int32_t, kThreadsMost> remaining_{};
  std::array<std::int32_t, kThreadsMost> offsets_{};
  Radix<Key> radix_;
};

template <int kVersion, class Key>
class SeedBuckets {
 public:
  SeedBuckets(const Task& task, Crew& crew)
      : task_(task),
        crew_(crew),
        memory_(task.calls * kBytesEach, crew.threads()),
        buckets_{new_bucket(), new_bucket(), new_bucket()} {}

  void begin() {
    for (Bucket& bucket : buckets_) bucket.begin();
    memory_.begin();
  }

  void add() {
    crew_.run(tasks_of(task_), kClaim,
              [this](std::size_t member, std::size_t first, std::size_t last) {
                memory_.enter(member);
                for_components(
                    task_, first, last, [this](std::size_t i) { add_mesh(i); },
                    [this](std::size_t i) { add_light(i); });
              });
  }
  void sort() {
    for (Bucket& bucket : buckets_) bucket.sort();
  }
  void dispatch(Sink& sink) {
    backend::sink = &sink;
    for (Bucket& bucket : buckets_) bucket.submit();
  }
  std::uint64_t misplaced() {
    std::uint64_t falls = 0;
    for (Bucket& bucket : buckets_) falls += bucket.falls();
    return falls;
  }

  double shared_rmw(double claims) const {
    const auto calls = static_cast<double>(task_.calls);
    const double keyed = calls * 3 / 4;
    if (is_alone(kVersion)) return claims;
    const double indices = kVersion == 7 ? keyed / 32 : keyed;
    const double memory = kVersion == 4 || kVersion == 5 ? calls : 0;
    return claims + indices + memory;
  }

 private:
  using Bucket = SeedBucket<kVersion, Key>;
  static constexpr std::size_t kBytesEach = 64;  // of a packet, at most

  Bucket new_bucket() { return {memory_, task_.components(), crew_.threads()}; }
  void add_mesh(std::size_t i) {
    do_other_work(task_.work, i);
    packet::store(buckets_[kGbuffer].template add<DrawArguments>(
                      key_of<Key>(task_.keys, kGbuffer, i), &backend::draw),
                  draw_of(kGbuffer, i));
    packet::store(buckets_[kShadow].template add<DrawArguments>(key_of<Key>(task_.keys, kShadow, i),
                                                                &backend::draw),
                  draw_of(kShadow, i));
  }
  void add_light(std::size_t i) {
    do_other_work(task_.work, i);
    char* const map = buckets_[kLighting].template add<MapArguments>(
        key_of<Key>(task_.keys, kLighting, i), &backend::map);
    packet::store(map, MapArguments{static_cast<std::uint32_t>(i)});
    packet::store(buckets_[kLighting].template append<DrawArguments>(map, &backend::light),
                  draw_of(kLighting, i));
  }

  const Task& task_;
  Crew& crew_;
  PacketMemory<kVersion> memory_;
  std::array<Bucket, kPasses> buckets_;
};

template <int kVersion>
struct Version {
  template <class Key>
  using Buckets = SeedBuckets<kVersion, Key>;
};

}  // namespace

Operation contender(const Task& task) {
  return chosen<Operation(const Task&)>({
      {"seed.v1", measure<Version<1>::Buckets>},
      {"seed.v2", measure<Version<2>::Buckets>},
      {"seed.v3", measure<Version<3>::Buckets>},
      {"seed.v4", measure<Version<4>::Buckets>},
      {"seed.v5", measure<Version<5>::Buckets>},
      {"seed.v6", measure<Version<6>::Buckets>},
      {"seed.v7", measure<Version<7>::Buckets>},
  })(task);
}

}  // namespace handoff::lab::commands
