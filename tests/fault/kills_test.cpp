// SPDX-License-Identifier: MIT
//
// Writers that are killed: at each call of an operation, and at random instants while four write.
// Each block says which file, place and generation it belongs to and has a checksum, so that a
// reader proves old-or-new, and that nothing acknowledged is missing. n kills without a failure
// bound the rate of failures below 3/n (95 %). (A kill keeps the page cache: loss of power is
// another test.)
#include "fault/fault_support.hpp"
#include "support/file_tap.hpp"
#include "support/test.hpp"

namespace kills_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

constexpr unsigned kWriters = 4;
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBlocks = 3;  // of a file
constexpr const char* kChild = "HANDOFF_KILLED_CHILD";

// ---- Blocks ----

struct BlockHead {
  std::uint64_t magic = 0x626c6f636b21;
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t generation = 0;
  std::uint64_t check = 0;

  std::uint64_t right_check(std::string_view rest) const {
    std::uint64_t hash = magic ^ file * 3 ^ offset * 5 ^ generation * 7;
    for (const char c : rest) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
  }
};

std::string block(std::uint64_t file, std::uint64_t offset, std::uint64_t generation) {
  BlockHead head{.file = file, .offset = offset, .generation = generation};
  std::string bytes = filled(kBlock, file * 1000003 + offset + generation * 7919);
  head.check = head.right_check(std::string_view(bytes).substr(sizeof head));
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

// Its generation; nothing if it is not whole, or another one.
std::optional<std::uint64_t> generation_of(std::string_view bytes, std::uint64_t file,
                                           std::uint64_t offset) {
  BlockHead head;
  if (bytes.size() != kBlock) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != BlockHead{}.magic || head.file != file || head.offset != offset) return {};
  if (head.check != head.right_check(bytes.substr(sizeof head))) return std::nullopt;
  return head.generation;
}

std::string whole_file(std::uint64_t file, std::uint64_t generation) {
  std::string bytes;
  for (std::size_t i = 0; i < kBlocks; ++i) bytes += block(file, i * kBlock, generation);
  return bytes;
}

// 0 if there is none; nothing if it is mixed.
std::optional<std::uint64_t> generation_of_file(const Folder& world, std::uint64_t file) {
  const auto bytes = world.get("in/f" + std::to_string(file));
  if (!bytes.has_value()) return 0;
  if (bytes->size() != kBlocks * kBlock) return std::nullopt;
  std::optional<std::uint64_t> all;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    const auto one =
        generation_of(std::string_view(*bytes).substr(i * kBlock, kBlock), file, i * kBlock);
    if (!one.has_value() || (all.has_value() && one != all)) return std::nullopt;
    all = one;
  }
  return all;
}

// ---- What the child says before it is killed ----

// One write a record: a kill leaves all of it or nothing.
struct Acknowledgement {
  std::uint32_t what = 0;  // replaced file: writer; block of the table: 100 + writer; record: 200
  std::uint32_t none = 0;
  std::uint64_t generation = 0;
};

class Acknowledgements {
 public:
  explicit Acknowledgements(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ~Acknowledgements() { ::close(file_); }
  Acknowledgements(const Acknowledgements&) = delete;
  Acknowledgements& operator=(const Acknowledgements&) = delete;

  void say(std::uint32_t what, std::uint64_t generation) const {
    const Acknowledgement said{.what = what, .generation = generation};
    if (::write(file_, &said, sizeof said) != sizeof said) std::abort();
  }

 private:
  int file_;
};

std::uint64_t last_acknowledged(const Folder& world, std::uint32_t what) {
  const std::string bytes = world.get("said").value_or("");
  std::uint64_t last = 0;
  for (std::size_t at = 0; at + sizeof(Acknowledgement) <= bytes.size();
       at += sizeof(Acknowledgement)) {
    Acknowledgement said;
    std::memcpy(&said, bytes.data() + at, sizeof said);
    if (said.what == what) last = std::max(last, said.generation);
  }
  return last;
}

// ---- The child ----

struct Order {
  std::string program;
  std::string world;  // a folder
  int backend = 0;
  int k = 0;
  bool after = false;
  std::uint64_t generation = 0;  // the one to begin with
};

[[noreturn]] void write_until_killed(const Order& order) {
  const Acknowledgements said(order.world + "/said");
  FileEngine files({.width = kWriters, .backend = static_cast<FileBackend>(order.backend)});
  const OpenFile table = OpenFile::open(order.world + "/in/table", {.write = true, .create = true});
  AppendLog log(order.world + "/log", {.segment_bytes = 64 << 10});
  std::vector<std::thread> writers;
  for (unsigned i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      const std::string path = order.world + "/in/f" + std::to_string(i);
      for (std::uint64_t generation = order.generation;; ++generation) {
        const bool durable = generation % 4 == 0;  // the rest is for speed: more to be killed in
        const std::string bytes = whole_file(i, generation);
        files.replace(path, bytes_of(bytes), {.durable = durable}).get().check();
        said.say(i, generation);
        const std::string one = block(50, i * kBlock, generation);
        files.write(table, bytes_of(one), i * kBlock, {.durable = durable}).get().check();
        said.say(100 + i, generation);
        const std::string text = std::to_string(i) + " " + filled(generation % 300, generation);
        if (durable) said.say(200, log.append(text).value());
      }
    });
  }
  for (;;) std::this_thread::sleep_for(1h);
}

void one_operation(const Order& order) {
  const Acknowledgements said(order.world + "/said");
  test::KillTap tap(order.k, order.after);
  FileEngine files({.width = 1, .backend = static_cast<FileBackend>(order.backend), .tap = &tap});
  const std::string path = order.world + "/in/f0";
  const std::string bytes = whole_file(0, 2);
  if (order.program == "replace") {
    files.replace(path, bytes_of(bytes), {.durable = true}).get().check();
  } else {
    files.copy(order.world + "/next", path, {.durable = true}).get().check();
  }
  said.say(0, 2);
}

TEST(KilledChild, DoesAsItIsTold) {
  const char* const told = std::getenv(kChild);
  if (told == nullptr) return;
  Order order;
  std::istringstream words(told);
  words >> order.program >> order.world >> order.backend >> order.k >> order.after >>
      order.generation;
  if (order.program == "write") write_until_killed(order);
  one_operation(order);
}

Subprocess start_child(const Order& order) {
  std::ostringstream told;
  told << kChild << '=' << order.program << ' ' << order.world << ' ' << order.backend << ' '
       << order.k << ' ' << order.after << ' ' << order.generation;
  return Subprocess::start({"test", "--gtest_filter=KilledChild.*", "--gtest_brief=1"},
                           {.executable = "/proc/self/exe",
                            .environment = {.set = {told.str()}},
                            .output = SubprocessOutput::null()});
}

// ---- What is left ----

// ".f0.RANDOM.handoff~", as docs/design/file_engine.md has it.
bool temporary(const std::string& name) {
  return name.starts_with(".") && name.ends_with(".handoff~");
}

std::size_t only_known_names(const std::string& folder) {
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "table" || (name.size() == 2 && name.front() == 'f')) continue;
    EXPECT_TRUE(temporary(name)) << name;
    struct stat status{};
    EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0133U, 0U) << name << " allows more than the finished file";
    std::filesystem::remove(entry.path());
    ++left;
  }
  return left;
}

// In memory, and on the device in a deep run: a kill keeps what the kernel has.
class Kills : public testing::Test {
 protected:
  Folder world{test::deep() ? std::filesystem::temp_directory_path().string() : test::fast_place()};
  std::string in = world.at("in");
  std::string said = world.at("said");

  void SetUp() override { std::filesystem::create_directories(in); }
};

TEST_F(Kills, AtEachCallOfAReplacement) {
  std::size_t kills = 0;
  for (const FileBackend backend : test::kFileBackends) {
    if (!test::possible(backend)) continue;
    for (const char* const program : {"replace", "copy"}) {
      for (const bool after : {false, true}) {
        // After one call is before the next one: once, all the same, for what lies in between.
        const bool all = test::deep() || backend == FileBackend::caller;
        if (after && !all) continue;
        for (int k = 0;; ++k) {
          SCOPED_TRACE(testing::Message() << to_string(backend) << ", " << program << ", "
                                          << (after ? "after" : "before") << " call " << k);
          world.put("in/f0", whole_file(0, 1));
          world.put("next", whole_file(0, 2));
          world.put("said", "");
          const auto end = start_child({.program = program,
                                        .world = world.path(),
                                        .backend = static_cast<int>(backend),
                                        .k = k,
                                        .after = after})
                               .wait(test::kPatience);
          ASSERT_TRUE(end.has_value()) << "hung";
          const auto generation = generation_of_file(world, 0);
          ASSERT_TRUE(generation.has_value()) << "a mixed file";
          EXPECT_GE(*generation, std::max<std::uint64_t>(last_acknowledged(world, 0), 1));
          const std::size_t left = only_known_names(in);
          EXPECT_LE(left, 1U);
          if (end->kind == SubprocessExit::Kind::exited) {
            EXPECT_EQ(end->code, 0);
            EXPECT_EQ(*generation, 2U);
            EXPECT_EQ(left, 0U);
            break;
          }
          ASSERT_EQ(end->signal, SIGKILL);
          ++kills;
          ASSERT_LT(k, 100);
        }
      }
    }
  }
  std::printf("%zu kills\n", kills);
}

TEST_F(Kills, AtRandomInstants) {
  auto random = test::random();
  // (A sanitizer's child takes ten times as long to begin, and says nothing of what a kill leaves.)
  const std::size_t kills = test::deep() ? 1000 : test::slow ? 30 : 100;
  std::uint64_t generation = 1;
  for (std::size_t i = 0; i < kills; ++i) {
    auto backend = test::kFileBackends[i % test::kFileBackends.size()];
    if (!test::possible(backend)) backend = FileBackend::pool;
    SCOPED_TRACE(testing::Message() << "kill " << i << ", " << to_string(backend));
    const auto before = std::filesystem::exists(said) ? std::filesystem::file_size(said) : 0;
    Subprocess child = start_child({.program = "write",
                                    .world = world.path(),
                                    .backend = static_cast<int>(backend),
                                    .generation = generation});
    const auto patience = std::chrono::steady_clock::now() + test::kPatience;
    do {
      const auto end = child.wait(1ms);
      ASSERT_FALSE(end.has_value()) << "the child has ended by itself: " << end->text();
      ASSERT_LT(std::chrono::steady_clock::now(), patience) << "the child hangs";
    } while (!std::filesystem::exists(said) || std::filesystem::file_size(said) == before);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
    child.kill();
    (void)child.wait();
    for (unsigned writer = 0; writer < kWriters; ++writer) {
      const auto now = generation_of_file(world, writer);
      ASSERT_TRUE(now.has_value()) << "a mixed file";
      ASSERT_GE(*now, last_acknowledged(world, writer)) << "acknowledged, and missing";
      generation = std::max(generation, *now);
      const std::uint64_t acknowledged = last_acknowledged(world, 100 + writer);
      const std::string table = world.get("in/table").value_or("");
      if (acknowledged == 0) continue;
      ASSERT_GE(table.size(), (writer + 1) * kBlock);
      const auto in_table = generation_of(std::string_view(table).substr(writer * kBlock, kBlock),
                                          50, writer * kBlock);
      ASSERT_TRUE(in_table.has_value()) << "a mixed block";
      ASSERT_GE(*in_table, acknowledged);
    }
    std::uint64_t last = 0;
    if (std::filesystem::exists(world.at("log"))) {
      for (const AppendLogRecord& record : AppendLogReader(world.at("log"))) {
        ASSERT_EQ(record.sequence, last + 1);
        last = record.sequence;
      }
    }
    ASSERT_GE(last, last_acknowledged(world, 200)) << "a record was acknowledged, and is missing";
    only_known_names(in);
    ++generation;
  }
  std::printf("%zu kills, none failed: rate below %.2g (95 %%)\n", kills,
              3.0 / static_cast<double>(kills));
}

}}  // namespace kills_test
