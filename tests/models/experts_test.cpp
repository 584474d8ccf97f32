// Mixtures of experts: gates, capacity, the auxiliary loss, gradients against central differences.
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "catch.h"
#include "models/cut_run.h"
#include "models/sample_data.h"
#include "models/small_experts.h"
#include "models/transformer.h"
#include "models/transformer_experts.h"

namespace experts_test {

using namespace simgrad;
using namespace simgrad::models;
using test::Numbers;
using test::small;
using values::Format;

namespace {

/// Normal numbers: no two probabilities of a router are alike.
Numbers normal_numbers(std::int64_t count, double deviation, std::uint64_t seed) {
  base::Stream stream({.seed = seed, .purpose = base::Purpose::initial_values, .step = 0});
  Numbers numbers(static_cast<std::size_t>(count));
  for (double& number : numbers) number = deviation * stream.normal();
  return numbers;
}

/// Three rows of 4 tokens of 7.
struct Text {
  Problem problem{.features = 4, .vocabulary = 7};
  Numbers x, y;

  Text() {
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t t = 0; t <= 4; ++t)
        (t < 4 ? x : y).push_back(static_cast<double>((3 * i + 5 * t + (i * t) % 3 + t * t) % 7));
  }
  Samples all() const { return {.features = x.data(), .targets = y.data(), .columns = 4, .first = 0, .count = 3}; }
};

/// One part of experts by itself, on the tokens of one sequence or some.
struct Part {
  TransformerShape shape;
  std::int64_t sequences;
  Numbers n, w;

  TransformerNumbers<double> numbers(bool backward = false) const {
    return {shape, TransformerPlaces(shape, PartRange{2, 3}), w, Format::float64, backward};
  }
  ExpertsKept<double> forward(Numbers& y) const {
    TransformerNumbers<double> own = numbers();
    ExpertsKept<double> kept;
    expert_products(own, own.places.blocks[0], n, kept, y);
    return kept;
  }
};

Part part(std::int64_t tokens, std::int64_t experts, std::int64_t top_k, double capacity_factor, bool gated = false,
          std::int64_t sequences = 1) {
  TransformerShape shape = small(experts, top_k, capacity_factor, 0.3).options.shape(7);
  shape.gated = gated;
  shape.sequence = tokens;
  Part made{shape, sequences, normal_numbers(sequences * tokens * 6, 1.0, 1), {}};
  made.w = normal_numbers(TransformerPlaces(shape, PartRange{2, 3}).parameters, 0.5, 2);
  return made;
}

/// The tokens that an expert takes, in the order of their places.
std::vector<std::int64_t> tokens_of(const ExpertsKept<double>& kept, std::int64_t expert, std::int64_t top_k) {
  std::vector<std::int64_t> tokens;
  for (const std::int64_t place : kept.experts[static_cast<std::size_t>(expert)].places)
    for (std::size_t at = 0; at < kept.routing.chosen.size(); ++at)
      if (kept.routing.chosen[at].place == place) {
        CHECK(kept.routing.chosen[at].expert == expert);
        tokens.push_back(static_cast<std::int64_t>(at) / top_k);
      }
  return tokens;
}

}  // namespace

TEST_CASE("the gradient of a transformer with experts is the slope of its loss, with room for all tokens or not") {
  const Text text;
  for (const double capacity_factor : {3.0, 0.6})  // an expert takes all tokens, 3 T top_k / 3, or ceil(0.8 top_k)
    for (const std::int64_t top_k : {1, 2, 3})
      for (const bool gated : {false, true})
        for (const std::int64_t every : {1, 2}) {
          CAPTURE(capacity_factor, top_k, gated, every);
          Transformer model = small(3, top_k, capacity_factor, 0.0);
          model.options.gated = gated;
          model.options.expert_every = every;
          Numbers w = normal_numbers(model.parameters(text.problem), 0.5, 3);
          for (const ExpertLoad& load : model.expert_loads(text.problem, text.all(), w, Format::float64))
            CHECK((load.dropped > 0) == (capacity_factor < 1.0));
          Numbers g(w.size());
          model.gradient(text.problem, text.all(), w, 0.2, 0.0, g);
          double worst = 0.0;
          for (std::size_t j = 0; j < w.size(); ++j) {
            constexpr double h = 1e-5;
            const double kept = w[j];
            w[j] = kept + h;
            const double above = model.score(text.problem, text.all(), w).loss;
            w[j] = kept - h;
            const double below = model.score(text.problem, text.all(), w).loss;
            w[j] = kept;
            worst = std::max(worst, std::abs(0.2 * (above - below) / (2.0 * h) - g[j]));
          }
          CHECK(worst < 1e-8);  // rounding 1e-15 / 1e-5; truncation h^2 / 6 times a third derivative of some tens
        }
}

TEST_CASE("the loss of tokens for which an expert has no room is the loss without the expert") {
  // "The token representation is passed directly to the next layer through the residual connection": W. Fedus, B. Zoph,
  // N. Shazeer, Switch Transformers, JMLR 23, 2022, section 2.2. One expert takes the first tokens of each sequence,
  // and in a model of one block no token reads what the expert makes of another.
  const Text text;
  Transformer model = small(1, 1, 1.0, 0.0);
  model.options.layers = 1;
  const Numbers w = normal_numbers(model.parameters(text.problem), 0.5, 11);
  Numbers without = w;
  const LinearPlace out = TransformerPlaces(model.options.shape(7)).blocks[0].experts_out[0];
  std::fill_n(without.begin() + out.matrix, out.outputs * out.inputs, 0.0);
  std::fill_n(without.begin() + out.biases, out.outputs, 0.0);
  Numbers with_expert(3 * 4 * 7), without_expert(3 * 4 * 7);  // probabilities of the next token
  model.predict(text.problem, text.all(), w, with_expert);
  model.predict(text.problem, text.all(), without, without_expert);
  for (const std::size_t room : {1, 2, 3, 4}) {
    CAPTURE(room);
    model.options.capacity_factor = static_cast<double>(room) / 4.0;
    double expected = 0.0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t t = 0; t < 4; ++t) {
        const auto next = static_cast<std::size_t>(t < 3 ? text.x[i * 4 + t + 1] : text.y[i]);
        expected -= std::log((t < room ? with_expert : without_expert)[(i * 4 + t) * 7 + next]) / 4.0;
      }
    CHECK(model.score(text.problem, text.all(), w).loss == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("dropped tokens and the auxiliary loss are in the gradient of an expert part") {
  for (const std::int64_t top_k : {1, 2})
    for (const bool gated : {false, true}) {
      CAPTURE(top_k, gated);
      Part made = part(7, 4, top_k, 0.7, gated, 2);
      const Numbers dy = normal_numbers(14 * 6, 1.0, 4);
      constexpr double scale = 1.7;
      TransformerNumbers<double> numbers = made.numbers(true);
      Numbers y, dn;
      ExpertsKept<double> kept;
      expert_products(numbers, numbers.places.blocks[0], made.n, kept, y);
      CHECK(kept.routing.dropped > 0);
      expert_products_backward(numbers, numbers.places.blocks[0], made.n, kept, dy, scale, dn);
      const auto loss = [&] {
        Numbers result;
        const ExpertsKept<double> now = made.forward(result);
        const double auxiliary =
            2.0 * auxiliary_loss(made.shape, now.routing);  // of two sequences, of which it is the mean
        return std::inner_product(result.begin(), result.end(), dy.begin(), 0.0) + scale * 0.3 * auxiliary;
      };
      const auto worst = [&](Numbers& at, const Numbers& slopes) {
        double most = 0.0;
        for (std::size_t j = 0; j < at.size(); ++j) {
          constexpr double h = 1e-5;
          const double before = at[j];
          at[j] = before + h;
          const double above = loss();
          at[j] = before - h;
          const double below = loss();
          at[j] = before;
          most = std::max(most, std::abs((above - below) / (2.0 * h) - slopes[j]));
        }
        return most;
      };
      CHECK(worst(made.n, dn) < 1e-7);
      CHECK(worst(made.w, numbers.g) < 1e-7);
    }
}

TEST_CASE("one expert is the feed-forward part, and so are equal experts whose weights add up to 1") {
  Transformer dense = small(0, 1, 1.0, 0.0);
  const Text text;
  const TransformerPlaces without(dense.options.shape(7));
  const Numbers w = normal_numbers(dense.parameters(text.problem), 0.5, 5);
  Numbers expected(w.size());
  dense.gradient(text.problem, text.all(), w, 0.3, 0.0, expected);
  for (const std::int64_t experts : {1, 4}) {
    const Transformer model = small(experts, experts == 1 ? 1 : 2, 4.0, 0.0);
    const TransformerPlaces with(model.options.shape(7));
    // Each stretch of the dense w, and where it stands beside experts: as many times as there are experts.
    Numbers w_experts = normal_numbers(model.parameters(text.problem), 0.5, 6);
    std::vector<std::pair<std::int64_t, std::int64_t>> same;  // (place with experts, place without)
    const auto copy = [&](std::int64_t to, std::int64_t from, std::int64_t count) {
      for (std::int64_t j = 0; j < count; ++j) {
        w_experts[static_cast<std::size_t>(to + j)] = w[static_cast<std::size_t>(from + j)];
        same.emplace_back(to + j, from + j);
      }
    };
    const auto copy_linear = [&](const LinearPlace& to, const LinearPlace& from) {
      copy(to.matrix, from.matrix, from.outputs * from.inputs);
      copy(to.biases, from.biases, from.outputs);
    };
    copy(0, 0, without.blocks[0].attention_in.matrix);
    for (std::size_t b = 0; b < 2; ++b) {
      const BlockPlaces &to = with.blocks[b], &from = without.blocks[b];
      copy_linear(to.attention_in, from.attention_in);
      copy(to.attention_norm.gains, from.attention_norm.gains, 12);
      copy_linear(to.attention_out, from.attention_out);
      copy(to.feed_forward_norm.gains, from.feed_forward_norm.gains, 12);
      for (std::size_t e = 0; e < to.experts_in.size(); ++e) {
        copy_linear(to.experts_in[e], from.feed_forward_in);
        copy_linear(to.experts_out[e], from.feed_forward_out);
      }
    }
    copy(with.head.matrix, without.head.matrix, 7 * 6 + 12);
    CHECK(same.size() + static_cast<std::size_t>(2 * experts * 6) == w_experts.size());  // all but the routers
    CHECK(model.score(text.problem, text.all(), w_experts).loss ==
          Approx(dense.score(text.problem, text.all(), w).loss).epsilon(1e-13));
    Numbers g(w_experts.size()), sums(w.size(), 0.0);
    model.gradient(text.problem, text.all(), w_experts, 0.3, 0.0, g);
    for (const auto& [with_experts, alone] : same)
      sums[static_cast<std::size_t>(alone)] += g[static_cast<std::size_t>(with_experts)];
    CHECK(test::relative_distance(sums, expected) < 1e-13);
  }
}

TEST_CASE("of a sequence an expert takes ceil(capacity_factor s top_k / experts) tokens, first choices before others") {
  CHECK(expert_capacity(part(13, 4, 2, 1.25).shape) == 9);  // 1.25 x 13 x 2 / 4 = 8.125
  CHECK(expert_capacity(part(8, 4, 1, 1.0).shape) == 2);
  CHECK(expert_capacity(part(8, 4, 2, 3.0).shape) == 8);  // more than all tokens never come
  Part made = part(10, 3, 2, 0.6);                        // 0.6 x 10 x 2 / 3 = 4
  // Logits of a router with two columns: tokens of n_0 = 1 prefer 0, then 1; the others 1, then 0. None prefers 2.
  std::fill_n(made.w.begin(), 3 * 6, 0.0);
  made.w[0 * 6 + 0] = 2.0;
  made.w[1 * 6 + 0] = 1.0;
  made.w[0 * 6 + 1] = 1.0;
  made.w[1 * 6 + 1] = 2.0;
  std::ranges::fill(made.n, 0.0);
  for (std::size_t t = 0; t < 10; ++t) made.n[t * 6 + (t % 5 == 4 ? 1 : 0)] = 1.0;  // tokens 4 and 9 prefer 1
  Numbers y;
  const ExpertsKept<double> kept = made.forward(y);
  using Tokens = std::vector<std::int64_t>;
  CHECK(tokens_of(kept, 0, 2) == Tokens{0, 1, 2, 3});  // of eight first choices
  CHECK(tokens_of(kept, 1, 2) == Tokens{4, 9, 0, 1});  // two first choices, then second ones
  CHECK(kept.experts[2].places.empty());
  CHECK(kept.routing.dropped == 20 - 8);
  // Weights: of probabilities e^2 and e^1 over their sum.
  CHECK(kept.routing.weights[0] == Approx(1.0 / (1.0 + std::exp(-1.0))).epsilon(1e-14));
  CHECK(kept.routing.weights[0] + kept.routing.weights[1] == Approx(1.0).epsilon(1e-15));
  // Tokens 5 to 8 have no expert at all, and their residual stream goes on as it is.
  for (std::size_t t = 0; t < 10; ++t) {
    const bool none = t >= 5 && t <= 8;
    CHECK((std::abs(y[t * 6]) + std::abs(y[t * 6 + 3]) == 0.0) == none);
  }
  // 3 (8/10 P_0 + 2/10 P_1), with P the means over tokens of e^2, e and 1 over their sum.
  const double e = std::exp(1.0), sum = e * e + e + 1.0;
  const double P_0 = (0.8 * e * e + 0.2 * e) / sum, P_1 = (0.2 * e * e + 0.8 * e) / sum;
  CHECK(auxiliary_loss(made.shape, kept.routing) == Approx(3.0 * (0.8 * P_0 + 0.2 * P_1)).epsilon(1e-14));
}

TEST_CASE("a full expert drops the same tokens whatever rows are passed beside them, so gradients of rows add up") {
  const Text text;
  for (const std::int64_t top_k : {1, 2}) {
    const Transformer model = small(4, top_k, 0.6, 0.3);
    const Numbers w = normal_numbers(model.parameters(text.problem), 0.5, 9);
    const auto gradient = [&](std::int64_t first, std::int64_t count) {
      Samples rows = text.all();
      rows.first = first;
      rows.count = count;
      Numbers g(w.size());
      model.gradient(text.problem, rows, w, 0.2, 0.0, g);
      return g;
    };
    for (const ExpertLoad& load : model.expert_loads(text.problem, text.all(), w, Format::float64))
      CHECK(load.dropped > 0);
    const Numbers all = gradient(0, 3);
    for (const std::vector<std::int64_t>& counts : {std::vector<std::int64_t>{2, 1}, {1, 2}, {1, 1, 1}}) {
      Numbers sum(w.size(), 0.0);
      std::int64_t first = 0;
      for (const std::int64_t count : counts) {
        const Numbers part = gradient(std::exchange(first, first + count), count);
        std::ranges::transform(sum, part, sum.begin(), std::plus());
      }
      CHECK(test::relative_distance(sum, all) < 1e-14);
    }
  }
}

TEST_CASE(
    "rows that are passed in several pieces have the gradient of one row after the other, and the sums of their "
    "loads") {
  constexpr std::int64_t rows = 200;  // of 4 tokens: 512 tokens are passed at once
  Numbers x, y;
  base::Stream stream({.seed = 3, .purpose = base::Purpose::initial_values, .step = 1});
  for (std::int64_t i = 0; i < rows * 5; ++i) (i % 5 < 4 ? x : y).push_back(std::floor(7.0 * stream.uniform()));
  const Samples all{.features = x.data(), .targets = y.data(), .columns = 4, .first = 0, .count = rows};
  const Text text;
  const Transformer model = small(4, 2, 0.6, 0.3);
  const Numbers w = normal_numbers(model.parameters(text.problem), 0.5, 10);
  Numbers g(w.size()), sum(w.size(), 0.0);
  model.gradient(text.problem, all, w, 0.01, 0.0, g);
  std::int64_t dropped = 0;
  double auxiliary = 0.0;
  for (std::int64_t i = 0; i < rows; ++i) {
    Samples one = all;
    one.first = i;
    one.count = 1;
    Numbers own(w.size());
    model.gradient(text.problem, one, w, 0.01, 0.0, own);
    std::ranges::transform(sum, own, sum.begin(), std::plus());
    const ExpertLoad load = model.expert_loads(text.problem, one, w, Format::float64)[1];
    dropped += load.dropped;
    auxiliary += load.auxiliary;
  }
  CHECK(test::relative_distance(sum, g) < 1e-13);
  const ExpertLoad load = model.expert_loads(text.problem, all, w, Format::float64)[1];
  CHECK(load.dropped == dropped);
  CHECK(load.auxiliary == Approx(auxiliary / rows).epsilon(1e-13));
  CHECK(std::accumulate(load.tokens.begin(), load.tokens.end(), load.dropped) == rows * 4 * 2);
}

TEST_CASE("the loads of experts add up to all choices, and an even router's auxiliary loss is 1") {
  const Text text;
  Transformer model = small(4, 2, 0.5, 0.01);
  model.options.expert_every = 2;
  Numbers w = normal_numbers(model.parameters(text.problem), 0.5, 7);
  std::vector<ExpertLoad> loads = model.expert_loads(text.problem, text.all(), w, Format::float64);
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].block == 1);
  REQUIRE(loads[0].tokens.size() == 4);
  CHECK(std::accumulate(loads[0].tokens.begin(), loads[0].tokens.end(), loads[0].dropped) == 3 * 4 * 2);
  CHECK(std::ranges::max(loads[0].tokens) <= 3);  // of each of three sequences one: 0.5 x 4 x 2 / 4
  CHECK(loads[0].dropped > 0);
  const LinearPlace router = TransformerPlaces(model.options.shape(7)).blocks[1].router;
  std::fill_n(w.begin() + router.matrix, 4 * 6, 0.0);
  loads = model.expert_loads(text.problem, text.all(), w, Format::float64);
  CHECK(loads[0].auxiliary == Approx(1.0).epsilon(1e-14));          // 4 sum of f_e / 4
  CHECK(loads[0].tokens == std::vector<std::int64_t>{3, 3, 0, 0});  // equal probabilities: the first experts
}

TEST_CASE("chunks of a transformer with experts have the bits of the uncut gradient") {
  const Text text;
  std::mt19937 random(5);
  for (const std::int64_t every : {1, 2}) {
    Transformer model = small(3, 2, 0.8, 0.2);
    model.options.expert_every = every;
    model.l2 = 0.1;
    const Numbers w = normal_numbers(model.parameters(text.problem), 0.5, 8);
    for (const Format format : {Format::float64, Format::float32, Format::bfloat16})
      for (const std::int64_t chunks : {1, 2, 4}) {
        CAPTURE(every, static_cast<int>(format), chunks);
        Numbers expected(w.size());
        model.gradient_in(format, text.problem, text.all(), w, 0.3, 0.7, expected);
        test::CutRun run{model, text.problem, text.all(), w, 0.3, 0.7, format};
        run.borders = test::random_borders(4, chunks, random);
        CHECK(run.gradient() == expected);
        CHECK(run.written == std::vector<int>(w.size(), 1));
      }
  }
}

}  // namespace experts_test
