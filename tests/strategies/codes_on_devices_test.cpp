// Encoding and decoding on devices: passes over their memory, each of which reads and writes every number once.
//
// 1-bit Adam's steps of BERT-large over InfiniBand are 120 to 141 ms longer than a gradient, on 8 as on 32 V100
// (Microsoft, DeepSpeed with 1-bit Adam, 2020): tests/analysis/published_test.py holds them.
#include <memory>

#include "strategies/compressed.h"
#include "strategies/hosts_of_devices.h"

namespace codes_on_devices_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::CodesWay;

namespace {

constexpr double memory_bytes_per_s = 900e9;  // of the V100
constexpr std::int64_t n = 4 * 250'000;

strategies::Compression with_passes(const Compressor& compressor, std::optional<double> encode,
                                    std::optional<double> decode = {}) {
  strategies::Compression made = compressor.slot();
  auto& chosen = dynamic_cast<training::Compressor&>(*made.object());
  chosen.encode_passes = encode;
  chosen.decode_passes = decode;
  return made;
}

training::Program allreduce(strategies::Compression compression, CodesWay way = CodesWay::gather) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->compression = std::move(compression);
  strategy->codes = way;
  return strategies::program(strategy);
}

struct Case {
  const char* device = "v100_32gb";
  training::Precision precision = training::Precision::float64;
  bool charge = true;
};

/// The time of one step of four ranks.
double step_s(const training::Program& program, const Case& test_case) {
  Trial trial{.program = program, .workers = 4, .rows = 16, .features = n, .flops_a_row = 0.0};
  trial.stop.steps = 1;
  trial.training.numbers = false;
  trial.training.precision = test_case.precision;
  REQUIRE(trial.cluster.device.choose(test_case.device));
  trial.cluster.charge_reductions = test_case.charge;
  const record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record.simulated_s;
}

}  // namespace

TEST_CASE("on a device signs take 16.46 passes over its memory to encode and 5 to decode, and error feedback takes 3") {
  const training::Program program =
      allreduce(Compressor("sign", {.error_feedback = true}).slot(), CodesWay::reduce_scatter);
  for (const auto& [precision, b] :
       {std::pair(training::Precision::float64, 8.0), std::pair(training::Precision::float32, 4.0)}) {
    const double charged =
        step_s(program, {.precision = precision}) - step_s(program, {.precision = precision, .charge = false});
    // A pass is 2 b bytes a number. All is encoded, and a quarter as the sum; a quarter of each rank's codes is
    // decoded, and all sums. Three quarters are added, reading two numbers and writing one, as the update does.
    const double bytes_a_number = 2 * b * (16.46 + 3) * 1.25 + 2 * b * 5 * 2 + 3 * b * 0.75 + 3 * b;
    CHECK(charged == Approx(bytes_a_number * n / memory_bytes_per_s).epsilon(1e-6));
  }
}

TEST_CASE("passes that a scenario gives replace those of the kind, and a host without a device takes the flops") {
  for (const char* const kind : {"float16", "int8", "qsgd", "sign", "top_k", "random_k"}) {
    CAPTURE(kind);
    const Compressor compressor(kind);
    const auto time = [&](double encode, double decode, const Case& test_case = {}) {
      return step_s(allreduce(with_passes(compressor, encode, decode)), test_case);
    };
    // Codes that do not add up are decoded one by one; others as the sum.
    const double codes = std::string(kind) == "float16" || std::string(kind) == "random_k" ? 1.0 : 4.0;
    CHECK(time(10, 1) - time(4, 1) == Approx(6 * 16.0 * n / memory_bytes_per_s).epsilon(1e-6));
    CHECK(time(4, 3) - time(4, 1) == Approx(codes * 2 * 16.0 * n / memory_bytes_per_s).epsilon(1e-6));
    CHECK(time(10, 3, {.device = "none"}) == time(4, 1, {.device = "none"}));
  }
}

TEST_CASE("an operation is a pass where a kind has no passes of its own") {
  const auto equal = [](const Compressor& compressor, double encode, double decode) {
    CAPTURE(compressor.kind);
    CHECK(step_s(allreduce(compressor.slot()), {}) ==
          Approx(step_s(allreduce(with_passes(compressor, encode, decode)), {})).epsilon(1e-12));
  };
  equal(Compressor("float16"), 1, 1);
  equal(Compressor("int8"), 4, 1);
  equal(Compressor("qsgd"), 5, 1);
  equal(Compressor("top_k"), 3, 0);
  equal(Compressor("sign"), 16.46, 5);
}

}  // namespace codes_on_devices_test
