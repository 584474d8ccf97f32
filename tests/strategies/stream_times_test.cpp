// Times of asynchronous pipelines, whose stages work on a stream of micro-batches without an end of the step.
#include "strategies/equal_layers.h"
#include "strategies/mesh_trial.h"

namespace stream_times_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

constexpr double forward_s = 20.0 * alpha, back_s = 40.0 * alpha;  // of a layer on the first stage
constexpr double slowness = 0.1;                                   // of the first stage beside the others

MeshTrial stream(std::string_view schedule, int stages, std::int64_t micro_batches, std::int64_t updates) {
  auto model = std::make_shared<EqualLayers>();
  model->count = stages;
  model->forward_s = slowness * forward_s;
  model->inputs_s = model->weights_s = slowness * back_s / 2.0;
  MeshTrial trial{.model = model, .problem = *model->own_problem(), .strategy = {}};
  trial.parallel.pipeline = trial.workers = stages;
  trial.parallel.micro_batches = micro_batches;
  trial.parallel.schedule.choose(schedule);
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.rows = trial.batch = micro_batches;
  trial.steps = updates;
  trial.training.numbers = false;
  trial.cluster.charge_reductions = false;
  trial.cluster.relative_speeds = {slowness};
  return trial;
}

}  // namespace

TEST_CASE("a slow first stage of an asynchronous pipeline never waits for gradients, which come beside its passes") {
  for (const int stages : {2, 3}) {
    // A gradient is there before the first stage has done its next forward passes: all other stages and hops in between
    // take less.
    REQUIRE((stages - 1) * (slowness * (forward_s + back_s) + 2.0 * alpha) < (stages - 1) * forward_s);
    for (const auto& [schedule, micro_batches] : {std::pair("pipedream", 1), std::pair("pipedream_2bw", 4)}) {
      CAPTURE(stages, schedule);
      const int updates = 5;
      const record::Record record = stream(schedule, stages, micro_batches, updates).run().record;
      REQUIRE(record.error.empty());
      // An update of one parameter takes next to no time.
      CHECK(record.simulated_s == Approx(updates * micro_batches * (forward_s + back_s)).epsilon(1e-5));
    }
  }
}

}  // namespace stream_times_test
