// SPDX-License-Identifier: MIT
// The header is a Python dictionary with exactly three keys:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
// Every number in it is checked against the size of the file before it is believed.
#include "scenarios/matmul/npy.hpp"
#include "harness/user_error.hpp"

namespace handoff::lab::matmul {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header_bytes = 1 << 16;  // of three short entries
constexpr std::size_t header_alignment = 64;

struct Header {
  std::string type;  // <f4
  bool by_columns = false;
  std::vector<std::size_t> shape;
};

// Reads the dictionary from its text. Throws std::string, what it stumbled over.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  Header read() {
    Header header;
    std::set<std::string> seen;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      if (!seen.insert(key).second) throw fmt::format("the key '{}' twice", key);
      expect(':');
      if (key == "descr") {
        header.type = type();
      } else if (key == "fortran_order") {
        header.by_columns = boolean();
      } else if (key == "shape") {
        header.shape = tuple();
      } else {
        throw fmt::format("an unknown key '{}'", key);
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) throw std::string("text after the dictionary");
    if (seen.size() != 3) throw std::string("not all of descr, fortran_order and shape");
    return header;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) throw fmt::format("no '{}' where one belongs", wanted);
  }

  std::string quoted() {
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const auto end = rest_.find(quote);
    if (end == std::string_view::npos) throw std::string("a text without an end");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string type() {
    skip_blanks();
    if (rest_.starts_with('[')) throw std::string("records; float32 or float64 is needed");
    return quoted();
  }

  bool boolean() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    throw std::string("neither True nor False for fortran_order");
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> values;
    expect('(');
    while (!take(')')) {
      values.push_back(number());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::size_t number() {
    skip_blanks();
    std::size_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      const auto digit = static_cast<std::size_t>(rest_[digits] - '0');
      if (__builtin_mul_overflow(value, std::size_t{10}, &value) ||
          __builtin_add_overflow(value, digit, &value)) {
        throw std::string("a shape beyond any memory");
      }
    }
    if (digits == 0) throw std::string("a shape that is no whole number");
    rest_.remove_prefix(digits);
    return value;
  }

  std::string_view rest_;
};

class NpyFile {
 public:
  explicit NpyFile(const std::filesystem::path& path) : path_(path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) refuse("there is no such file");
    if (!std::filesystem::is_regular_file(path, error)) refuse("it is no regular file");
    size_ = std::filesystem::file_size(path, error);
    file_.open(path, std::ios::binary);
    if (error || !file_) refuse("it cannot be read");
  }

  NpyLayout layout() {
    const Header header = read_header();
    if (header.shape.size() != 2) {
      refuse(fmt::format("it has {} dimensions; a matrix with 2 is needed", header.shape.size()));
    }
    NpyLayout layout{.rows = header.shape[0],
                     .columns = header.shape[1],
                     .by_columns = header.by_columns,
                     .offset = at_};
    constexpr char own_order = std::endian::native == std::endian::little ? '<' : '>';
    constexpr char other_order = own_order == '<' ? '>' : '<';
    for (const char order : {own_order, '=', other_order}) {
      layout.swapped = order == other_order;
      layout.doubles = header.type == std::string{order, 'f', '8'};
      if (layout.doubles || header.type == std::string{order, 'f', '4'}) {
        require_values(layout);
        return layout;
      }
    }
    refuse(fmt::format("it holds '{}'; float32 or float64 is needed", header.type));
  }

  NpyMatrix read() {
    const NpyLayout its = layout();
    return its.doubles ? values<double>(its) : values<float>(its);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError("{}: {}", path_.string(), why);
  }

  void read_bytes(char* to, std::size_t bytes, const char* what) {
    if (bytes > size_ - at_) {
      refuse(fmt::format("truncated: {} needs {} bytes, {} are left", what, bytes, size_ - at_));
    }
    file_.read(to, static_cast<std::streamsize>(bytes));
    if (!file_) refuse("it cannot be read");
    at_ += bytes;
  }

  Header read_header() {
    std::string start(magic.size() + 2, '\0');
    read_bytes(start.data(), start.size(), "the start of a .npy file");
    if (!start.starts_with(magic)) refuse("no .npy file: it does not start as one");
    const auto major = static_cast<unsigned char>(start[magic.size()]);
    const auto minor = static_cast<unsigned char>(start[magic.size() + 1]);
    if (major < 1 || major > 3 || minor != 0) {
      refuse(fmt::format(".npy format {}.{}; 1.0 to 3.0 can be read", major, minor));
    }
    std::string length_bytes(major == 1 ? 2 : 4, '\0');
    read_bytes(length_bytes.data(), length_bytes.size(), "the header's length");
    std::size_t length = 0;
    for (std::size_t i = length_bytes.size(); i-- > 0;) {
      length = length << 8U | static_cast<unsigned char>(length_bytes[i]);
    }
    if (length > most_header_bytes) {
      refuse(fmt::format("a header of {} bytes; at most {} make sense", length, most_header_bytes));
    }
    std::string text(length, '\0');
    read_bytes(text.data(), length, "the header");
    try {
      return HeaderReader(text).read();
    } catch (const std::string& stumble) {
      refuse(fmt::format("its header has {}", stumble));
    }
  }

  void require_values(const NpyLayout& its) const {
    std::size_t bytes = its.doubles ? sizeof(double) : sizeof(float);
    if (__builtin_mul_overflow(its.rows, bytes, &bytes) ||
        __builtin_mul_overflow(its.columns, bytes, &bytes)) {
      refuse(fmt::format("a shape of {} x {} is beyond any memory", its.rows, its.columns));
    }
    if (bytes > size_ - at_) {
      refuse(fmt::format("truncated: {} x {} values need {} bytes, {} are left", its.rows,
                         its.columns, bytes, size_ - at_));
    }
  }

  template <typename T>
  NpyMatrix values(const NpyLayout& its) {
    std::vector<T> values(its.rows * its.columns);
    read_bytes(reinterpret_cast<char*>(values.data()), values.size() * sizeof(T), "the matrix");
    if (its.swapped) {
      for (T& value : values) {
        auto* first = reinterpret_cast<unsigned char*>(&value);
        std::reverse(first, first + sizeof(T));
      }
    }
    if (its.by_columns) values = by_rows(values, its.rows, its.columns);
    return {its.rows, its.columns, std::move(values)};
  }

  template <typename T>
  static std::vector<T> by_rows(const std::vector<T>& by_columns, std::size_t rows,
                                std::size_t columns) {
    std::vector<T> result(by_columns.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) result[i * columns + j] = by_columns[j * rows + i];
    }
    return result;
  }

  std::filesystem::path path_;
  std::ifstream file_;
  std::size_t size_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

NpyMatrix read_npy(const std::filesystem::path& path) { return NpyFile(path).read(); }

NpyLayout read_npy_layout(const std::filesystem::path& path) { return NpyFile(path).layout(); }

std::string npy_header(std::size_t rows, std::size_t columns, bool doubles) {
  constexpr char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 order, doubles ? "f8" : "f4", rows, columns);
  const std::size_t before = magic.size() + 4;  // version and length
  const std::size_t padding = header_alignment - (before + text.size() + 1) % header_alignment;
  text.append(padding, ' ');
  text += '\n';
  std::string header(magic);
  header +=
      {'\1', '\0', static_cast<char>(text.size() & 0xFFU), static_cast<char>(text.size() >> 8U)};
  return header + text;
}

}  // namespace handoff::lab::matmul
