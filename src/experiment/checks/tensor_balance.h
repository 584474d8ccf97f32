/// The shares of tensor ranks on unlike devices: units, times of passes and memory, beside equal shares.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/settings.h"
#include "strategies/parallel/on_mesh.h"

namespace simgrad::experiment {

/// The ranks of one stage that have one share of its products.
struct TensorBalance {
  int stage = 0;
  std::string classes = {};                 ///< of their hosts: "h100", or "h100 + a100"
  double flops_per_s = 0.0;                 ///< of gradients, of the slowest of them
  std::optional<double> memory_bytes = {};  ///< of the smallest device; nothing: not known
  double by_speed = 0.0;                    ///< the share that is in proportion to speed
  double share = 0.0;                       ///< the one that they have: memory may bound it
  std::string units = {};                   ///< "5 heads, 1720 columns, 8000 tokens"
  double passes_s = 0.0;      ///< over a step's rows of one replica, of the slowest of them, without hops and waiting
  double needed_bytes = 0.0;  ///< of a rank's memory
};

/// A cut model's tensor ranks, stage by stage, with shares by speed, or with equal ones; whatever the scenario has.
/// Empty where the ranks of every tensor group are alike, and where such shares are not whole units.  rows: of the
/// training set.
std::vector<TensorBalance> tensor_balance(const Settings& settings, const strategies::OnMesh& on_mesh,
                                          const models::Problem& problem, std::int64_t rows, bool equal);

/// The longest passes of a stage, of the one with the longest.
double longest_passes_s(const std::vector<TensorBalance>& balance);

/// A sentence for the notes of a run, of training or of serving, whose tensor ranks share a padded vocabulary; else
/// nothing.
std::vector<std::string> notes_on_padding(const Settings& settings, const strategies::Strategy& strategy,
                                          const models::Problem& problem);

/// Sentences for the notes of a run whose tensor ranks have shares by speed, or were to have them.
std::vector<std::string> notes_on_tensor_shares(const Settings& settings, const strategies::Strategy& strategy,
                                                const models::Problem& problem, std::int64_t rows);

}  // namespace simgrad::experiment
