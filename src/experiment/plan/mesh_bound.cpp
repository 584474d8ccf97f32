#include "experiment/plan/mesh_bound.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cluster/topologies/gpu_hosts.h"
#include "models/model_part.h"
#include "strategies/parallel/on_mesh.h"
#include "strategies/parallel/part_units.h"
#include "strategies/parallel/schedules/timed_table.h"
#include "strategies/parallel/stage_tables.h"
#include "strategies/parallel/stages.h"
#include "training/learning/rank_work.h"

namespace simgrad::experiment {

using models::Step;
using strategies::Parallel;
using strategies::PieceTimes;

namespace {

/// The device of all workers; null: they have none.
struct Ranks {
  const cluster::Device* device = nullptr;
  double speed_flops_per_s = 1.0;
  double bandwidth_bytes_per_s = 0.0;      ///< of the fastest link of one; 0: not known
  double between_hosts_bytes_per_s = 0.0;  ///< by one NIC
  std::int64_t a_host = 1;
  std::int64_t nics = 1;  ///< of a host
};

/// Nothing where the workers differ.
std::optional<Ranks> ranks_of(const Settings& settings) {
  const cluster::Options& cluster = settings.cluster;
  if (!cluster.platform.empty() || !cluster.relative_speeds.empty()) return {};
  Ranks ranks{.device = cluster.device_of(0), .speed_flops_per_s = cluster.speed(0)};
  for (int worker = 1; worker < cluster.workers; ++worker)
    if (cluster.device_of(worker) != ranks.device || cluster.speed(worker) != ranks.speed_flops_per_s) return {};
  if (!cluster.measured.empty() || cluster.protocol->there()) return ranks;  // links alone do not decide
  const double bandwidth = cluster.host_spec.bandwidth_bytes_per_s;
  if (const auto* const hosts = dynamic_cast<const cluster::GpuHosts*>(cluster.topology.shared().get())) {
    ranks.bandwidth_bytes_per_s = std::max(bandwidth, hosts->nvlink_bandwidth_bytes_per_s);
    ranks.between_hosts_bytes_per_s = bandwidth;
    ranks.a_host = hosts->devices;
    ranks.nics = hosts->nics;
  } else if (cluster.topology.kind() == "star") {
    ranks.bandwidth_bytes_per_s = ranks.between_hosts_bytes_per_s = bandwidth;
  }
  return ranks;
}

class StageTimes {
 public:
  StageTimes(const models::ModelPart& part, const models::Problem& problem, const Settings& settings,
             const Ranks& ranks, std::int64_t rows, const training::ParameterPasses& passes)
      : part_(part),
        layers_(part.layers(problem)),
        ranks_(ranks),
        work_(layers_, ranks.device, settings.training.precision, ranks.speed_flops_per_s, settings.training.recompute,
              !part.has_loss(), passes),
        rows_(rows),
        number_bytes_(settings.training.number_bytes().wire),
        recomputes_(settings.training.recompute == training::Recompute::full),
        tensor_first_(settings.parallel.order.front() == "tensor") {}

  PieceTimes of(std::size_t chunk) const {
    const models::PlacedChunk& placed = part_.chunks()[chunk];
    PieceTimes times{.forward = 0.0, .input_backward = 0.0, .weight_backward = 0.0};
    for (const models::Segment& segment : placed.segments) {
      const std::size_t first = placed.first_layer + segment.first_layer;
      for (std::size_t layer = first; layer < first + segment.layers; ++layer) {
        const double weights = work_.weights(layer, rows_);
        times.forward += work_.forward(layer, rows_) / ranks_.speed_flops_per_s;
        times.input_backward += (work_.backward(layer, rows_) - weights) / ranks_.speed_flops_per_s;
        times.weight_backward += weights / ranks_.speed_flops_per_s;
      }
      times.forward += exchanges_s(segment.forward, placed.chunk.tensor);
      times.input_backward += exchanges_s(segment.backward, placed.chunk.tensor);
      if (repeats(first, segment.layers)) times.input_backward += exchanges_s(segment.forward, placed.chunk.tensor);
    }
    return times;
  }

 private:
  /// Whether the backward pass goes through the segment forward again.
  bool repeats(std::size_t first, std::size_t count) const {
    const std::span<const models::Layer> layers = std::span(layers_).subspan(first, count);
    return recomputes_ && (!part_.has_loss() || layers.front().unit != layers_.back().unit) &&
           std::ranges::any_of(layers, [](const models::Layer& layer) { return layer.forward_flops > 0.0; });
  }

  /// A lower bound on the exchanges for which the ranks that share products wait.
  double exchanges_s(const std::vector<Step>& steps, int members) const {
    if (members == 1 || !(ranks_.bandwidth_bytes_per_s > 0.0)) return 0.0;
    const double others = members - 1.0;
    double numbers = 0.0;
    for (const Step& step : steps) {
      if (step.among != models::Among::tensor || step.beside > 0.0 || step.again) continue;
      // Messages have whole numbers.
      const double rounding = 0.5 * static_cast<double>(step.assumed.size()) / static_cast<double>(rows_);
      if (step.then == Step::Then::sum) numbers += 2.0 * others / members * (step.fewest_assumed() - rounding);
      if (step.then == Step::Then::sum_shard) numbers += others / members * step.numbers;
      if (step.then == Step::Then::gather) numbers += others * step.numbers;
    }
    const bool in_hosts = tensor_first_ && ranks_.a_host % members == 0;
    const bool both_ways = ranks_.nics > 1 && !in_hosts;  // several rings use both links of a rank
    const double bandwidth = ranks_.bandwidth_bytes_per_s + (both_ways ? ranks_.between_hosts_bytes_per_s : 0.0);
    return numbers * static_cast<double>(rows_) * number_bytes_ / bandwidth;
  }

  const models::ModelPart& part_;
  std::vector<models::Layer> layers_;
  const Ranks& ranks_;
  training::RankWork work_;
  std::int64_t rows_;
  double number_bytes_;
  bool recomputes_;
  bool tensor_first_;
};

/// The bytes of parameters that a rank of the stage gathers in a step where it holds a shard of its part, over the link
/// that the ring of those with this part cannot do without.
class Gathers {
 public:
  Gathers(const RunPlan& run, const strategies::Traits& traits, const Ranks& ranks)
      : parallel_(run.settings->parallel),
        mesh_(parallel_.mesh(run.workers)),
        group_(mesh_.group(0, parallel_.workers_along(traits))),
        number_bytes_(run.settings->training.number_bytes().wire),
        ranks_(ranks),
        once_(run.options.contains("reshard_after_forward") && run.options.at("reshard_after_forward") == false),
        there_(traits.gathers_units && traits.meets == cluster::Meets::in_rings && ranks.bandwidth_bytes_per_s > 0.0 &&
               group_.size() > 1) {}

  double seconds(const models::ModelPart& part, const models::Problem& problem,
                 const std::vector<strategies::PipelineTask>& tasks) const {
    if (!there_) return 0.0;
    const std::vector<models::Layer> layers = part.layers(problem);
    const strategies::PartUnits units(part, layers);
    const training::UnitVisits visits = units.visits(tasks);
    double numbers = 0.0;
    for (std::size_t visit = 0; visit < visits.count(); ++visit)
      if (!once_ || visits.first(visit)) numbers += static_cast<double>(visits.gathered(visit, !once_, units.all()));
    const auto members = static_cast<double>(group_.size());
    const double bandwidth = std::cmp_equal(in_first_host(), group_.size())
                                 ? ranks_.bandwidth_bytes_per_s
                                 : ranks_.between_hosts_bytes_per_s * static_cast<double>(rings());
    return (members - 1.0) / members * numbers * number_bytes_ / bandwidth;
  }

 private:
  /// The ranks of the first host that have the first rank's part.
  std::int64_t in_first_host() const {
    return std::ranges::count_if(group_, [&](int rank) { return rank / ranks_.a_host == 0; });
  }
  /// At most: each of them leaves the host by another NIC.
  std::int64_t rings() const { return std::min(ranks_.nics, in_first_host()); }

  const Parallel& parallel_;
  training::Mesh mesh_;
  std::vector<int> group_;  ///< the ranks that hold the first one's part
  double number_bytes_;
  const Ranks& ranks_;
  bool once_;
  bool there_;
};

/// Rows of a micro-batch on a rank; 0: no number of whole rows.
std::int64_t micro_batch_rows(const RunPlan& run, std::int64_t batch) {
  const Parallel& parallel = run.settings->parallel;
  const std::int64_t replicas = run.workers / parallel.ranks_a_replica();
  const std::int64_t micro_batches = replicas * parallel.expert * parallel.micro_batch_count();
  return batch % micro_batches == 0 ? batch / micro_batches : 0;
}

}  // namespace

double mesh_step_s(const RunPlan& run, std::size_t strategy, std::int64_t batch, const models::Model& model,
                   const models::Problem& problem) {
  const Settings& settings = *run.settings;
  const Parallel& parallel = settings.parallel;
  const bool searched = parallel.balance == strategies::Balance::memory && parallel.stages.empty();
  if (!parallel.cuts() || parallel.schedule->asynchronous()) return 0.0;
  if (searched && parallel.pipeline > 1) return 0.0;
  const std::optional<Ranks> ranks = ranks_of(settings);
  const std::int64_t rows = micro_batch_rows(run, batch);
  const strategies::Traits traits =
      strategies::traits_on_mesh(*settings.strategies[strategy].strategy, parallel, run.workers);
  if (!ranks || rows == 0) return 0.0;
  const std::vector<models::Layer> layers = model.layers(problem);
  const std::vector<std::vector<models::Chunk>> chunks =
      strategies::chunks_of_parts(parallel, strategies::firsts_of_pieces(parallel, layers));
  const strategies::PipelineShape shape = parallel.shape();
  const std::size_t ranks_a_stage = chunks.size() / static_cast<std::size_t>(parallel.pipeline);
  std::vector<PieceTimes> pieces(static_cast<std::size_t>(shape.pieces()));
  const std::shared_ptr<const models::Model> whole(std::shared_ptr<const void>(), &model);
  const strategies::PipelineTable table = strategies::table_of(parallel);
  const Gathers gathers(run, traits, *ranks);
  training::ParameterPasses passes =
      training::parameter_passes(settings.training.number_bytes(), traits.main_gradients, false);
  passes.casts = passes.casts_again = traits.gathers_units ? 1.0 : 0.0;
  double gathers_s = 0.0;
  for (int stage = 0; stage < shape.stages; ++stage) {
    const models::ModelPart part(whole, problem, chunks[static_cast<std::size_t>(stage) * ranks_a_stage],
                                 layers.back().unit + 1);
    gathers_s = std::max(gathers_s, gathers.seconds(part, problem, table[static_cast<std::size_t>(stage)]));
    const StageTimes times(part, problem, settings, *ranks, rows, passes);
    for (int chunk = 0; chunk < shape.chunks; ++chunk)
      pieces[static_cast<std::size_t>(shape.piece(stage, chunk))] = times.of(static_cast<std::size_t>(chunk));
  }
  const strategies::TimedTable times = strategies::timed(table, shape, pieces);
  return std::max(gathers_s, times.tasks.front().back().end - times.tasks.front().front().start);
}

}  // namespace simgrad::experiment
