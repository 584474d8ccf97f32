#include "training/learning/batches.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "catch.h"
#include "training/partitions/stream.h"

namespace batches_test {

using namespace simgrad::training;

namespace {

std::shared_ptr<const Partition> kind(const char* name) { return simgrad::base::Slot(partitions(), name).shared(); }

/// The rows of a set, one by one.
std::vector<std::int64_t> listed(const RowSet& set) {
  if (!set.indices.empty()) return set.indices;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(set.count));
  std::iota(rows.begin(), rows.end(), set.first);
  return rows;
}

/// The rows of all P parts of a step, in the order of ranks.
std::vector<std::int64_t> global_batch(const Batches& batches, std::int64_t step, int P) {
  std::vector<std::int64_t> all;
  for (int part = 0; part < P; ++part) {
    const auto rows = listed(batches.rows({step, part, P}));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

std::vector<std::int64_t> all_rows(std::int64_t n) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

TEST_CASE("an epoch of minibatches sees every row exactly once, whether the batch divides the rows or not") {
  for (const std::int64_t batch : {1, 7, 20, 33, 99}) {
    const Batches batches({.rows = 100, .batch = batch});
    std::vector<std::int64_t> dealt;
    for (std::int64_t step = 0; std::cmp_less(dealt.size(), 300 + batch); ++step) {
      const auto rows = global_batch(batches, step, 3);
      CHECK(rows.size() == static_cast<std::size_t>(batch));
      dealt.insert(dealt.end(), rows.begin(), rows.end());
    }
    for (std::ptrdiff_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<std::int64_t> seen(dealt.begin() + 100 * epoch, dealt.begin() + 100 * (epoch + 1));
      CHECK(seen != all_rows(100));  // in an order of its own
      std::sort(seen.begin(), seen.end());
      CAPTURE(batch, epoch);
      CHECK(seen == all_rows(100));
    }
    CHECK(!std::equal(dealt.begin(), dealt.begin() + 100, dealt.begin() + 100));
  }
}

TEST_CASE("the parts of any number of ranks together are the step's batch, in its order") {
  for (const std::int64_t batch : {5, 32, 100}) {
    const Batches batches({.rows = 100, .batch = batch});
    for (const std::int64_t step : {0, 1, 2, 3, 17, 1'000'000})
      for (int P = 1; P <= 16; ++P) {
        CAPTURE(batch, step, P);
        CHECK(global_batch(batches, step, P) == listed(batches.rows({step, 0, 1})));
      }
  }
}

TEST_CASE("parts differ by at most one row, and count says how many") {
  for (const auto& partition : {kind("iid"), kind("contiguous")})
    for (const std::int64_t batch : {17, 64, 100})
      for (int P = 1; P <= 16; ++P) {
        const Batches batches({.rows = 100, .batch = batch, .partition = partition});
        std::int64_t total = 0;
        for (int part = 0; part < P; ++part) {
          const RowSet rows = batches.rows({3, part, P});
          CHECK(rows.count == batches.count(part, P));
          CHECK(listed(rows).size() == static_cast<std::size_t>(rows.count));
          CHECK(rows.count >= batch / P);
          CHECK(rows.count <= (batch + P - 1) / P);
          total += rows.count;
        }
        CHECK(total == batch);
      }
}

TEST_CASE("a full batch is contiguous stretches of the data") {
  const Batches batches({.rows = 10, .batch = 10});
  CHECK(batches.full());
  // floor(10 r / 4): 0, 2, 5, 7, 10
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{0, 2}, {2, 3}, {5, 2}, {7, 3}};
  for (int part = 0; part < 4; ++part) {
    const RowSet rows = batches.rows({9, part, 4});
    CHECK(rows.indices.empty());
    CHECK(rows.first == expected[static_cast<std::size_t>(part)].first);
    CHECK(rows.count == expected[static_cast<std::size_t>(part)].second);
  }
}

TEST_CASE("a contiguous partition draws each rank's rows from its own stretch, every one once an epoch") {
  const Batches batches({.rows = 96, .batch = 24, .partition = kind("contiguous")});
  for (int part = 0; part < 4; ++part) {
    std::vector<std::int64_t> epoch;
    for (std::int64_t step = 0; step < 4; ++step) {
      const auto rows = listed(batches.rows({step, part, 4}));
      epoch.insert(epoch.end(), rows.begin(), rows.end());
    }
    std::sort(epoch.begin(), epoch.end());
    std::vector<std::int64_t> shard(24);
    std::iota(shard.begin(), shard.end(), 24 * part);
    CHECK(epoch == shard);
  }
}

TEST_CASE("batches depend on the seed and the step, and on nothing asked before") {
  const Batches one({.rows = 100, .batch = 10, .seed = 1});
  const Batches other({.rows = 100, .batch = 10, .seed = 2});
  const auto fifth = listed(one.rows({5, 0, 1}));
  CHECK(fifth != listed(other.rows({5, 0, 1})));
  CHECK(fifth != listed(one.rows({6, 0, 1})));
  CHECK(fifth == listed(Batches({.rows = 100, .batch = 10, .seed = 1}).rows({5, 0, 1})));
}

namespace {

Batches stream(std::int64_t rows, std::int64_t batch, double duration_s, std::int64_t window) {
  Stream partition;
  partition.duration_s = duration_s;
  partition.window = window;
  return Batches({.rows = rows, .batch = batch, .partition = std::make_shared<Stream>(partition)});
}

}  // namespace

TEST_CASE("rows of a stream come in at an even rate, the first window at once") {
  const Batches batches = stream(1200, 10, 10.0, 100);
  CHECK(batches.flows_in());
  CHECK(batches.arrived(0.0) == 100);
  CHECK(batches.arrived(2.5) == 100 + 250);
  CHECK(batches.arrived(10.0) == 1100);
  CHECK(batches.arrived(50.0) == 1100);
  CHECK(batches.next(2.5).first == 350);
  CHECK(batches.next(2.5).count == 100);
  CHECK(batches.next(50.0).first == 1100);  // the last ones never come in
}

TEST_CASE("a step of a stream deals distinct rows of the last window to the ranks") {
  const Batches batches = stream(1100, 40, 10.0, 50);
  const std::int64_t arrived = 400;
  std::set<std::int64_t> seen;
  for (int part = 0; part < 4; ++part)
    for (const std::int64_t row : batches.rows({7, part, 4, arrived}).indices) {
      CHECK(row >= arrived - 50);
      CHECK(row < arrived);
      CHECK(seen.insert(row).second);
    }
  CHECK(seen.size() == 40);
  CHECK(batches.rows({7, 1, 4, arrived}).indices == batches.rows({7, 1, 4, arrived}).indices);
  CHECK(batches.rows({7, 1, 4, arrived}).indices != batches.rows({8, 1, 4, arrived}).indices);
}

}  // namespace batches_test
