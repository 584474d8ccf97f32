/// `simgrad calibrate --network`.
#pragma once

#include <string>

namespace simgrad::cli {

/// Fits what the file has and prints the residuals and [cluster] as TOML to paste.
/// bandwidth: of a link by its data sheet, as a scenario writes it; empty: what was measured is taken for it.
void calibrate_network(const std::string& path, const std::string& bandwidth);

}  // namespace simgrad::cli
