/// The message times that `explain network_model` prints after the models.
#pragma once

#include <string_view>

#include "cluster/options.h"

namespace simgrad::cli {

/// Prints a table of the time of messages of 1 kB to 1 GB on the cluster's links under each network model, beside alpha
/// + n / B.  whose: "the default cluster", "x.toml".
void print_message_times(const cluster::Options& options, std::string_view whose);

}  // namespace simgrad::cli
