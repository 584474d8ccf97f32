#include "data/idx.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "base/memory.h"
#include "data/array_file.h"
#include "data/gzip.h"
#include "data/limits.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

/// Two zeros, the type, the number of dimensions (a byte), and each dimension's length in four bytes.
constexpr std::size_t header_most = 4 + 4 * 255;

std::uint8_t byte(const std::string& bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

Element element_of(std::uint8_t type, const std::string& path) {
  using Kind = Element::Kind;
  switch (type) {
    case 0x08:
      return {Kind::unsigned_integer, 1, true};
    case 0x09:
      return {Kind::signed_integer, 1, true};
    case 0x0B:
      return {Kind::signed_integer, 2, true};
    case 0x0C:
      return {Kind::signed_integer, 4, true};
    case 0x0D:
      return {Kind::floating, 4, true};
    case 0x0E:
      return {Kind::floating, 8, true};
    default:
      throw base::ScenarioError(fmt::format(
          "{}: the type of its numbers is 0x{:02X}, expected 0x08 (unsigned byte), 0x09 (byte), 0x0B (short), 0x0C "
          "(int), 0x0D (float) or 0x0E (double)",
          path, type));
  }
}

/// Reads the header in `file.bytes`.
void read_header(ArrayFile& file) {
  const std::string& bytes = file.bytes;
  if (bytes.size() < 4 || byte(bytes, 0) != 0 || byte(bytes, 1) != 0)
    throw base::ScenarioError(
        fmt::format("{}: does not begin with two zero bytes, a type and a number of dimensions, "
                    "expected an IDX file",
                    file.path));
  file.element = element_of(byte(bytes, 2), file.path);
  const std::size_t dimensions = byte(bytes, 3);
  file.begin = 4 + 4 * dimensions;
  if (bytes.size() < file.begin)
    throw base::ScenarioError(
        fmt::format("{}: cut short in its header, expected the lengths of {} dimensions", file.path, dimensions));
  for (std::size_t at = 4; at < file.begin; at += 4)
    file.shape.push_back((std::int64_t{byte(bytes, at)} << 24) | (std::int64_t{byte(bytes, at + 1)} << 16) |
                         (std::int64_t{byte(bytes, at + 2)} << 8) | std::int64_t{byte(bytes, at + 3)});
}

}  // namespace

/// Unpacks no more of a compressed file than its header announces, and one byte to see whether there is more.
ArrayFile Idx::array_of(std::string bytes, const std::string& file_name) const {
  ArrayFile file{.path = file_name, .bytes = {}, .begin = 0, .element = {}, .shape = {}, .columns_first = false};
  const bool compressed = gzipped(bytes);
  file.bytes = compressed ? inflated(bytes, header_most, file_name) : std::move(bytes);
  read_header(file);
  const auto whole = file.begin + static_cast<std::size_t>(payload_bytes(file_name, file.shape, file.element));
  if (compressed) {
    const double numbers = static_cast<double>(file.rows()) * static_cast<double>(file.columns());
    base::require_memory(
        static_cast<double>(whole) + numbers * sizeof(double),
        fmt::format("{}: {} rows x {} columns, unpacked and as numbers,", file_name, file.rows(), file.columns()));
    file.bytes = inflated(bytes, whole + 1, file_name);
  }
  check_length(file);
  return file;
}

}  // namespace simgrad::data
