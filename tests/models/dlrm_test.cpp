// DLRM against the published model and a count by hand, and as expert ranks have it.
#include "models/profiles/dlrm.h"

#include <algorithm>
#include <cmath>

#include "catch.h"

namespace dlrm_test {

using namespace simgrad::models;
using Stretches = std::vector<ParameterStretch>;

namespace {

/// The 26 tables of Criteo's Kaggle data, as bench/dlrm_s_criteo_kaggle.sh of facebookresearch/dlrm has them.
Dlrm criteo_kaggle() {
  Dlrm model;
  model.rows = {1460, 583,   10131227, 2202608, 305,  24,   12517, 633,     3,  93145, 5683,   8351593, 3194,
                27,   14992, 5461306,  10,      5652, 2173, 4,     7046547, 18, 15,    286181, 105,     142572};
  return model;
}

/// 5 tables of 3 numbers a row with 2 look-ups each, 4 dense features; 4-6-3 below, (3 + 15)-7-1 above.
Dlrm small() {
  Dlrm model;
  model.dense_features = 4;
  model.tables = 5;
  model.rows = {100, 7, 40, 30, 60};
  model.embedding = 3;
  model.look_ups = 2;
  model.bottom = {6};
  model.top = {7};
  return model;
}

Chunk whole(int expert = 1, int rank = 0) { return {.end_unit = 5, .expert = expert, .expert_rank = rank}; }

}  // namespace

TEST_CASE("DLRM has the published number of parameters on Criteo's Kaggle data") {
  const Dlrm model = criteo_kaggle();
  // 33,762,577 rows of 16; 13-512-256-64-16 below; 16 + 27 26 / 2 = 367 numbers into 367-512-256-1. The paper: 540 M.
  const std::int64_t below = 512 * 14 + 256 * 513 + 64 * 257 + 16 * 65, above = 512 * 368 + 256 * 513 + 257;
  CHECK(model.parameters({}) == 33'762'577 * 16 + below + above);
  CHECK(static_cast<double>(model.parameters({})) == Approx(540e6).epsilon(0.002));
}

TEST_CASE("a sample of DLRM has the flops of its look-ups, its products of pairs and its dense layers") {
  const Dlrm model = small();
  // 5 x 2 look-ups of 3; 4-6-3; 6 vectors of 3, whose 36 dot products are one product; 18-7-1.
  const double look_ups = 5.0 * 2 * 3, below = 2.0 * (4 * 6 + 6 * 3), pairs = 2.0 * 36 * 3,
               above = 2.0 * (18 * 7 + 7 * 1), first = 2.0 * 4 * 6;
  const LayerTotals sum = totals(model.profile());
  CHECK(sum.forward_flops == look_ups + below + pairs + above);
  CHECK(sum.backward_flops == look_ups + 2.0 * (below + pairs + above) - first);
  CHECK(sum.parameters == (100 + 7 + 40 + 30 + 60) * 3 + 6 * 5 + 3 * 7 + 7 * 19 + 8);
  // The inputs of each dense layer and the vectors of the pairs are kept; an index has 8 bytes.
  CHECK(sum.kept.numbers == 4 + 6 + 6 * 3 + 18 + 7);
  CHECK(sum.kept.bytes == 8.0 * 10);
  CHECK(model.sample_bytes({}) == 4 * (1 + 4 + 5 * 2));
  const std::vector<Layer> all = model.profile();
  REQUIRE(all.size() == 6);
  CHECK(all[0].elementwise == 5.0 * (2 + 1) * 3);
  CHECK((all[3].name == "interaction" && all[3].count == 0 && all[3].unit == 3 && all[4].unit == 3));
  CHECK((all[5].name == "top layer 2" && all[5].unit == 4 && all[5].columns == 7 && all[5].rows == 1));
}

TEST_CASE("one number of rows stands for all tables, and a perceptron may have no hidden layer") {
  Dlrm model;
  model.tables = 3;
  model.rows = {1000};
  model.embedding = 2;
  model.bottom = {};
  model.top = {};
  // 13-2 below; 2 + 6 numbers above
  CHECK(model.parameters({}) == 3 * 1000 * 2 + 2 * 14 + 9);
  CHECK(model.profile().size() == 4);
}

TEST_CASE("DLRM is cut between its units, and the tables' numbers pass beside the bottom perceptron's") {
  const Dlrm model = small();
  const std::vector<Segment> all = model.segments({}, whole());
  REQUIRE(all.size() == 5);
  const std::vector<double> borders{0, 15, 15 + 6, 6 * 3, 7, 0};
  for (std::size_t s = 0; s < all.size(); ++s) {
    CHECK(all[s].entrance == borders[s]);
    CHECK(all[s].exit == borders[s + 1]);
    CHECK(all[s].forward.size() == (s + 1 < all.size() ? 1 : 0));
    CHECK(all[s].backward.size() == 1);
  }
  const std::vector<Layer> layers = model.profile();
  for (std::int64_t unit = 1; unit < 5; ++unit) {
    const Chunk below{.end_unit = unit}, above{.first_unit = unit, .end_unit = 5};
    std::vector<Segment> both = model.segments({}, below);
    CHECK(both.back().exit == borders[static_cast<std::size_t>(unit)]);
    for (const Segment& segment : model.segments({}, above)) both.push_back(segment);
    REQUIRE(both.size() == all.size());
    for (std::size_t s = 0; s < all.size(); ++s) {
      CHECK(both[s].count == all[s].count);
      CHECK(both[s].layers == all[s].layers);
      CHECK(both[s].forward.size() == all[s].forward.size());
    }
    CHECK(model.replicated({}, above, Among::expert)[0].count == model.parameters_of({}, above)[0].count);
  }
}

TEST_CASE("tables are dealt to expert ranks from the largest on, to the rank with fewest rows that has a place") {
  Dlrm model = small();
  using Tables = std::vector<std::vector<std::int64_t>>;
  CHECK(model.dealt(1) == Tables{{0, 1, 2, 3, 4}});
  // 100 | 60, 40 to the second, 30 to the first, since both have 100, and 7 to the second.
  CHECK(model.dealt(2) == Tables{{0, 3}, {1, 2, 4}});
  CHECK(model.dealt(4) == Tables{{0}, {4}, {2}, {1, 3}});
  CHECK(model.dealt(5) == Tables{{0}, {4}, {2}, {3}, {1}});
  // Two places on each of two ranks: the last table has to go to the rank of the large one.
  model.tables = 4;
  model.rows = {1, 1000, 1, 1};
  CHECK(model.dealt(2) == Tables{{1, 3}, {0, 2}});
}

TEST_CASE("expert ranks of DLRM have whole tables, each once, and all dense layers") {
  for (const Dlrm& model : {small(), criteo_kaggle()}) {
    const std::vector<Layer> all = model.profile();
    const std::int64_t units = all.back().unit + 1;
    for (const int ranks : {1, 2, 3, 4, 5}) {
      CAPTURE(model.tables, ranks);
      REQUIRE(model.refusal({}, {.expert = ranks}).empty());
      Stretches tables;
      double look_ups = 0.0, kept = 0.0;
      for (int r = 0; r < ranks; ++r) {
        const Chunk chunk{.end_unit = units, .expert = ranks, .expert_rank = r};
        const std::vector<Layer> own = model.layers({}, chunk);
        REQUIRE(own.size() == all.size());
        look_ups += own[0].forward_flops / ranks;  // of so many ranks' samples
        kept += own[0].kept.bytes / ranks;
        Stretches stretches = model.parameters_of({}, chunk);
        std::int64_t count = 0;
        for (const ParameterStretch& stretch : stretches) count += stretch.count;
        CHECK(count == own.back().first + own.back().count);
        const Stretches dense = model.replicated({}, chunk, Among::expert);
        REQUIRE(dense == Stretches{{own[1].first, model.parameters({}) - all[1].first}});
        CHECK(model.partial({}, chunk, Among::expert) == dense);
        CHECK(stretches.back().first + stretches.back().count == model.parameters({}));
        stretches.back().count -= dense[0].count;  // the tables alone
        tables.insert(tables.end(), stretches.begin(), stretches.end());
        for (std::size_t l = 1; l < all.size(); ++l) {
          CHECK(own[l].first == own[l - 1].first + own[l - 1].count);
          CHECK(own[l].count == all[l].count);
          CHECK(own[l].forward_flops == all[l].forward_flops);
        }
      }
      CHECK(look_ups == Approx(all[0].forward_flops).epsilon(1e-14));
      CHECK(kept == Approx(all[0].kept.bytes).epsilon(1e-14));
      std::ranges::sort(tables, {}, &ParameterStretch::first);
      JoinedStretches joined;
      for (const ParameterStretch& stretch : tables) joined.add(stretch.first, stretch.count);
      CHECK(joined.all == Stretches{{0, all[0].count}});
    }
  }
}

TEST_CASE("expert ranks of DLRM exchange indices, sums and derivatives, with equal places for each rank's tables") {
  using enum Step::Then;
  const Dlrm model = criteo_kaggle();
  const std::int64_t units = model.profile().back().unit + 1;
  for (const int ranks : {2, 4, 26}) {
    for (const std::int64_t end : {std::int64_t{1}, units}) {
      const Segment tables = model.segments({}, {.end_unit = end, .expert = ranks})[0];
      const double places = ranks * std::ceil(26.0 / ranks);
      REQUIRE(tables.forward.size() == 3);
      CHECK((tables.forward[0].then == all_to_all && tables.forward[0].numbers == places));
      CHECK((tables.forward[1].then == all_to_all_back && tables.forward[1].numbers == 16 * places));
      CHECK((tables.forward[2].then == nothing && tables.forward[2].numbers == 26 * 16));
      CHECK(tables.exit == 26 * 16);
      REQUIRE(tables.backward.size() == 2);
      CHECK((tables.backward[0].then == all_to_all && tables.backward[0].numbers == 16 * places));
      CHECK((tables.backward[1].then == nothing && tables.backward[1].numbers == 0 && tables.backward[1].gradients));
      for (const Step* step : {&tables.forward[0], &tables.forward[1], &tables.backward[0]})
        CHECK((step->among == Among::expert && !step->gradients));
    }
    const std::vector<Segment> above = model.segments({}, {.first_unit = 1, .end_unit = units, .expert = ranks});
    CHECK(above.front().forward.size() == 1);
  }
}

TEST_CASE("DLRM refuses shares of products and sequences, and more expert ranks than tables") {
  const Dlrm model = small();
  CHECK(model.refusal({}, {.expert = 6}) == "5 tables do not suffice for expert = 6 ranks; set expert to 5 or less");
  CHECK_THAT(model.refusal({}, {.tensor = 2}), ContainsSubstring("set tensor = 1, and divide its tables by expert"));
  CHECK_THAT(model.refusal({}, {.context = 2}), ContainsSubstring("set context = 1"));
  CHECK_THAT(model.refusal({}, {.sequence_parallel = true}), ContainsSubstring("set sequence_parallel = false"));
}

}  // namespace dlrm_test
