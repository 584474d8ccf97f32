// Every scenario: its question, its validity, and the claims that its comments make.
#include "house/results.h"

namespace scenarios_test {

using namespace simgrad;
using namespace simgrad::tests;
namespace fs = std::filesystem;

TEST_CASE("every scenario begins with the question that it answers") {
  for (const fs::path& path : scenario_files()) {
    INFO(path);
    std::string comment;
    for (const std::string& line : lines(contents(path.string()))) {
      if (!line.starts_with("#")) break;
      comment += line;
    }
    CHECK(comment.find('?') != std::string::npos);
  }
}

TEST_CASE("every scenario is valid") {
  for (const fs::path& path : scenario_files()) {
    INFO(path);
    const auto data = data_option(path.filename().string());
    if (!data) {
      WARN("skipped: " << path.filename() << " needs SIMGRAD_TEST_DATA");
      continue;
    }
    const Called called = call("simgrad validate --resolved '" + path.string() + "'" + *data, source_dir().string());
    INFO(called.err);
    CHECK(called.exit_code == 0);
    const auto has = [&](const char* table) { return called.out.find(table) != std::string::npos; };
    CHECK((has("\n[[strategy]]\n") || has("\n[serving]\n")));
  }
}

TEST_CASE("house_prices: every strategy reaches the target, faster than one worker and less than eight times so") {
  const auto results = results_of("house_prices.toml");
  std::set<std::string> kinds;
  for (const outputs::Run& run : results->runs) {
    INFO(run.label);
    kinds.insert(run.strategy);
    CHECK(run.workers == 8);
    CHECK(reached(run));
    CHECK(run.speedup_throughput > 1.0);
    CHECK(run.speedup_throughput < 8.0);
    CHECK(run.speedup_time_to_target < 8.0);
  }
  CHECK(kinds == std::set<std::string>{"mapreduce", "parameter_server", "allreduce", "gossip"});
}

TEST_CASE("two_processors: computing halves, and the speed-up stays below two") {
  const auto results = results_of("two_processors.toml");
  const record::Record& alone = results->baselines.at(0).record;
  CHECK(results->runs.size() == 4);
  for (const outputs::Run& run : results->runs) {
    INFO(run.label);
    CHECK(reached(run));
    CHECK(speedup(run) > 1.5);
    CHECK(speedup(run) < 2.0);
    // Half of the rows' flops a step: 2 workers x 4 d rows / 2. (Updates are not divided.)
    const double gradients_s = 4.0 * 100 * 20000 / 1e9;
    CHECK(run.record.ranks.at(0).compute_s / static_cast<double>(run.record.steps) >= Approx(gradients_s / 2));
    CHECK(run.record.ranks.at(0).compute_s <
          0.51 * alone.simulated_s / static_cast<double>(alone.steps) * static_cast<double>(run.record.steps));
  }
}

TEST_CASE("real_csv: house values of California are learnt by all strategies, R2 above 0.6") {
  const auto results = results_of("real_csv.toml");
  if (!results) return;
  CHECK(results->runs.size() == 5);
  for (const outputs::Run& run : results->runs) {
    INFO(run.label);
    CHECK(reached(run));
    CHECK(run.record.metric_name == "r2");
    CHECK(run.record.curve.back().metric > 0.6);
    CHECK(speedup(run) < 8.0);
  }
}

TEST_CASE("real_libsvm: heart disease is told by all strategies, and one worker is faster than four") {
  const auto results = results_of("real_libsvm.toml");
  if (!results) return;
  CHECK(results->runs.size() == 5);
  for (const outputs::Run& run : results->runs) {
    INFO(run.label);
    CHECK(reached(run));
    CHECK(run.record.metric_name == "accuracy");
    CHECK(run.record.curve.back().metric >= 0.83);
    CHECK(run.speedup_time_to_target < 1.0);
  }
}

TEST_CASE("speedup_below_m: below m for every m above one, and the server's falls again while gossip's does not") {
  const auto results = results_of("speedup_below_m.toml");
  for (const outputs::Run& run : results->runs) {
    INFO(run.label << " with " << run.workers);
    CHECK(reached(run));
    if (run.workers > 1) CHECK(speedup(run) < static_cast<double>(run.workers));
    if (run.workers == 1) CHECK(speedup(run) <= Approx(1.0));
  }
  const auto with = [&](const char* label, int workers) {
    return speedup(run_of(*results, label, "{\"cluster.workers\":" + std::to_string(workers) + "}"));
  };
  for (const char* label : {"mapreduce", "allreduce"}) {
    INFO(label);
    CHECK(with(label, 2) > with(label, 1));
    CHECK(with(label, 8) > with(label, 4));
    CHECK(with(label, 16) < with(label, 8));
  }
  CHECK(with("gossip", 16) > with("gossip", 8));
  const outputs::Run& slow_news = run_of(*results, "gossip", R"({"cluster.workers":16})");
  CHECK(slow_news.speedup_time_to_target < slow_news.speedup_throughput);
}

TEST_CASE("latency_or_bandwidth: bandwidth binds the server, latency binds the ring") {
  const auto results = results_of("latency_or_bandwidth.toml");
  const auto network_s = [&](const char* label, const std::string& bandwidth, const std::string& latency) {
    return mean_communicate_s(run_of(
        *results, label, R"({"cluster.bandwidth":")" + bandwidth + R"(","cluster.latency":")" + latency + "\"}"));
  };
  const char* server = "parameter_server";
  // A hundred times the bandwidth: the server gains nearly as much. A hundred times the latency: it hardly notices.
  CHECK(network_s(server, "100Mbps", "50us") > 90 * network_s(server, "10Gbps", "50us"));
  CHECK(network_s(server, "1Gbps", "5ms") < 1.1 * network_s(server, "1Gbps", "50us"));
  // The ring suffers from latency, the more so the faster the links.
  CHECK(network_s("allreduce", "1Gbps", "5ms") > 4 * network_s("allreduce", "1Gbps", "50us"));
  CHECK(network_s("allreduce", "10Gbps", "5ms") > 30 * network_s("allreduce", "10Gbps", "50us"));
  // So the ring wins where bandwidth is short, and loses where links are fast and far.
  CHECK(network_s("allreduce", "100Mbps", "5ms") < network_s(server, "100Mbps", "5ms"));
  CHECK(network_s("allreduce", "10Gbps", "5ms") > network_s(server, "10Gbps", "5ms"));
  for (const outputs::Run& run : results->runs) CHECK_FALSE(run.record.final_loss);
}

TEST_CASE("one_slow_worker: all wait for it but asp, whose throughput is beyond the others'") {
  const auto results = results_of("one_slow_worker.toml");
  const outputs::Run& asp = run_of(*results, "asp");
  CHECK(reached(asp));
  CHECK(asp.record.staleness_mean > 1.0);
  for (const char* label : {"bsp", "allreduce", "gossip"}) {
    INFO(label);
    const outputs::Run& run = run_of(*results, label);
    CHECK(reached(run));
    // Seven fast workers at the pace of the slow one: 8 x 0.5.
    CHECK(speedup(run) < 4.0);
    CHECK(speedup(asp) > 1.5 * speedup(run));
    CHECK(total_wait_s(run) > 10.0 * total_wait_s(asp));
    CHECK(run.record.ranks.at(0).wait_s < run.record.ranks.at(4).wait_s);
  }
  // 7 + 0.5 workers' worth is what asp could reach.
  CHECK(speedup(asp) < 7.5);
}

TEST_CASE("crash_and_recovery: the target is reached all the same, and sooner the more often the state is kept") {
  const auto results = results_of("crash_and_recovery.toml");
  for (const outputs::Run& run : results->runs) {
    INFO(run.label << " " << run.parameters.dump() << " " << run.record.error);
    CHECK(reached(run));
    // Rank 2 was down from the crash until its repair.
    CHECK(run.record.ranks.at(2).down_s == Approx(0.03).epsilon(1e-9));
    CHECK(run.record.ranks.at(0).down_s == 0.0);
  }
  for (const char* label : {"parameter_server", "allreduce", "gossip"}) {
    INFO(label);
    const auto samples = [&](const char* every) {
      const std::string point = std::string(R"({"training.checkpoint_every_steps":)") + every + "}";
      return run_of(*results, label, point).record.samples;
    };
    CHECK(samples("0") > samples("9"));
    CHECK(samples("9") > samples("1"));
  }
}

TEST_CASE("classroom: the platform's file is read, and twelve computers do not make one twelve times as fast") {
  const auto results = results_of("classroom.toml");
  for (const outputs::Run& run : results->runs) {
    INFO(run.label);
    CHECK(reached(run));
    CHECK(speedup(run) > 1.0);
    CHECK(speedup(run) < static_cast<double>(run.workers));
  }
}

TEST_CASE("large_batches: only a learning rate that grows with the batch turns sixteen workers into time saved") {
  const auto results = results_of("large_batches.toml");
  const auto with = [&](int workers, const std::string& scaling) -> const record::Record& {
    return run_of(*results, "allreduce",
                  R"({"cluster.workers":)" + std::to_string(workers) + R"(,"training.learning_rate_scaling":")" +
                      scaling + "\"}")
        .record;
  };
  const record::Record& one = with(1, "none");
  CHECK(with(1, "linear").time_to_target_s == one.time_to_target_s);
  CHECK(static_cast<double>(with(16, "linear").samples) < 1.3 * static_cast<double>(one.samples));
  CHECK(with(16, "linear").time_to_target_s.value() < one.time_to_target_s.value() / 4);
  CHECK(static_cast<double>(with(4, "none").steps) > 0.9 * static_cast<double>(one.steps));
  CHECK(with(4, "none").time_to_target_s.value() > one.time_to_target_s.value());
  CHECK(with(16, "none").status == record::Status::stopped);
}

TEST_CASE("recommendation: eight workers are slower than one with few ratings a step, and faster with many") {
  const auto results = results_of("recommendation.toml");
  for (const outputs::Run& run : results->runs) {
    INFO(run.label << " " << run.parameters.dump());
    CHECK(reached(run));
    CHECK(run.record.metric_name == "r2");
    CHECK(run.record.curve.back().metric > 0.85);
    CHECK(speedup(run) < 4.0);
  }
  for (const char* label : {"parameter_server", "allreduce"})
    CHECK(speedup(run_of(*results, label, R"({"data.samples":5000})")) < 0.5);
  CHECK(speedup(run_of(*results, "allreduce", R"({"data.samples":100000})")) > 3.0);
}

}  // namespace scenarios_test
