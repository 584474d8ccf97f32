#include "experiment/checks/tensor_balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "experiment/checks/batch_shares.h"
#include "experiment/checks/memory_check.h"
#include "experiment/plan/rank_powers.h"
#include "models/model_part.h"
#include "outputs/text/number_text.h"
#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/tensor_weights.h"
#include "training/learning/rank_work.h"

namespace simgrad::experiment {

using strategies::RankPower;

namespace {

/// Seconds of both passes through the layers, with what is computed again.  passes_on: other ranks have the layers
/// behind.
double seconds_of(const RankPower& power, const Settings& settings, const std::vector<models::Layer>& layers,
                  double rows, bool passes_on) {
  // A device's work at one flop/s is its seconds.
  const double speed = power.device ? 1.0 : power.flops_per_s;
  const training::RankWork work(layers, power.device ? &*power.device : nullptr, settings.training.precision, 1.0,
                                settings.training.recompute, passes_on);
  double sum = 0.0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    sum += work.forward(i, std::llround(rows)) + work.backward(i, std::llround(rows));
  return sum / speed / power.relative;
}

std::string units_text(const models::CutModel& cut, const models::Problem& problem,
                       const std::vector<models::Chunk>& chunks) {
  std::vector<std::string> all;
  for (const models::SharedUnits& units : cut.tensor_units(problem, chunks.front()))
    all.push_back(fmt::format("{} {}", units.count, units.name));
  return base::joined(all);
}

/// The powers as tensor_shares = "speed" would have them.
std::vector<RankPower> powers_by_speed(const Settings& settings, const strategies::Parallel& parallel) {
  Settings by_speed = settings;
  by_speed.parallel = parallel;
  by_speed.parallel.tensor_shares = strategies::TensorShares::speed;
  return rank_powers(by_speed);
}

/// Makes the rows of the table.
class Balance {
 public:
  Balance(const Settings& settings, const strategies::OnMesh& on_mesh, strategies::Parallel parallel,
          std::vector<RankPower> powers, const models::Problem& problem, std::int64_t rows)
      : settings_(settings),
        parallel_(std::move(parallel)),
        powers_(std::move(powers)),
        problem_(problem),
        terms_(memory_terms(settings, on_mesh, problem, rows)),
        chunks_(strategies::chunks_of_parts(*on_mesh.strategy(), parallel_, terms_)),
        needed_(strategies::memory_of_tensor_ranks(*on_mesh.strategy(), parallel_, terms_)),
        mesh_(parallel_.mesh(terms_.workers)) {
    strategies::Parallel by_speed = parallel_;
    by_speed.powers = powers_;
    speeds_ = strategies::tensor_speeds(by_speed, terms_);
  }

  TensorBalance of(int stage, int tensor_rank) const {
    const auto s = static_cast<std::size_t>(stage), t = static_cast<std::size_t>(tensor_rank);
    const std::vector<double>& speeds = speeds_[s];
    TensorBalance rank_balance{.stage = stage,
                               .flops_per_s = speeds[t],
                               .by_speed = speeds[t] / std::accumulate(speeds.begin(), speeds.end(), 0.0),
                               .share = 1.0 / static_cast<double>(speeds.size()),
                               .needed_bytes = needed_[s][std::min(t, needed_[s].size() - 1)].sum()};
    const double rows = static_cast<double>(terms_.batch) / mesh_.size(training::Dimension::data) /
                        static_cast<double>(parallel_.expert);
    std::vector<models::Layer> layers;
    for (int rank = 0; rank < mesh_.ranks(); ++rank) {
      const training::MeshPlace place = mesh_.place(rank);
      if (place[training::Dimension::pipeline] != stage || place[training::Dimension::tensor] != tensor_rank) continue;
      const std::vector<models::Chunk>& chunks = chunks_[static_cast<std::size_t>(mesh_.part(rank))];
      if (layers.empty()) {
        layers = layers_of(chunks);
        rank_balance.units = units_text(*terms_.model->cut(), problem_, chunks);
        if (!chunks.front().tensor_weights.empty()) rank_balance.share = chunks.front().tensor_weights[t];
      }
      add_rank(rank_balance, rank, layers, rows);
    }
    return rank_balance;
  }

 private:
  std::vector<models::Layer> layers_of(const std::vector<models::Chunk>& chunks) const {
    const std::shared_ptr<const models::Model> whole(std::shared_ptr<const void>(), terms_.model);
    return models::ModelPart(whole, problem_, chunks, terms_.layers.back().unit + 1).layers(problem_);
  }
  void add_rank(TensorBalance& rank_balance, int rank, const std::vector<models::Layer>& layers, double rows) const {
    const bool passes_on = rank_balance.stage + 1 < parallel_.pipeline;
    const RankPower& power = powers_[static_cast<std::size_t>(rank)];
    const std::string name = class_name(settings_, rank);
    if (rank_balance.classes.find(name) == std::string::npos)
      rank_balance.classes += (rank_balance.classes.empty() ? "" : " + ") + name;
    rank_balance.passes_s = std::max(rank_balance.passes_s, seconds_of(power, settings_, layers, rows, passes_on));
    const double has = settings_.cluster.memory_bytes.value_or(power.device ? power.device->memory_bytes : 0.0);
    if (has > 0.0) rank_balance.memory_bytes = std::min(rank_balance.memory_bytes.value_or(has), has);
  }

  const Settings& settings_;
  strategies::Parallel parallel_;
  std::vector<RankPower> powers_;
  const models::Problem& problem_;
  training::MemoryTerms terms_;
  std::vector<std::vector<models::Chunk>> chunks_;
  std::vector<std::vector<record::MemoryParts>> needed_;
  training::Mesh mesh_;
  strategies::TensorWeights speeds_;
};

}  // namespace

std::vector<TensorBalance> tensor_balance(const Settings& settings, const strategies::OnMesh& on_mesh,
                                          const models::Problem& problem, std::int64_t rows, bool equal) {
  strategies::Parallel parallel = on_mesh.parallel();
  const std::vector<RankPower> powers = powers_by_speed(settings, parallel);
  if (powers.empty()) return {};
  parallel.powers = equal ? std::vector<RankPower>() : powers;
  if (!settings.model.model->cut()->refusal(problem, parallel.shares()).empty()) return {};
  const Balance balance(settings, on_mesh, parallel, powers, problem, rows);
  std::vector<TensorBalance> all;
  for (int stage = 0; stage < parallel.pipeline; ++stage)
    for (int rank = 0; rank < parallel.tensor; ++rank) all.push_back(balance.of(stage, rank));
  return all;
}

double longest_passes_s(const std::vector<TensorBalance>& balance) {
  double longest_s = 0.0;
  for (const TensorBalance& rank_balance : balance) longest_s = std::max(longest_s, rank_balance.passes_s);
  return longest_s;
}

std::vector<std::string> notes_on_padding(const Settings& settings, const strategies::Strategy& strategy,
                                          const models::Problem& problem) {
  const auto* const on_mesh = strategies::mesh_under(strategy);
  const strategies::Parallel& parallel = on_mesh ? on_mesh->parallel() : settings.parallel;
  const models::CutModel* const cut = settings.model.model->cut();
  if (!cut || parallel.shares_by_speed()) return {};
  const std::string note = cut->padding_note(problem, parallel.tensor);
  return note.empty() ? std::vector<std::string>() : std::vector{note};
}

std::vector<std::string> notes_on_tensor_shares(const Settings& settings, const strategies::Strategy& strategy,
                                                const models::Problem& problem, std::int64_t rows) {
  const auto* const on_mesh = strategies::mesh_under(strategy);
  if (!on_mesh) return {};
  if (!on_mesh->parallel().shares_by_speed()) {
    if (settings.parallel.tensor_shares != strategies::TensorShares::speed) return {};
    return {
        "tensor_shares = \"speed\" changes nothing: the devices of every group of ranks that share products are alike"};
  }
  const std::vector<TensorBalance> own = tensor_balance(settings, *on_mesh, problem, rows, false);
  const std::vector<TensorBalance> equal = tensor_balance(settings, *on_mesh, problem, rows, true);
  std::vector<std::pair<std::string, int>> groups;  // neighbours with as many units
  for (const TensorBalance& rank_balance : own) {
    const std::string text = fmt::format("{} ({})", rank_balance.units, rank_balance.classes);
    if (groups.empty() || groups.back().first != text) groups.emplace_back(text, 0);
    ++groups.back().second;
  }
  std::vector<std::string> parts;
  for (const auto& [text, count] : groups) parts.push_back(fmt::format("{} x {}", count, text));
  const std::string passes = fmt::format("tensor shares by speed: {}; by nominal speeds the passes of a step take {}",
                                         base::joined(parts, "; "), outputs::duration(longest_passes_s(own)));
  if (equal.empty()) return {passes};
  return {fmt::format("{}, and {} with equal shares", passes, outputs::duration(longest_passes_s(equal)))};
}

}  // namespace simgrad::experiment
