#include "strategies/micro_batches.h"

#include <fmt/format.h>

#include "strategies/circumstances.h"
#include "training/worker.h"

namespace simgrad::strategies {

namespace {

constexpr const char* one_micro_batch =
    "no_sync leaves out the sums of all micro-batches but the last, and there is one; set micro_batches to 2 or more, "
    "or leave no_sync out";
constexpr const char* one_of_its_own =
    "no_sync leaves out the sums of all micro-batches but the last, and there is one; set micro_batches to 2 or more, "
    "or leave no_sync out, as on a mesh, where the gradients of all micro-batches are summed once in any case";

}  // namespace

void describe_micro_batches(base::Describer& d, std::int64_t& micro_batches, bool& no_sync, bool by_units) {
  d.integer("micro_batches", micro_batches,
            "the number of parts into which a worker's rows of a step are divided; their gradients are added up before "
            "the update (gradient accumulation), and only the activations of one part are in memory at a time; on a "
            "mesh, parallel.micro_batches gives this number instead",
            base::Bounds::between(1, 1e6));
  d.flag("no_sync", no_sync,
         by_units ? "whether the gradients of all micro-batches, also of those of a mesh ([parallel]), are added up on "
                    "their worker and only the sum is reduced, as PyTorch's pipeline stages do; false: the gradient of "
                    "every micro-batch is reduced, unit by unit"
                  : "whether the gradients of all micro-batches are added up on their worker and only the sum is "
                    "reduced; false: the gradient of every micro-batch is reduced");
  if (no_sync && micro_batches == 1 && !by_units) d.refuse("no_sync", one_of_its_own);
}

std::optional<Refusal> no_sync_refusal(std::int64_t micro_batches, bool no_sync, const Circumstances& circumstances) {
  if (!no_sync || micro_batches > 1 || circumstances.micro_batches_of_mesh > 1) return {};
  return Refusal{"no_sync", one_micro_batch};
}

std::optional<Refusal> micro_batches_refusal(std::int64_t micro_batches, const Circumstances& circumstances) {
  const std::int64_t batch = circumstances.batch, replicas = circumstances.replicas;
  const std::int64_t rows = batch / replicas + (batch % replicas == 0 ? 0 : 1);  // of the worker that has most
  if (micro_batches <= rows) return {};
  return Refusal{"micro_batches",
                 fmt::format("{} micro-batches of the {} row{} that a worker has in a step; expected at "
                             "most as many, or a larger training.batch_size",
                             micro_batches, rows, rows == 1 ? "" : "s")};
}

std::vector<training::MicroBatch> micro_batches_of(std::int64_t micro_batches) {
  std::vector<training::MicroBatch> all;
  for (int part = 0; part < micro_batches; ++part) all.push_back({part, static_cast<int>(micro_batches)});
  return all;
}

void accumulate(const Worker& worker, Tensor& sum, const Tensor& x) {
  if (sum) worker.charge(static_cast<double>(x.size()));
  sum = sum ? sum + x : x;
}

void accumulate_own(const Worker& worker, Tensor& sum, const Tensor& x) {
  if (!worker.passes_add_up()) return accumulate(worker, sum, x);
  sum = sum ? sum + x : x;
}

}  // namespace simgrad::strategies
