#include "experiment/run/trials.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "experiment/run/children.h"
#include "experiment/run/collective_ways.h"
#include "experiment/run/simulate.h"
#include "outputs/results.h"

namespace simgrad::experiment {

std::vector<std::optional<Observed>> trial_outcomes(const std::vector<const RunPlan*>& runs, TrialStore& store,
                                                    DataCache& data_cache, int jobs, int threads) {
  std::vector<std::optional<Observed>> all;
  for (const RunPlan* run : runs) all.push_back(store.find(run->id));
  std::vector<char> started(runs.size()), by_message(runs.size());
  std::vector<std::string> met(runs.size());  // the link
  Children children(jobs);
  for (std::size_t next = 0; (next < runs.size() || !children.empty()) && !interrupted();) {
    if (next < runs.size() && (all[next] || started[next])) {
      ++next;
    } else if (next < runs.size() && !children.full()) {
      const RunPlan& run = *runs[next];
      const std::size_t task = next;
      Data data;
      try {
        if (run.settings->training.numbers) data = data_cache.get(run);
      } catch (const std::runtime_error&) {
        ++next;
        continue;  // a file that has changed since
      }
      started[task] =
          children.start(task, [run = by_message[task] ? another_way(run, met[task]) : run, data, threads](auto*) {
            try {
              const record::Record record = simulate(run, data, threads, nullptr);
              if (record.status == record::Status::failed) return std::string("null");
              const Observed seen = observed(record);
              return nlohmann::ordered_json{seen.simulated_s, seen.samples, seen.crashes}.dump();
            } catch (const CollectivesMeet& meet) {
              return nlohmann::ordered_json(meet.what()).dump();
            }
          });
    } else if (const auto ended = children.reap(0.2); ended && ended->error.empty()) {
      const auto answer = outputs::parse_json(ended->answer);
      if (answer.is_null()) continue;
      if (answer.is_string()) {
        by_message[ended->task] = true;
        met[ended->task] = answer.get<std::string>();
        started[ended->task] = false;
        next = std::min(next, ended->task);
        continue;
      }
      all[ended->task] = {answer.at(0), answer.at(1), answer.at(2)};
      store.add(runs[ended->task]->id, *all[ended->task]);
    }
  }
  return interrupted() ? std::vector<std::optional<Observed>>() : all;
}

}  // namespace simgrad::experiment
