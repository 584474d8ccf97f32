// A Chrome trace read back, and held to what viewers need.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace simgrad::tests {

struct Trace {
  struct Slice {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;
    std::string name;
    std::string category;
    nlohmann::json arguments;
  };
  struct End {
    int process = 0;
    int thread = 0;
    std::int64_t at_ns = 0;
  };
  using Lane = std::pair<int, int>;  ///< process, thread
  std::map<Lane, std::vector<Slice>> slices;
  std::map<Lane, std::string> lanes;
  std::map<int, std::string> processes;
  std::map<std::int64_t, std::vector<End>> starts, finishes;  ///< ends of flows, by id
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> counters;
  nlohmann::json about, distributed;
  std::vector<std::string> faults;

  explicit Trace(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text);
    about = json.at("otherData");
    distributed = json.at("distributedInfo");
    if (json.at("displayTimeUnit") != "ms") faults.push_back("displayTimeUnit");
    for (const auto& event : json.at("traceEvents")) add(event);
    check();
  }

  /// Nanoseconds of a category on the threads "time" of a process.
  std::int64_t total_ns(int process, const std::string& category) const {
    std::int64_t sum = 0;
    for (const auto& [lane, all] : slices)
      if (lane.first == process && lanes.at(lane) == "time")
        for (const Slice& slice : all)
          if (slice.category == category) sum += slice.to_ns - slice.from_ns;
    return sum;
  }

 private:
  static std::int64_t ns(const nlohmann::json& microseconds) { return std::llround(microseconds.get<double>() * 1e3); }

  void add(const nlohmann::json& event) {
    const std::string phase = event.at("ph");
    const int process = event.at("pid"), thread = event.at("tid");
    if (phase == "M") {
      if (event.contains("ts")) faults.push_back("metadata with a time");
      if (event.at("name") == "process_name") processes[process] = event.at("args").at("name");
      if (event.at("name") == "thread_name") lanes[{process, thread}] = event.at("args").at("name");
    } else if (phase == "X") {
      if (const auto& before = slices[{process, thread}]; !before.empty() && before.back().from_ns > ns(event.at("ts")))
        faults.push_back(fmt::format("process {} thread {} is not in the order of time", process, thread));
      slices[{process, thread}].push_back({ns(event.at("ts")), ns(event.at("ts")) + ns(event.at("dur")),
                                           event.at("name"), event.at("cat"), event.at("args")});
    } else if (phase == "s") {
      starts[event.at("id")].push_back({process, thread, ns(event.at("ts"))});
    } else if (phase == "f") {
      if (event.value("bp", "") != "e") faults.push_back("a flow's end that is not bound to what encloses it");
      finishes[event.at("id")].push_back({process, thread, ns(event.at("ts"))});
    } else if (phase == "C") {
      counters[event.at("name")].emplace_back(ns(event.at("ts")), event.at("args").at("value"));
    } else {
      faults.push_back("phase " + phase);
    }
  }

  void check() {
    for (auto& [lane, all] : slices) {
      if (!lanes.contains(lane))
        faults.push_back(fmt::format("process {} thread {} has no name", lane.first, lane.second));
      if (!processes.contains(lane.first)) faults.push_back(fmt::format("process {} has no name", lane.first));
      for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].from_ns < all[i - 1].to_ns)
          faults.push_back(fmt::format("process {} thread {}: {} at {} ns begins before {} is over", lane.first,
                                       lane.second, all[i].name, all[i].from_ns, all[i - 1].name));
    }
    for (const auto& [id, ends] : starts)
      if (ends.size() != 1 || finishes[id].size() != 1 || !inside(ends[0]) || !inside(finishes[id][0]) ||
          ends[0].at_ns > finishes[id][0].at_ns)
        faults.push_back(fmt::format("flow {} is not from a slice to a slice", id));
    if (starts.size() != finishes.size()) faults.push_back("flows without a start");
  }

  bool inside(const End& end) const {
    const auto lane = slices.find({end.process, end.thread});
    return lane != slices.end() && std::ranges::any_of(lane->second, [&](const Slice& slice) {
             return slice.from_ns <= end.at_ns && (end.at_ns < slice.to_ns || slice.from_ns == slice.to_ns);
           });
  }
};

}  // namespace simgrad::tests
