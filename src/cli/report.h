/// The report of an experiment as a page, for `run` and `report`.
#pragma once

#include <string>
#include <string_view>

#include "outputs/results.h"

namespace simgrad::cli {

/// The error for a build without Node, which has no page.
inline constexpr std::string_view no_page =
    "there is no page for report.html in this build: type script/bootstrap, which installs Node, and build again "
    "(script/demo does so by itself)";

/// Writes the results, with the timelines of the directory, as a page: <directory>/report.html. A page of equal results
/// and timelines that nobody has changed stays as it is.
/// Errors: base::EnvironmentError for files that cannot be read or written and for a page without a place for data;
/// base::ScenarioError for timelines whose contents are wrong.
void write_page(const outputs::Results& results, const std::string& directory);

}  // namespace simgrad::cli
