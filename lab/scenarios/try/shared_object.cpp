// SPDX-License-Identifier: MIT
#include "scenarios/try/shared_object.hpp"

#include <elf.h>
#include <link.h>

#include "harness/user_error.hpp"

namespace handoff::lab::trial {
namespace {

namespace fs = std::filesystem;
using ElfHeader = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Dynamic = ElfW(Dyn);

// A part of a file, and nothing where it has no such part.
class Bytes {
 public:
  explicit Bytes(std::vector<char> all) : all_(std::move(all)) {}

  template <class T>
  [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
    if (offset > all_.size() || all_.size() - offset < sizeof(T)) return {};
    T value;
    std::memcpy(&value, all_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] std::uint64_t size() const { return all_.size(); }
  [[nodiscard]] std::string text_at(std::uint64_t offset) const {
    if (offset >= all_.size()) return {};
    const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, std::find(begin, all_.end(), '\0')};
  }

 private:
  std::vector<char> all_;
};

Bytes bytes_in(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw UserError(
        "{}: there is no such file; `handoff try --new DIR` makes a kernel to begin with",
        path.string());
  }
  if (!fs::is_regular_file(status)) {
    throw UserError("{}: this is no file; name a shared object", path.string());
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError("{}: cannot be read: {}", path.string(), strerror(errno));
  return Bytes({std::istreambuf_iterator<char>(file), {}});
}

// Of this program, to compare with.
ElfHeader own_header() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  ElfHeader header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  return header;
}

ElfHeader header_of(const Bytes& bytes, const fs::path& path) {
  const auto header = bytes.at<ElfHeader>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    throw UserError("{}: this is no shared object; compile it with -shared -fPIC", path.string());
  }
  const ElfHeader own = own_header();
  const bool same_kind =
      std::equal(header->e_ident + EI_CLASS, header->e_ident + EI_VERSION, own.e_ident + EI_CLASS);
  if (!same_kind || header->e_machine != own.e_machine) {
    throw UserError(
        "{}: it was compiled for another processor (ELF machine {}, this one is {}); compile it "
        "here",
        path.string(), header->e_machine, own.e_machine);
  }
  if (header->e_type != ET_DYN) {
    throw UserError("{}: this is {}, no shared object; compile it with -shared -fPIC",
                    path.string(), header->e_type == ET_EXEC ? "a program" : "an object file");
  }
  return *header;
}

// The entries of the dynamic section, with their texts where they have one.
struct Needs {
  std::vector<std::string> libraries;
  std::string folders;  // where they are looked for first
};

Needs needs_of(const Bytes& bytes, const ElfHeader& header, const fs::path& path) {
  std::vector<Segment> segments;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = bytes.at<Segment>(header.e_phoff + i * sizeof(Segment));
    if (segment) segments.push_back(*segment);
  }
  // A process that loads what is not there gets a signal.
  for (const Segment& segment : segments) {
    const bool is_there =
        segment.p_offset <= bytes.size() && segment.p_filesz <= bytes.size() - segment.p_offset;
    if (segment.p_type == PT_LOAD && !is_there) {
      throw UserError("{}: it ends too early; compile it again", path.string());
    }
  }
  std::vector<Dynamic> entries;
  std::uint64_t texts = 0;
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = 0; at + sizeof(Dynamic) <= segment.p_filesz; at += sizeof(Dynamic)) {
      const auto entry = bytes.at<Dynamic>(segment.p_offset + at);
      if (!entry || entry->d_tag == DT_NULL) break;
      entries.push_back(*entry);
      if (entry->d_tag == DT_STRTAB) texts = entry->d_un.d_ptr;
    }
  }
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_LOAD || texts < segment.p_vaddr) continue;
    if (texts - segment.p_vaddr >= segment.p_filesz) continue;
    texts = texts - segment.p_vaddr + segment.p_offset;
    break;
  }
  Needs needs;
  for (const Dynamic& entry : entries) {
    if (entry.d_tag == DT_NEEDED)
      needs.libraries.push_back(bytes.text_at(texts + entry.d_un.d_val));
    if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) {
      needs.folders = bytes.text_at(texts + entry.d_un.d_val);
    }
  }
  return needs;
}

// The library's path in the first of the folders that has it; else the loader knows it by name.
std::string found_in(const std::string& folders, const std::string& library) {
  std::size_t begin = 0;
  while (begin < folders.size()) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path path = fs::path(folders.substr(begin, end - begin)) / library;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
    begin = end + 1;
  }
  return library;
}

}  // namespace

SharedObject look_at_shared_object(const fs::path& path) {
  const Bytes bytes = bytes_in(path);
  const Needs needs = needs_of(bytes, header_of(bytes, path), path);
  SharedObject object;
  for (const std::string& library : needs.libraries) {
    if (library.starts_with("libtsan.so") || library.starts_with("libclang_rt.tsan")) {
      object.race_runtime = found_in(needs.folders, library);
    }
  }
  return object;
}

}  // namespace handoff::lab::trial
