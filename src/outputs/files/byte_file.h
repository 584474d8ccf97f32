/// A file written piece by piece, packed where its name ends in ".gz".
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace simgrad::outputs {

/// It comes to be under its name when it is complete; until then, and if it never is, nobody sees it.
/// Equal bytes give equal files, packed ones too: there is no time of writing in them.
class ByteFile {
 public:
  /// Errors of all members: base::EnvironmentError naming the file and the system's reason.
  explicit ByteFile(std::string path);
  ~ByteFile();
  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;

  void write(std::string_view bytes);
  void close();

 private:
  struct Packer;
  void put(std::string_view bytes);
  void flush();
  [[noreturn]] void refuse(int reason) const;

  std::string path_;
  std::string temporary_;
  std::FILE* file_ = nullptr;
  std::string waiting_;  ///< to be written
  std::unique_ptr<Packer> packer_;
};

}  // namespace simgrad::outputs
