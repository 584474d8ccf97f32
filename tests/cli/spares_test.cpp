// Spare hosts and asynchronous checkpoints from the command line: what is refused, and what a spare costs.
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "cli/program.h"

namespace spares_cli_test {

using namespace simgrad;
using nlohmann::json;

namespace {

constexpr const char* cut_in_two = R"(
[cluster]
workers = 4
speed   = "100MF"
[data]
source   = "house_prices"
samples  = 64
features = 8
[model]
kind   = "perceptron"
hidden = [8, 8, 8]
[training]
batch_size = 16
[parallel]
pipeline = 2
[stop]
steps = 20
[prices]
worker = "3.6$/h"
[[strategy]]
kind = "allreduce"
)";

constexpr const char* crash = R"(--set 'cluster.failures.crash=[{rank=1,at="1ms",repair="1h"}]' )";

tests::Called run(const tests::Scratch& scratch, const std::string& options) {
  scratch.write("a.toml", cut_in_two);
  return tests::call("simgrad run a.toml --no-baseline --force --json " + options, scratch.path());
}

std::string refusal(const std::string& options) {
  const tests::Scratch scratch;
  const tests::Called called = run(scratch, options);
  CHECK(called.exit_code == 2);
  return called.err;
}

}  // namespace

TEST_CASE("spares that cannot take a place are refused, with the place of the option") {
  const auto refused = [](const std::string& options, const std::string& text, const char* place = "--set") {
    const std::string error = refusal(options);
    INFO(error);
    CHECK(error.starts_with(place));
    CHECK(error.find(text) != std::string::npos);
  };
  refused(crash + std::string("--set cluster.failures.spares=5"),
          "5 spares for 4 hosts of workers; expected at most as many");
  refused(crash + std::string("--set cluster.failures.spares=3 --set 'cluster.topology={kind=\"star\",devices=2}'"),
          "3 spares for 2 hosts of workers; expected at most as many");
  refused("--set cluster.failures.spares=1", "spares take the places of hosts that fail, but none can");
  refused(crash + std::string("--set cluster.failures.spares=1 --set cluster.failures.recovery=elastic "
                              "--set parallel.pipeline=1"),
          "a spare takes the place of a lost host, but allreduce goes on without it");
  refused("--set cluster.failures.spares=1 --set cluster.failures.market=spot", "spares are hosts of one's own");
  refused("--set training.checkpoint_async=true --set cluster.storage_bandwidth=1GBps", "no checkpoints are written");
  refused("--set training.checkpoint_async=true --set training.checkpoint_every_steps=2",
          "give cluster.storage_bandwidth");
  refused("--set cluster.host_memory_bandwidth=1GBps", "training.checkpoint_async = true");
  refused(crash + std::string("--set cluster.failures.recovery=shrink"), "cannot recover by \"shrink\"");
  refused(crash + std::string("--set parallel.schedule=pipedream"), "a checkpoint has one version of a stage's weights",
          "a.toml:20:1: ");
  refused("--set parallel.copies=next_stage", "are read by recovery = \"wait\" alone");
}

TEST_CASE("a trace is read by the numbers of hosts, each with all of its devices") {
  const tests::Scratch scratch;
  scratch.write("t.csv", "host,down_at,up_at\n0,0.001,0.002\n2,0.001,\n");
  const std::string traced =
      "--set 'cluster.topology={kind=\"star\",devices=2}' --set parallel.pipeline=1 "
      "--set 'cluster.failures.hosts={kind=\"trace\",path=\"t.csv\"}' ";
  const tests::Called other =
      run(scratch, traced + "--set 'strategy=[{kind=\"allreduce\"},{kind=\"parameter_server\"}]'");
  CHECK(other.exit_code == 2);  // host 2 is the server's, and allreduce has none
  CHECK(other.err.find("recovery \"restart\" waits for host 2, which never comes back in t.csv") != std::string::npos);
  CHECK(other.err.find("allreduce") == std::string::npos);
  const tests::Called spare = run(scratch, traced + "--set cluster.failures.spares=1");
  INFO(spare.err);
  REQUIRE(spare.exit_code == 0);  // host 2 is the spare
  CHECK(json::parse(spare.out)["runs"][0]["crashes"] == 1);
}

TEST_CASE("a class without memory is refused where stages are sized to memory") {
  const tests::Scratch scratch;
  const std::string classes =
      R"(--set 'cluster.hosts=[{class="big",count=2,device={kind="custom",float64="1TF",memory="1GB",)"
      R"(memory_bandwidth="1TBps"}},{class="plain",count=2}]' )";
  for (const char* balance : {"memory", "time"}) {
    const tests::Called called = run(scratch, classes + "--set parallel.balance=" + balance);
    CHECK(called.exit_code == 2);
    CHECK(called.err.find("class \"plain\" has no memory, but balance = \"" + std::string(balance) +
                          "\" sizes stages") != std::string::npos);
  }
  CHECK(run(scratch, classes + "--set parallel.balance=blocks").exit_code == 0);
}

TEST_CASE("a spare is paid for all the time, and saves the time of the repair") {
  const tests::Scratch scratch;
  const auto run_of = [&](const std::string& options) {
    const tests::Called called = run(scratch, options);
    INFO(called.err);
    REQUIRE(called.exit_code == 0);
    return json::parse(called.out)["runs"][0];
  };
  const json without = run_of(crash), with = run_of(crash + std::string("--set cluster.failures.spares=1"));
  CHECK(without["simulated_s"].get<double>() - with["simulated_s"].get<double>() == Approx(3600.0 - 0.1).epsilon(1e-9));
  for (const auto& [result, hosts] : {std::pair(without, 4), std::pair(with, 5)}) {
    CHECK(result["cost_usd"].get<double>() == Approx(1e-3 * hosts * result["simulated_s"].get<double>()).epsilon(1e-9));
    double parts = 0.0;
    for (const char* part : {"cost_compute_usd", "cost_communicate_usd", "cost_wait_usd", "cost_down_usd"})
      parts += result[part].get<double>();
    CHECK(parts == Approx(result["cost_usd"].get<double>()).epsilon(1e-9));
  }
  CHECK(without["final_loss"] == with["final_loss"]);
}

TEST_CASE("a spare has as many devices as a host, and all of them are paid for") {
  const tests::Scratch scratch;
  const std::string devices = "--set 'cluster.topology={kind=\"star\",devices=2}' ";
  const tests::Called called = run(scratch, devices + crash + "--set cluster.failures.spares=1");
  INFO(called.err);
  REQUIRE(called.exit_code == 0);
  const json result = json::parse(called.out)["runs"][0];
  CHECK(result["cost_usd"].get<double>() == Approx(1e-3 * 6 * result["simulated_s"].get<double>()).epsilon(1e-9));
  std::vector<int> numbers;
  for (const json& host : result["hosts"]) numbers.push_back(host["host_number"].get<int>());
  CHECK(numbers == std::vector<int>{0, 0, 1, 1, 2, 2});
  CHECK(result["crashes"] == 1);
}

}  // namespace spares_cli_test
