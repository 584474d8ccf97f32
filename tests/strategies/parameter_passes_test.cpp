// The passes over a device's memory for parameters: gradients that are added up, and casts to float8.
#include <algorithm>

#include "models/model_part.h"
#include "models/transformer_shape.h"
#include "strategies/fragile.h"
#include "strategies/layer_of.h"
#include "strategies/mesh_trial.h"
#include "strategies/sharded/fsdp.h"
#include "strategies/sharded/zero.h"
#include "training/learning/layer_times.h"

namespace parameter_passes_test {

using namespace simgrad;
using namespace simgrad::tests;
using models::Layer;
using models::Product;
using record::TimePart;
using training::GradientPrecision;
using training::LayerTimes;
using training::MainGradients;
using training::Precision;

namespace {

constexpr double exact = 1e-9;
constexpr double memory_B = 1e10;

/// Peaks so low that no product of these tests is bound by memory.
cluster::Device slow_device() {
  cluster::Device made;
  made.float32_flops_per_s = 1e8;
  made.bfloat16_flops_per_s = made.float16_flops_per_s = 1e8;
  made.float8_flops_per_s = 2e8;
  made.memory_bytes = 1e10;
  made.memory_bandwidth_bytes_per_s = memory_B;
  made.efficiency = 0.5;
  return made;
}

template <class Run>
void put_on_devices(Run& trial, Precision precision) {
  trial.cluster.device = base::Slot<cluster::Device>(cluster::devices(), "custom");
  static_cast<cluster::Device&>(*trial.cluster.device.object()) = slow_device();
  trial.training.precision = precision;
}

training::ParameterPasses passes_in(Precision precision, GradientPrecision gradients, MainGradients main, bool adds) {
  return parameter_passes(training::number_bytes(precision, training::Wire::as_precision, gradients), main, adds);
}

/// The time that a rank computes gradients.
double gradient_s(const record::Record& record, std::size_t rank) {
  return record.ranks[rank].parts[TimePart::compute_gradient];
}

}  // namespace

// D. Narayanan et al., 2021; Megatron-LM's fused wgrad_gemm_accum_fp32: main_grad is read and written, 4 bytes each.
TEST_CASE("a backward pass reads and writes four bytes of main_grad a parameter: in products, or behind the pass") {
  cluster::Device device = slow_device();
  const auto main_grad = passes_in(Precision::bfloat16, GradientPrecision::framework, MainGradients::by_default, false);
  const LayerTimes plain(device, Precision::bfloat16), added(device, Precision::bfloat16, main_grad);
  Layer layer = layer_of({.m = 16, .n = 1000, .k = 2000});
  const double N = 1000.0 * 2000.0;
  CHECK(added.forward_s(layer, 64) == plain.forward_s(layer, 64));
  // The epilogue of a product that its flops bound takes no time.
  CHECK(added.backward_s(layer, 64) == plain.backward_s(layer, 64));
  // Biases have no product. An embedding has none, either.
  Layer biased = layer;
  biased.count += 1000;
  const Layer embedding{.count = 5000, .elementwise = 10.0};
  for (const auto& [its_layer, outside] : {std::pair(biased, 1000.0), std::pair(embedding, 5000.0)}) {
    CHECK(added.backward_s(its_layer, 64) - plain.backward_s(its_layer, 64) ==
          Approx(8 * outside / memory_B).epsilon(1e-6));
    CHECK(added.weights_s(its_layer, 64) - plain.weights_s(its_layer, 64) ==
          Approx(8 * outside / memory_B).epsilon(1e-6));
    CHECK(added.backward_by_kind(its_layer, 64).elementwise - plain.backward_by_kind(its_layer, 64).elementwise ==
          Approx(8 * outside / memory_B).epsilon(1e-6));
    CHECK(added.backward_by_kind(its_layer, 64).sum() == Approx(added.backward_s(its_layer, 64)).epsilon(1e-12));
    CHECK(added.backward_s(its_layer, 0) == 0.0);
  }
  // A tied head adds to the embedding's matrix in its product.
  Layer tied = layer;
  tied.tied = tied.count;
  tied.count = 0;
  CHECK(added.backward_s(tied, 64) == plain.backward_s(tied, 64));
  // One row: the product by (m x k) and (m x n) in two bytes each is bound by memory; it reads and writes main_grad.
  device.bfloat16_flops_per_s = 1e15;
  layer.backward_flops = layer.forward_flops;
  layer.products.front().m = 1;
  CHECK(LayerTimes(device, Precision::bfloat16, main_grad).backward_s(layer, 1) ==
        Approx((2 * (1000 + 2000) + 8 * N) / memory_B).epsilon(exact));
}

TEST_CASE("where no buffer is, later micro-batches read two gradients and write one") {
  const cluster::Device device = slow_device();
  const Layer layer = layer_of({.m = 16, .n = 1000, .k = 2000});
  for (const auto& [precision, bytes] : {std::pair(Precision::float32, 4.0), std::pair(Precision::bfloat16, 2.0)})
    for (const MainGradients main : {MainGradients::never, MainGradients::on_demand}) {
      const LayerTimes first(device, precision, passes_in(precision, GradientPrecision::framework, main, false)),
          later(device, precision, passes_in(precision, GradientPrecision::framework, main, true));
      CHECK(first.backward_s(layer, 8) == LayerTimes(device, precision).backward_s(layer, 8));
      CHECK(later.backward_s(layer, 8) - first.backward_s(layer, 8) ==
            Approx(3 * bytes * 2e6 / memory_B).epsilon(exact));
    }
}

TEST_CASE("measured layers take their seconds alone, whatever is added") {
  Layer measured = layer_of({.m = 16, .n = 1000, .k = 2000});
  measured.forward_s = 0.25;
  measured.backward_s = 0.5;
  const cluster::Device device = slow_device();
  const LayerTimes times(device, Precision::bfloat16,
                         passes_in(Precision::bfloat16, GradientPrecision::float32, MainGradients::by_default, true));
  CHECK(times.backward_s(measured, 4) == 2.0);
  CHECK(times.weights_s(measured, 4) == 1.0);
}

// NVIDIA, Transformer Engine: fp8_cast_transpose reads two bytes, and writes one for each of two products.
TEST_CASE("in float8 parameters are cast once a step, and a head multiplies in bfloat16") {
  const cluster::Device device = slow_device();
  const Layer layer = layer_of({.m = 16, .n = 1000, .k = 2000});
  const LayerTimes first(device, Precision::float8), later(device, Precision::float8, {.casts = 0.0});
  CHECK(first.forward_s(layer, 64) - later.forward_s(layer, 64) == Approx(4 * 2e6 / memory_B).epsilon(exact));
  CHECK(first.backward_s(layer, 64) == later.backward_s(layer, 64));
  const LayerTimes half(device, Precision::bfloat16);
  const Layer head = layer_of({.m = 16, .n = 1000, .k = 2000, .half = true});
  CHECK(first.forward_s(head, 64) == half.forward_s(head, 64));
  CHECK(first.backward_s(head, 64) == half.backward_s(head, 64));
  CHECK(first.weights_s(head, 64) == half.weights_s(head, 64));
}

TEST_CASE("products of transformers in float8 are those of the blocks, but for routers") {
  models::TransformerShape shape;
  shape.layers = 2;
  shape.hidden = shape.feed_forward = 16;
  shape.heads = shape.kv_heads = 2;
  shape.sequence = 8;
  shape.vocabulary = 12;
  shape.experts = 4;
  shape.expert_every = 2;
  std::vector<std::string> half;
  for (const Layer& layer : models::layers(shape))
    if (std::ranges::any_of(layer.products, &Product::half)) half.push_back(layer.name);
  CHECK(half == std::vector<std::string>{"block 2: router", "head"});
}

// S. Bekman, Machine Learning Engineering: the largest product reaches 1402.6 of 1979 TF, and 794.5 of 989 TF.
TEST_CASE("large products in float8 reach their own share of the peak") {
  const auto h100 = cluster::devices().find("h100")->make(), b200 = cluster::devices().find("b200")->make();
  CHECK(*h100->float8_efficiency == Approx(*h100->efficiency * (1402.6 / 1979.0) / (794.5 / 989.0)).epsilon(1e-4));
  CHECK(*b200->float8_efficiency == Approx(*b200->efficiency * (3432.5 / 4500.0) / (1745.0 / 2250.0)).epsilon(1e-4));
  cluster::Device device = slow_device();
  const Layer layer = layer_of({.m = 16, .n = 1000, .k = 2000});
  const double casts_s = (64 * 16 * 2000 + 2e6) * 4 / memory_B;
  const double before = LayerTimes(device, Precision::float8).forward_s(layer, 64) - casts_s;
  device.float8_efficiency = 0.4;  // of an efficiency of 0.5
  CHECK(LayerTimes(device, Precision::float8).forward_s(layer, 64) - casts_s == Approx(before / 0.8).epsilon(exact));
  CHECK(LayerTimes(device, Precision::bfloat16).forward_s(layer, 64) ==
        LayerTimes(slow_device(), Precision::bfloat16).forward_s(layer, 64));
  CHECK(LayerTimes(device, Precision::float8).flops_s(1e8) == Approx(1e8 / (0.4 * 2e8)).epsilon(exact));
}

// V. Korthikanti et al., 2022, Table 4: with sequence parallelism the forward pass of a layer of 22B takes 7.2 ms in
// place of 7.7 ms, since what is outside of products is no longer done by each of eight tensor ranks.
TEST_CASE("tensor ranks without sequence parallelism do all norms, residual sums and dropouts") {
  models::TransformerShape shape;
  shape.layers = 1;
  shape.hidden = 6144;
  shape.feed_forward = 4 * 6144;
  shape.heads = shape.kv_heads = 64;
  shape.sequence = 2048;
  shape.vocabulary = 51200;
  shape.dropout = true;
  const auto a100 = cluster::devices().find("a100_80gb")->make();
  const LayerTimes times(*a100, Precision::bfloat16);
  const auto block_s = [&](bool sequence_parallel, bool backward) {
    double sum = 0.0;
    for (const Layer& layer :
         models::layers(shape, {.first_unit = 1, .end_unit = 2, .tensor = 8, .sequence_parallel = sequence_parallel}))
      sum += backward ? times.backward_s(layer, 4) : times.forward_s(layer, 4);
    return sum;
  };
  // Two norms (2 s h), two residual sums (3 s h) and their dropouts (2 s h), of which seven eighths are left out.
  const double outside_s = 14.0 * 4 * 2048 * 6144 * 2 / 2039e9;
  const double longer_s = block_s(false, false) - block_s(true, false);
  CHECK(longer_s == Approx(7.0 / 8 * outside_s).epsilon(exact));
  CHECK(block_s(false, true) - block_s(true, true) == Approx(1.5 * longer_s).epsilon(exact));
  CHECK(std::abs(longer_s - 0.5e-3) < 0.125e-3);
}

TEST_CASE("a step of replicas adds every micro-batch to main_grad in its backward pass, and else all but the first") {
  constexpr int micro_batches = 4, d = 8;
  const auto step_s = [&](GradientPrecision gradients, bool no_sync) {
    auto strategy = around_a_ring<strategies::Allreduce>();
    strategy->bucket_bytes = {};
    strategy->micro_batches = micro_batches;
    strategy->no_sync = no_sync;
    Trial trial{.program = strategies::program(strategy), .workers = 2, .rows = 48, .features = d};
    put_on_devices(trial, Precision::bfloat16);
    trial.training.gradient_precision = gradients;
    trial.stop.steps = 3;
    return trial.run().record.simulated_s / 3;
  };
  // The product that makes the gradient of a linear model is bound by its flops.
  const double added_s = 0.0, plain_s = (micro_batches - 1) * 6.0 * d / memory_B;
  CHECK(step_s(GradientPrecision::float32, true) - step_s(GradientPrecision::as_made, true) ==
        Approx(added_s - plain_s).epsilon(1e-6));
  // The sums over the ranks are added up in both cases.
  CHECK(step_s(GradientPrecision::float32, false) - step_s(GradientPrecision::as_made, false) ==
        Approx(added_s).epsilon(1e-6));
}

namespace {

struct Case {
  const char* name;
  int tensor = 1, pipeline = 1, micro_batches = 4;
  bool sequence_parallel = false;
  const char* schedule = "1f1b";
};

MeshTrial on_mesh_of(const Case& test_case, Precision precision, GradientPrecision gradients, bool numbers) {
  MeshTrial trial = transformer_trial(4, false);
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.parallel.tensor = test_case.tensor;
  trial.parallel.pipeline = test_case.pipeline;
  trial.parallel.micro_batches = test_case.micro_batches;
  trial.parallel.sequence_parallel = test_case.sequence_parallel;
  trial.parallel.schedule.choose(test_case.schedule);
  trial.workers = test_case.tensor * test_case.pipeline;
  put_on_devices(trial, precision);
  trial.training.gradient_precision = gradients;
  trial.training.numbers = numbers;
  if (!numbers) trial.data = {};
  return trial;
}

struct Parameters {
  double all = 0.0;
  double outside = 0.0;  ///< of products
};

/// The parameters of each rank.
std::vector<Parameters> parameters_of_ranks(const MeshTrial& trial) {
  const auto cuts = strategies::on_mesh(trial.strategy, trial.parallel)->traits(trial.workers).cuts;
  training::MemoryTerms terms = memory_terms(trial);
  std::vector<Parameters> all;
  for (const auto& chunks : cuts(terms).chunks) {
    const models::ModelPart part(trial.model, trial.problem, chunks, terms.layers.back().unit + 1);
    Parameters sum;
    for (const Layer& layer : part.layers(trial.problem)) {
      sum.all += static_cast<double>(layer.count);
      sum.outside += static_cast<double>(layer.count);
      for (const Product& product : layer.products)
        if (product.parameters) sum.outside -= product.count * product.n * product.k;
    }
    all.push_back(sum);
  }
  return all;
}

}  // namespace

TEST_CASE("on each mesh, network and precision a rank's passes add up its parameters, in products and behind them") {
  for (const Case& test_case :
       {Case{.name = "tensor", .tensor = 2}, Case{.name = "sequence", .tensor = 2, .sequence_parallel = true},
        Case{.name = "1f1b", .pipeline = 2}, Case{.name = "zb_h1", .pipeline = 2, .schedule = "zb_h1"},
        Case{.name = "both", .tensor = 2, .pipeline = 2}})
    for (const auto network : {cluster::NetworkModel::ideal, cluster::NetworkModel::tcp})
      for (const Precision precision : {Precision::bfloat16, Precision::float8, Precision::float16}) {
        if (network == cluster::NetworkModel::tcp && precision != Precision::bfloat16) continue;
        CAPTURE(test_case.name, static_cast<int>(network), static_cast<int>(precision));
        const auto run = [&](GradientPrecision gradients, bool numbers) {
          MeshTrial trial = on_mesh_of(test_case, precision, gradients, numbers);
          trial.cluster.network_model = network;
          return trial.run().record;
        };
        const record::Record added = run(GradientPrecision::float32, true),
                             plain = run(GradientPrecision::as_made, true);
        const double of_main = 8.0 * test_case.micro_batches, of_plain = 6.0 * (test_case.micro_batches - 1);
        const auto parameters = parameters_of_ranks(on_mesh_of(test_case, precision, GradientPrecision::float32, true));
        REQUIRE(parameters.size() == added.ranks.size());
        for (std::size_t rank = 0; rank < parameters.size(); ++rank)
          CHECK(gradient_s(added, rank) - gradient_s(plain, rank) ==
                Approx(3 * (of_main * parameters[rank].outside - of_plain * parameters[rank].all) / memory_B)
                    .epsilon(1e-6));
        if (test_case.tensor * test_case.pipeline == 2)  // else hops meet sums, which times alone leave out
          CHECK(run(GradientPrecision::float32, false).simulated_s == Approx(added.simulated_s).epsilon(1e-12));
        // The default is float32 beside bfloat16.
        const auto& default_s = run(GradientPrecision::framework, true).simulated_s;
        CHECK(default_s == (precision == Precision::float16 ? plain : added).simulated_s);
      }
}

TEST_CASE("a crash costs the steps that are lost, as long as their gradients take") {
  for (const GradientPrecision gradients : {GradientPrecision::float32, GradientPrecision::as_made}) {
    MeshTrial trial = on_mesh_of({.name = "both", .tensor = 2, .pipeline = 2}, Precision::bfloat16, gradients, true);
    trial.steps = 8;
    trial.training.checkpoint_every_steps = 2;
    trial.cluster.failures.detection_s = 0.0;
    const double whole_s = trial.run().record.simulated_s, step_s = whole_s / 8;
    trial.cluster.failures.crashes = {crash(1, 3.5 * step_s)};
    trial.cluster.failures.recovery = Recovery::restart;
    CHECK(trial.run().record.simulated_s == Approx(3.5 * step_s + repair_s + 6 * step_s).epsilon(1e-6));
  }
}

TEST_CASE("passes that gather their parameters, and asked for no buffer, add nothing") {
  auto shards = std::make_shared<strategies::Fsdp>();
  auto stage1 = std::make_shared<strategies::Zero>();
  stage1->bucket_bytes = {};
  const auto gradients_s = [&](std::shared_ptr<const strategies::Strategy> strategy, GradientPrecision gradients) {
    Trial trial{.program = strategies::program(std::move(strategy)), .workers = 2, .rows = 48, .features = 8};
    put_on_devices(trial, Precision::bfloat16);
    trial.training.gradient_precision = gradients;
    trial.stop.steps = 3;
    return gradient_s(trial.run().record, 0);
  };
  CHECK(gradients_s(shards, GradientPrecision::float32) == gradients_s(shards, GradientPrecision::as_made));
  CHECK(gradients_s(stage1, GradientPrecision::framework) == gradients_s(stage1, GradientPrecision::as_made));
}

}  // namespace parameter_passes_test
