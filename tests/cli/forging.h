// Files with other contents and the right checksum: it has no key, so that whoever changes a file can make it.
#pragma once

#include <fstream>
#include <functional>
#include <string>

#include "base/hash.h"
#include "cli/predicting.h"

namespace simgrad::tests {

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The bytes and their checksum, as models and states end in it.
inline std::string with_checksum(const std::string& bytes) { return bytes + base::hash(bytes); }

/// A model whose first line is changed. bytes: of its file.
inline std::string forged_model(const std::string& bytes, const std::function<void(Json& line)>& change) {
  constexpr std::size_t checksum_digits = 32;
  const std::size_t end = bytes.find('\n');
  Json line = Json::parse(bytes.substr(0, end));
  change(line);
  return with_checksum(line.dump() + bytes.substr(end, bytes.size() - end - checksum_digits));
}

/// The text of a record of runs/ that is changed: its checksum leaves out the number of wall_s.
inline std::string forged_record(const std::string& text, const std::function<void(Json& run)>& change) {
  Json run = Json::parse(text);
  run.erase("checksum");
  change(run);
  std::string forged = run.dump(), hashed = forged;
  const std::string member = R"("wall_s":)";
  const std::size_t number = hashed.find(member) + member.size();
  hashed.erase(number, hashed.find_first_of(",}", number) - number);
  forged.pop_back();
  return forged + R"(,"checksum":")" + base::hash(hashed) + R"("})";
}

}  // namespace simgrad::tests
