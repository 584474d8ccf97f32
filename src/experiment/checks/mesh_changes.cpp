#include "experiment/checks/mesh_changes.h"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "outputs/text/number_text.h"
#include "strategies/parallel/stages.h"
#include "strategies/parallel/uneven_batch.h"
#include "strategies/replicas/allreduce.h"
#include "strategies/sharded/zero.h"
#include "training/learning/units.h"

namespace simgrad::experiment {

using strategies::OnMesh;
using strategies::Parallel;
using training::MemoryTerms;
using training::Recompute;

namespace {

class MeshSearch {
 public:
  MeshSearch(const OnMesh& strategy, const MemoryTerms& terms, double limit_bytes)
      : strategy_(strategy), terms_(terms), limit_bytes_(limit_bytes) {}

  std::vector<std::string> all() {
    recompute();
    doubled(
        "parallel.micro_batches",
        [](Parallel& to, std::int64_t times) { to.micro_batches = times * to.micro_batch_count(); },
        [](const Parallel& parallel) { return parallel.micro_batch_count(); });
    if (strategy_.parallel().stages.empty())
      doubled(
          "parallel.pipeline",
          [](Parallel& to, std::int64_t times) {
            to.micro_batches = to.micro_batch_count();
            to.pipeline *= times;
          },
          [](const Parallel& parallel) { return parallel.pipeline; });
    doubled(
        "parallel.tensor", [](Parallel& to, std::int64_t times) { to.tensor *= times; },
        [](const Parallel& parallel) { return parallel.tensor; });
    sequence_parallel();
    balanced();
    scheduled();
    sharded();
    return std::move(found_);
  }

 private:
  bool fits(const OnMesh& changed, const MemoryTerms& terms, const std::string& text) {
    const double bytes = changed.memory(terms).sum();
    if (bytes > limit_bytes_) return false;
    found_.push_back(fmt::format("{} ({})", text, outputs::byte_count(bytes)));
    return true;
  }

  /// Whether the model and the batch can be cut so.
  bool possible(const Parallel& parallel) const {
    const bool divides = terms_.workers % parallel.ranks_a_replica() == 0;
    const bool as_many = parallel.ranks_a_replica() == strategy_.parallel().ranks_a_replica();
    if (!(parallel.by_stages() ? as_many : divides)) return false;
    const auto count = static_cast<std::int64_t>(training::units_of(terms_.layers).size());
    const std::int64_t replicas = parallel.shares_of_batch(terms_.workers);
    return terms_.model->cut()->refusal(*terms_.problem, parallel.shares()).empty() &&
           strategies::stages_refusal(parallel, count).empty() &&
           strategies::uneven_batch(terms_.batch, replicas, parallel).empty() &&
           (parallel.pipeline == 1 || parallel.schedule->refusal(parallel.shape()).empty());
  }

  void recompute() {
    for (const Recompute value : {Recompute::selective, Recompute::full}) {
      MemoryTerms terms = terms_;
      terms.recompute = value;
      const char* const name = value == Recompute::full ? "full" : "selective";
      if (value > terms_.recompute && fits(strategy_, terms, fmt::format("training.recompute = \"{}\"", name))) return;
    }
  }

  void doubled(const char* key, const std::function<void(Parallel&, std::int64_t times)>& change,
               const std::function<std::int64_t(const Parallel&)>& value) {
    constexpr std::int64_t times_most = 1024;
    for (std::int64_t times = 2; times <= times_most; times *= 2) {
      Parallel parallel = strategy_.parallel();
      change(parallel, times);
      if (!possible(parallel)) continue;
      if (fits(OnMesh(strategy_.strategy(), parallel), terms_, fmt::format("{} = {}", key, value(parallel)))) return;
    }
  }

  void sequence_parallel() {
    Parallel parallel = strategy_.parallel();
    if (parallel.tensor == 1 || std::exchange(parallel.sequence_parallel, true) || !possible(parallel)) return;
    fits(OnMesh(strategy_.strategy(), parallel), terms_, "parallel.sequence_parallel = true");
  }

  void balanced() {
    Parallel parallel = strategy_.parallel();
    if (parallel.pipeline == 1 || !parallel.stages.empty() || parallel.balance == strategies::Balance::memory ||
        parallel.shares_by_speed())
      return;
    parallel.balance = strategies::Balance::memory;
    fits(OnMesh(strategy_.strategy(), parallel), terms_, "parallel.balance = \"memory\"");
  }

  void scheduled() {
    Parallel parallel = strategy_.parallel();
    if (parallel.pipeline == 1 || parallel.schedule.kind() == "1f1b" || parallel.schedule->asynchronous()) return;
    parallel.schedule.choose("1f1b");
    parallel.chunks = 1;
    if (!parallel.stages.empty() || !possible(parallel)) return;
    fits(OnMesh(strategy_.strategy(), parallel), terms_,
         strategy_.parallel().chunks > 1 ? "parallel.schedule = \"1f1b\" with chunks = 1"
                                         : "parallel.schedule = \"1f1b\"");
  }

  void sharded() {
    if (!dynamic_cast<const strategies::Allreduce*>(strategy_.strategy().get())) return;
    if (strategy_.parallel().by_stages()) return;
    const auto zero = std::make_shared<strategies::Zero>();
    if (strategies::workers_on_mesh(*zero, strategy_.parallel(), terms_.workers) == 1) return;
    fits(OnMesh(zero, strategy_.parallel()), terms_, "zero(stage=1)");
  }

  const OnMesh& strategy_;
  const MemoryTerms& terms_;
  double limit_bytes_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> mesh_changes_that_fit(const OnMesh& strategy, const MemoryTerms& terms, double limit_bytes) {
  return MeshSearch(strategy, terms, limit_bytes).all();
}

}  // namespace simgrad::experiment
