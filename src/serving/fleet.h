/// All ranks that serve: their work, their memory, and the rate of requests that they can answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/options.h"
#include "models/transformer_shape.h"
#include "serving/layout.h"
#include "serving/line.h"
#include "serving/options.h"
#include "serving/requests.h"
#include "serving/stage.h"
#include "training/precision.h"

namespace simgrad::serving {

struct Fleet {
  models::TransformerShape shape;
  Layout layout;
  std::vector<StageCosts> costs;                    ///< by rank
  std::vector<std::optional<double>> memory_bytes;  ///< by rank; none: not known, and anything fits
};

/// flops_per_s: of a host without a device.
Fleet fleet_of(const models::TransformerShape& shape, const Layout& layout, training::Precision precision,
               const Options& options, const cluster::Options& cluster,
               const std::function<double(int host)>& flops_per_s);

/// Tokens whose keys and values the ranks of a replica can keep beside their parameters: memory_share x memory less
/// parameters, over the bytes of a token, on the rank with least room. Negative: the parameters do not fit. Infinite:
/// no memory is known.
double room_tokens(const Fleet& fleet, int replica, double memory_share);
/// The reason why parameters, or the longest request, do not fit; or empty.
std::string memory_refusal(const Fleet& fleet, const Options& options, const Expected& requests);

/// The exchanges of a replica's stage.
using LinesOf = std::function<StageLines(int replica, int stage)>;

/// Requests a second above which the queue grows for ever, as a bound from above.
/// A stage spends at least this on a request: its products and attention at the best rates, parameters read once for as
/// many requests as can be in an iteration, and its tokens' part of the exchanges among its ranks. A replica answers no
/// more than its slowest stage, no more than a message's link carries, and no more than its slots do, each of which is
/// in one stage, or on the way to the next, at a time.
/// lines: null: exchanges take no time.
double capacity_requests_per_s(const Fleet& fleet, const Options& options, const Expected& requests,
                               const LinesOf& lines = {});

}  // namespace simgrad::serving
