#include "data/npy.h"

#include <fmt/format.h>

#include <utility>

#include "base/errors.h"
#include "data/array_file.h"
#include "data/cells.h"
#include "data/npy_header.h"
#include "data/text_file.h"

namespace simgrad::data {

namespace {

constexpr std::string_view magic("\x93NUMPY");

std::size_t byte(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

/// The number type that a `descr` such as "<f8" or "|u1" names.
Element element_of(const std::string& descr, const std::string& path) {
  const auto refuse = [&] {
    throw base::ScenarioError(fmt::format(
        "{}: numbers of type {}, expected b1, i1, i2, i4, i8, u1, u2, u4, u8, f4 or f8", path, shown(descr)));
  };
  if (descr.size() != 3) refuse();
  Element element{.kind = {}, .bytes = descr[2] - '0', .big_endian = descr[0] == '>'};
  const bool whole_width = element.bytes == 1 || element.bytes == 2 || element.bytes == 4 || element.bytes == 8;
  // "|" means that a single byte has no order, "=" the order of the machine that wrote the file, which is not known.
  const bool ordered = descr[0] == '<' || descr[0] == '>' || (descr[0] == '|' && element.bytes == 1);
  if (!ordered || !whole_width) refuse();
  switch (descr[1]) {
    case 'b':
      if (element.bytes != 1) refuse();
      [[fallthrough]];
    case 'u':
      element.kind = Element::Kind::unsigned_integer;
      break;
    case 'i':
      element.kind = Element::Kind::signed_integer;
      break;
    case 'f':
      if (element.bytes < 4) refuse();
      element.kind = Element::Kind::floating;
      break;
    default:
      refuse();
  }
  return element;
}

/// The dictionary's text; `begin` is where the numbers start.
std::string_view header_text(std::string_view bytes, const std::string& path, std::size_t& begin) {
  const auto refuse = [&](std::string_view what) { throw base::ScenarioError(fmt::format("{}: {}", path, what)); };
  if (!bytes.starts_with(magic)) refuse("does not begin with \"\\x93NUMPY\", expected an NPY file");
  if (bytes.size() < 8) refuse("cut short in its header, expected the format's version");
  const std::size_t version = byte(bytes, 6);
  if (version < 1 || version > 3)
    refuse(fmt::format("version {}.{} of the NPY format, expected 1, 2 or 3", version, byte(bytes, 7)));
  const std::size_t width = version == 1 ? 2 : 4;  // bytes of the header's length
  std::size_t length = 0;
  if (bytes.size() < 8 + width) refuse("cut short in its header, expected its length");
  for (std::size_t i = 0; i < width; ++i) length |= byte(bytes, 8 + i) << (8 * i);
  begin = 8 + width + length;
  if (bytes.size() < begin) refuse(fmt::format("cut short in its header, expected {} bytes of it", length));
  return bytes.substr(8 + width, length);
}

}  // namespace

ArrayFile Npy::array_of(std::string bytes, const std::string& file_name) const {
  ArrayFile file{
      .path = file_name, .bytes = std::move(bytes), .begin = 0, .element = {}, .shape = {}, .columns_first = false};
  const NpyHeader header = npy_header(header_text(file.bytes, file_name, file.begin), file_name);
  file.element = element_of(header.descr, file_name);
  file.shape = header.shape;
  file.columns_first = header.fortran_order && header.shape.size() == 2;
  if (header.fortran_order && header.shape.size() > 2)
    throw base::ScenarioError(
        fmt::format("{}: {} dimensions in Fortran's order, expected two at most, or C's order; save "
                    "numpy.ascontiguousarray(...) of it",
                    file_name, header.shape.size()));
  check_length(file);
  return file;
}

}  // namespace simgrad::data
