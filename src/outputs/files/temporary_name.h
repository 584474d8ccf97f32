/// The names of files that are being written.
#pragma once

#include <string>

namespace simgrad::outputs {

/// Returns a temporary name beside the file, since a rename is atomic only within one file system. The name is random
/// rather than a process number: shards of one experiment may write to one directory from several hosts. It ends in
/// ".tmp", so that the next command removes a file that a killed one has left.
std::string temporary_name(const std::string& path);

}  // namespace simgrad::outputs
