// SPDX-License-Identifier: MIT
//
// Captures: what is loaded is what was captured; what is none, is cut off, damaged, of another
// version or lies about its lengths is refused before anything is recorded; calls that fail leave
// nothing behind.
#include "support/failing.hpp"
#include "support/files.hpp"
#include "support/test.hpp"
#include "unit/command/commands.hpp"

namespace image_test { namespace {

using namespace handoff;
using namespace test;

using Image = std::vector<std::byte>;
using Bucket = CommandBucket<std::uint64_t, Notes>;
using Small = CommandBucket<std::uint16_t, Notes>;

struct Target {
  std::uint64_t number;
  void operator()(Notes& notes) const { notes.note(number); }
};

// All types, a state, chains, keys that are not sorted.
void fill(Bucket& bucket, std::uint64_t count) {
  bucket.state<Target>().number = 1'000'000;
  Bucket::Recorder recorder = bucket.recorder(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    test::add_any(recorder, i * 7 % 13, i);
    auto& chained = recorder.append<Usual>(recorder.add<Tiny>(i * 5 % 11) = {0});
    chained = {i, 2 * i};
  }
}

std::size_t load(Bucket& bucket, const Image& image) {
  return bucket.load<Tiny, Usual, Wide, WithAux, Target>(std::span(image));
}
std::size_t load(Bucket& bucket, const std::string& path) {
  return bucket.load<Tiny, Usual, Wide, WithAux, Target>(path.c_str());
}

// Of all before the end.
std::uint64_t hash_of(const Image& image, std::size_t end) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::size_t at = 0;
  for (; at + 8 <= end; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, image.data() + at, 8);
    hash = std::rotl((hash ^ word) * 0x100000001b3U, 29);
  }
  for (; at < end; ++at) hash = (hash ^ static_cast<std::uint64_t>(image[at])) * 0x100000001b3U;
  return hash;
}

// As if it had been made so.
void sign(Image& image) {
  if (image.size() < 8) return;
  const std::uint64_t hash = hash_of(image, image.size() - 8);
  std::memcpy(image.data() + image.size() - 8, &hash, 8);
}

// With another value there, and signed.
template <class T>
Image changed_at(Image image, std::size_t at, T value) {
  std::memcpy(image.data() + at, &value, sizeof value);
  sign(image);
  return image;
}
template <class T>
T value_at(const Image& image, std::size_t at) {
  T value;
  std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

// Where things are in an image: the head, the first type, and the first command if that is the only
// type.
constexpr std::size_t kVersionAt = 12;
constexpr std::size_t kTypesAt = 20;
constexpr std::size_t kTypeAt = 32;
constexpr std::size_t kNameBytesAt = kTypeAt + 8;
constexpr std::size_t kNameAt = kTypeAt + 16;
constexpr std::size_t kCommandBytes = 24;  // before the bytes of the command itself
std::size_t command_at(const Image& image) {
  return kNameAt + value_at<std::uint64_t>(image, kNameBytesAt);
}

// Why a load is refused; "" if it is not.
template <class Load>
std::string why_refused_by(const Load& load) {
  const auto refused = test::caught<std::runtime_error>(load);
  if (!refused) return {};
  EXPECT_FALSE(says(*refused, "\n"));
  return refused->what();
}
std::string why_refused(const Image& image) {
  Bucket bucket;
  std::string why = why_refused_by([&] { load(bucket, image); });
  if (why.empty()) return why;
  EXPECT_EQ(bucket.statistics().commands, 0U) << "before anything is recorded";
  EXPECT_TRUE(dispatched(bucket).empty());
  return why;
}

TEST(CommandImages, WhatIsLoadedIsWhatWasCaptured) {
  for (const std::uint64_t count : {0U, 1U, 500U}) {
    for (const bool sorted : {false, true}) {
      Bucket bucket;
      fill(bucket, count);
      if (sorted) bucket.sort();
      const Image image = bucket.captured();
      Bucket other;
      EXPECT_EQ(load(other, image), 3 * count + 1);
      EXPECT_EQ(dispatched(other), dispatched(bucket));
      other.sort();
      bucket.sort();
      EXPECT_EQ(dispatched(other), dispatched(bucket)) << "keys came along";
      EXPECT_EQ(other.captured().size(), bucket.captured().size());
    }
  }
}

TEST(CommandImages, OfSmallKeys) {
  Small bucket;
  {
    Small::Recorder recorder = bucket.recorder(0);
    recorder.add<Tiny>(0xffff).number = 1;
    recorder.add<Tiny>(0).number = 0;
  }
  const Image image = bucket.captured();
  Small other;
  EXPECT_EQ(other.load<Tiny>(std::span(image)), 2U);
  other.sort();
  EXPECT_EQ(dispatched(other), (std::vector<std::uint64_t>{0, 1}));
  const auto larger = changed_at(image, command_at(image) + 8, std::uint64_t{0x10000});
  const std::string why = why_refused_by([&] { other.load<Tiny>(std::span(larger)); });
  EXPECT_TRUE(says(why, "larger than a key can be")) << "a key of 17 bits";
}

// However many commands there are of it, whatever comes in between.
TEST(CommandImages, HaveEachTypeOnce) {
  const auto bytes = [](int pairs) {
    Bucket bucket;
    {
      Bucket::Recorder recorder = bucket.recorder(0);
      for (int i = 0; i < pairs; ++i) {
        recorder.add<Tiny>(0).number = 0;
        recorder.add<Usual>(0) = {0, 0};
      }
    }
    return bucket.captured().size();
  };
  constexpr std::size_t pair = 2 * kCommandBytes + sizeof(Tiny) + sizeof(Usual);
  EXPECT_EQ(bytes(2), bytes(1) + pair);
  EXPECT_EQ(bytes(10), bytes(1) + 9 * pair);
}

// A name that is longer than an image can have.
template <class A, class B>
struct Pair {
  std::uint64_t number;
  void operator()(Notes& notes) const { notes.note(number); }
};
template <int kDepth>
struct Deep {
  using type = Pair<typename Deep<kDepth - 1>::type, typename Deep<kDepth - 1>::type>;
};
template <>
struct Deep<0> {
  using type = int;
};

TEST(CommandImages, OfATypeWithALongName) {
  using Long = Deep<9>::type;
  Bucket bucket;
  bucket.recorder(0).add<Long>(0).number = 7;
  const Image image = bucket.captured();
  ASSERT_EQ(value_at<std::uint64_t>(image, kNameBytesAt), 4096U) << "cut off there";
  Bucket other;
  EXPECT_EQ(other.load<Long>(std::span(image)), 1U);
  EXPECT_EQ(dispatched(other), std::vector<std::uint64_t>{7});
}

TEST(CommandImages, WhatIsNoneIsRefused) {
  EXPECT_NE(why_refused({}), "");
  EXPECT_TRUE(says(why_refused(Image(1000, std::byte{'x'})), "is none of commands"));
}

TEST(CommandImages, OfOtherTypesAndKeys) {
  Bucket bucket;
  fill(bucket, 10);
  const Image image = bucket.captured();
  Bucket other;
  const std::string why = why_refused_by([&] { other.load<Tiny, Usual>(std::span(image)); });
  EXPECT_TRUE(says(why, "which load() is not told of"));
  Small small;
  EXPECT_THROW((small.load<Tiny, Usual, Wide, WithAux, Target>(std::span(image))),
               std::runtime_error);
}

TEST(CommandImages, CutOffOrDamagedAnywhere) {
  Bucket bucket;
  fill(bucket, 4);
  const Image image = bucket.captured();
  ASSERT_EQ(why_refused(image), "");
  for (std::size_t i = 0; i < image.size(); ++i) {
    EXPECT_NE(why_refused(Image(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(i))), "")
        << "cut off at " << i;
    Image changed = image;
    changed[i] = ~changed[i];
    EXPECT_NE(why_refused(changed), "") << "with another byte at " << i;
  }
  Image longer = image;
  longer.push_back(std::byte{0});
  EXPECT_NE(why_refused(longer), "");
}

// Images that anybody could have made, with the right checksum: they may be loaded, or are refused;
// nothing else happens, and no length in them is believed.
TEST(CommandImages, HostileOnes) {
  Bucket whole;
  fill(whole, 3);
  const Image image = whole.captured();
  auto dice = test::random();
  std::size_t refused = 0;
  const std::size_t tries = test::deep() ? 1'000'000U : test::rounds(20'000);
  for (std::size_t i = 0; i < tries; ++i) {
    Image hostile = image;
    for (auto changes = 1 + dice() % 3; changes != 0; --changes) {
      const std::size_t at = dice() % hostile.size();
      switch (dice() % 4) {
        case 0: hostile[at] = static_cast<std::byte>(dice() & 255); break;
        case 1: hostile[at] = ~hostile[at]; break;
        case 2: {
          const std::uint64_t extreme = dice() % 2 == 0 ? ~std::uint64_t{0} : dice() >> dice() % 64;
          std::memcpy(hostile.data() + at, &extreme, std::min<std::size_t>(8, hostile.size() - at));
          break;
        }
        default: hostile.resize(at + 1);
      }
    }
    sign(hostile);
    Bucket bucket;
    try {
      load(bucket, hostile);
    } catch (const std::runtime_error&) {
      ++refused;
      ASSERT_EQ(bucket.statistics().commands, 0U);
    }
  }
  EXPECT_GT(refused, tries / 4);
}

// All of it or nothing, states too.
TEST(CommandImages, IntoABucketThatIsFull) {
  Bucket bucket;
  bucket.state<Target>().number = 50;
  bucket.state<Target>().number = 51;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    for (std::uint32_t i = 0; i < 100; ++i) recorder.add<Tiny>(i).number = i;
  }
  const Image image = bucket.captured();
  for (const bool has_state : {false, true}) {
    CommandBucket<std::uint64_t, Notes> small({.memory_most = 3000});
    if (has_state) small.state<Target>().number = 7;
    EXPECT_THROW((small.load<Tiny, Target>(std::span(image))), std::length_error);
    Notes notes;
    EXPECT_EQ(small.dispatch(notes), 0U);
    EXPECT_EQ(notes.numbers, std::vector<std::uint64_t>(has_state ? 1U : 0U, 7U));
    small.state<Target>().number = 8;
    small.recorder(0).template add<Tiny>(0).number = 9;
    notes = {};
    small.dispatch(notes);
    std::vector<std::uint64_t> right{8, 9};
    if (has_state) right.insert(right.begin(), 7U);
    EXPECT_EQ(notes.numbers, right) << "it can be used on";
    EXPECT_TRUE(small.tally().balanced());
  }
}

// Otherwise what tests sign would be refused for its checksum alone.
TEST(CommandImages, TheTestsKnowTheChecksum) {
  for (std::size_t bytes = 0; bytes < 16; ++bytes) {
    Bucket bucket;
    {
      Bucket::Recorder recorder = bucket.recorder(0);
      auto& command = recorder.add<WithAux>(3, bytes);
      command = {9, bytes};
      std::ranges::fill(aux_of(command), std::byte{9});
    }
    const Image image = bucket.captured();
    Image same = image;
    sign(same);
    EXPECT_EQ(same, image) << bytes;
    EXPECT_EQ(why_refused(same), "");
  }
}

TEST(CommandImages, AnotherVersion) {
  Bucket bucket;
  const Image image = changed_at(bucket.captured(), kVersionAt, std::uint32_t{2});
  EXPECT_TRUE(says(why_refused(image), "has version 2 of the format, this is 1"));
}

// Each number in it has a limit, and what is beyond it is refused for that reason.
TEST(CommandImages, Limits) {
  Bucket bucket;
  bucket.recorder(0).add<Tiny>(0).number = 1;
  const Image image = bucket.captured();
  const std::size_t command = command_at(image);
  const auto why = [&](std::size_t at, auto value) {
    return why_refused(changed_at(image, at, value));
  };
  ASSERT_EQ(why(command, std::uint32_t{0}), "");
  constexpr const char* cut_off = "is cut off, or a length";
  const std::string too_few = why(kTypesAt, std::uint32_t{65'536});
  EXPECT_FALSE(too_few.empty() || says(too_few, "more types than"));
  EXPECT_TRUE(says(why(kTypesAt, std::uint32_t{65'537}), "more types than"));
  EXPECT_TRUE(says(why(kNameBytesAt, std::uint64_t{4096}), cut_off));
  EXPECT_TRUE(says(why(kNameBytesAt, std::uint64_t{4097}), "name is too long"));
  EXPECT_TRUE(says(why(command, std::uint32_t{1}), "appended to none"));
  EXPECT_EQ(why(command, std::uint32_t{2}), "") << "a state";
  EXPECT_TRUE(says(why(command, std::uint32_t{3}), "a command is of no known kind"));
  EXPECT_TRUE(says(why(command + 4, std::uint32_t{1}), "none of its types"));
  EXPECT_TRUE(says(why(command + 16, std::uint64_t{0xffffffffU - 64}), cut_off));
  EXPECT_TRUE(says(why(command + 16, std::uint64_t{0xffffffffU - 63}), "memory is too large"));
  EXPECT_TRUE(says(why(kTypeAt, std::uint32_t{8}), "not told of")) << "of another size";
  EXPECT_TRUE(says(why(kTypeAt + 4, std::uint32_t{8}), "not told of")) << "aligned otherwise";
  EXPECT_TRUE(says(why(24, std::uint64_t{2}), "another number of commands"));
}

struct CommandFiles : testing::Test {
  std::string path(const char* name) const { return folder.at(name); }
  std::size_t files() const { return folder.names().size(); }
  const test::Folder folder;
};

TEST_F(CommandFiles, Whole) {
  Bucket bucket;
  fill(bucket, 300);
  bucket.sort();
  bucket.capture(path("frame").c_str());
  Bucket other;
  const std::size_t closed = test::calls(Call::close);
  EXPECT_EQ(load(other, path("frame")), 901U);
  EXPECT_EQ(test::calls(Call::close), closed + 1);
  EXPECT_EQ(dispatched(other), dispatched(bucket));
  EXPECT_EQ(files(), 1U);
}

// Each has a file of its own, and the last that is finished stays.
TEST_F(CommandFiles, TwoOfOnePathAreBothWhole) {
  const std::string file = path("two");
  for (int round = 0; round < 50; ++round) {
    std::array<Bucket, 2> buckets;
    fill(buckets[0], 20);
    fill(buckets[1], 300);
    std::thread beside([&] { buckets[1].capture(file.c_str()); });
    buckets[0].capture(file.c_str());
    beside.join();
    Bucket other;
    const std::size_t all = load(other, file);
    EXPECT_TRUE(all == 61 || all == 901) << all;
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(CommandFiles, WhatIsNotThere) {
  Bucket bucket;
  EXPECT_THROW(bucket.load<Tiny>(path("nothing").c_str()), std::system_error);
  EXPECT_THROW(bucket.load<Tiny>(folder.path().c_str()), std::system_error) << "a folder";
  EXPECT_THROW(bucket.capture(path("no/folder").c_str()), std::system_error);
  EXPECT_EQ(files(), 0U);
  std::filesystem::create_directory(path("folder"));
  EXPECT_THROW(bucket.capture(path("folder").c_str()), std::system_error) << "it stays a folder";
  EXPECT_EQ(files(), 1U);
}

TEST_F(CommandFiles, CallsThatFailLeaveNothingBehind) {
  Bucket bucket;
  fill(bucket, 20);
  const std::string file = path("failing");
  for (const Call call : {Call::open, Call::write, Call::close, Call::allocation}) {
    bool whole = false;
    int said = 0;
    const auto use = [&] {
      whole = false;
      try {
        bucket.capture(file.c_str());
        whole = true;
      } catch (const std::system_error& error) {
        EXPECT_EQ(error.code().value(), EIO);
        ++said;
      } catch (const std::bad_alloc&) {
        ++said;
      }
    };
    const int places = test::until_whole(call, EIO, use, [&] {
      EXPECT_EQ(files(), whole ? 1U : 0U);
      if (whole) std::filesystem::remove(file);
    });
    EXPECT_GE(places, 1);
    // That of the lock changes nothing.
    EXPECT_EQ(said, call == Call::close ? places - 1 : places) << "each of them";
  }
}

TEST_F(CommandFiles, ReadsThatFailAreSaid) {
  Bucket bucket;
  fill(bucket, 20);
  bucket.capture(path("frame").c_str());
  for (const Call call : {Call::open, Call::read, Call::allocation}) {
    int said = 0;
    const int places = test::until_whole(call, EIO, [&] {
      try {
        Bucket other;
        try {
          EXPECT_EQ(load(other, path("frame")), 61U);
        } catch (const std::system_error& error) {
          EXPECT_EQ(error.code().value(), EIO);
          ++said;
        } catch (const std::bad_alloc&) {
          EXPECT_EQ(other.statistics().commands, 0U) << "all of it or nothing";
          ++said;
        }
      } catch (const std::bad_alloc&) {
        ++said;
      }
    });
    EXPECT_GE(places, 1);
    EXPECT_EQ(said, places) << "each of them";
  }
}

TEST_F(CommandFiles, CallsThatASignalInterruptsAreMadeAgain) {
  Bucket bucket;
  fill(bucket, 20);
  EXPECT_GE(test::until_whole(Call::write, EINTR, [&] { bucket.capture(path("frame").c_str()); }),
            1);
  EXPECT_EQ(files(), 1U);
  const int reads = test::until_whole(Call::read, EINTR, [&] {
    Bucket other;
    EXPECT_EQ(load(other, path("frame")), 61U);
  });
  EXPECT_GE(reads, 2) << "one finds the end";
}

}}  // namespace image_test
