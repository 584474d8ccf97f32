// Scenarios with jobs, simulated in children.
#pragma once

#include <unistd.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/errors.h"
#include "catch.h"
#include "experiment/run/simulate.h"
#include "experiment/scenario.h"
#include "simulation.h"

namespace simgrad::experiment {

constexpr int K = 10;  // steps

inline std::string text_of(const std::string& cluster, const std::string& jobs) {
  return "[cluster]\nworkers = 4\nspeed = \"1GF\"\n" + cluster +
         "\n[data]\nsamples = 4000\nfeatures = 100\n[model]\nkind = \"least_squares\"\n"
         "[training]\nnumbers = false\n[stop]\nsteps = 10\n" +
         ring_allreduce + single + jobs;
}

inline std::string job(const char* name, const std::string& rest) {
  return std::string("[[job]]\nname = \"") + name + "\"\n" + rest + "\n";
}

/// The simulated seconds of the scenario's jobs, beside each other and then by themselves.
inline std::vector<double> times(const std::string& text) {
  const Plan plan = planned(text);
  std::vector<double> all;
  for (const auto* runs : {&plan.runs, &plan.alone})
    for (const RunPlan& run : *runs)
      all.push_back(tests::numbers_of_child([&] {
        alarm(60);
        const record::Record record = simulate(run, nullptr, 0, nullptr);
        if (record.status == record::Status::failed) throw std::runtime_error(record.error);
        for (const record::RankUse& use : record.ranks)
          if (std::abs(use.compute_s + use.communicate_s + use.wait_s + use.down_s - record.simulated_s) > 1e-9)
            throw std::runtime_error("the parts do not add up");
        return std::vector{record.simulated_s};
      })[0]);
  return all;
}

/// The losses of a run, evaluation by evaluation.
inline std::vector<double> losses(const RunPlan& run) {
  return tests::numbers_of_child([&] {
    alarm(60);
    const record::Record record = simulate(run, load_data(run), 0, nullptr);
    if (record.status == record::Status::failed) throw std::runtime_error(record.error);
    std::vector<double> all;
    for (const record::Evaluation& each : record.curve) all.push_back(each.loss.value());
    return all;
  });
}

inline std::string faults_of(const std::string& text) {
  try {
    planned(text);
  } catch (const base::ScenarioError& error) {
    std::string all;
    for (const std::string& fault : error.faults()) all += fault.substr(fault.find("x.toml")) + "\n";
    return all;
  }
  return "";
}

inline const std::string same_hosts = "strategy = \"allreduce\"\nworkers = 2\nhosts = [0, 1]";

inline void check_refused(const std::string& cluster, const std::string& jobs, const std::string& why) {
  try {
    planned(text_of(cluster, jobs));
    FAIL("accepted");
  } catch (const base::ScenarioError& error) {
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(text.find(why) != std::string::npos);
    CHECK(text.find("x.toml:") != std::string::npos);
  }
}

}  // namespace simgrad::experiment
