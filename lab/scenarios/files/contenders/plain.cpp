// SPDX-License-Identifier: MIT
// The article's schemes, and what people write.
#include <filesystem>
#include <fstream>

#include "scenarios/files/blocking.hpp"

namespace handoff::lab::files {
namespace {

// The article's IoThread: a queue of tasks, a mutex, a condition variable and one thread, which
// takes all tasks that are there at once. Its data races are gone. As in the article, threads are
// made for each run.
class IoThread : Pinned {
 public:
  IoThread() : thread_([this] { run(); }) {}
  ~IoThread() {
    {
      const std::lock_guard lock(mutex_);
      exit_ = true;
    }
    there_.notify_one();
    thread_.join();
  }

  void post(std::function<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push(std::move(task));
    }
    there_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::vector<std::function<void()>> taken;
      {
        std::unique_lock lock(mutex_);
        there_.wait(lock, [this] { return !tasks_.empty() || exit_; });
        if (tasks_.empty()) return;
        for (; !tasks_.empty(); tasks_.pop()) taken.push_back(std::move(tasks_.front()));
      }
      for (const auto& task : taken) task();
    }
  }

  std::mutex mutex_;
  std::condition_variable there_;
  std::queue<std::function<void()>> tasks_;
  bool exit_ = false;
  std::thread thread_;
};

// Tasks go to so many of them in turns.
template <std::size_t Threads>
struct IoThreads {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    std::vector<IoThread> threads(Threads);
    for (std::size_t i = 0; i < count; ++i) threads[i % Threads].post([&job, i] { job(i); });
  }
};

// The article's one_thread_per_task: as many threads as files, all at once.
struct ThreadPerFile {
  static void run(std::size_t count, const std::function<void(std::size_t)>& job) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&job, i] { job(i); });
  }
};

// What people write for small files: one std::ofstream after the other.
class Fstream final : public Way {
 public:
  explicit Fstream(const Task& task) {
    if (task.durable) throw Unavailable("a stream cannot sync");
  }

  void write(const Transfer& transfer) override {
    for (std::size_t i = 0; i < transfer.paths.size(); ++i) {
      std::ofstream file(transfer.paths[i], std::ios::binary);
      transfer.make(i, 0, buffers_[0]);
      file.write(reinterpret_cast<const char*>(buffers_[0].data()), kSector);
      file.close();
      if (!file) fail("writing", transfer.paths[i], EIO);
    }
  }
  void read(const Transfer& transfer) override {
    for (std::size_t i = 0; i < transfer.paths.size(); ++i) {
      std::ifstream file(transfer.paths[i], std::ios::binary);
      file.read(reinterpret_cast<char*>(buffers_[0].data()), kSector);
      if (!file) fail("reading", transfer.paths[i], EIO);
      transfer.take(i, 0, buffers_[0]);
    }
  }
  void remove(const std::vector<std::string>& paths) override {
    for (const std::string& path : paths) std::filesystem::remove(path);
  }

 private:
  Buffers buffers_{1, kSector};
};

// What people write first: each record is written and synced under a mutex.
class SyncEach final : public Way {
 public:
  void open_log(const Log& log) override {
    durable_ = log.durable;
    path_ = log.folder + "/log";
    file_ = std::make_unique<Descriptor>(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    end_ = 0;
  }
  void append_one(std::size_t /*thread*/, const Record& record) override {
    const std::lock_guard lock(mutex_);
    write_at(file_->number(), record, end_, path_);
    end_ += record.size();
    if (durable_ && fdatasync(file_->number()) != 0) fail("syncing", path_, errno);
  }
  void close_log() override { file_.reset(); }
  std::vector<Record> read_back(const Log& /*log*/) override {
    const Descriptor file(path_, O_RDONLY);
    std::vector<Record> records(end_ / kRecord);
    for (std::size_t i = 0; i < records.size(); ++i) {
      read_at(file.number(), records[i], i * kRecord, path_);
    }
    return records;
  }

 private:
  std::mutex mutex_;
  std::string path_;
  std::unique_ptr<Descriptor> file_;
  std::uint64_t end_ = 0;
  bool durable_ = true;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& task) {
  return chosen<std::unique_ptr<Way>(const Task&)>(
      {// The article's one_thread_in_all: the caller writes one file after the other.
       {"seed.single", way_of<Blocking<OneThread>, kArticleBlock>},
       // The article's one_io_thread: the caller posts the files to one thread.
       {"seed.io_thread", way_of<Blocking<IoThreads<1>>, kArticleBlock>},
       // The article's fake_thread_pool: the caller posts the files to three threads in turns.
       {"seed.round_robin", way_of<Blocking<IoThreads<3>>, kArticleBlock>},
       {"seed.thread_per_file", way_of<Blocking<ThreadPerFile>, kArticleBlock>},
       {"peer.fstream", way_of<Fstream>},
       {"peer.sync_each", way_of<SyncEach>}})(task);
}

}  // namespace handoff::lab::files
