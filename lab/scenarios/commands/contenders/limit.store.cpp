// SPDX-License-Identifier: MIT
// The bytes that the article's version 2 writes, written in a plain loop: keys, pointers to
// packets, and packets one behind the other, in memory that is there. Nobody sorts them.
#include "scenarios/commands/measure.hpp"

namespace handoff::lab::commands {
namespace {

template <class Key>
class Store {
 public:
  Store(const Task& task, Crew& /*crew*/)
      : task_(task),
        keys_(3 * task.components()),
        packets_(keys_.size()),
        memory_(std::make_unique_for_overwrite<char[]>(task.calls * kBytesMost)) {
    std::memset(memory_.get(), 1, task.calls * kBytesMost);
  }

  void begin() {}

  void add() {
    Key* key = keys_.data();
    char** packet = packets_.data();
    char* at = memory_.get();
    const std::size_t components = task_.components();
    for (std::size_t i = 0; i < components; ++i) {
      *key++ = key_of<Key>(task_.keys, kGbuffer, i);
      *packet++ = at;
      at = put(at, draw_of(kGbuffer, i));
      *key++ = key_of<Key>(task_.keys, kShadow, i);
      *packet++ = at;
      at = put(at, draw_of(kShadow, i));
    }
    for (std::size_t i = 0; i < components; ++i) {
      *key++ = key_of<Key>(task_.keys, kLighting, i);
      *packet++ = at;
      at = put(at, MapArguments{static_cast<std::uint32_t>(i)});
      at = put(at, draw_of(kLighting, i));
    }
  }
  void sort() {}
  void dispatch(Sink& sink) {
    const std::size_t components = task_.components();
    for (std::size_t i = 0; i < 2 * components; ++i) sink.draw(get<DrawArguments>(packets_[i]));
    for (std::size_t i = 2 * components; i < 3 * components; ++i) {
      sink.map(get<MapArguments>(packets_[i]));
      sink.light(get<DrawArguments>(packets_[i] + kHead + sizeof(MapArguments)));
    }
  }
  std::uint64_t misplaced() const { return 0; }
  double shared_rmw(double /*claims*/) const { return 0; }

 private:
  static constexpr std::size_t kHead = 2 * sizeof(char*);  // the next one, and a function
  static constexpr std::size_t kBytesMost = kHead + sizeof(DrawArguments);

  template <class Arguments>
  static char* put(char* at, const Arguments& arguments) {
    const char* const head[2] = {nullptr, at};
    std::memcpy(at, head, kHead);
    std::memcpy(at + kHead, &arguments, sizeof arguments);
    return at + kHead + sizeof arguments;
  }
  template <class Arguments>
  static Arguments get(const char* packet) {
    Arguments arguments;
    std::memcpy(&arguments, packet + kHead, sizeof arguments);
    return arguments;
  }

  const Task& task_;
  std::vector<Key> keys_;
  std::vector<char*> packets_;
  std::unique_ptr<char[]> memory_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Store>(task); }

}  // namespace handoff::lab::commands
