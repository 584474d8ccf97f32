/// The report: one self-contained HTML page that shows the results.
#pragma once

#include <cstddef>
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

/// An experiment with more cases than these has a page of another kind: an overview of all cases, of which the reader
/// chooses a slice, and the charts of a few grid points.
inline constexpr std::size_t most_cases_in_full = 400;

/// Returns the data of the page: one JSON object, safe within a <script> element (without any `<`).
/// most_in_full: another bound, for tests.
std::string data(const Results& results, const TimelineOf& timeline_of, const Foot& foot,
                 std::size_t most_in_full = most_cases_in_full);

/// Returns the page with the data in its slot "@simgrad-data@".
/// Errors: base::EnvironmentError if the template does not hold the slot exactly once.
std::string filled(std::string_view page, std::string_view data);

}  // namespace simgrad::outputs::report
