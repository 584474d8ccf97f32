// Shares of a step's batch in proportion to the ranks' speeds.
#include <algorithm>
#include <numeric>

#include "catch.h"
#include "training/learning/batches.h"
#include "training/partitions/plain.h"
#include "training/partitions/proportions.h"

namespace speed_shares_test {

using namespace simgrad::training;
using Rows = std::vector<std::int64_t>;

namespace {

template <class Kind>
Batches by_speed(std::int64_t rows, std::int64_t batch, std::vector<double> speeds) {
  auto partition = std::make_shared<Kind>();
  partition->shares = BatchShares::speed;
  return Batches(
      {.rows = rows, .batch = batch, .partition = partition, .seed = 3, .labelled = {}, .speeds = std::move(speeds)});
}

void add(Rows& all, const RowSet& set) {
  for (std::int64_t i = 0; i < set.count; ++i)
    all.push_back(set.indices.empty() ? set.first + i : set.indices[static_cast<std::size_t>(i)]);
}

Rows sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

Rows all_rows(std::int64_t n) {
  Rows rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

TEST_CASE("seats by largest remainders are those of the method's textbook example, and nobody is left without") {
  // 100,000 votes, 10 seats: quotas 4.7, 1.6, 1.58, 1.2, 0.61, 0.31; the seats left go to .7, .61 and .6.
  const std::vector<double> votes{47000, 16000, 15800, 12000, 6100, 3100};
  CHECK(apportioned(10, votes) == Rows{0, 4, 6, 7, 8, 9, 10});  // the last has its one from the first's five
  CHECK(apportioned(3, std::vector<double>{1, 1, 1}) == Rows{0, 1, 2, 3});
  CHECK(apportioned(2, std::vector<double>{1, 1, 1}) == Rows{0, 1, 2, 2});
  CHECK(apportioned(7, std::vector<double>{1e-30, 1e30}) == Rows{0, 1, 7});
}

TEST_CASE("shares are whole units, and parts at their most leave the rest to the others by their weights") {
  const std::vector<double> speeds{1, 2, 5};
  CHECK(apportioned(80, speeds, {}, 1) == Rows{0, 10, 30, 80});
  CHECK(apportioned(80, speeds, {}, 20) == Rows{0, 20, 40, 80});
  // The last has 20 of its 50; the other 60 are dealt 1 to 2.
  CHECK(apportioned(80, speeds, Rows{80, 80, 20}, 1) == Rows{0, 20, 60, 80});
  // Then the second is at its most, too.
  CHECK(apportioned(80, speeds, Rows{80, 30, 20}, 1) == Rows{0, 30, 60, 80});
  CHECK(apportioned(80, speeds, Rows{30, 30, 20}, 1) == Rows{0, 30, 60, 80});
  CHECK(apportioned(80, speeds, Rows{0, 60, 25}, 5) == Rows{0, 0, 55, 80});
}

TEST_CASE("rows within bounds are each drawn once, of batches and of shards") {
  for (const bool full : {false, true})
    for (const bool contiguous : {false, true}) {
      std::shared_ptr<Plain> partition;
      if (contiguous)
        partition = std::make_shared<Contiguous>();
      else
        partition = std::make_shared<Iid>();
      partition->shares = BatchShares::speed;
      const std::int64_t rows = full ? 80 : 400;
      const Batches batches({.rows = rows,
                             .batch = 80,
                             .partition = partition,
                             .seed = 3,
                             .labelled = {},
                             .speeds = {1, 2, 5},
                             .most_rows = {80, 80, 20},
                             .rows_unit = 10});
      Rows seen;
      for (int part = 0; part < 3; ++part) add(seen, batches.rows({0, part, 3}));
      CHECK(batches.count(2, 3) == 20);
      seen = sorted(seen);
      CHECK(seen.size() == 80);
      CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
      if (full) CHECK(seen == all_rows(80));
    }
}

TEST_CASE("ranks of speeds 1, 2 and 5 have an eighth, a quarter and five eighths of every batch") {
  for (const Batches& batches : {by_speed<Iid>(400, 80, {1, 2, 5}), by_speed<Contiguous>(400, 80, {1, 2, 5})}) {
    CHECK(batches.count(0, 3) == 10);
    CHECK(batches.count(1, 3) == 20);
    CHECK(batches.count(2, 3) == 50);
    for (int part = 0; part < 3; ++part) CHECK(batches.rows({4, part, 3}).count == batches.count(part, 3));
  }
  CHECK(by_speed<Iid>(400, 80, {1, 2, 5}).count(0, 2) == 40);  // two ranks alone: nobody knows which
}

TEST_CASE("with shares by speed an epoch still has every row once, and parts are the step's batch in its order") {
  const Batches iid = by_speed<Iid>(90, 30, {1, 2, 4});
  const Batches equal({.rows = 90, .batch = 30, .seed = 3});
  Rows seen;
  for (std::int64_t step = 0; step < 3; ++step) {
    Rows parts, whole;
    for (int part = 0; part < 3; ++part) add(parts, iid.rows({.step = step, .part = part, .parts = 3}));
    add(whole, equal.rows({.step = step, .part = 0, .parts = 1}));
    CHECK(parts == whole);
    seen.insert(seen.end(), parts.begin(), parts.end());
  }
  CHECK(sorted(seen) == all_rows(90));

  const Batches contiguous = by_speed<Contiguous>(80, 40, {1, 3});
  Rows first, second;
  for (std::int64_t step = 0; step < 2; ++step) {
    add(first, contiguous.rows({.step = step, .part = 0, .parts = 2}));
    add(second, contiguous.rows({.step = step, .part = 1, .parts = 2}));
  }
  CHECK(sorted(first) == all_rows(20));  // its stretch, a quarter of the rows
  CHECK(second.size() == 60);
  CHECK(std::ranges::min(second) == 20);
}

TEST_CASE("on the full batch shares by speed are stretches of the rows") {
  const Batches batches = by_speed<Iid>(80, 80, {1, 3});
  CHECK(batches.rows({0, 0, 2}).count == 20);
  CHECK(batches.rows({0, 1, 2}).first == 20);
  CHECK(batches.rows({0, 1, 2}).count == 60);
}

}  // namespace speed_shares_test
