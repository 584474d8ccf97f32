// Non-iid partitions: every row is somebody's, nobody is without, and the shards are what each partition promises.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "catch.h"
#include "data/dataset.h"
#include "models/model.h"
#include "training/learning/batches.h"
#include "training/learning/learning.h"
#include "training/partitions/by_label.h"
#include "training/partitions/dirichlet.h"
#include "training/partitions/proportions.h"
#include "training/partitions/quantity.h"
#include "values/dispatcher.h"

namespace partitions_test {

using namespace simgrad;
using namespace simgrad::training;
using Numbers = std::vector<double>;
using Rows = std::vector<std::int64_t>;

namespace {

/// n rows whose classes 0 .. k-1 come by turns.
Numbers by_turns(std::int64_t n, int k) {
  Numbers classes;
  for (std::int64_t i = 0; i < n; ++i) classes.push_back(static_cast<double>(i % k));
  return classes;
}

Rows shard_of(const DataShards& shards, int part) {
  if (!shards.rows.empty())
    return {shards.rows.begin() + shards.first(part), shards.rows.begin() + shards.first(part + 1)};
  Rows rows(static_cast<std::size_t>(shards.size(part)));
  std::iota(rows.begin(), rows.end(), shards.first(part));
  return rows;
}

/// Every partition, with parameters that make it uneven.
std::vector<std::shared_ptr<const Partition>> uneven() {
  std::vector<std::shared_ptr<const Partition>> all;
  for (const std::int64_t stretches : {1, 2, 5}) {
    auto by_label = std::make_shared<ByLabel>();
    by_label->stretches = stretches;
    all.push_back(by_label);
  }
  for (const double alpha : {0.001, 0.1, 0.5, 100.0}) {
    auto dirichlet = std::make_shared<Dirichlet>();
    dirichlet->alpha = alpha;
    all.push_back(dirichlet);
    auto quantity = std::make_shared<Quantity>();
    quantity->alpha = alpha;
    all.push_back(quantity);
  }
  return all;
}

std::shared_ptr<data::Dataset> two_blobs(std::int64_t rows, std::int64_t features) {
  auto set = std::make_shared<data::Dataset>();
  set->rows = rows;
  set->columns = features;
  set->classes = 2;
  base::Stream stream({.seed = 3});
  for (std::int64_t i = 0; i < rows; ++i) {
    set->targets.push_back(static_cast<double>(i % 2));
    for (std::int64_t j = 0; j < features; ++j) set->features.push_back(stream.normal() + static_cast<double>(i % 2));
  }
  return set;
}

}  // namespace

TEST_CASE("every row belongs to one rank, and every rank has one, up to a rank a row") {
  const Numbers classes = by_turns(37, 3);
  for (const auto& partition : uneven())
    for (const int P : {1, 2, 5, 16, 36, 37})
      for (const std::uint64_t seed : {1, 2, 3}) {
        const DataShards shards = partition->shards({.rows = 37, .classes = classes, .seed = seed}, P);
        REQUIRE(shards.starts.size() == static_cast<std::size_t>(P) + 1);
        Rows all;
        for (int part = 0; part < P; ++part) {
          const Rows rows = shard_of(shards, part);
          CHECK(!rows.empty());
          all.insert(all.end(), rows.begin(), rows.end());
        }
        std::ranges::sort(all);
        Rows expected(37);
        std::iota(expected.begin(), expected.end(), 0);
        CHECK(all == expected);
      }
}

TEST_CASE("by_label deals stretches of the sorted rows: as many classes a rank as stretches") {
  // 100 rows of 10 classes, 10 ranks: a stretch of the sorted rows is 10 / s rows of one class
  const Numbers classes = by_turns(100, 10);
  ByLabel by_label;
  for (const std::int64_t s : {1, 2, 5}) {
    by_label.stretches = s;
    const DataShards shards = by_label.shards({.rows = 100, .classes = classes}, 10);
    for (int part = 0; part < 10; ++part) {
      std::map<double, int> seen;
      for (const std::int64_t row : shard_of(shards, part)) ++seen[classes[static_cast<std::size_t>(row)]];
      CAPTURE(s, part);
      CHECK(seen.size() == static_cast<std::size_t>(s));
      for (const auto& [label, count] : seen) CHECK(count == 10 / s);
    }
  }
  by_label.stretches = 1;
  CHECK(shard_of(by_label.shards({.rows = 100, .classes = classes}, 10), 3) ==
        Rows{3, 13, 23, 33, 43, 53, 63, 73, 83, 93});
}

TEST_CASE("by_label's sizes are known without the classes") {
  ByLabel by_label;
  by_label.stretches = 3;
  const Numbers classes = by_turns(100, 7);
  for (const int P : {1, 3, 7, 50})
    CHECK(by_label.shards({.rows = 100, .classes = {}}, P).starts ==
          by_label.shards({.rows = 100, .classes = classes}, P).starts);
}

TEST_CASE("a small alpha gives a class to few ranks, a large one to all alike") {
  const Numbers classes = by_turns(4000, 4);
  Dirichlet dirichlet;
  const auto largest_shares = [&](double alpha) {  // each class: the largest share of one rank
    dirichlet.alpha = alpha;
    const DataShards shards = dirichlet.shards({.rows = 4000, .classes = classes, .seed = 1}, 8);
    Numbers largest(4);
    for (int part = 0; part < 8; ++part) {
      Numbers counts(4);
      for (const std::int64_t row : shard_of(shards, part)) counts[static_cast<std::size_t>(row % 4)] += 1e-3;
      for (std::size_t c = 0; c < 4; ++c) largest[c] = std::max(largest[c], counts[c]);
    }
    return largest;
  };
  for (const double share : largest_shares(0.01)) CHECK(share > 0.9);
  for (const double share : largest_shares(1e5)) CHECK(share == Approx(1.0 / 8.0).margin(0.01));
}

TEST_CASE("Dirichlet proportions add up to one and have the distribution's moments") {
  // mean 1/n, variance (1/n)(1 - 1/n) / (n alpha + 1)
  constexpr int n = 4;
  constexpr int draws = 40000;
  for (const double alpha : {0.1, 0.5, 1.0, 3.0}) {
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < draws; ++i) {
      base::Stream stream({.seed = 7, .step = static_cast<std::uint64_t>(i)});
      const Numbers p = dirichlet(alpha, n, stream);
      CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1.0).epsilon(1e-12));
      sum += p[1];
      squares += p[1] * p[1];
    }
    const double mean = sum / draws;
    const double variance = squares / draws - mean * mean;
    const double expected = 0.25 * 0.75 / (n * alpha + 1.0);
    CAPTURE(alpha);
    CHECK(mean == Approx(0.25).margin(4.0 * std::sqrt(expected / draws)));
    CHECK(variance == Approx(expected).epsilon(0.03));
  }
}

TEST_CASE("proportions cut whole things without losing one") {
  CHECK(cuts(10, Numbers{0.25, 0.5, 0.25}) == Rows{0, 2, 7, 10});
  CHECK(cuts(3, Numbers{0.1, 0.1, 0.1, 0.7}) == Rows{0, 0, 0, 0, 3});
  CHECK(cuts(0, Numbers{0.5, 0.5}) == Rows{0, 0, 0});
}

TEST_CASE("quantity gives stretches of unequal lengths, the same for the same seed") {
  Quantity quantity;
  const DataShards one = quantity.shards({.rows = 1000, .classes = {}, .seed = 1}, 8);
  CHECK(one.rows.empty());
  CHECK(one.starts == quantity.shards({.rows = 1000, .classes = {}, .seed = 1}, 8).starts);
  CHECK(one.starts != quantity.shards({.rows = 1000, .classes = {}, .seed = 2}, 8).starts);
  Rows sizes;
  for (int part = 0; part < 8; ++part) sizes.push_back(one.size(part));
  CHECK(*std::ranges::max_element(sizes) > 3 * *std::ranges::min_element(sizes));
}

TEST_CASE("a rank's share of a batch comes from its shard, and the shares add up to the batch") {
  const auto set = two_blobs(60, 2);
  for (const auto& partition : uneven())
    for (const std::int64_t batch : {3, 7, 30, 59, 60})
      for (const int P : {1, 4, 7}) {
        const Batches batches({.rows = 60, .batch = batch, .partition = partition, .seed = 1, .labelled = set});
        const DataShards shards = partition->shards({.rows = 60, .classes = set->targets, .seed = 1}, P);
        std::int64_t total = 0;
        for (int part = 0; part < P; ++part) {
          const RowSet rows = batches.rows({5, part, P});
          total += rows.count;
          CHECK(rows.count == batches.count(part, P));
          if (batch >= P) CHECK(rows.count >= 1);
          if (batch == 60) CHECK(rows.count == shards.size(part));
          Rows listed = rows.indices;
          for (std::int64_t i = 0; listed.empty() && i < rows.count; ++i) listed.push_back(rows.first + i);
          Rows own = shard_of(shards, part);
          std::ranges::sort(own);
          for (const std::int64_t row : listed) CHECK(std::ranges::binary_search(own, row));
        }
        CHECK(total == batch);
      }
}

TEST_CASE("shares of unequal shards go by their sizes, and none is larger than its shard") {
  Quantity quantity;
  quantity.alpha = 0.2;
  const auto partition = std::make_shared<const Quantity>(quantity);
  const Batches batches({.rows = 1000, .batch = 208, .partition = partition, .seed = 4});
  const DataShards shards = quantity.shards({.rows = 1000, .classes = {}, .seed = 4}, 8);
  for (int part = 0; part < 8; ++part) {
    // 1 + (208 - 8) (size - 1) / (1000 - 8), to a row
    const double expected = 1.0 + 200.0 * static_cast<double>(shards.size(part) - 1) / 992.0;
    CHECK(std::abs(static_cast<double>(batches.count(part, 8)) - expected) < 1.0);
    CHECK(batches.count(part, 8) <= shards.size(part));
  }
}

TEST_CASE("the parts of all ranks add up to the gradient of the batch, whatever the partition") {
  const auto split = std::make_shared<data::Split>();
  split->train = *two_blobs(50, 3);
  const models::Problem problem{.features = 3, .classes = 2};
  const std::shared_ptr<const models::Model> model = models::registry().find("logistic_regression")->make();
  values::Dispatcher dispatcher({.label = {}});
  for (const auto& partition : uneven()) {
    const Learning learning(
        {.data = split, .model = model, .problem = problem, .rows = 50, .batch = 50, .partition = partition},
        dispatcher);
    const auto w = dispatcher.constant({0.3, -0.2, 0.1});
    Numbers whole(3);
    model->gradient(problem, {split->train.features.data(), split->train.targets.data(), 3, 0, 50}, w.value(), 1.0 / 50,
                    1.0, whole);
    Numbers sum(3);
    for (int part = 0; part < 7; ++part) {
      const auto g = learning.gradient(w, {0, part, 7});
      for (std::size_t j = 0; j < 3; ++j) sum[j] += g.value()[j];
    }
    for (std::size_t j = 0; j < 3; ++j) CHECK(sum[j] == Approx(whole[j]).epsilon(1e-12));
  }
}

}  // namespace partitions_test
