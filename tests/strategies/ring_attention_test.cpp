// Ring attention among ranks of unlike speeds and links: a step takes as long as one that goes block by block.
//
// H. Liu et al., Ring Attention with Blockwise Transformers for Near-Infinite Context, 2023: a rank computes with the
// keys and values of one rank after the other, as a ring brings them, and the ring takes their gradients back.
#include "strategies/mesh_trial.h"

namespace ring_attention_test {

using namespace simgrad;
using namespace simgrad::tests;

namespace {

/// Ranks in a ring, and when each of them is free, in seconds. All additions and products are charged.
struct Ranks {
  std::vector<double> flops_per_s;
  std::vector<double> bytes_per_s;  ///< of each rank's own link, which a message enters and leaves
  double latency_s;
  std::vector<double> free_s = std::vector<double>(flops_per_s.size());

  std::size_t size() const { return free_s.size(); }
  double takes_s(std::size_t r, double flops) const { return flops / flops_per_s[r]; }
  void compute(double flops) {
    for (std::size_t r = 0; r < size(); ++r) free_s[r] += takes_s(r, flops);
  }
  /// Each rank sends to its right and receives from its left, and both ends are free when a transfer begins.
  template <class NumbersOf>
  void pass_on(std::vector<double>& come_s, const NumbersOf& numbers) const {
    std::vector<double> over_s;
    for (std::size_t r = 0; r < size(); ++r) {
      const std::size_t right = (r + 1) % size();
      over_s.push_back(std::max(come_s[r], come_s[right]) + latency_s +
                       8 * numbers(r) / std::min(bytes_per_s[r], bytes_per_s[right]));
    }
    for (std::size_t r = 0; r < size(); ++r) come_s[r] = std::max(over_s[r], over_s[(r + size() - 1) % size()]);
  }
  /// Works on a block of each rank, as soon as its numbers are there.
  void gather_beside(double flops, double numbers) {
    std::vector<double> come_s = free_s;
    const double block = flops / static_cast<double>(size());
    compute(block);
    for (std::size_t round = 1; round < size(); ++round) {
      pass_on(come_s, [&](std::size_t) { return numbers; });
      for (std::size_t r = 0; r < size(); ++r) free_s[r] = std::max(free_s[r], come_s[r]) + takes_s(r, block);
    }
  }
  /// Sums go round the ring while the scores are computed; the sums of a block go on when the rank's own work on it is
  /// done.
  void sum_beside(double flops, double numbers) {
    std::vector<double> come_s = free_s;
    const double block = flops / static_cast<double>(size());
    for (std::size_t round = 1; round < size(); ++round) {
      compute(block);
      for (std::size_t r = 0; r < size(); ++r) come_s[r] = std::max(come_s[r], free_s[r]);
      pass_on(come_s, [&](std::size_t) { return numbers; });
      for (std::size_t r = 0; r < size(); ++r) come_s[r] += takes_s(r, numbers);
    }
    compute(block);
    for (std::size_t r = 0; r < size(); ++r) free_s[r] = std::max(free_s[r], come_s[r]);
  }
  /// Sums of a gradient, around the ring and once more around it, in nearly equal chunks, the longer ones first. Rank r
  /// begins with chunk r, and sends on what it has received.
  void sum(std::size_t numbers) {
    const std::size_t P = size();
    const auto chunk = [&](std::size_t k) { return static_cast<double>(numbers / P + (k % P < numbers % P ? 1 : 0)); };
    for (std::size_t round = 0; round < 2 * (P - 1); ++round) {
      pass_on(free_s, [&](std::size_t r) { return chunk(r + 2 * P - round); });
      for (std::size_t r = 0; r < P && round < P - 1; ++r) free_s[r] += takes_s(r, chunk(r + 2 * P - round - 1));
    }
  }
};

struct Case {
  std::vector<double> speeds;  ///< relative
  double bandwidth = 1e9;      ///< bytes/s
  double slow_link = 1.0;      ///< the factor of rank 0's
  training::Recompute recompute = training::Recompute::none;
};

MeshTrial trial_of(const Case& ring) {
  MeshTrial trial = transformer_trial(2, false);
  auto model = std::make_shared<models::Transformer>(dynamic_cast<const models::Transformer&>(*trial.model));
  model->options.sequence = 12;
  trial.model = model;
  trial.problem = {.features = 12, .vocabulary = 12};
  trial.data = {};
  trial.training.numbers = false;
  trial.training.recompute = ring.recompute;
  trial.steps = 1;
  trial.workers = static_cast<int>(ring.speeds.size());
  trial.parallel.context = trial.workers;
  trial.strategy = around_a_ring<strategies::Allreduce>();
  trial.cluster.host_spec = {.speed_flops_per_s = 1e8, .bandwidth_bytes_per_s = ring.bandwidth, .latency_s = 1e-5};
  trial.cluster.relative_speeds = ring.speeds;
  cluster::SlowLink& slow = trial.cluster.slow_links.emplace_back();
  slow.link = "nic-0";
  slow.factor = ring.slow_link;
  return trial;
}

/// The last rank's end of a step.
double step_s(const Case& ring) {
  const MeshTrial trial = trial_of(ring);
  Ranks ranks{.flops_per_s = ring.speeds,
              .bytes_per_s = std::vector(ring.speeds.size(), ring.bandwidth),
              .latency_s = trial.cluster.host_spec.latency_s};
  for (double& speed : ranks.flops_per_s) speed *= trial.cluster.host_spec.speed_flops_per_s;
  ranks.bytes_per_s[0] *= ring.slow_link;
  const models::Chunk chunk{.end_unit = 4, .context = trial.workers};
  const std::vector<models::Layer> layers = trial.model->cut()->layers(trial.problem, chunk);
  REQUIRE(layers.size() == 10);  // embedding, two blocks of four, head
  const double rows = 48, s = 12, h = 16;
  const double scores = 2 * s / (2 * s + 3 * h);  // of a block's first layer, which has products 2 s h and 3 h^2
  const double numbers = rows * s / static_cast<double>(ranks.size()) * 2 * h;  // keys and values of a rank
  const auto forward = [&](std::size_t layer, double share = 1.0) {
    ranks.compute(share * rows * layers[layer].forward_flops);
  };
  const auto backward = [&](std::size_t layer, double share = 1.0) {
    ranks.compute(share * rows * layers[layer].backward_flops);
  };
  const auto block_forward = [&](std::size_t first) {
    forward(first, 1.0 - scores);
    ranks.gather_beside(scores * rows * layers[first].forward_flops, numbers);
    for (std::size_t layer = first + 1; layer < first + 4; ++layer) forward(layer);
  };
  forward(0);
  for (const std::size_t first : {1, 5}) block_forward(first);
  forward(9);
  backward(9);
  for (const std::size_t first : {5, 1}) {
    if (ring.recompute == training::Recompute::full) block_forward(first);
    for (std::size_t layer = first + 3; layer > first; --layer) backward(layer);
    ranks.gather_beside(0.5 * scores * rows * layers[first].backward_flops, numbers);
    ranks.sum_beside(0.5 * scores * rows * layers[first].backward_flops, numbers);
    backward(first, 1.0 - scores);
  }
  backward(0);
  const auto N = static_cast<std::size_t>(trial.model->parameters(trial.problem));
  ranks.sum(N);
  ranks.compute(2.0 * static_cast<double>(N));  // sgd
  return std::ranges::max(ranks.free_s);
}

}  // namespace

TEST_CASE("ring attention among ranks of unlike speeds goes block by block") {
  const std::vector<double> alike(3, 1.0), unlike = {0.9, 1.4, 0.5, 1.1};  // rank 2 is slow, and its links are not
  const std::vector<Case> cases = {
      {.speeds = {1.0, 0.6}, .bandwidth = 2e7},
      {.speeds = {1.0, 0.6, 0.8}, .bandwidth = 2e7},
      {.speeds = unlike, .bandwidth = 2e7, .slow_link = 0.3},
      {.speeds = unlike, .bandwidth = 5e7, .slow_link = 0.5},
      {.speeds = unlike, .bandwidth = 1e8, .slow_link = 0.1},
      {.speeds = unlike, .bandwidth = 5e7, .slow_link = 0.3, .recompute = training::Recompute::full},
      {.speeds = alike, .bandwidth = 2e7, .slow_link = 0.2},
      {.speeds = alike, .bandwidth = 2e7}};
  for (const Case& ring : cases)
    for (const auto ways : {cluster::Collectives::automatic, cluster::Collectives::messages}) {
      CAPTURE(ring.speeds, ring.bandwidth, ring.slow_link, ring.recompute, ways == cluster::Collectives::messages);
      MeshTrial trial = trial_of(ring);
      trial.cluster.collectives = ways;
      const record::Record record = trial.run().record;
      REQUIRE(record.error.empty());
      CHECK(record.simulated_s == Approx(step_s(ring)).epsilon(1e-9));
    }
}

}  // namespace ring_attention_test
