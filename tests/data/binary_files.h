/// Bytes of IDX and NPY files, built as their specifications say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace simgrad::data::test {

/// A number's bytes, the least significant first or last.
template <class T>
std::string bytes_of(T value, bool big_endian) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));  // the tests run on little-endian machines
  if (big_endian) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

template <class T>
std::string bytes_of(const std::vector<T>& values, bool big_endian) {
  std::string bytes;
  for (const T value : values) bytes += bytes_of(value, big_endian);
  return bytes;
}

inline std::string idx_header(int type, const std::vector<std::uint32_t>& lengths) {
  std::string bytes{'\0', '\0', static_cast<char>(type), static_cast<char>(lengths.size())};
  return bytes + bytes_of(lengths, true);
}

/// The header padded to a multiple of 64 bytes, as NumPy writes it.
inline std::string npy_file(const std::string& dictionary, const std::string& numbers, int version = 1) {
  std::string text = dictionary;
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += version == 1 ? bytes_of(static_cast<std::uint16_t>(text.size()), false)
                        : bytes_of(static_cast<std::uint32_t>(text.size()), false);
  return bytes + text + numbers;
}

inline std::string npy_dictionary(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran_order ? "True" : "False") + ", 'shape': " + shape +
         ", }";
}

}  // namespace simgrad::data::test
