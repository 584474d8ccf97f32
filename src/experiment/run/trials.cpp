#include "experiment/run/trials.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "experiment/run/children.h"
#include "experiment/run/collective_ways.h"
#include "experiment/run/simulate.h"
#include "outputs/results.h"

namespace simgrad::experiment {

void simulate_each(const std::vector<const RunPlan*>& runs, DataCache& data_cache, int jobs, int threads,
                   const Simulations& does) {
  std::vector<char> started(runs.size()), by_message(runs.size());
  std::vector<std::string> met(runs.size());  // the link
  Children children(jobs);
  for (std::size_t next = 0; (next < runs.size() || !children.empty()) && does.goes_on();) {
    if (next < runs.size() && started[next]) {
      ++next;
    } else if (next < runs.size() && !children.full()) {
      const RunPlan& run = *runs[next];
      const std::size_t task = next;
      Data data;
      try {
        if (run.settings->training.numbers) data = data_cache.get(run);
      } catch (const std::runtime_error& fault) {
        started[task] = true;  // a file that has changed since
        does.failed(task, fault.what());
        continue;
      }
      started[task] = children.start(
          task, [run = by_message[task] ? another_way(run, met[task]) : run, data, threads, &does](auto*) {
            try {
              return nlohmann::ordered_json{does.answer(run, simulate(run, data, threads, nullptr))}.dump();
            } catch (const CollectivesMeet& meet) {
              return nlohmann::ordered_json(meet.what()).dump();
            }
          });
    } else if (auto ended = children.reap(0.2)) {
      if (!ended->error.empty()) {
        does.failed(ended->task, ended->error);
        continue;
      }
      const auto answer = outputs::parse_json(ended->answer);
      if (answer.is_string()) {
        by_message[ended->task] = true;
        met[ended->task] = answer.get<std::string>();
        started[ended->task] = false;
        next = std::min(next, ended->task);
        continue;
      }
      does.take(ended->task, answer.at(0), ended->wall_s);
    }
  }
}

std::vector<std::optional<Observed>> trial_outcomes(const std::vector<const RunPlan*>& runs, TrialStore& store,
                                                    DataCache& data_cache, int jobs, int threads) {
  std::vector<std::optional<Observed>> all;
  std::vector<const RunPlan*> missing;
  std::vector<std::size_t> places;  // in all
  for (const RunPlan* run : runs) {
    all.push_back(store.find(run->id));
    if (all.back()) continue;
    missing.push_back(run);
    places.push_back(all.size() - 1);
  }
  const Simulations simulations{.answer = [](const RunPlan&, const record::Record& record) -> nlohmann::ordered_json {
                                  if (record.status == record::Status::failed) return nullptr;
                                  const Observed seen = observed(record);
                                  return {seen.simulated_s, seen.samples, seen.crashes};
                                },
                                .take =
                                    [&](std::size_t task, const nlohmann::ordered_json& answer, double) {
                                      if (answer.is_null()) return;
                                      store.add(missing[task]->id,
                                                all[places[task]].emplace(answer.at(0), answer.at(1), answer.at(2)));
                                    },
                                .failed = [](std::size_t, const std::string&) {},
                                .goes_on = [] { return !interrupted(); }};
  simulate_each(missing, data_cache, jobs, threads, simulations);
  return interrupted() ? std::vector<std::optional<Observed>>() : all;
}

}  // namespace simgrad::experiment
