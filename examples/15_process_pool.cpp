// SPDX-License-Identifier: MIT
//
// A service that answers requests with a library which cannot be trusted: it crashes on some, hangs
// on others and keeps memory of all. Each request is a job of a pool of processes. Good ones are
// answered, bad ones get their reason, and workers are replaced before they have grown too large.
#include <cctype>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <handoff/process/process_pool.hpp>

namespace {

using namespace std::chrono_literals;

// Requests and answers are copied byte by byte: no pointers, no std::string.
struct Request {
  char text[64];
};
struct Answer {
  char text[64];
};

// Somebody else's code.
std::string shout(const std::string& text) {
  static std::vector<std::string> never_given_back;
  if (text == "crash") std::abort();
  if (text == "hang") std::this_thread::sleep_for(1h);
  if (text.empty()) throw std::invalid_argument("nothing to shout");
  never_given_back.emplace_back(100'000, 'x');
  std::string loud = text;
  for (char& letter : loud)
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return loud;
}

Answer answer(const Request& request) {
  Answer result{};
  std::snprintf(result.text, sizeof result.text, "%s!", shout(request.text).c_str());
  return result;
}

Request request_of(const std::string& text) {
  Request request{};
  std::snprintf(request.text, sizeof request.text, "%s", text.c_str());
  return request;
}

}  // namespace

int main() {
  // Early, while the program is small: the workers are forks of it.
  handoff::ProcessPool pool{{.width = 3,
                             .tries = 1,
                             .limit = 300ms,
                             .recycle_after = 100,
                             .recycle_memory = std::size_t{16} << 20}};

  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back("line " + std::to_string(i));
  texts[20] = "crash";
  texts[60] = "hang";
  texts[90] = "";

  std::vector<handoff::Future<Answer>> answers;
  for (const std::string& text : texts) answers.push_back(pool.submit<answer>(request_of(text)));

  std::size_t right = 0;
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    try {
      right += answers[i].get().text == "LINE " + std::to_string(i) + "!";
    } catch (const handoff::WorkFailed& failed) {
      const handoff::WorkerEnd& end = failed.lost().end;
      reasons.push_back(end.kind == handoff::WorkerEnd::Kind::alive ? failed.what() : end.text());
    }
  }
  for (const std::string& reason : reasons) std::printf("%s\n", reason.c_str());
  const handoff::Tally tally = pool.close();
  std::printf("%zu answered, %llu failed\n", right, static_cast<unsigned long long>(tally.failed));

  const std::vector<std::string> expected{"killed by signal 6", "killed at the limit",
                                          "nothing to shout"};
  return right == 197 && tally.failed == 3 && reasons == expected ? 0 : 1;
}
