// SPDX-License-Identifier: MIT
//
// FileEngine under real threads: many submit, wait, stop and close at once, on every backend. Every
// request ends once, the books are right, and what a file holds is one of the contents that were
// written. No failure among n requests bounds the rate of failures below 3/n (95 %).
#include "fault/fault_support.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::bytes_of;
using test::filled;
using test::Folder;

// One letter, so that a mixture is seen.
std::string letters(std::uint64_t number) {
  return std::string(2000 + number % 3 * 5000, static_cast<char>('a' + number % 26));
}
bool one_letter(std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) {
    if (b != bytes.front()) return false;
  }
  return true;
}

class FileEngineStress : public test::EachBackend {};
HANDOFF_EACH_BACKEND(FileEngineStress);

FileRequest some_request(std::uint64_t random, const Folder& folder,
                         const std::vector<std::string>& contents) {
  constexpr std::array operations{
      FileOperation::read, FileOperation::read, FileOperation::replace, FileOperation::write,
      FileOperation::stat, FileOperation::copy, FileOperation::replace, FileOperation::remove};
  FileRequest request;
  request.operation = operations[random % operations.size()];
  request.path = folder.at(std::string("f") + std::to_string(random / 8 % 4));
  request.to = folder.at(std::string("f") + std::to_string(random / 32 % 4));
  request.from = bytes_of(contents[random / 128 % contents.size()]);
  request.truncate = true;
  request.durable = random / 4096 % 8 == 0;
  if (request.operation != FileOperation::copy) request.to = {};
  return request;
}

// Those who submit, those who wait, those who stop, and a close in the middle.
TEST_P(FileEngineStress, EachRequestEndsOnce) {
  std::size_t all = 0;
  std::vector<std::string> contents;
  for (std::uint64_t i = 0; i < 26; ++i) contents.push_back(letters(i));
  const std::size_t races = test::rounds(30);
  for (std::size_t race = 0; race < races; ++race) {
    const Folder folder(test::fast_place());
    FileEngine files({.width = 1 + race % 4,
                      .capacity = race % 3 == 0 ? 4U : 4096U,
                      .on_full = race % 2 == 0 ? OnFull::wait : OnFull::reject,
                      .backend = GetParam()});
    sync::StopSource stop;
    std::atomic<std::size_t> accepted{0};
    std::atomic<std::size_t> ended{0};
    std::atomic<std::size_t> mixed{0};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        auto random = test::random(race * 3 + t);
        for (int i = 0; i < 100; ++i) {
          FileRequest request = some_request(random(), folder, contents);
          if (i % 5 == 0) request.until = stop.token();
          const bool reads = request.operation == FileOperation::read;
          const Status said = files.post(std::move(request), [&, reads](FileResult result) {
            if (reads && result.ok() && !one_letter(result.data())) mixed.fetch_add(1);
            ended.fetch_add(1);
          });
          if (said == Status::ok) accepted.fetch_add(1);
          if (i % 32 == 0) (void)files.wait(1ms);
        }
      });
    }
    if (race % 4 == 1) stop.request_stop();
    if (race % 4 >= 2) {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * (race % 7)));
      files.close(race % 4 == 2 ? Closing::finish : Closing::abandon);
    }
    for (std::thread& thread : threads) thread.join();
    const Tally tally = files.close();
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.pending, 0U);
    EXPECT_EQ(tally.accepted, accepted.load());
    EXPECT_EQ(ended.load(), accepted.load());
    EXPECT_EQ(mixed.load(), 0U);
    for (const std::string& name : folder.names()) EXPECT_EQ(name.front(), 'f') << "left";
    all += accepted.load();
  }
  std::printf("%zu requests: rate below %.2g (95 %%)\n", all, 3.0 / static_cast<double>(all));
}

// A callback that submits, while the engine is full.
TEST_P(FileEngineStress, CallbacksSubmit) {
  const Folder folder(test::fast_place());
  const std::string text = filled(500, 1);
  FileEngine files({.width = 2, .capacity = 2, .backend = GetParam()});
  std::atomic<std::size_t> ended{0};
  struct Chain {
    FileEngine& files;
    const Folder& folder;
    const std::string& text;
    std::atomic<std::size_t>& ended;
    void go_on(int left, unsigned number) {
      FileRequest request;
      request.operation = FileOperation::append;
      request.path = folder.at(std::string("f") + std::to_string(number));
      request.from = bytes_of(text);
      (void)files.post(std::move(request), [this, left, number](FileResult result) {
        if (result.ok()) ended.fetch_add(1);
        if (left > 1) go_on(left - 1, number);
      });
    }
  } chain{files, folder, text, ended};
  constexpr int length = 50;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) threads.emplace_back([&, t] { chain.go_on(length, t); });
  for (std::thread& thread : threads) thread.join();
  const auto patience = std::chrono::steady_clock::now() + test::kPatience;
  while (ended.load() < 4 * length && std::chrono::steady_clock::now() < patience) {
    (void)files.wait(10ms);
  }
  EXPECT_EQ(ended.load(), 4U * length);
  for (unsigned t = 0; t < 4; ++t) {
    EXPECT_EQ(folder.get(std::string("f") + std::to_string(t))->size(), length * text.size());
  }
}

// Appends of many threads to one file: none comes between another's bytes, none is lost.
TEST_P(FileEngineStress, AppendsNeverInterleave) {
  const Folder folder(test::fast_place());
  FileEngine files({.width = 4, .backend = GetParam()});
  constexpr std::size_t record = 3000;
  const std::size_t each = test::rounds(100);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string text(record, static_cast<char>('a' + t));
      for (std::size_t i = 0; i < each; ++i) {
        files.append(folder.at("log"), bytes_of(text), {.durable = i % 16 == 0}).get().check();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string all = folder.get("log").value_or("");
  ASSERT_EQ(all.size(), 4 * each * record);
  for (std::size_t at = 0; at < all.size(); at += record) {
    EXPECT_TRUE(one_letter(bytes_of(all).subspan(at, record)));
  }
}

}  // namespace
