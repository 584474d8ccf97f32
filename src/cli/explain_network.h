/// What `explain network_model` says beside the models' meanings.
#pragma once

#include <string_view>

#include "cluster/options.h"

namespace simgrad::cli {

/// A table of what each network model makes of messages of 1 kB to 1 GB on the cluster's links, beside alpha + n / B.
/// whose: "the default cluster", "x.toml".
void print_message_times(const cluster::Options& options, std::string_view whose);

}  // namespace simgrad::cli
