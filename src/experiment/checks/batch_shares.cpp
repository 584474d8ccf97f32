#include "experiment/checks/batch_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "experiment/checks/memory_check.h"
#include "outputs/text/number_text.h"
#include "strategies/parallel/mesh_memory.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/parallel/tensor_weights.h"
#include "training/learning/layer_times.h"
#include "training/partitions/proportions.h"

namespace simgrad::experiment {

namespace {

/// The memory of a host's device; nothing: not known.
std::optional<double> known_memory(const Settings& settings, const cluster::Device* device) {
  if (settings.training.memory == training::MemoryCheck::ignore) return {};
  if (settings.cluster.memory_bytes) return settings.cluster.memory_bytes;
  if (device && device->memory_bytes > 0.0) return device->memory_bytes;
  return {};
}

/// Flops of gradients a second on a host, at so many rows.
double gradient_speed(const Settings& settings, const models::Problem& problem, const HostPowers& powers, int host,
                      double rows) {
  const cluster::Device* const device = powers.device(host);
  if (!device) return powers.speed(host);
  const models::Model& model = *settings.model.model;
  const std::vector<models::Layer> layers = model.layers(problem);
  const double seconds = training::LayerTimes(*device, settings.training.precision).gradient_s(layers, rows);
  return model.gradient_flops(problem, 1) * rows / seconds;
}

double relative_speed(const Settings& settings, int rank) {
  const std::vector<double>& relative = settings.cluster.relative_speeds;
  return std::cmp_less(rank, relative.size()) ? relative[static_cast<std::size_t>(rank)] : 1.0;
}

/// The ranks of each sharer, in their order.
std::vector<std::vector<int>> ranks_of_sharers(const strategies::Strategy& strategy, std::int64_t workers) {
  std::vector<std::vector<int>> all;
  const strategies::OnMesh* const on_mesh = strategies::mesh_under(strategy);
  if (!on_mesh) {
    for (int rank = 0; rank < workers; ++rank) all.push_back({rank});
    return all;
  }
  const training::Mesh mesh = on_mesh->parallel().mesh(workers);
  all.resize(static_cast<std::size_t>(mesh.size(training::Dimension::data)));
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    all[static_cast<std::size_t>(mesh.place(rank)[training::Dimension::data])].push_back(rank);
  return all;
}

/// The work of each of a stage's tensor ranks over that of an equal share, by stage; empty: shares are equal.
strategies::TensorWeights loads_of(const Settings& settings, const strategies::Strategy& strategy,
                                   const models::Problem& problem, std::int64_t rows) {
  const strategies::OnMesh* const on_mesh = strategies::mesh_under(strategy);
  if (!on_mesh || !on_mesh->parallel().shares_by_speed()) return {};
  const training::MemoryTerms terms = memory_terms(settings, strategy, problem, rows);
  const strategies::Parallel& parallel = on_mesh->parallel();
  const std::vector<std::int64_t> firsts = strategies::firsts_of_pieces(*on_mesh->strategy(), parallel, terms);
  strategies::TensorWeights loads = strategies::tensor_weights(*on_mesh->strategy(), parallel, firsts, terms);
  for (std::vector<double>& of_stage : loads)
    for (double& load : of_stage) load *= static_cast<double>(parallel.tensor);
  return loads;
}

double load_of(const strategies::Strategy& strategy, const strategies::TensorWeights& loads, std::int64_t workers,
               int rank) {
  if (loads.empty()) return 1.0;
  const training::MeshPlace place = strategies::mesh_under(strategy)->parallel().mesh(workers).place(rank);
  return loads[static_cast<std::size_t>(place[training::Dimension::pipeline])]
              [static_cast<std::size_t>(place[training::Dimension::tensor])];
}

/// The memory that ranks with a share of so many rows need and have.
class ShareMemory {
 public:
  ShareMemory(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
              std::int64_t rows)
      : strategy_(strategy), terms_(memory_terms(settings, strategy, problem, rows)) {}

  /// The bytes of each stage, and there of each tensor rank with a share of its own; of one rank where the model is
  /// not cut.
  const std::vector<double>& needed(std::int64_t share, std::int64_t sharers) {
    const auto [at, fresh] = known_.try_emplace(share);
    if (!fresh) return at->second;
    training::MemoryTerms terms = terms_;
    terms.rows = share;
    const strategies::OnMesh* const on_mesh = strategies::mesh_under(strategy_);
    if (!on_mesh) return at->second = {strategy_.memory(terms).sum()};
    terms.batch = share * sharers;
    for (const std::vector<record::MemoryParts>& stage : on_mesh->memory_of_tensor_ranks(terms))
      for (const record::MemoryParts& rank : stage) at->second.push_back(rank.sum());
    return at->second;
  }

 private:
  const strategies::Strategy& strategy_;
  training::MemoryTerms terms_;
  std::map<std::int64_t, std::vector<double>> known_;
};

/// The memory that the ranks of a sharer have, in the order of ShareMemory::needed; infinite where it is not known.
std::vector<double> limits_of(const Settings& settings, const strategies::Strategy& strategy, const HostPowers& powers,
                              const std::vector<int>& ranks, const Sharer& sharer, std::int64_t workers) {
  const strategies::OnMesh* const on_mesh = strategies::mesh_under(strategy);
  const std::int64_t stages = on_mesh ? on_mesh->parallel().pipeline : 1;
  const std::int64_t shares = on_mesh && on_mesh->parallel().shares_by_speed() ? on_mesh->parallel().tensor : 1;
  std::vector<double> least(static_cast<std::size_t>(stages * shares), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::optional<double> has = known_memory(settings, powers.device(sharer.hosts[i]));
    if (!has) continue;
    std::int64_t at = 0;
    if (on_mesh) {
      const training::MeshPlace place = on_mesh->parallel().mesh(workers).place(ranks[i]);
      at = place[training::Dimension::pipeline] * shares + place[training::Dimension::tensor] % shares;
    }
    double& least_bytes = least[static_cast<std::size_t>(at)];
    least_bytes = std::min(least_bytes, *has);
  }
  return least;
}

bool has_room(const std::vector<double>& needed, const std::vector<double>& limits) {
  for (std::size_t part = 0; part < limits.size(); ++part)
    if (needed[part] > limits[part]) return false;
  return true;
}

/// The most rows, in whole units and up to a batch, that fit.
std::int64_t most_rows(ShareMemory& memory, const std::vector<double>& limits, const BatchShares& shares) {
  const auto sharers = static_cast<std::int64_t>(shares.sharers.size());
  std::int64_t fit = 0, too_many = shares.batch / shares.unit + 1;
  while (too_many - fit > 1) {
    const std::int64_t middle = fit + (too_many - fit) / 2;
    (has_room(memory.needed(middle * shares.unit, sharers), limits) ? fit : too_many) = middle;
  }
  return fit * shares.unit;
}

/// A share has a row in each micro-batch of a mesh, for each expert rank.
std::int64_t unit_of(const strategies::Strategy& strategy) {
  const strategies::OnMesh* const on_mesh = strategies::mesh_under(strategy);
  if (!on_mesh) return 1;
  const strategies::Parallel& parallel = on_mesh->parallel();
  return parallel.micro_batch_count() * parallel.expert;
}

}  // namespace

bool deals_by_speed(const Settings& settings, const strategies::Strategy& strategy) {
  const std::int64_t workers = strategy.workers(settings.cluster.workers);
  const strategies::OnMesh* const on_mesh = strategies::mesh_under(strategy);
  return settings.training.partition->by_speed() && workers > (on_mesh ? on_mesh->parallel().ranks_a_replica() : 1);
}

HostPowers powers_of(const Settings& settings) {
  return {.speed = [&settings](int host) { return settings.cluster.speed(host); },
          .device = [&settings](int host) { return settings.cluster.device_of(host); }};
}

std::int64_t BatchShares::rows_that_fit() const {
  std::int64_t all = 0;
  for (const Sharer& sharer : sharers) all += std::min(sharer.most_rows, batch);
  return all;
}

std::vector<double> BatchShares::speeds() const {
  std::vector<double> all;
  for (const Sharer& sharer : sharers) all.push_back(sharer.flops_per_s);
  return all;
}

std::vector<std::int64_t> BatchShares::most_rows() const {
  std::vector<std::int64_t> all;
  for (const Sharer& sharer : sharers)
    if (bounded) all.push_back(std::min(sharer.most_rows, batch));
  return all;
}

std::vector<std::int64_t> BatchShares::by_speed() const {
  std::vector<std::int64_t> rows = training::apportioned(batch, speeds(), most_rows(), unit);
  std::adjacent_difference(rows.begin(), rows.end(), rows.begin());
  rows.erase(rows.begin());
  return rows;
}

std::vector<std::int64_t> BatchShares::equal() const {
  const auto parts = static_cast<std::int64_t>(sharers.size());
  std::vector<std::int64_t> rows;
  for (std::int64_t part = 0; part < parts; ++part)
    rows.push_back(training::stretch(batch, part + 1, parts) - training::stretch(batch, part, parts));
  return rows;
}

BatchShares batch_shares(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
                         std::int64_t rows, const HostPowers& powers, const std::vector<int>& hosts) {
  const std::int64_t workers = strategy.workers(settings.cluster.workers);
  BatchShares shares{.sharers = {}, .batch = settings.batch(rows), .unit = unit_of(strategy)};
  const std::vector<std::vector<int>> ranks = ranks_of_sharers(strategy, workers);
  const double even = static_cast<double>(shares.batch) / static_cast<double>(ranks.size());
  const strategies::TensorWeights loads = loads_of(settings, strategy, problem, rows);
  for (const std::vector<int>& group : ranks) {
    Sharer& sharer = shares.sharers.emplace_back();
    sharer.flops_per_s = std::numeric_limits<double>::infinity();
    for (const int rank : group) {
      const int host = hosts.empty() ? rank : hosts.at(static_cast<std::size_t>(rank));
      sharer.hosts.push_back(host);
      sharer.relative.push_back(relative_speed(settings, rank) / load_of(strategy, loads, workers, rank));
      sharer.flops_per_s =
          std::min(sharer.flops_per_s, gradient_speed(settings, problem, powers, host, even) * sharer.relative.back());
    }
  }
  if (shares.batch % shares.unit != 0) return shares;  // refused elsewhere
  ShareMemory memory(settings, strategy, problem, rows);
  std::map<std::vector<double>, std::int64_t> known;
  for (std::size_t s = 0; s < ranks.size(); ++s) {
    Sharer& sharer = shares.sharers[s];
    const std::vector<double> limits = limits_of(settings, strategy, powers, ranks[s], sharer, workers);
    const double least = *std::ranges::min_element(limits);
    if (least == std::numeric_limits<double>::infinity()) continue;
    shares.bounded = true;
    sharer.memory_bytes = least;
    const auto [at, fresh] = known.try_emplace(limits);
    if (fresh) at->second = most_rows(memory, limits, shares);
    sharer.most_rows = at->second;
  }
  return shares;
}

double bytes_with_rows(const Settings& settings, const strategies::Strategy& strategy, const models::Problem& problem,
                       std::int64_t rows, const BatchShares& shares, std::int64_t share) {
  ShareMemory memory(settings, strategy, problem, rows);
  return *std::ranges::max_element(memory.needed(share, static_cast<std::int64_t>(shares.sharers.size())));
}

double passes_s(const Settings& settings, const models::Problem& problem, const HostPowers& powers,
                const Sharer& sharer, std::int64_t share) {
  const auto rows = static_cast<double>(share), ranks = static_cast<double>(sharer.hosts.size());
  if (share == 0) return 0.0;
  const double flops = settings.model.model->gradient_flops(problem, share);
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sharer.hosts.size(); ++i)
    slowest = std::min(slowest, gradient_speed(settings, problem, powers, sharer.hosts[i], rows) * sharer.relative[i]);
  return flops / ranks / slowest;
}

std::vector<std::string> notes_on_shares(const Settings& settings, const models::Problem& problem,
                                         const HostPowers& powers, const BatchShares& shares) {
  const std::vector<std::int64_t> rows = shares.by_speed(), equal = shares.equal();
  std::vector<std::pair<std::string, int>> groups;  // neighbours with as many rows
  std::vector<std::string> bounded;
  double by_speed_s = 0.0, equal_s = 0.0, speed = 0.0;
  for (const Sharer& sharer : shares.sharers) speed += sharer.flops_per_s;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const Sharer& sharer = shares.sharers[s];
    const std::string name = class_name(settings, sharer.hosts.front());
    const std::string text = fmt::format("{} ({})", rows[s], name);
    if (groups.empty() || groups.back().first != text) groups.emplace_back(text, 0);
    ++groups.back().second;
    by_speed_s = std::max(by_speed_s, passes_s(settings, problem, powers, sharer, rows[s]));
    equal_s = std::max(equal_s, passes_s(settings, problem, powers, sharer, equal[s]));
    const double free = static_cast<double>(shares.batch) * sharer.flops_per_s / speed;
    std::string note = fmt::format("memory bounds the share of class {}: {} rows in place of {:.1f} by speed", name,
                                   sharer.most_rows, free);
    if (rows[s] == sharer.most_rows && static_cast<double>(rows[s] + shares.unit) <= free &&
        std::ranges::find(bounded, note) == bounded.end())
      bounded.push_back(std::move(note));
  }
  std::vector<std::string> parts;
  for (const auto& [text, count] : groups) parts.push_back(fmt::format("{} x {}", count, text));
  std::vector<std::string> notes{
      fmt::format("rows by speed: {}; by nominal speeds the passes of a step take {}, and {} with equal rows",
                  base::joined(parts), outputs::duration(by_speed_s), outputs::duration(equal_s))};
  notes.insert(notes.end(), bounded.begin(), bounded.end());
  return notes;
}

std::string shares_refusal(const Settings& settings, const strategies::Strategy& strategy,
                           const models::Problem& problem, std::int64_t rows) {
  const BatchShares shares = batch_shares(settings, strategy, problem, rows, powers_of(settings));
  const std::int64_t room = shares.rows_that_fit();
  if (!shares.bounded || room >= shares.batch) return {};
  std::vector<std::string> classes;
  for (const Sharer& sharer : shares.sharers) {
    std::string text =
        fmt::format("{} of class \"{}\" {} {}", sharer.hosts.size() > 1 ? "a replica" : "a worker",
                    class_name(settings, sharer.hosts.front()), sharer.most_rows > 0 ? "holds" : "holds no row: it has",
                    sharer.most_rows > 0 ? fmt::format("{} rows", sharer.most_rows)
                                         : outputs::byte_count(sharer.memory_bytes.value_or(0.0)));
    if (std::ranges::find(classes, text) == classes.end()) classes.push_back(std::move(text));
  }
  return fmt::format(
      "a batch of {} rows does not fit into the memory of the workers, which hold {} of them ({}); take a smaller "
      "batch, micro-batches or recomputation, or set training.memory = \"ignore\"",
      shares.batch, room, base::joined(classes, "; "));
}

std::string class_name(const Settings& settings, int host) {
  const cluster::HostClass* const host_class = class_of(settings.cluster.host_classes, settings.cluster.workers, host);
  return host_class ? host_class->name : std::string(cluster::plain_host_class);
}

}  // namespace simgrad::experiment
