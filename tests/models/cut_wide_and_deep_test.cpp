// A wide-and-deep model whose keys are dealt to expert ranks, against the uncut one.
#include <algorithm>
#include <numeric>

#include "catch.h"
#include "models/cut_run.h"
#include "models/sample_data.h"
#include "models/wide_and_deep.h"

namespace cut_wide_and_deep_test {

using namespace simgrad::models;
using simgrad::values::Format;
using test::Numbers;

namespace {

WideAndDeep network(double l2, bool bias = true) {
  WideAndDeep model;
  model.embedding = 3;
  model.hidden = {6.0, 4.0};
  model.l2 = l2;
  model.bias = bias;
  return model;
}

constexpr std::int64_t fields = 4, keys = 11;

/// Rows whose keys fall unevenly to ranks: any key stands in any field, and some rows have one key in all fields.
test::Data clicks(std::int64_t rows) {
  test::Data data{.problem = {.features = keys, .classes = 2, .nonzeros = fields, .fields = fields}, .x = {}, .y = {}};
  data.starts.push_back(0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t f = 0; f < fields; ++f) {
      data.keys.push_back(static_cast<std::uint32_t>(i % 5 == 0 ? i % keys : (3 * i + 5 * f + i * f) % keys));
      data.x.push_back(static_cast<double>((2 * i + f) % 7 - 3) / 2.0);
    }
    data.starts.push_back((i + 1) * fields);
    data.y.push_back(static_cast<double>((i + i * i % 3) % 2));
  }
  return data;
}

/// Expert ranks with one segment after the other, each with an equal share of the rows.
struct ExpertRun {
  const WideAndDeep& model;
  const test::Data& data;
  const Numbers& w;
  int ranks = 1;
  Format format = Format::float64;
  double scale = 0.3, penalty_scale = 0.8;  ///< of all ranks
  double sent = 0.0;                        ///< numbers that go through exchanges, of all ranks
  bool ranks_agree = true;
  std::vector<int> written = {};

  struct Rank {
    Chunk chunk;
    Samples rows;
    Numbers w, gradient;
    std::vector<Numbers> in, made, kept;  ///< in: by segment; made: of this pass; kept: of the first segment
  };
  std::vector<Rank> all = {};

  Numbers gradient() {
    make_ranks();
    const std::vector<Segment> segments = model.segments(data.problem, all[0].chunk);
    REQUIRE(segments.size() == 2);
    REQUIRE(segments[1].forward.empty());
    std::vector<Numbers> numbers = pass(0, false, std::vector<Numbers>(all.size()));
    for (std::size_t r = 0; r < all.size(); ++r) all[r].in[1] = numbers[r];
    numbers = pass(1, true, std::vector<Numbers>(all.size()));
    pass(0, true, numbers);
    return assembled();
  }

 private:
  void make_ranks() {
    const auto rows = static_cast<std::int64_t>(data.y.size()), share = rows / ranks;
    for (int r = 0; r < ranks; ++r) {
      Rank& rank = all.emplace_back();
      rank.chunk = {.end_unit = 1, .expert = ranks, .expert_rank = r};
      rank.rows = data.range(r * share, share);
      rank.in.resize(2);
      for (const auto& [first, count] : model.parameters_of(data.problem, rank.chunk))
        rank.w.insert(rank.w.end(), w.begin() + first, w.begin() + first + count);
      rank.gradient.assign(rank.w.size(), 0.0);
    }
  }

  std::vector<Numbers> pass(std::size_t segment, bool backward, const std::vector<Numbers>& d_out) {
    for (Rank& rank : all) rank.made.clear();
    const Segment first = model.segments(data.problem, all[0].chunk)[segment];
    const std::vector<Step>& steps = backward ? first.backward : first.forward;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      std::vector<Numbers> results;
      for (std::size_t r = 0; r < all.size(); ++r) results.push_back(step(all[r], segment, backward, k, d_out[r]));
      results = exchanged(steps[k].then, std::move(results));
      for (std::size_t r = 0; r < all.size(); ++r) {
        if (steps[k].kept) all[r].kept.push_back(results[r]);
        all[r].made.push_back(std::move(results[r]));
      }
    }
    std::vector<Numbers> last;
    for (const Rank& rank : all) last.push_back(rank.made.back());
    const double expected = backward ? first.entrance : first.exit;
    CHECK(last[0].size() == static_cast<std::size_t>(all[0].rows.count) * static_cast<std::size_t>(expected));
    return last;
  }

  Numbers step(Rank& rank, std::size_t s, bool backward, std::size_t k, const Numbers& d_out) const {
    const Segment segment = model.segments(data.problem, rank.chunk)[s];
    const Step& model_step = (backward ? segment.backward : segment.forward)[k];
    CHECK((model_step.then == Step::Then::nothing || model_step.among == Among::expert));
    const auto from = static_cast<std::size_t>(segment.first), length = static_cast<std::size_t>(segment.count);
    const std::vector<std::span<const double>> made(rank.made.begin(), rank.made.end()),
        kept(rank.kept.begin(), rank.kept.end());
    StepInputs inputs{.w = std::span(rank.w).subspan(from, length), .rows = rank.rows, .in = rank.in[s], .made = made};
    inputs.d_out = d_out;
    if (backward && s == 0) inputs.kept = kept;
    inputs.scale = scale;
    inputs.penalty_scale = penalty_scale;
    inputs.format = format;
    const auto count = static_cast<std::size_t>(rank.rows.count) * static_cast<std::size_t>(model_step.numbers);
    Numbers result(count + (model_step.gradients ? length : 0), 1e300);
    model.run(data.problem, rank.chunk, s, backward, k, inputs, result);
    for (std::size_t j = count; j < result.size(); ++j) rank.gradient[from + j - count] += result[j];
    result.resize(count);
    return result;
  }

  /// There, rank r gets part r of each sample of rank 0, then of rank 1; back, the other way round.
  std::vector<Numbers> exchanged(Step::Then then, std::vector<Numbers> made) {
    if (then == Step::Then::nothing) return made;
    const auto n = static_cast<std::size_t>(ranks), rows = static_cast<std::size_t>(all[0].rows.count);
    const std::size_t part = made[0].size() / (rows * n);
    std::vector<Numbers> come(n, Numbers(made[0].size()));
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        for (std::size_t i = 0; i < rows; ++i)
          for (std::size_t j = 0; j < part; ++j) {
            const std::size_t by_sample = (i * n + b) * part + j, by_rank = (a * rows + i) * part + j;
            if (then == Step::Then::all_to_all) come[b][by_rank] = made[a][by_sample];
            if (then == Step::Then::all_to_all_back) come[a][by_sample] = made[b][by_rank];
          }
    sent += static_cast<double>(n * (n - 1) * rows * part);
    return come;
  }

  Numbers assembled() {
    for (const auto& [first, count] : model.partial(data.problem, all[0].chunk, Among::expert)) {
      Numbers total(static_cast<std::size_t>(count), 0.0);
      for (std::size_t r = 0; r < all.size(); ++r) {
        const ParameterStretch stretch = model.partial(data.problem, all[r].chunk, Among::expert)[0];
        REQUIRE(stretch.count == count);
        for (std::size_t j = 0; j < total.size(); ++j)
          total[j] += all[r].gradient[static_cast<std::size_t>(stretch.first) + j];
      }
      for (Rank& rank : all) std::ranges::copy(total, rank.gradient.end() - count);
    }
    Numbers whole(w.size(), 1e300);
    written.assign(w.size(), 0);
    for (Rank& rank : all) {
      const ParameterStretch everywhere = model.replicated(data.problem, rank.chunk, Among::expert)[0];
      std::int64_t j = 0;
      for (const auto& [first, count] : model.parameters_of(data.problem, rank.chunk))
        for (std::int64_t i = first; i < first + count; ++i, ++j) {
          if (j >= everywhere.first && rank.chunk.expert_rank > 0) continue;
          whole[static_cast<std::size_t>(i)] = rank.gradient[static_cast<std::size_t>(j)];
          ++written[static_cast<std::size_t>(i)];
        }
    }
    return whole;
  }
};

Numbers parameters(const WideAndDeep& model, const test::Data& data) {
  Numbers w = test::sample_parameters(model.parameters(data.problem));
  for (double& w_j : w) w_j += 0.03;
  return w;
}

}  // namespace

TEST_CASE("the table and the dense layers of wide_and_deep one after the other have the bits of the uncut gradient") {
  const test::Data data = clicks(150);  // more rows than a block of 64 has
  for (const bool bias : {false, true}) {
    const WideAndDeep model = network(0.1, bias);
    const Numbers w = parameters(model, data);
    for (const Format format : {Format::float64, Format::float32, Format::bfloat16}) {
      Numbers expected(w.size());
      model.gradient_in(format, data.problem, data.all(), w, 0.3, 0.8, expected);
      ExpertRun run{model, data, w, 1, format};
      CHECK(run.gradient() == expected);
      CHECK(run.written == std::vector<int>(w.size(), 1));
    }
  }
}

TEST_CASE("expert ranks that share wide_and_deep's keys have its gradient, each key's on one rank") {
  const test::Data data = clicks(120);
  for (const double l2 : {0.0, 0.1}) {
    const WideAndDeep model = network(l2);
    const Numbers w = parameters(model, data);
    const Numbers expected = test::gradient(model, data.problem, data.all(), w, 0.3, 0.8);
    for (const int ranks : {2, 3, 4, 6}) {
      CAPTURE(l2, ranks);
      REQUIRE(model.refusal(data.problem, {.expert = ranks}).empty());
      ExpertRun run{model, data, w, ranks};
      CHECK(test::relative_distance(run.gradient(), expected) < 1e-13);
      CHECK(run.written == std::vector<int>(w.size(), 1));
      // A sample has F places on each other rank: for a key, for the key's 1 + k numbers, and for their derivatives.
      CHECK(run.sent == 120.0 * (ranks - 1) * fields * (1 + 2 * (1 + 3)));
    }
  }
}

TEST_CASE("a wide_and_deep rank has some of the keys and all dense layers, and an uncut model's work on its samples") {
  const WideAndDeep model = network(0.0);
  const test::Data data = clicks(10);
  const std::vector<Layer> whole = model.layers(data.problem);
  std::int64_t of_keys = 0;
  for (int r = 0; r < 4; ++r) {
    const std::vector<Layer> own = model.layers(data.problem, {.end_unit = 1, .expert = 4, .expert_rank = r});
    REQUIRE(own.size() == whole.size());
    CHECK(own[0].count == 4 * (11 * (r + 1) / 4 - 11 * r / 4));  // 2 or 3 keys, each with w and an embedding of 3
    CHECK(own[1].first == own[0].count);
    for (std::size_t l = 0; l < own.size(); ++l) {
      if (l > 0) CHECK(own[l].count == whole[l].count);
      CHECK(own[l].forward_flops == whole[l].forward_flops);
      CHECK(own[l].backward_flops == whole[l].backward_flops);
    }
    of_keys += own[0].count;
  }
  CHECK(of_keys == whole[0].count);
}

TEST_CASE("samples without entries have the gradient of wide_and_deep's bias and penalty on every rank") {
  test::Data data = clicks(6);
  data.keys.clear();
  data.x.clear();
  data.starts.assign(7, 0);
  data.problem.nonzeros = 0.0;
  data.problem.fields = 0;
  const WideAndDeep model = network(0.1);
  const Numbers w = parameters(model, data);
  const Numbers expected = test::gradient(model, data.problem, data.all(), w, 0.3, 0.8);
  CHECK(test::relative_distance(ExpertRun{model, data, w, 2}.gradient(), expected) < 1e-14);
}

TEST_CASE("wide_and_deep refuses shares of products and sequences, and more ranks than keys") {
  const WideAndDeep model = network(0.0);
  const Problem problem{.features = 8, .classes = 2, .nonzeros = 4, .fields = 4};
  CHECK(model.refusal(problem, {.expert = 8}).empty());
  CHECK(model.refusal(problem, {.expert = 9}) == "8 keys do not suffice for expert = 9 ranks; set expert to 8 or less");
  CHECK_THAT(model.refusal(problem, {.tensor = 2}), ContainsSubstring("set tensor = 1"));
  CHECK_THAT(model.refusal(problem, {.context = 2}), ContainsSubstring("set context = 1"));
  CHECK_THAT(model.refusal(problem, {.sequence_parallel = true}), ContainsSubstring("set sequence_parallel = false"));
}

}  // namespace cut_wide_and_deep_test
