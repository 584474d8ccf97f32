// The layers of a transformer with experts, by hand.
#include <algorithm>
#include <functional>
#include <numeric>

#include "catch.h"
#include "models/small_experts.h"
#include "models/transformer_places.h"

namespace experts_layers_test {

using namespace simgrad::models;
using test::small;

TEST_CASE("layers of experts by hand") {
  TransformerShape shape = small(8, 2, 1.25, 0.01).options.shape(7);
  shape.expert_every = 2;
  const std::vector<Layer> all = layers(shape);
  REQUIRE(all.size() == 1 + 4 + 5 + 1);
  const Layer &router = all[7], &in = all[8], &out = all[9];
  CHECK(router.name == "block 2: router");
  CHECK((router.rows == 8 && router.columns == 6 && router.count == 8 * 6 + 2 * 6));
  CHECK((in.rows == 8 * 5 && in.columns == 6 && in.count == 8 * (5 * 6 + 5)));
  CHECK((out.rows == 8 * 6 && out.columns == 5 && out.count == 8 * (6 * 5 + 6)));
  CHECK(all.back().first + all.back().count == parameters(shape));
  CHECK(TransformerPlaces(shape).parameters == parameters(shape));
  // 2 flops a token, chosen expert and parameter of its matrices; capacity above an even share adds none.
  CHECK(router.forward_flops == 2.0 * 4 * 8 * 6);
  CHECK(in.forward_flops == 2.0 * 4 * 2 * 5 * 6);
  CHECK(out.forward_flops == in.forward_flops);
  CHECK(in.products[0].count == 8.0);
  CHECK(in.products[0].m == 4.0 * 2 / 8);
  shape.capacity_factor = 0.5;  // half of the choices are dropped
  CHECK(layers(shape)[8].forward_flops == 0.5 * in.forward_flops);
  // Kept: the norm's input and output and p; the copies and the activation's input; its output and the results.
  CHECK(router.kept.numbers == 4.0 * (2 * 6 + 8));
  CHECK(in.kept.numbers == 4.0 * 2 * (6 + 5));
  CHECK(out.kept.numbers == 4.0 * 2 * (5 + 6));
}

TEST_CASE("experts that are padded compute and keep their whole capacity, and others what they take") {
  TransformerShape shape = small(8, 2, 1.25, 0.01).options.shape(7);
  const Layer in = layers(shape)[4], router = layers(shape)[3];
  CHECK((in.expert_tokens == 4.0 * 2 && router.expert_tokens == 0.0 && layers(shape)[5].expert_tokens == 4.0 * 2));
  const Layer more = with_tokens(in, 12.0);  // in place of 8
  CHECK((more.forward_flops == 1.5 * in.forward_flops && more.backward_flops == 1.5 * in.backward_flops));
  CHECK((more.products[0].flops() == more.forward_flops && more.elementwise == 1.5 * in.elementwise));
  const Layer out = layers(shape)[5];
  CHECK(with_tokens(out, 12.0).elementwise == out.elementwise);  // own tokens' results are added up
  CHECK(with_tokens(in, 0.0).forward_flops == 0.0);
  shape.pad_experts = true;
  const std::vector<Layer> padded = layers(shape);  // a capacity of ceil(1.25 x 4 x 2 / 8) = 2 tokens
  CHECK((padded[4].expert_tokens == 0.0 && padded[4].products[0].m == 2.0));
  CHECK(padded[4].forward_flops == 2.0 * in.forward_flops);
  CHECK(padded[4].kept.numbers == 2.0 * in.kept.numbers);
  CHECK((times_follow_routing(small(8, 2, 1.25, 0.01).options.shape(7)) && !times_follow_routing(shape)));
}

TEST_CASE(
    "a skew of experts gives the most chosen one that many times the mean, and drops what is above the capacity") {
  TransformerShape shape = small(3, 4, 1.0, 0.0).options.shape(7);
  shape.experts = 8;
  shape.top_k = 2;
  shape.capacity_factor = 100.0;
  const auto work = [&](const Chunk& chunk) {
    double sum = 0.0;
    for (const Layer& layer : layers(shape, chunk))
      if (layer.name.find("experts") != std::string::npos) sum += layer.forward_flops;
    return sum;
  };
  const double even = work(whole(shape));
  for (const double skew : {1.0, 1.5, 4.0, 8.0}) {
    shape.expert_skew = skew;
    const std::vector<double> loads = chosen_loads(shape);
    CHECK(loads[0] == Approx(skew).epsilon(1e-9));
    CHECK(std::accumulate(loads.begin(), loads.end(), 0.0) == Approx(8.0).epsilon(1e-9));
    CHECK(std::ranges::is_sorted(loads, std::greater()));
    CHECK(work(whole(shape)) == Approx(even).epsilon(1e-9));  // all choices have room
    double of_ranks = 0.0;
    for (int rank = 0; rank < 4; ++rank) {
      Chunk chunk = whole(shape);
      chunk.expert = 4;
      chunk.expert_rank = rank;
      CHECK(work(chunk) == Approx(even * 4 * (loads[2 * rank] + loads[2 * rank + 1]) / 8.0).epsilon(1e-9));
      of_ranks += work(chunk);
    }
    CHECK(of_ranks == Approx(4 * even).epsilon(1e-9));  // of one sample of each of four ranks
  }
  shape.expert_skew = 8.0;  // one expert is chosen by all, and takes its capacity
  shape.capacity_factor = 1.25;
  CHECK(work(whole(shape)) == Approx(even * 1.25 / 8.0).epsilon(1e-9));
  CHECK(assumed_choices(shape)->dropped_share == Approx(1.0 - 1.25 / 8.0).epsilon(1e-9));
  CHECK(assumed_choices(shape)->imbalance == Approx(8.0).epsilon(1e-9));
  shape.experts = 0;
  CHECK_FALSE(assumed_choices(shape));
  shape.experts = 8;
  CHECK_THAT(numbers_refusal(shape), ContainsSubstring("leave expert_skew out, or set training.numbers = false"));
  shape.expert_skew = 8.5;
  CHECK_THAT(refusal(shape), ContainsSubstring("which are experts = 8 times the mean; take at most that"));
}

TEST_CASE("more experts a token than there are is refused") {
  TransformerShape shape = small(3, 4, 1.0, 0.0).options.shape(7);
  CHECK(refusal(shape) == "top_k = 4 experts a token, but there are experts = 3; take a top_k of at most 3");
  shape.experts = 0;
  CHECK(refusal(shape).empty());
}

}  // namespace experts_layers_test
