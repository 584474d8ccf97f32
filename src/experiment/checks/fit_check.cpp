#include "experiment/checks/fit_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "base/units.h"
#include "cluster/fabric/footprint.h"
#include "data/limits.h"
#include "experiment/checks/memory_check.h"
#include "strategies/circumstances.h"
#include "strategies/parallel/on_mesh.h"

namespace simgrad::experiment {

namespace {

cluster::Footprint footprint(const strategies::Strategy& strategy, std::int64_t P, const cluster::Options& cluster) {
  const strategies::Traits traits = strategy.traits(static_cast<int>(P));
  return {.actors = P + traits.servers + traits.side_actors(cluster), .pairs = traits.pairs};
}

/// The most workers, fewer than P, whose simulation fits; 0: not even one does.
std::int64_t workers_that_fit(const strategies::Strategy& strategy, std::int64_t P, const cluster::Options& cluster,
                              double memory_bytes) {
  std::int64_t fits = 0;
  for (std::int64_t too_many = P; too_many - fits > 1;) {
    const std::int64_t between = fits + (too_many - fits) / 2;
    (footprint(strategy, between, cluster).bytes() <= memory_bytes ? fits : too_many) = between;
  }
  return fits;
}

/// With four digits.
std::string size_text(double bytes) {
  if (!(bytes >= 1e4)) return base::format_quantity(std::round(bytes), base::Unit::bytes);
  const double digit = std::pow(10.0, std::floor(std::log10(bytes)) - 3.0);
  return base::format_quantity(std::round(bytes / digit) * digit, base::Unit::bytes);
}

constexpr double small_bytes = 16 << 20;  // a simulation that fits into any machine on which this program runs

class FitCheck {
 public:
  FitCheck(const Settings& settings, const models::Problem& problem, std::int64_t rows, scenario::Faults& faults,
           std::optional<double> memory_bytes)
      : settings_(settings),
        model_(*settings.model.model),
        problem_(problem),
        rows_(rows),
        batch_(settings.batch(rows)),
        faults_(faults),
        memory_bytes_(memory_bytes) {}

  /// Returns whether the model suits the data; else its parameters cannot be counted.
  bool model() {
    const std::string refused =
        problem_.nonzeros > 0.0 && !model_.takes_sparse_rows()
            ? fmt::format(
                  "{} would hold the sparse rows of data source \"{}\" as a dense matrix; use sparse_logistic, "
                  "factorization_machine or wide_and_deep",
                  model_kind(), settings_.data.source.kind())
            : model_.refusal(problem_);
    if (!refused.empty()) faults_.add(settings_.places.model, refused);
    return refused.empty();
  }

  void partition() {
    const training::Partition& partition = *settings_.training.partition;
    if (partition.by_class() && problem_.classes == 0)
      faults_.add(settings_.places.partition,
                  fmt::format("partition = \"{}\" goes by classes, but the data are a {}; use a model that "
                              "predicts classes, or the partition quantity or contiguous",
                              settings_.training.partition.kind(),
                              !problem_.sources.empty() ? "mixture, whose sources have classes each by itself"
                              : problem_.vocabulary > 0 ? "text"
                                                        : "regression's"));
    const auto inflow = partition.inflow();
    if (!inflow) return;
    if (2 * inflow->window > rows_)
      faults_.add(
          settings_.places.partition,
          fmt::format("a window of {} rows of {} that come in; expected at most half of them", inflow->window, rows_));
    if (batch_ > inflow->window)
      faults_.add(settings_.places.batch,
                  fmt::format("a batch of {} samples from the last {} rows that have come in (the window of partition "
                              "= \"stream\"); expected at most as many",
                              batch_, inflow->window));
  }

  void sizes() {
    if (batch_ > rows_)
      faults_.add(settings_.places.batch,
                  fmt::format("a batch of {} samples, but there are {} training rows; expected at most as many", batch_,
                              rows_));
    const std::int64_t workers = settings_.cluster.workers, replicas = most_replicas();
    if (replicas > rows_)
      faults_.add(
          settings_.places.workers,
          replicas == workers
              ? fmt::format("{} workers for {} training rows; expected at most one worker a row", workers, rows_)
              : fmt::format("{} workers are {} replicas of the model for {} training rows; expected at most one "
                            "replica a row",
                            workers, replicas, rows_));
  }

  /// The largest number of replicas that any strategy has. Each has rows of its own; the ranks of a cut model share
  /// theirs.
  std::int64_t most_replicas() const {
    if (settings_.strategies.empty()) return settings_.cluster.workers;
    std::int64_t most = 0;
    for (const auto& entry : settings_.strategies) {
      const strategies::OnMesh* const on_mesh = strategies::mesh_under(*entry.as_run());
      most = std::max(most, on_mesh ? on_mesh->replicas(settings_.cluster.workers) : settings_.cluster.workers);
    }
    return most;
  }

  void parameters() {
    const std::int64_t parameters = model_.parameters(problem_);
    if (settings_.training.numbers && parameters > data::cells_most)
      faults_.add(
          settings_.places.model,
          fmt::format("{} has {} parameters here, {:.1f} GiB; expected at most {}; for more, simulate the "
                      "timing only (training.numbers = false)",
                      model_kind(), parameters, static_cast<double>(parameters) * 8.0 / 0x1.0p30, data::cells_most));
  }

  void strategy(std::size_t index) {
    const std::shared_ptr<const strategies::Strategy> as_run = settings_.strategies[index].as_run();
    const strategies::Strategy& strategy = *as_run;
    const std::int64_t P = strategy.workers(settings_.cluster.workers);
    const Settings::Places::Strategy& place = settings_.places.strategies.at(index);
    // Before anything else is asked, for which the graph of a strategy may be drawn.
    if (!memory(settings_.strategies[index].strategy.kind(), strategy, P, place.table)) return;
    if (const auto why = strategy.refusal({.parameters = model_.parameters(problem_),
                                           .workers = P,
                                           .optimizer = *settings_.training.optimizer,
                                           .optimizer_kind = settings_.training.optimizer.kind(),
                                           .model = model_,
                                           .model_kind = model_kind(),
                                           .cluster = settings_.cluster,
                                           .stop = settings_.stop,
                                           .seed = static_cast<std::uint64_t>(settings_.seed),
                                           .batch = batch_,
                                           .rows = rows_,
                                           .rows_come_in = settings_.training.partition->inflow().has_value(),
                                           .rows_by_rank = !settings_.training.partition->shared(),
                                           .rows_uneven = settings_.training.partition->uneven(),
                                           .keys = problem_.features,
                                           .numbers = settings_.training.numbers,
                                           .fits_memory = settings_.training.memory == training::MemoryCheck::refuse,
                                           .shares_by_speed = settings_.training.partition->by_speed(),
                                           .clips = settings_.training.clip_norm.has_value(),
                                           .precision = settings_.training.precision,
                                           .wire = settings_.training.wire,
                                           .problem = &problem_}))
      return faults_.add(settings_.place_of(index, why->option), why->text);
    if (const std::string why = recompute_refusal(settings_, problem_, settings_.strategies[index].strategy.kind());
        !why.empty())
      faults_.add(place.table, why);
    // The parameters and the cache of [serving] have a check of their own.
    if (const std::string why = settings_.serving.any() ? "" : memory_refusal(settings_, strategy, problem_, rows_);
        !why.empty())
      faults_.add(place.table, fmt::format("{}: {}", settings_.strategies[index].strategy.kind(), why));
    if (!strategy.traits(static_cast<int>(P)).lockstep() && batch_ < P && P <= rows_)
      faults_.add(place.table,
                  fmt::format("batch_size = {} for {} workers leaves ranks without rows, whose updates would be empty; "
                              "give at least one row a worker",
                              batch_, P));
  }

 private:
  /// Returns whether the simulation fits; else adds a fault.
  bool memory(std::string_view kind, const strategies::Strategy& strategy, std::int64_t P,
              const scenario::Position& place) {
    const cluster::Footprint needed = footprint(strategy, P, settings_.cluster);
    if (!memory_bytes_ && needed.bytes() > small_bytes) memory_bytes_ = base::available_memory_bytes();
    if (!memory_bytes_ || needed.bytes() <= *memory_bytes_) return true;
    const std::int64_t fitting = workers_that_fit(strategy, P, settings_.cluster, *memory_bytes_);
    faults_.add(place,
                fmt::format("{} with {} workers takes some {} of memory ({} actors, {} pairs of ranks that "
                            "exchange messages), but {} are available; {}",
                            kind, P, size_text(needed.bytes()), needed.actors, needed.pairs, size_text(*memory_bytes_),
                            fitting > 0 ? fmt::format("take at most {} worker{}, or a strategy with fewer pairs",
                                                      fitting, fitting == 1 ? "" : "s")
                                        : "free some memory"));
    return false;
  }

  std::string_view model_kind() const { return settings_.model.model.kind(); }

  const Settings& settings_;
  const models::Model& model_;
  const models::Problem& problem_;
  std::int64_t rows_;
  std::int64_t batch_;  ///< the global batch of a step
  scenario::Faults& faults_;
  std::optional<double> memory_bytes_;
};

}  // namespace

void check_fit(const Settings& settings, const models::Problem& problem, std::int64_t rows, scenario::Faults& faults,
               std::optional<double> memory_bytes) {
  FitCheck check(settings, problem, rows, faults, memory_bytes);
  const bool suits = check.model();
  check.partition();
  check.sizes();
  if (!suits) return;
  check.parameters();
  for (std::size_t i = 0; i < settings.strategies.size(); ++i) check.strategy(i);
}

}  // namespace simgrad::experiment
