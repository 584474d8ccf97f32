// The content of a packed file.
#pragma once

#include <zlib.h>

#include <array>
#include <string>

namespace simgrad::tests {

inline std::string unpacked(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  std::array<char, 65536> buffer{};
  for (int n = 0; file && (n = gzread(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  if (file) gzclose(file);
  return text;
}

}  // namespace simgrad::tests
