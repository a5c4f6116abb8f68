// SPDX-License-Identifier: MIT
// This library's message workers with keys: they keep the pieces of a key in order, so that these
// need not wait for each other before they are handed over.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <handoff/bus/message_workers.hpp>

#include "scenarios/replay/measure.hpp"

namespace handoff::lab::replay {
namespace {

struct Message {
  std::uint64_t key;
  std::function<void()> job;  // fits into it
};

struct ByKey {
  static std::uint64_t key(const Message& message) { return message.key; }
};

class KeyedWorkers {
 public:
  explicit KeyedWorkers(std::size_t threads)
      : workers_({.width = threads}, [](const Message& message) { message.job(); }) {}

  template <class F>
  void execute(F job, std::uint64_t key) {
    static_cast<void>(workers_.publish(Message{key, job}));
  }

 private:
  BasicMessageWorkers<ByKey, Message> workers_;
};

// A task without the dependencies that keys stand for.
struct WithKeys {
  explicit WithKeys(const Task& whole)
      : pieces(whole.load.pieces.begin(), whole.load.pieces.end()) {
    // Pieces without a key get one of their own, which no other one has.
    auto unused = static_cast<std::uint32_t>(pieces.size()) + 1;
    for (LoadPiece& piece : pieces) piece.key = piece.key == 0 ? unused++ : piece.key;
    for (std::size_t i = 0; i < pieces.size(); ++i) drop_of(i, whole.load.children_of(i));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (whole.load.pieces[i].key == 0 || pieces[i].parents == 0) continue;
      throw Unavailable("some of its pieces with keys wait for others as well");
    }
    task = {{pieces, children}, whole.width, whole.step_ns, whole.output};
  }

  void drop_of(std::size_t piece, std::span<const std::uint32_t> all) {
    pieces[piece].first_child = static_cast<std::uint32_t>(children.size());
    for (const std::uint32_t child : all) {
      if (pieces[child].key != pieces[piece].key) {
        children.push_back(child);
      } else {
        --pieces[child].parents;
      }
    }
    pieces[piece].children =
        static_cast<std::uint32_t>(children.size()) - pieces[piece].first_child;
  }

  std::vector<LoadPiece> pieces;
  std::vector<std::uint32_t> children;
  Task task;
};

}  // namespace

Operation contender(const Task& task) {
  const auto with_keys = std::make_shared<WithKeys>(task);
  return [with_keys, operation = measure<KeyedWorkers>(with_keys->task)](Burst& burst) {
    operation(burst);
  };
}

}  // namespace handoff::lab::replay
