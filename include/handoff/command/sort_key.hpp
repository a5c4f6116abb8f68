// SPDX-License-Identifier: MIT
//
// The layout of a sort key: fields with names and widths, the most significant first.
//
//   using Key = handoff::SortKey<std::uint64_t, handoff::KeyField<"layer", 4>,
//                                handoff::KeyField<"translucency", 2>,
//                                handoff::KeyField<"depth", 24>, handoff::KeyField<"material",
//                                16>>;
//   Key key = Key::of(1, 0, depth, material);  // in the order of the fields
//   key.set<"depth">(7);                       // or by name
//   std::uint64_t bits = key;                  // what is compared, and what a bucket takes
//   std::string text = key.to_string();        // "layer 1, translucency 0, depth 7, material 12"
//
// For: keys of command buckets. A key compares as its fields do, the first one first. Bits that no
// field has are the highest, and 0.
// A value that its field cannot hold is refused: std::out_of_range with one line that names the
// field; where the key is a constant, the program does not compile. Nothing is ever cut off.
// Concurrency: a value. Blocks: never. Allocates: to_string().
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// A name in a template's arguments, from a text in quotes.
template <std::size_t kSize>
struct KeyName {
  consteval KeyName(const char (&name)[kSize]) noexcept {  // NOLINT(google-explicit-constructor)
    for (std::size_t i = 0; i < kSize; ++i) text[i] = name[i];
  }

  char text[kSize]{};  // ends with a 0
};

// One field of a key.
template <KeyName kName, unsigned kBits>
struct KeyField {
  static constexpr const char* name = kName.text;
  static constexpr unsigned bits = kBits;
};

namespace detail {

consteval bool same_text(const char* a, const char* b) noexcept {
  while (*a != 0 && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

[[noreturn]] void refuse_key_field(const char* name, unsigned bits, std::uint64_t value);
std::string key_text(const char* const* names, const std::uint64_t* values, std::size_t count);

}  // namespace detail

template <std::unsigned_integral Bits, class... Fields>
class SortKey {
  static constexpr unsigned kBits = (0U + ... + Fields::bits);
  static constexpr std::size_t kFields = sizeof...(Fields);

  static_assert(kFields > 0, "SortKey: it has at least one field");
  static_assert(((Fields::bits > 0) && ...), "SortKey: a field has at least one bit");
  static_assert(kBits <= static_cast<unsigned>(std::numeric_limits<Bits>::digits),
                "SortKey: the fields have more bits than the key");

 public:
  // What it is packed into.
  using bits_type = Bits;

  // All fields are 0.
  constexpr SortKey() noexcept = default;

  // A value for each field, in their order.
  template <std::integral... Values>
  [[nodiscard]] static constexpr SortKey of(Values... values) {
    static_assert(sizeof...(Values) == kFields, "SortKey: of() takes a value for each field");
    SortKey key;
    if constexpr (sizeof...(Values) == kFields) {
      std::size_t field = 0;
      (key.put(field++, static_cast<std::uint64_t>(values)), ...);
    }
    return key;
  }

  // The key that has these bits.
  [[nodiscard]] static constexpr SortKey from(Bits bits) noexcept {
    SortKey key;
    key.bits_ = bits;
    return key;
  }

  // The field of that name.
  template <KeyName kName>
  constexpr SortKey& set(std::integral auto value) {
    put(index_of<kName>(), static_cast<std::uint64_t>(value));
    return *this;
  }
  template <KeyName kName>
  [[nodiscard]] constexpr std::uint64_t get() const noexcept {
    return value_of(index_of<kName>());
  }

  // The bits of the fields of these names: what when_changed() takes.
  template <KeyName... kOf>
  [[nodiscard]] static constexpr Bits mask() noexcept {
    return static_cast<Bits>((std::uint64_t{0} | ... | mask_of(index_of<kOf>())));
  }

  // All of it as one number, which a bucket takes.
  [[nodiscard]] constexpr Bits bits() const noexcept { return bits_; }
  // The same where a number is asked for.
  constexpr operator Bits() const noexcept {  // NOLINT(google-explicit-constructor)
    return bits_;
  }

  // "name value, name value", for people.
  [[nodiscard]] std::string to_string() const {
    std::array<std::uint64_t, kFields> values{};
    for (std::size_t i = 0; i < kFields; ++i) values[i] = value_of(i);
    return detail::key_text(kNames.data(), values.data(), kFields);
  }

 private:
  [[gnu::visibility("hidden")]]  // docs/adr/0013
  static constexpr std::array<const char*, kFields> kNames{Fields::name...};
  [[gnu::visibility("hidden")]]  // as above
  static constexpr std::array<unsigned, kFields> kWidths{Fields::bits...};

  static constexpr unsigned shift_of(std::size_t field) noexcept {
    unsigned shift = 0;
    for (std::size_t i = field + 1; i < kFields; ++i) shift += kWidths[i];
    return shift;
  }
  static constexpr std::uint64_t most_of(std::size_t field) noexcept {
    return ~std::uint64_t{0} >> (64 - kWidths[field]);
  }
  static constexpr std::uint64_t mask_of(std::size_t field) noexcept {
    return most_of(field) << shift_of(field);
  }
  template <KeyName kName>
  static consteval std::size_t find() {
    std::size_t field = 0;
    while (field < kFields && !detail::same_text(kNames[field], kName.text)) ++field;
    return field;
  }
  template <KeyName kName>
  static constexpr std::size_t index_of() noexcept {
    constexpr std::size_t field = find<kName>();
    static_assert(field < kFields, "SortKey: none of its fields has this name");
    // equivalent(bound): the compiler has seen to it that it is one of the fields
    return field < kFields ? field : 0;
  }

  constexpr std::uint64_t value_of(std::size_t field) const noexcept {
    return (std::uint64_t{bits_} >> shift_of(field)) & most_of(field);
  }
  constexpr void put(std::size_t field, std::uint64_t value) {
    if (value > most_of(field)) detail::refuse_key_field(kNames[field], kWidths[field], value);
    bits_ = static_cast<Bits>((std::uint64_t{bits_} & ~mask_of(field)) | value << shift_of(field));
  }

  Bits bits_ = 0;
};

}}  // namespace handoff::HANDOFF_ABI
