// Files that a test writes and reads.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace simgrad::tests {

/// A directory of its own for a test; removed at the end.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "simgrad-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no scratch directory");
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    std::FILE* f = std::fopen(file.c_str(), "wb");
    if (!f) throw std::runtime_error("cannot write " + file);
    std::fwrite(text.data(), 1, text.size(), f);
    std::fclose(f);
    return file;
  }

 private:
  std::string path_;
};

inline std::string contents(const std::string& file) {
  std::FILE* f = std::fopen(file.c_str(), "rb");
  if (!f) throw std::runtime_error("cannot read " + file);
  std::string text;
  std::array<char, 65536> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), f)) > 0;) text.append(buffer.data(), n);
  std::fclose(f);
  return text;
}

}  // namespace simgrad::tests
