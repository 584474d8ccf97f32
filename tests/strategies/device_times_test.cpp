// The time of layers on a device: both sides of the roofline, the curve of efficiency, whole steps.
#include "strategies/layer_of.h"
#include "strategies/programs.h"
#include "training/learning/layer_times.h"

namespace device_times_test {

using namespace simgrad;
using namespace simgrad::tests;
using models::Layer;
using models::Product;
using training::LayerTimes;
using training::Precision;

/// Peaks of 1 and 10 Tflop/s, 1 TB/s.
cluster::Device device(double efficiency = 0.5, double half_size = 0.0) {
  cluster::Device made;
  made.float32_flops_per_s = 1e12;
  made.bfloat16_flops_per_s = 1e13;
  made.memory_bytes = 1e10;
  made.memory_bandwidth_bytes_per_s = 1e12;
  made.efficiency = efficiency;
  made.half_size = half_size;
  return made;
}

TEST_CASE("a large product takes its flops over the peak times the efficiency") {
  const cluster::Device test_device = device();
  const LayerTimes times(test_device, Precision::float32);
  // 2 m n k / (0.5 peak), m = 64 rows of 16: 2 * 1024 * 1000 * 2000 / 5e11
  const Layer layer = layer_of({.m = 16, .n = 1000, .k = 2000});
  CHECK(times.forward_s(layer, 64) == Approx(2.0 * 1024 * 1000 * 2000 / 5e11).epsilon(1e-12));
  // two such products backwards; the first layer has one
  CHECK(times.backward_s(layer, 64) == Approx(2.0 * 2.0 * 1024 * 1000 * 2000 / 5e11).epsilon(1e-12));
  Layer first = layer;
  first.backward_flops = first.forward_flops;
  CHECK(times.backward_s(first, 64) == Approx(2.0 * 1024 * 1000 * 2000 / 5e11).epsilon(1e-12));
}

TEST_CASE("a thin product takes its bytes over the memory bandwidth, fewer of them in a format of fewer bytes") {
  const cluster::Device test_device = device();
  const Layer layer = layer_of({.m = 1, .n = 1000, .k = 2000});
  // one row: (2000 + 2000 * 1000 + 1000) numbers of 4 bytes / 1e12
  CHECK(LayerTimes(test_device, Precision::float32).forward_s(layer, 1) == Approx(4.0 * 2003000 / 1e12).epsilon(1e-12));
  CHECK(LayerTimes(test_device, Precision::bfloat16).forward_s(layer, 1) ==
        Approx(2.0 * 2003000 / 1e12).epsilon(1e-12));
}

TEST_CASE("the efficiency is half of the largest where the smallest dimension is the half size") {
  const cluster::Device test_device = device(0.8, 256.0);
  CHECK(test_device.efficiency_of(256.0, 1e13) == Approx(0.4).epsilon(1e-12));
  // the smallest of 4096, 768, 4096: 0.8 * 768 / (768 + 256) = 0.6
  const Layer layer = layer_of({.m = 4096, .n = 768, .k = 4096});
  const double flops = 2.0 * 4096 * 768 * 4096;
  CHECK(LayerTimes(test_device, Precision::bfloat16).forward_s(layer, 1) ==
        Approx(flops / (0.6 * 1e13)).epsilon(1e-12));
  // In float32, whose peak is a tenth, the half size is a tenth, too: what products lose takes as long.
  const double lost_s = flops / (0.8 * 1e13) * 256.0 / 768.0;
  CHECK(LayerTimes(test_device, Precision::float32).forward_s(layer, 1) ==
        Approx(flops / (0.8 * 1e12) + lost_s).epsilon(1e-12));
}

TEST_CASE("products of a sample's own numbers do not grow with the rows, they become more") {
  const cluster::Device test_device = device(0.8, 256.0);
  const LayerTimes times(test_device, Precision::bfloat16);
  Layer attention = layer_of({.m = 512, .n = 512, .k = 128, .count = 12, .parameters = false});
  // 8 rows x 12 products, of efficiency 0.8 * 128 / 384
  const double one_s = 2.0 * 512 * 512 * 128 / (0.8 / 3.0 * 1e13);
  CHECK(times.forward_s(attention, 8) == Approx(96 * one_s).epsilon(1e-12));
  // backwards (512 x 512) by (512 x 128) and (128 x 512) by (512 x 512), of the same smallest dimension
  CHECK(times.backward_s(attention, 8) == Approx(2 * 96 * one_s).epsilon(1e-12));
}

TEST_CASE(
    "a fused attention takes its own efficiency and what its mask leaves, and two and a half times that backwards") {
  cluster::Device test_device = device(0.8, 256.0);
  test_device.attention = 0.4;
  // Queries, keys and values of 512 tokens in 12 heads of 128, under a causal mask: tokens see (1 + 512) / 2 of them.
  const double visible = 0.5 * 513.0 / 512.0;
  for (const double share : {1.0, visible})
    for (const auto& [precision, peak] : {std::pair(Precision::float32, 1e12), std::pair(Precision::bfloat16, 1e13)}) {
      CAPTURE(share, peak);
      const LayerTimes times(test_device, precision);
      Layer scores = layer_of({.m = 512, .n = 512, .k = 128, .count = 12, .parameters = false, .fused = share});
      Layer values = layer_of({.m = 512, .n = 128, .k = 512, .count = 12, .parameters = false, .fused = share});
      const double product_s = share * 2.0 * 512 * 512 * 128 / (0.4 * peak);
      for (const Layer& layer : {scores, values}) {
        CHECK(times.forward_s(layer, 8) == Approx(96 * product_s).epsilon(1e-12));
        CHECK(times.backward_s(layer, 8) == Approx(2.5 * 96 * product_s).epsilon(1e-12));
        CHECK(times.forward_by_kind(layer, 8).attention == Approx(96 * product_s).epsilon(1e-12));
      }
    }
}

TEST_CASE("on a device that says nothing of it, a fused attention is products as all others") {
  const cluster::Device test_device = device(0.8, 256.0);
  const LayerTimes times(test_device, Precision::bfloat16);
  const Layer plain = layer_of({.m = 512, .n = 512, .k = 128, .count = 12, .parameters = false});
  const Layer fused = layer_of({.m = 512, .n = 512, .k = 128, .count = 12, .parameters = false, .fused = 0.5});
  CHECK(times.forward_s(fused, 8) == times.forward_s(plain, 8));
  CHECK(times.backward_s(fused, 8) == times.backward_s(plain, 8));
}

TEST_CASE("a fused attention of few tokens takes the bytes of queries, keys, values and results alone") {
  cluster::Device test_device = device(1.0);
  test_device.memory_bandwidth_bytes_per_s = 1e9;
  test_device.attention = 1.0;
  const LayerTimes times(test_device, Precision::bfloat16);
  const Layer scores = layer_of({.m = 64, .n = 64, .k = 32, .parameters = false, .fused = 1.0});
  CHECK(times.forward_s(scores, 1) == Approx(2.0 * 2 * 64 * 32 / 1e9).epsilon(1e-12));
}

TEST_CASE("float8 is the format of products by parameters, and its casts pass over memory") {
  cluster::Device test_device = device();
  test_device.float8_flops_per_s = 2e13;
  test_device.memory_bandwidth_bytes_per_s = 1e12;
  const LayerTimes times(test_device, Precision::float8);
  const double m = 64 * 16, n = 1000, k = 2000;
  const Layer layer = layer_of({.m = 16, .n = n, .k = k});
  const double product_s = 2.0 * m * n * k / (0.5 * 2e13);
  const double casts_s = (m * k + k * n) * (2 + 1 + 1) / 1e12;  // of rows and parameters
  CHECK(times.forward_s(layer, 64) == Approx(product_s + casts_s).epsilon(1e-12));
  CHECK(times.backward_s(layer, 64) == Approx(2.0 * product_s + m * n * (2 + 1 + 1) / 1e12).epsilon(1e-12));
  test_device.half_size = 500.0;  // that of bfloat16; of a peak twice as high it is 1,000
  CHECK(times.forward_s(layer, 64) == Approx(2.0 * product_s + casts_s).epsilon(1e-12));
  test_device.attention = 0.4;
  for (const double fused : {0.0, 1.0}) {  // in bfloat16
    const Layer attention = layer_of({.m = 512, .n = 512, .k = 512, .parameters = false, .fused = fused});
    CHECK(times.forward_s(attention, 1) == LayerTimes(test_device, Precision::bfloat16).forward_s(attention, 1));
    CHECK(times.backward_s(attention, 1) == LayerTimes(test_device, Precision::bfloat16).backward_s(attention, 1));
  }
}

TEST_CASE("elementwise numbers take their bytes, measured layers their seconds") {
  const cluster::Device test_device = device();
  const LayerTimes times(test_device, Precision::bfloat16);
  const Layer norm{.count = 0, .products = {{.m = 0, .n = 0, .k = 0}}, .elementwise = 1e6};
  CHECK(times.forward_s(norm, 3) == Approx(3e6 * 2 / 1e12).epsilon(1e-12));
  CHECK(times.backward_s(norm, 3) == Approx(1.5 * 3e6 * 2 / 1e12).epsilon(1e-12));
  Layer measured = layer_of({.m = 16, .n = 1000, .k = 2000});
  measured.forward_s = 0.25;
  measured.backward_s = 0.5;
  CHECK(times.forward_s(measured, 4) == 1.0);
  CHECK(times.backward_s(measured, 4) == 2.0);
}

TEST_CASE("the seconds of a layer by kind are those of its products, of its attention and of its bytes") {
  const cluster::Device test_device = device(0.8, 256.0);
  const LayerTimes times(test_device, Precision::bfloat16);
  Layer layer = layer_of({.m = 512, .n = 1024, .k = 1024});
  layer.products.push_back({.m = 512, .n = 512, .k = 128, .count = 12, .parameters = false});
  layer.elementwise = 1e6;
  // 3 rows: products of efficiency 0.8 * 1024 / 1280 and 0.8 * 128 / 384, a million numbers of 2 bytes
  const double product_s = 2.0 * 3 * 512 * 1024 * 1024 / (0.64 * 1e13);
  const double attention_s = 3 * 12 * 2.0 * 512 * 512 * 128 / (0.8 / 3.0 * 1e13), bytes_s = 3 * 1e6 * 2 / 1e12;
  const training::KindTimes forward = times.forward_by_kind(layer, 3), backward = times.backward_by_kind(layer, 3);
  CHECK(forward.products == Approx(product_s).epsilon(1e-12));
  CHECK(forward.attention == Approx(attention_s).epsilon(1e-12));
  CHECK(forward.elementwise == Approx(bytes_s).epsilon(1e-12));
  CHECK(forward.sum() == Approx(times.forward_s(layer, 3)).epsilon(1e-12));
  CHECK(backward.products == Approx(2 * product_s).epsilon(1e-12));
  CHECK(backward.attention == Approx(2 * attention_s).epsilon(1e-12));
  CHECK(backward.elementwise == Approx(1.5 * bytes_s).epsilon(1e-12));
  CHECK(backward.sum() == Approx(times.backward_s(layer, 3)).epsilon(1e-12));
  layer.forward_s = 0.25;
  layer.backward_s = 0.5;
  CHECK(times.forward_by_kind(layer, 4).measured == 1.0);
  CHECK(times.backward_by_kind(layer, 4).sum() == 2.0);
}

TEST_CASE("what selective recomputation computes again takes its products and its bytes, as in the forward pass") {
  const cluster::Device test_device = device(0.8, 256.0);
  const LayerTimes times(test_device, Precision::float32);
  Layer layer = layer_of({.m = 512, .n = 1024, .k = 1024});
  layer.products.push_back({.m = 512, .n = 512, .k = 128, .count = 12, .parameters = false});
  layer.elementwise = 1e6;
  layer.selective_elementwise = 3e5;
  layer.selective_flops = layer.products.back().flops();
  const training::KindTimes again = times.selective_by_kind(layer, 3);
  CHECK(again.products == 0.0);
  CHECK(again.attention == times.forward_by_kind(layer, 3).attention);
  CHECK(again.elementwise == Approx(3 * 3e5 * 4 / 1e12).epsilon(1e-12));
  layer.products.pop_back();  // flops of no known shape
  CHECK(times.selective_by_kind(layer, 3).attention == Approx(3 * layer.selective_flops / 0.8e12).epsilon(1e-12));
}

TEST_CASE("each pass through a layer takes the launch besides, and measured layers do not") {
  cluster::Device test_device = device();
  const Layer layer = layer_of({.m = 16, .n = 1000, .k = 2000}), norm{.count = 0, .elementwise = 1e6};
  const LayerTimes without(test_device, Precision::float32);
  const double forward_s = without.forward_s(layer, 4), backward_s = without.backward_s(layer, 4);
  const double weights_s = without.weights_s(layer, 4), both_s = without.gradient_s(std::vector{layer, norm}, 4);
  test_device.launch_s = 1e-3;
  const LayerTimes times(test_device, Precision::float32);
  CHECK(times.forward_s(layer, 4) == Approx(forward_s + 1e-3).epsilon(1e-12));
  CHECK(times.backward_s(layer, 4) == Approx(backward_s + 1e-3).epsilon(1e-12));
  CHECK(times.forward_by_kind(layer, 4).launches == 1e-3);
  CHECK(times.backward_by_kind(layer, 4).sum() == Approx(backward_s + 1e-3).epsilon(1e-12));
  // half of the backward pass's launch is for the gradients of parameters, of which the norm has none
  CHECK(times.weights_s(layer, 4) == Approx(weights_s + 0.5e-3).epsilon(1e-12));
  CHECK(times.weights_s(norm, 4) == 0.0);
  CHECK(times.gradient_s(std::vector{layer, norm}, 4) == Approx(both_s + 4e-3).epsilon(1e-12));
  CHECK(times.forward_s(layer, 0) == 0.0);
  Layer measured = layer;
  measured.forward_s = 0.25;
  CHECK(times.forward_s(measured, 4) == 1.0);
}

/// 48 rows of 5 features on hosts with the device.
Trial on_devices(training::Program program, int workers) {
  Trial trial{.program = std::move(program), .workers = workers};
  trial.cluster.workers = workers;
  trial.cluster.device = base::Slot<cluster::Device>(cluster::devices(), "custom");
  static_cast<cluster::Device&>(*trial.cluster.device.object()) = device();
  trial.training.precision = Precision::float32;
  trial.stop.steps = 3;
  return trial;
}

/// The passes over so many rows of 5 features, (rows x 5) by (5 x 1) and (5 x rows) by (rows x 1), bound by memory.
double gradient_s(double rows) {
  const double forward = (rows * 5 + 5 + rows) * 4 / 1e12, backward = (5 * rows + rows + 5) * 4 / 1e12;
  return forward + backward;
}
/// sgd reads w and g, and writes w.
constexpr double update_s = 5 * 12 / 1e12;

TEST_CASE("a step on one device takes its products and its update") {
  Trial trial = on_devices(single(), 1);
  const record::Record record = trial.run().record;
  CHECK(record.simulated_s == Approx(3 * (gradient_s(48) + update_s)).epsilon(1e-9));
  // The record counts flops, not seconds: 4 d a row and 2 d an update
  CHECK(*record.curve.back().flops == Approx(3 * (48 * 20 + 10)).epsilon(1e-12));
}

TEST_CASE("a step on four devices takes a quarter of the rows, the ring and the update") {
  for (const cluster::Collectives collectives : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
    Trial trial = on_devices(allreduce("ring"), 4);
    trial.features = 8;  // chunks of two numbers
    trial.cluster.collectives = collectives;
    const record::Record record = trial.run().record;
    const double forward = (12 * 8 + 8 + 12) * 4 / 1e12, backward = forward;
    // 2 (P - 1) messages of a quarter, (P - 1) additions of it that read two numbers and write one
    const double ring = 6 * (alpha + 2 * 4 / B) + 3 * (2 * 12 / 1e12);
    CHECK(record.simulated_s == Approx(3 * (forward + backward + ring + 8 * 12 / 1e12)).epsilon(1e-9));
    CHECK(record.bytes == 3 * 4 * 6 * 2 * 4);
    CHECK(*record.curve.back().flops == Approx(3 * (48 * 32 + 4 * 3 * 2 + 4 * 16)).epsilon(1e-12));
  }
}

TEST_CASE("buckets take the same passes, layer by layer") {
  Trial trial = on_devices(allreduce("ring", 1e9), 1);
  CHECK(trial.run().record.simulated_s == Approx(3 * (gradient_s(48) + update_s)).epsilon(1e-9));
}

TEST_CASE("a slow rank's device is slow") {
  Trial trial = on_devices(single(), 1);
  trial.cluster.relative_speeds = {0.5};
  CHECK(trial.run().record.simulated_s == Approx(2 * 3 * (gradient_s(48) + update_s)).epsilon(1e-9));
}

}  // namespace device_times_test
