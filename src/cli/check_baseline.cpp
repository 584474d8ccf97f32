#include "cli/check_baseline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "base/errors.h"
#include "base/say.h"
#include "base/version.h"
#include "experiment/plan/identity.h"
#include "outputs/text/number_text.h"

namespace simgrad::cli {

namespace {

using experiment::BaselineComparison;
using experiment::StoredDifference;
using outputs::CaseOutcome;
using outputs::TestCase;

constexpr std::size_t rows_of_failure = 20;
constexpr std::size_t rows_of_success = 5;

std::string change_text(double change) {
  return std::isfinite(change) ? (change > 0.0 ? "+" : "") + outputs::percentage(change) : "";
}

std::string tolerance_text(const StoredDifference& difference) {
  return difference.metric == "status" ? "none" : fmt::format("{:.6g} %", 100.0 * difference.tolerance);
}

std::string sentence(const StoredDifference& each) {
  const std::string change = change_text(each.change);
  return fmt::format("{}: {} was {} and is {} ({}tolerance {})", each.stored->name(), each.metric, each.before,
                     each.after, change.empty() ? "" : change + ", ", tolerance_text(each));
}

/// Fills in the table, the worst first, and the places of the stored runs, each once.
void show(const std::vector<const StoredDifference*>& differences,
          const std::vector<const experiment::StoredRun*>& gone, std::size_t most, TestCase& test) {
  if (differences.empty() && gone.empty()) return;
  test.table.push_back({"run", "metric", "stored", "found", "change", "tolerance"});
  const auto add = [&](std::vector<std::string> row) {
    if (test.table.size() <= most)
      test.table.push_back(std::move(row));
    else
      ++test.rows_left_out;
  };
  const auto remark = [&](const experiment::StoredRun& run, const std::string& text) {
    test.remarks.push_back({{run.position.file, run.position.line, run.position.column}, text});
  };
  std::set<const experiment::StoredRun*> remarked;
  for (const StoredDifference* each : differences) {
    add({each->stored->name(), each->metric, each->before, each->after, change_text(each->change),
         tolerance_text(*each)});
    if (remarked.insert(each->stored).second) remark(*each->stored, sentence(*each));
  }
  for (const experiment::StoredRun* run : gone) {
    add({run->name(), "", "the run", "no run", "", ""});
    remark(*run, fmt::format("{}: the stored run is not there any more", run->name()));
  }
}

std::string counted_runs(std::size_t count) { return fmt::format("{} run{}", count, count == 1 ? "" : "s"); }

std::string counted_values(std::size_t count) { return fmt::format("{} value{}", count, count == 1 ? "" : "s"); }

/// "3 values are beyond the tolerance, 2 more differ within it; 1 stored run is not there any more"
std::string differences_text(const BaselineComparison& found, std::size_t all, std::size_t beyond, bool exact) {
  std::string text;
  if (beyond > 0)
    text = fmt::format("{} beyond the tolerance", beyond == 1 ? "1 value is" : fmt::format("{} values are", beyond));
  if (beyond > 0 && all > beyond)
    text += fmt::format(", {} more {} within it", all - beyond, all - beyond == 1 ? "differs" : "differ");
  if (beyond == 0 && all > 0)
    text = fmt::format("{} within the tolerance{}",
                       all == 1 ? "1 value differs" : fmt::format("{} values differ, all", all),
                       exact ? ", and --exact allows none" : "");
  if (const std::size_t gone = found.gone.size(); gone > 0)
    text += fmt::format("{}{} not there any more", text.empty() ? "" : "; ",
                        gone == 1 ? "1 stored run is" : fmt::format("{} stored runs are", gone));
  return text;
}

/// "; 2 new runs are not stored; ..."
std::string asides(const BaselineComparison& found) {
  std::string text;
  if (!found.added.empty())
    text += fmt::format("; {} not stored: {}{}", found.added.size() == 1 ? "a new run is" : "new runs are",
                        found.added.front(),
                        found.added.size() > 1 ? fmt::format(" and {} more", found.added.size() - 1) : "");
  if (found.stored_number)
    text += fmt::format("; the stored runs are of results_number {}, these of {}", *found.stored_number,
                        experiment::results_number);
  return text;
}

}  // namespace

void BaselineCheck::read() {
  if (compares()) stored_ = experiment::read_stored_baseline(options_.baseline);
  if (!updates()) return;
  const std::filesystem::path file = options_.update;
  const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
  // Fails now rather than after hours.
  if (access(directory.c_str(), W_OK) != 0)
    throw base::EnvironmentError(
        fmt::format("{}: the directory {} is not there, or cannot be written to", options_.update, directory.string()));
  stored_.file = options_.update;
  if (std::filesystem::exists(file)) stored_ = experiment::read_stored_baseline(options_.update);
  next_ = stored_;
}

void BaselineCheck::require(const experiment::Plan& plan, const std::string& scenario_file,
                            scenario::Faults& faults) const {
  if (compares()) experiment::require_same_scenario(stored_, plan, scenario_file, faults);
}

TestCase BaselineCheck::judge(const outputs::Results& results, const experiment::Plan& plan) {
  ++scenarios_;
  TestCase test = compares() ? compared(results) : updated(results, plan);
  if (test.outcome == CaseOutcome::failed) ++failures_;
  return test;
}

TestCase BaselineCheck::compared(const outputs::Results& results) {
  const BaselineComparison found = experiment::compare(stored_, results, experiment::Compare::all);
  TestCase test{.name = "the stored baseline " + options_.baseline, .place = {.file = options_.baseline}};
  std::vector<const StoredDifference*> all, beyond;
  for (const StoredDifference& each : found.differences) {
    all.push_back(&each);
    if (each.beyond()) beyond.push_back(&each);
  }
  const bool same = found.same_bits();
  exact_ += same ? 1 : 0;
  const bool holds = same || (!options_.exact && found.within_tolerance());
  test.outcome = holds ? CaseOutcome::ok : CaseOutcome::failed;
  show(holds || options_.exact ? all : beyond, found.gone, holds ? rows_of_success : rows_of_failure, test);
  if (holds) test.remarks.clear();
  test.text = fmt::format("{}, {}: {}{}", counted_runs(found.runs), counted_values(found.numbers),
                          same ? "the same bits" : differences_text(found, all.size(), beyond.size(), options_.exact),
                          asides(found));
  return test;
}

TestCase BaselineCheck::updated(const outputs::Results& results, const experiment::Plan& plan) {
  TestCase test{.name = "the stored baseline " + options_.update, .place = {.file = options_.update}};
  for (const outputs::Run& run : results.runs)
    if (run.record.status == record::Status::failed) {
      blocked_ = true;
      test.outcome = CaseOutcome::error;
      test.text = "not stored, because a run failed: " + run.label;
      return test;
    }
  const BaselineComparison found = experiment::compare(stored_, results, experiment::Compare::equal_ids);
  std::vector<const StoredDifference*> all;
  for (const StoredDifference& each : found.differences) all.push_back(&each);
  show(all, {}, rows_of_failure, test);
  if (!all.empty() && !options_.force) {
    blocked_ = true;
    test.outcome = CaseOutcome::failed;
    test.text = fmt::format(
        "{} of the same runs would change, though results_number is still {}; the file is left as it "
        "is, and --force replaces them",
        counted_values(all.size()), experiment::results_number);
    return test;
  }
  test.remarks.clear();
  experiment::StoredScenario scenario;
  scenario.name = results.name;
  scenario.version = version;
  scenario.results_number = experiment::results_number;
  const experiment::Leaves keys = experiment::written_leaves(plan);
  constexpr std::size_t keys_most = 1000;  // a table of layers, say, would fill the file
  if (keys.size() <= keys_most) scenario.keys.assign(keys.begin(), keys.end());
  const std::vector<experiment::StoredRun> runs = experiment::stored_runs(results);
  next_.put(scenario, runs);
  test.text = counted_runs(runs.size()) + " to store";
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) test.text += fmt::format(", {} {}", count, what);
  };
  if (stored_.scenario(results.name)) {
    add(found.added.size(), "of them new");
    add(found.gone.size(), "stored before and gone");
    add(found.redefined, "with another id than before");
  }
  if (!all.empty()) test.text += fmt::format(", {} replaced by --force", counted_values(all.size()));
  if (found.stored_number)
    test.text += fmt::format("; results_number was {} and is {}", *found.stored_number, experiment::results_number);
  return test;
}

void BaselineCheck::write() {
  if (!updates()) return;
  if (blocked_ || scenarios_ == 0)
    return base::say(fmt::format("{}: left as it was, because not all runs can be stored", options_.update));
  outputs::write_named_file(options_.update, experiment::text(next_));
  written_ = true;
}

std::string BaselineCheck::tally() const {
  if (updates()) return fmt::format("{} {}", options_.update, written_ ? "written" : "not written");
  if (failures_ > 0)
    return fmt::format("stored baseline {}: differences in {} of {} scenarios", options_.baseline, failures_,
                       scenarios_);
  return fmt::format("stored baseline {}: {}", options_.baseline,
                     exact_ == scenarios_ ? "the same bits" : "within the tolerance");
}

}  // namespace simgrad::cli
