/// The report: one self-contained page that shows the results.
#pragma once

#include <string>
#include <string_view>

#include "outputs/report/charts/gantt.h"
#include "outputs/results.h"

namespace simgrad::outputs::report {

/// What stands at the foot: all that it takes to do it again.
struct Foot {
  std::string scenario_toml;  ///< resolved
  std::string command;        ///< as it was typed; empty in results of older releases
};

/// The page's data: one JSON object, safe within a <script> element (no `<` in it).
std::string data(const Results& results, const TimelineOf& timeline_of, const Foot& foot);

/// The page with its data in the slot "@simgrad-data@".
/// Errors: base::EnvironmentError where the template does not hold the slot exactly once.
std::string filled(std::string_view page, std::string_view data);

}  // namespace simgrad::outputs::report
