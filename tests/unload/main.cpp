// SPDX-License-Identifier: MIT
// Loads a shared object that uses the library, lets it work and unloads it, again and again. It
// must be gone each time, and in the end nothing may have piled up: no mapping, no memory, no
// thread, no key of thread-specific data. A thread that worked in the object ends after the object.
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <string>
#include <thread>

namespace {

#if defined(UNLOAD_SANITIZED)  // slower by ten times, and its runtime hides what piles up
constexpr int kRounds = 80;
constexpr int kFirst = 40;
#else
constexpr int kRounds = 300;
// Until the C library's caches are nearly as full as they get: in 1200 rounds they took 15 KB by
// the 120th, as much again by the 500th, and then nothing.
constexpr int kFirst = 120;
#endif
// Ninety bytes a round would be too many, or a chunk of events.
constexpr std::size_t kMoreBytes = 16 * 1024;
[[maybe_unused]] constexpr std::size_t kMorePages = 1024;

int failures = 0;

void expect(bool holds, const char* what, int round) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "round %d: %s\n", round, what);
}

bool is_mapped(const char* path) {
  const auto look = [](dl_phdr_info* object, std::size_t, void* wanted) {
    return std::strcmp(object->dlpi_name, static_cast<const char*>(wanted)) == 0 ? 1 : 0;
  };
  std::string name = path;
  return dl_iterate_phdr(look, name.data()) != 0;
}

std::size_t lines_of(const char* path) {
  std::ifstream file(path);
  std::size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

std::size_t threads() {
  std::size_t entries = 0;
  DIR* const folder = opendir("/proc/self/task");
  while (readdir(folder) != nullptr) ++entries;
  closedir(folder);
  return entries;
}

// The lowest key that is free.
pthread_key_t next_key() {
  pthread_key_t key = 0;
  if (pthread_key_create(&key, nullptr) == 0) pthread_key_delete(key);
  return key;
}

// Of the address space.
std::size_t pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t count = 0;
  file >> count;
  return count;
}

struct Footprint {
  std::size_t size = pages();
  std::size_t mappings = lines_of("/proc/self/maps");
  std::size_t bytes = mallinfo2().uordblks;
  std::size_t running = threads();
  pthread_key_t key = next_key();
};

// `paths`: the object, and what it brings along.
void load_use_and_unload(std::span<char*> paths, int round) {
  const char* const path = paths.front();
  void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return expect(false, dlerror(), round);
  const auto use = reinterpret_cast<int (*)()>(dlsym(object, "use_the_library"));
  expect(use != nullptr && use() == 25, "it did not do its work", round);
  for (const char* each : paths) expect(is_mapped(each), "not listed while loaded", round);
  pthread_barrier_t worked;
  pthread_barrier_t unloaded;
  pthread_barrier_init(&worked, nullptr, 2);
  pthread_barrier_init(&unloaded, nullptr, 2);
  std::thread outlives([&] {
    expect(use() == 25, "it did not do its work on another thread", round);
    pthread_barrier_wait(&worked);
    pthread_barrier_wait(&unloaded);
  });
  pthread_barrier_wait(&worked);
  expect(dlclose(object) == 0, "dlclose failed", round);
  for (const char* each : paths) {
    expect(dlopen(each, RTLD_NOW | RTLD_NOLOAD) == nullptr, "still loaded", round);
    expect(!is_mapped(each), "still listed", round);
  }
  pthread_barrier_wait(&unloaded);
  outlives.join();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::span<char*> paths(arguments + 1, static_cast<std::size_t>(count - 1));
  for (int round = 0; round < kFirst; ++round) load_use_and_unload(paths, round);
  const Footprint before;
  for (int round = kFirst; round < kRounds; ++round) load_use_and_unload(paths, round);
  const Footprint after;
  std::printf(
      "pages %zu, then %zu; mappings %zu, then %zu; bytes %zu, then %zu; "
      "threads %zu, then %zu; key %u, then %u\n",
      before.size, after.size, before.mappings, after.mappings, before.bytes, after.bytes,
      before.running, after.running, before.key, after.key);
#if !defined(UNLOAD_SANITIZED)
  expect(after.size <= before.size + kMorePages, "there are more pages", kRounds);
  expect(after.mappings <= before.mappings, "there are more mappings", kRounds);
#endif
  expect(after.bytes <= before.bytes + kMoreBytes, "there is more memory in use", kRounds);
  expect(after.running == before.running, "there are more threads", kRounds);
  expect(after.key == before.key, "there are more keys", kRounds);
  return failures == 0 ? 0 : 1;
}
