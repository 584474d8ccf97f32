// Results small enough to know what a report must say of them.
#pragma once

#include <string>
#include <utility>

#include "outputs/report/data/report_model.h"
#include "sample.h"

namespace simgrad::outputs {

inline Results results_of(std::vector<Run> runs, std::optional<double> target = {}) {
  Results results;
  results.name = "small";
  results.title = "Small";
  results.version = "0.1.0";
  results.scenario = Json::object();
  if (target) results.scenario["stop"] = {{"loss", *target}};
  results.runs = std::move(runs);
  return results;
}

/// Sent over one link that was busy for so large a share of the time.
inline Run over(Run run, std::string link, double utilisation, std::int64_t bytes = 1'000'000) {
  run.record.links.push_back({.link = std::move(link), .bytes = bytes, .utilisation = utilisation});
  return run;
}

inline Run with_seed(Run run, std::uint64_t seed) {
  run.id += "-" + std::to_string(seed);
  run.seed = seed;
  return run;
}

inline Run with_samples(Run run, std::int64_t samples) {
  run.record.samples = samples;
  return run;
}

/// An evaluation a step, each a second after the one before.
inline Run with_losses(Run run, const std::vector<std::optional<double>>& losses) {
  run.record.curve.clear();
  for (std::size_t k = 0; k < losses.size(); ++k) {
    record::Evaluation& each = run.record.curve.emplace_back();
    each.step = static_cast<std::int64_t>(k);
    each.simulated_s = static_cast<double>(k);
    each.samples = static_cast<std::int64_t>(10 * k);
    each.loss = losses[k];
  }
  return run;
}

inline Run diverged(Run run) {
  run.record.status = record::Status::diverged;
  run.record.final_loss = {};
  return run;
}

}  // namespace simgrad::outputs
