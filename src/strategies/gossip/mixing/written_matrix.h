/// A mixing matrix as it is written in a file.
#pragma once

#include <string>
#include <vector>

namespace simgrad::strategies {

struct WrittenMatrix {
  std::vector<std::vector<double>> rows;
  std::vector<int> lines;  ///< on which line each row stands
};

/// The rows of that file: entries between blanks or commas, comments after '#'.
/// Errors: base::ScenarioError with file, line and column of an entry that is no finite number.
WrittenMatrix parse_matrix(const std::string& path);
/// The matrix of P ranks in that file.
/// Errors: as above, and where the file is not a matrix of P rows that each sum to 1.
WrittenMatrix read_matrix(const std::string& path, int P);

}  // namespace simgrad::strategies
