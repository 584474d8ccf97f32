// Records small enough to be checked by eye.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "outputs/results.h"

namespace simgrad::outputs {

using Json = nlohmann::ordered_json;

/// A run of `workers` equal workers whose time went into compute, communicate, wait and down; no speed-ups.
inline Run sample_run(std::string label, std::int64_t workers, std::array<double, 4> parts_s) {
  Run run;
  run.id = label + "-" + std::to_string(workers);
  run.strategy = label;
  run.label = std::move(label);
  run.options = Json::object();
  run.workers = workers;
  run.record.simulated_s = parts_s[0] + parts_s[1] + parts_s[2] + parts_s[3];
  run.record.steps = 100;
  run.record.samples = 2'000'000;
  run.record.epochs = 100.0;
  for (std::int64_t r = 0; r < workers; ++r) {
    run.record.ranks.push_back({.role = "worker",
                                .compute_s = parts_s[0],
                                .communicate_s = parts_s[1],
                                .wait_s = parts_s[2],
                                .down_s = parts_s[3]});
  }
  return run;
}

/// Reached the target at the end; compared with a baseline that needed `baseline_s` for as many samples.
inline Run reached(Run run, double loss, double baseline_s) {
  run.record.status = record::Status::reached;
  run.record.final_loss = loss;
  run.record.time_to_target_s = run.record.simulated_s;
  run.speedup_throughput = baseline_s / run.record.simulated_s;
  run.speedup_time_to_target = baseline_s / run.record.simulated_s;
  run.efficiency = *run.speedup_throughput / static_cast<double>(run.workers);
  return run;
}

inline Run failed(Run run, std::string error) {
  run.record = {};
  run.record.status = record::Status::failed;
  run.record.error = std::move(error);
  return run;
}

inline Run at(Run run, const std::string& key, Json value) {
  run.parameters[key] = std::move(value);
  return run;
}

inline Run sent(Run run, std::int64_t bytes, std::int64_t messages) {
  run.record.bytes = bytes;
  run.record.messages = messages;
  return run;
}

/// Two grid points, three strategies: most of what can happen.
inline Results six_runs() {
  const std::string key = "cluster.workers";
  Results results;
  results.name = "wan";
  results.title = "Three ways over a slow network";
  results.version = "0.1.0";
  results.scenario = {{"stop", {{"loss", 0.02}}}};
  const auto add = [&](const Run& run) { results.runs.push_back(at(run, key, run.workers)); };

  add(sent(reached(sample_run("allreduce", 2, {4.0, 0.8, 0.2, 0.0}), 0.01998, 8.0), 320'000, 400));
  add(sent(reached(sample_run("async PS", 2, {4.0, 2.0, 0.0, 0.0}), 0.01871, 8.0), 640'000, 800));
  Run gossip = sent(sample_run("gossip(graph=ring)", 2, {4.0, 0.4, 0.1, 0.0}), 320'000, 400);
  gossip.record.final_loss = 0.0312;
  gossip.speedup_throughput = 8.0 / 4.5;
  gossip.efficiency = 4.0 / 4.5;
  add(gossip);

  add(sent(reached(sample_run("allreduce", 8, {1.0, 0.25, 0.15, 0.1}), 0.01998, 8.0), 1'280'000, 11'200));
  Run diverged = sent(sample_run("async PS", 8, {0.3, 0.5, 0.2, 0.0}), 1'920'000, 3200);
  diverged.record.status = record::Status::diverged;
  diverged.speedup_throughput = 6.4;
  diverged.efficiency = 0.8;
  add(diverged);
  add(failed(sample_run("gossip(graph=ring)", 8, {}), "rank 3 was lost and no recovery is configured"));

  for (Run& run : results.runs) {
    run.record.metric_name = "r2";
    if (!run.record.final_loss) continue;
    record::Evaluation& last = run.record.curve.emplace_back();
    last.step = run.record.steps;
    last.simulated_s = run.record.simulated_s;
    last.samples = run.record.samples;
    last.loss = run.record.final_loss;
    last.metric = 1.0 - 2.0 * *run.record.final_loss;
  }
  results.runs[3].record.notes = {"recovered once, at 0.9 s, from the checkpoint of step 60"};
  results.baselines.push_back(reached(sample_run("one worker", 1, {8.0, 0.0, 0.0, 0.0}), 0.01998, 8.0));
  return results;
}

}  // namespace simgrad::outputs
