// The claims of scenarios about random events hold over seeds, not for one of them.
#include "catch.h"
#include "house/results.h"

namespace seeds_test {

using namespace simgrad::tests;

namespace {

void check_over(const std::string& seeds, const std::vector<std::string>& names) {
  std::string files;
  for (const std::string& name : names) files += " '" + (source_dir() / "scenarios" / (name + ".toml")).string() + "'";
  const Called called = call("simgrad check --quiet --seeds " + seeds + files, source_dir().string());
  INFO(called.out << called.err);
  CHECK(called.exit_code == 0);
}

}  // namespace

TEST_CASE("spot_or_on_demand holds on average over twenty seeds") { check_over("1..20", {"spot_or_on_demand"}); }

TEST_CASE("stragglers, backup workers and a moving target hold on average over five seeds") {
  check_over("2..6", {"stragglers_and_waiting", "backup_workers", "moving_target"});
}

TEST_CASE("more machines with more failures hold on average over three seeds") {
  check_over("2..4", {"more_machines_more_failures"});
}

TEST_CASE("intervals of checkpoints hold on average over two seeds") { check_over("2..3", {"checkpoint_interval"}); }

TEST_CASE("faulty workers spoil the mean and no robust reduction over three seeds") {
  check_over("2..4", {"faulty_workers"});
}

TEST_CASE("tensor_or_replicas holds on average over three seeds") { check_over("2..4", {"tensor_or_replicas"}); }

TEST_CASE("blocks by movement and stale slices hold on average over seeds 1 to 5") {
  check_over("1..5", {"blocks_by_movement", "blocks_of_keys", "stale_slices"});
}

}  // namespace seeds_test
