/// `simgrad calibrate --network`.
#pragma once

#include <string>

namespace simgrad::cli {

/// Fits a network to the file's measurements and prints the residuals and [cluster] as TOML to paste.  bandwidth: a
/// link's by its data sheet, as a scenario writes it; empty: the fitted one.
void calibrate_network(const std::string& path, const std::string& bandwidth, bool protocol);

}  // namespace simgrad::cli
