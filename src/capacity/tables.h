/// A study as text for the terminal, as JSON and as CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capacity/study.h"
#include "outputs/result_tables.h"

namespace simgrad::capacity {

/// The tables and their sentences.
std::string text(const Study& study);

/// All numbers, with the section's options.  Absent numbers are null; times are in seconds.
nlohmann::ordered_json json(const Study& study);

/// "fleet": a row a (number of spares, seed); "jobs": a row a job of them; "training": a row a (rule, seed). Those
/// without rows are left out. They refer to the study, which must outlive them.
std::vector<outputs::ResultTable> tables(const Study& study);

/// Writes capacity.json, and NAME.csv of each table, into the directory, which is made.  Errors: EnvironmentError.
void write_files(const Study& study, const std::string& directory);

}  // namespace simgrad::capacity
