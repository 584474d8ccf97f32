/// The report: one self-contained HTML page that shows the results.
#pragma once

#include <string>
#include <string_view>

#include "outputs/report/charts/gantt.h"
#include "outputs/results.h"

namespace simgrad::outputs::report {

/// The foot of the page: everything needed to reproduce the results.
struct Foot {
  std::string scenario_toml;  ///< resolved
  std::string command;        ///< as typed; empty in results of older releases
};

/// Returns the data of the page: one JSON object, safe within a <script> element (without any `<`).
std::string data(const Results& results, const TimelineOf& timeline_of, const Foot& foot);

/// Returns the page with the data in its slot "@simgrad-data@".
/// Errors: base::EnvironmentError if the template does not hold the slot exactly once.
std::string filled(std::string_view page, std::string_view data);

}  // namespace simgrad::outputs::report
