// Codes that do not add up, as an all-to-all and an all-gather of codes: times, bytes, numbers, and the note about
// gathering.
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "cluster/topologies/two_tier.h"
#include "strategies/compressed.h"
#include "strategies/hosts_of_devices.h"

namespace scattered_codes_test {

using namespace simgrad;
using namespace simgrad::tests;
using strategies::CodesWay;

namespace {

training::Program ring(const Compressor& compression, CodesWay way, std::optional<double> bucket_bytes = {}) {
  auto strategy = around_a_ring<strategies::Allreduce>();
  strategy->compression = compression.slot();
  strategy->codes = way;
  strategy->bucket_bytes = bucket_bytes;
  return strategies::program(strategy);
}

record::Record timed(const training::Program& program, std::int64_t features, int P) {
  Trial trial{.program = program, .workers = P, .rows = 32, .features = features, .flops_a_row = 0.0};
  trial.stop.steps = 10;
  trial.training.numbers = false;
  record::Record record = trial.run().record;
  REQUIRE(record.error.empty());
  return record;
}

Trial small(const training::Program& program, std::int64_t features = 9) {
  Trial trial{.program = program, .workers = 4, .rows = 48, .features = features};
  trial.stop.steps = 30;
  return trial;
}

constexpr std::int64_t long_vector = 16 * 60'000;

/// The signs of a chunk, and their scale.
double code_bytes(int P) { return static_cast<double>(long_vector) / P / 8.0 + 4.0; }

/// A step of scattered signs whose P - 1 sends are posted at once, first all to all and then all-gather. On a star they
/// share the rank's link: alpha + (P - 1) m beta each. MPICH does so with messages of medium length (R. Thakur,
/// R. Rabenseifner, W. Gropp, IJHPCA 19, 2005), and NCCL with the sends and receives of one group.
double step_of_codes_s(int P) {
  const double n = static_cast<double>(long_vector), chunk = n / P;
  const double messages_s = 2.0 * (alpha + (P - 1) * code_bytes(P) / B);
  // An encoding of all, P decodings of a chunk and P - 1 additions, its encoding, a decoding of all, the update.
  const double flops = 2.0 * n + P * chunk + (P - 1.0) * chunk + 2.0 * chunk + n + 2.0 * n;
  return messages_s + flops / speed;
}

/// Signs whose encoder notes, where all processes of the test see it, how many tensors there have been so far.
struct CountingSign final : training::Sign {
  explicit CountingSign(std::uint64_t& the_tensors) : tensors(the_tensors) {}

  values::Tensor encode(const values::Tensor& x, const training::Occasion& occasion,
                        training::CompressorMemory& memory) const override {
    const values::Tensor code = Sign::encode(x, occasion, memory);
    tensors = std::max(tensors, code.identity());
    return code;
  }
  std::uint64_t& tensors;
};

}  // namespace

TEST_CASE("scattered codes send one code to each other rank, all to all and all-gather") {
  for (const int P : {2, 4, 16}) {
    CAPTURE(P);
    const record::Record record = timed(ring(Compressor("sign"), CodesWay::reduce_scatter), long_vector, P);
    CHECK(static_cast<double>(record.bytes) == Approx(10.0 * 2.0 * P * (P - 1) * code_bytes(P)).epsilon(1e-12));
    CHECK(record.messages == 10 * 2 * P * (P - 1));
    CHECK(record.simulated_s / 10.0 >= step_of_codes_s(P) * (1.0 - 1e-9));
    // At worst the sends of each exchange follow each other, with a latency each.
    CHECK(record.simulated_s / 10.0 <= (step_of_codes_s(P) + 2.0 * (P - 2) * alpha) * (1.0 + 1e-9));
  }
}

TEST_CASE("scattered codes of two ranks take two exchanges of one code, and two encodings") {
  const record::Record record = timed(ring(Compressor("sign"), CodesWay::reduce_scatter), long_vector, 2);
  CHECK(record.simulated_s / 10.0 == Approx(step_of_codes_s(2)).epsilon(1e-9));
}

TEST_CASE("scattered codes take two latencies and the bytes of all sends, which are posted at once") {
  for (const int P : {4, 16}) {
    CAPTURE(P);
    const record::Record record = timed(ring(Compressor("sign"), CodesWay::reduce_scatter), long_vector, P);
    CHECK(record.simulated_s / 10.0 == Approx(step_of_codes_s(P)).epsilon(1e-9));
  }
}

namespace {

template <class Shape>
base::Slot<cluster::Topology> shaped(void (*change)(Shape&)) {
  auto topology = std::make_unique<Shape>();
  change(*topology);
  return {cluster::topologies(), std::move(topology)};
}

/// Equal ranks, ranks that come one by one or in threes; links that carry one rank's messages or several ones'.
std::vector<std::pair<std::string, cluster::Options>> several_networks() {
  std::vector<std::pair<std::string, cluster::Options>> all{{"star", ideal_star()}};
  all.emplace_back("star, flows limited", ideal_star()).second.flow_limit_bytes_per_s = 0.3 * B;
  put_devices(all.emplace_back("hosts of 4 devices", ideal_star()).second);
  all.emplace_back("racks", ideal_star()).second.topology = shaped<cluster::TwoTier>([](cluster::TwoTier& racks) {
    racks.hosts_per_rack = 3;
    racks.oversubscription = 2.0;
  });
  for (std::size_t i = all.size(); i-- > 0;)
    for (const std::vector<double>& speeds : {std::vector{1.0, 0.6, 0.7, 0.8, 0.9}, std::vector{1.0, 1.0, 0.5, 0.5}}) {
      all.push_back(all[i]);
      all.back().first += ", unequal ranks";
      all.back().second.relative_speeds = speeds;
    }
  return all;
}

}  // namespace

TEST_CASE("scattered codes take as long computed as message by message") {
  for (const auto& [name, network] : several_networks())
    for (const auto& [P, features] : {std::pair(8, 8000), std::pair(12, 4001), std::pair(5, 3)}) {
      const auto record_of = [&](cluster::Collectives way) {
        Trial trial{.program = ring(Compressor("top_k"), CodesWay::reduce_scatter), .workers = P, .rows = 10 * P};
        trial.features = features;
        trial.flops_a_row = 5e4;
        trial.cluster = network;
        trial.cluster.workers = P;
        trial.cluster.collectives = way;
        trial.stop.steps = 4;
        trial.training.numbers = false;
        const record::Record record = trial.run().record;
        REQUIRE(record.error.empty());
        return record;
      };
      const record::Record computed = record_of(cluster::Collectives::automatic);
      const record::Record sent = record_of(cluster::Collectives::messages);
      CAPTURE(name, P, features);
      CHECK(computed.simulated_s == Approx(sent.simulated_s).epsilon(1e-9));
      CHECK(computed.bytes == sent.bytes);
      CHECK(computed.messages == sent.messages);
      for (int r = 0; r < P; ++r) {
        const auto &one = computed.ranks[static_cast<std::size_t>(r)], &other = sent.ranks[static_cast<std::size_t>(r)];
        CHECK(one.communicate_s == Approx(other.communicate_s).epsilon(1e-9).margin(1e-12));
        CHECK(one.wait_s == Approx(other.wait_s).epsilon(1e-9).margin(1e-12));
        CHECK(one.bytes_sent == other.bytes_sent);
      }
    }
}

// A host's 4 devices send to the 4 of the other host through one NIC: 16 codes in each direction, of m bytes. The codes
// of the sums go around a ring, which crosses the NIC in each of 7 rounds, as NCCL's all-gather does.
TEST_CASE("scattered codes of two hosts of devices take all bytes through the NIC at once, and then a ring") {
  Trial trial{.program = ring(Compressor("sign"), CodesWay::reduce_scatter), .workers = 8, .rows = 16};
  trial.features = 8 * 80'000;
  trial.flops_a_row = 0.0;
  trial.cluster.workers = 8;
  trial.cluster.charge_reductions = false;
  put_devices(trial.cluster);
  trial.stop.steps = 1;
  trial.training.numbers = false;
  const double m = 80'000 / 8.0 + 4.0;
  CHECK(trial.run().record.simulated_s == Approx(alpha + 16.0 * m / B + 7.0 * (alpha + m / B)).epsilon(1e-9));
}

TEST_CASE("scattered int8 sends about a quarter of float32's bytes, whatever the number of ranks") {
  const std::int64_t n = 16 * 60'000;
  for (const int P : {4, 16}) {
    const auto bytes = [&](const Compressor& compression, CodesWay way) {
      return static_cast<double>(timed(ring(compression, way), n, P).bytes);
    };
    const double plain = bytes(Compressor("float32"), CodesWay::gather);
    CHECK(bytes(Compressor("int8"), CodesWay::reduce_scatter) == Approx(plain / 4.0).epsilon(0.01));
    CHECK(bytes(Compressor("int8"), CodesWay::gather) == Approx(plain / 8.0 * P).epsilon(0.01));
  }
}

TEST_CASE("codes that leave nothing out sum to the same scattered and gathered, in buckets and in short vectors") {
  for (const std::int64_t features : {3, 9, 10})
    for (const std::optional<double> bucket : {std::optional<double>(), std::optional(1.0)}) {
      const Compressor all("top_k", {.k = features});
      const Outcome gathered = small(ring(all, CodesWay::gather, bucket), features).run();
      const Outcome scattered = small(ring(all, CodesWay::reduce_scatter, bucket), features).run();
      REQUIRE(scattered.record.error.empty());
      CAPTURE(features, bucket.has_value());
      CHECK(relative_distance(scattered.evaluated.back(), gathered.evaluated.back()) < 1e-12);
    }
}

TEST_CASE("scattered codes with error feedback train as far as gathered ones, and all replicas stay equal") {
  for (const char* kind : {"int8", "sign", "top_k"}) {
    Compressor compression(kind);
    compression.options.error_feedback = true;
    if (compression.kind == "top_k") compression.options.k = 5;
    const auto last_loss = [&](CodesWay way) {
      Trial trial = small(ring(compression, way));
      trial.stop.steps = 200;
      const Outcome outcome = trial.run();
      REQUIRE(outcome.record.error.empty());
      for (const auto& row : outcome.record.curve) CHECK(row.consensus_distance.value_or(0.0) == 0.0);
      return outcome.losses().back();
    };
    CAPTURE(kind);
    CHECK(last_loss(CodesWay::reduce_scatter) < 1.2 * last_loss(CodesWay::gather) + 0.01);
  }
}

TEST_CASE("gathering says what it costs where it takes more bytes than no compression") {
  const auto notes = [](int P, CodesWay way) { return timed(ring(Compressor("int8"), way), 16 * 100, P).notes; };
  CHECK(notes(4, CodesWay::gather).empty());
  CHECK(notes(16, CodesWay::reduce_scatter).empty());
  const std::vector<std::string> told = notes(32, CodesWay::gather);
  REQUIRE(told.size() == 1);
  CHECK(told.front().find("of codes come to each of 32 ranks for a sum, and without compression") != std::string::npos);
  CHECK(told.front().find("scattered codes (option codes) take") != std::string::npos);
}

TEST_CASE("of scattered codes whose shapes alone are known, tensors are made for each member and not for each pair") {
  void* const shared = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& tensors = *static_cast<std::uint64_t*>(shared);
  const auto tensors_of = [&](int P) {
    tensors = 0;
    auto strategy = around_a_ring<strategies::Allreduce>();
    strategy->compression = strategies::Compression(training::compressors(), std::make_unique<CountingSign>(tensors));
    strategy->codes = CodesWay::reduce_scatter;
    timed(strategies::program(strategy), 16 * 64, P);
    return tensors;
  };
  const std::uint64_t of_16 = tensors_of(16), of_64 = tensors_of(64);
  munmap(shared, sizeof(std::uint64_t));
  CHECK(of_16 > 0);
  CHECK(of_64 <= 4 * of_16 + 100);
}

}  // namespace scattered_codes_test
