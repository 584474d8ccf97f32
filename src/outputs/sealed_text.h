/// Texts of JSON objects that end in a checksum: records of runs, and lines of logs, which a machine's death or an
/// editor may have changed. Anybody can compute the checksum: it tells damage, not intent.
#pragma once

#include <optional>
#include <string>

namespace simgrad::outputs {

/// The text of an object, with `checksum` as its last member: a hash of the text without this member and without the
/// number of its member wall_s, so that equal runs have equal checksums.
std::string sealed(std::string object);

/// The text of a file or a line that should be sealed.
struct Unsealed {
  bool has_checksum = false;
  std::optional<std::string> object = {};  ///< nothing: the contents are other than those of the checksum
};

/// The text that `sealed` was given.
Unsealed unsealed(std::string text);

}  // namespace simgrad::outputs
