// SPDX-License-Identifier: MIT
// SQLite with a write-ahead log, where each record is a transaction that is synced. One connection
// under a mutex: connections of their own would wait for each other by sleeping.
#include <sqlite3.h>

#include "scenarios/files/contender.hpp"

namespace handoff::lab::files {
namespace {

class SqliteWal final : public Way {
 public:
  void open_log(const Log& log) override {
    sqlite3* opened = nullptr;
    const int failed = sqlite3_open((log.folder + "/log.db").c_str(), &opened);
    base_.reset(opened);
    if (failed != SQLITE_OK) refuse("opening");
    run("PRAGMA journal_mode=WAL");
    run(log.durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    run("CREATE TABLE log (number INTEGER PRIMARY KEY, record BLOB)");
    insert_ = prepare("INSERT INTO log (record) VALUES (?)");
  }

  void append_one(std::size_t /*thread*/, const Record& record) override {
    const std::lock_guard lock(mutex_);
    sqlite3_bind_blob(insert_.get(), 1, record.data(), static_cast<int>(record.size()),
                      SQLITE_STATIC);
    if (sqlite3_step(insert_.get()) != SQLITE_DONE) refuse("inserting");
    sqlite3_reset(insert_.get());
  }

  // Still open: read_back() comes.
  void close_log() override { insert_.reset(); }

  std::vector<Record> read_back(const Log& /*log*/) override {
    std::vector<Record> records;
    {
      const Statement select = prepare("SELECT record FROM log ORDER BY number");
      while (sqlite3_step(select.get()) == SQLITE_ROW) {
        if (sqlite3_column_bytes(select.get(), 0) != static_cast<int>(kRecord)) refuse("reading");
        std::memcpy(records.emplace_back().data(), sqlite3_column_blob(select.get(), 0), kRecord);
      }
    }
    base_.reset();
    return records;
  }

 private:
  struct Close {
    void operator()(sqlite3* base) const { sqlite3_close(base); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Close>;

  [[noreturn]] void refuse(const char* doing) const {
    throw std::runtime_error(std::string("sqlite, ") + doing + ": " + sqlite3_errmsg(base_.get()));
  }
  void run(const char* text) {
    if (sqlite3_exec(base_.get(), text, nullptr, nullptr, nullptr) != SQLITE_OK) refuse(text);
  }
  Statement prepare(const char* text) {
    sqlite3_stmt* made = nullptr;
    if (sqlite3_prepare_v2(base_.get(), text, -1, &made, nullptr) != SQLITE_OK) refuse(text);
    return Statement(made);
  }

  std::mutex mutex_;
  std::unique_ptr<sqlite3, Close> base_;
  Statement insert_;
};

}  // namespace

std::unique_ptr<Way> contender(const Task& /*task*/) { return std::make_unique<SqliteWal>(); }

}  // namespace handoff::lab::files
