// SPDX-License-Identifier: MIT
// Whole files: written, written over, read from the device and from the page cache; and many small
// ones.
#include <filesystem>

#include "scenarios/files/measures.hpp"

namespace handoff::lab::files {
namespace {

constexpr double kMb = 1e6;
constexpr std::uint64_t kFirst = 1;  // the generation of files that are shared

Transfer transfer_in(Bench& bench, const std::string& folder) {
  Transfer transfer;
  transfer.paths = numbered(folder, bench.task.files);
  transfer.bytes = bench.task.bytes;
  transfer.block = bench.task.block;
  transfer.durable = bench.task.durable;
  transfer.report = &bench.report;
  return transfer;
}

double bytes_of(const Transfer& transfer) {
  return static_cast<double>(transfer.bytes) * static_cast<double>(transfer.paths.size());
}

// Once: as another generation, and looked at.
Bench::Times write_once(Bench& bench, Burst& burst, Transfer& transfer) {
  transfer.generation = ++bench.generation;
  bench.way->about_to_write(transfer);
  const Bench::Times times =
      bench.timed(burst, bytes_of(transfer), [&] { bench.way->write(transfer); });
  look_at_files(*bench.way, transfer);
  return times;
}

// New files, which are looked at and removed again.
Operation write_new(Bench& bench, bool article) {
  ask_for_room(bench.task.shared, bench.task.files * bench.task.bytes);
  auto transfer = std::make_shared<Transfer>(transfer_in(bench, bench.task.folder));
  transfer->create = true;
  if (article) transfer->durable = true;
  return [&bench, transfer, article](Burst& burst) {
    settle(bench.task.folder);
    const Bench::Times times = write_once(bench, burst, *transfer);
    if (article) {
      const bool by_clock = bench.task.what == "cpu";
      burst.figure("article_ms", by_clock ? times.clock_ms : times.wall_ms);
    } else {
      burst.items(bytes_of(*transfer) / kMb);
    }
    remove_files(transfer->paths);
  };
}

// Files that are there. Nobody knows what generation they are of: contenders share them.
std::string shared_files(Bench& bench) {
  const std::string folder = bench.task.shared + "/data";
  if (!std::filesystem::exists(folder)) {
    ask_for_room(bench.task.shared, bench.task.files * bench.task.bytes);
    make_files(folder, bench.task.files, bench.task.bytes, kFirst);
  }
  return folder;
}

Operation overwrite(Bench& bench) {
  auto transfer = std::make_shared<Transfer>(transfer_in(bench, shared_files(bench)));
  return [&bench, transfer](Burst& burst) {
    settle(bench.task.folder);
    write_once(bench, burst, *transfer);
    burst.items(bytes_of(*transfer) / kMb);
  };
}

// Once timed, with a look at both ends of each sector; and once more, at all bytes.
Operation read(Bench& bench, bool cold) {
  auto transfer = std::make_shared<Transfer>(transfer_in(bench, shared_files(bench)));
  transfer->generation = kFirst;
  transfer->cached = !cold;
  if (cold) drop(transfer->paths);  // where that cannot be done it is said at once
  return [&bench, transfer, cold](Burst& burst) {
    if (cold) {
      drop(transfer->paths);
    } else if (cached_share(transfer->paths) < 1) {
      read_all(transfer->paths);
    }
    transfer->look_closely = false;
    bench.timed(burst, bytes_of(*transfer), [&] { bench.way->read(*transfer); });
    burst.items(bytes_of(*transfer) / kMb);
    transfer->look_closely = true;
    bench.way->read(*transfer);
  };
}

}  // namespace

Operation transfer_of(Bench& bench) {
  const std::string& work = bench.task.work;
  if (work == "write_new" || work == "article") return write_new(bench, work == "article");
  if (work == "overwrite") return overwrite(bench);
  return read(bench, work == "read_cold");
}

// Files of one sector, in one folder.
Operation small_of(Bench& bench) {
  bench.task.bytes = kSector;
  bench.task.block = kSector;
  ask_for_room(bench.task.shared, bench.task.files * kSector * 2);
  auto transfer = std::make_shared<Transfer>(transfer_in(bench, bench.task.folder));
  const std::string step = bench.task.what;
  return [&bench, transfer, step](Burst& burst) {
    const double bytes = bytes_of(*transfer);
    const auto one_step = [&](const char* name, const std::function<void()>& work) {
      if (step != name) return work();
      bench.timed(burst, bytes, work);
      burst.items(static_cast<double>(transfer->paths.size()));
    };
    transfer->generation = ++bench.generation;
    transfer->create = true;
    transfer->cached = true;
    bench.way->about_to_write(*transfer);
    one_step("create", [&] { bench.way->write(*transfer); });
    look_at_files(*bench.way, *transfer);
    transfer->look_closely = false;
    if (step == "read") one_step("read", [&] { bench.way->read(*transfer); });
    transfer->look_closely = true;
    if (step == "read") bench.way->read(*transfer);
    one_step("remove", [&] { bench.way->remove(transfer->paths); });
    for (std::size_t i = 0; i < transfer->paths.size(); ++i) {
      if (std::filesystem::exists(transfer->paths[i]))
        bench.report.wrong(Fault::length, i, kSector);
    }
  };
}

// New ones, each time in a folder of their own, which stays until the run ends.
Operation new_files_of(Bench& bench) {
  bench.task.bytes = kSector;
  bench.task.block = kSector;
  ask_for_room(bench.task.kept, bench.task.files * kSector * 2);
  keep_apart(bench.task.kept);
  auto transfer = std::make_shared<Transfer>(transfer_in(bench, bench.task.folder));
  transfer->create = true;
  transfer->cached = true;
  return [&bench, transfer](Burst& burst) {
    const std::string folder = bench.task.kept + "/" + std::to_string(getpid()) + "." +
                               std::to_string(bench.generation + 1);
    std::filesystem::create_directory(folder);
    transfer->paths = numbered(folder, bench.task.files);
    write_once(bench, burst, *transfer);
    burst.items(static_cast<double>(transfer->paths.size()));
  };
}

Operation one_file_of(Bench& bench) {
  ask_for_room(bench.task.shared, bench.task.bytes);
  bench.task.files = 1;
  auto transfer = std::make_shared<Transfer>(transfer_in(bench, bench.task.folder));
  transfer->create = true;
  return [&bench, transfer](Burst& burst) {
    settle(bench.task.folder);
    transfer->generation = ++bench.generation;
    bench.timed(burst, bytes_of(*transfer),
                [&] { bench.way->write_one(*transfer, bench.task.threads); });
    burst.items(bytes_of(*transfer) / kMb);
    look_at_files(*bench.way, *transfer);
    remove_files(transfer->paths);
  };
}

}  // namespace handoff::lab::files
