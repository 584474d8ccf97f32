#include "cli/check_report.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/errors.h"
#include "base/say.h"
#include "outputs/files/github.h"
#include "outputs/files/junit.h"
#include "outputs/files/tap.h"
#include "outputs/results.h"
#include "outputs/text/language.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"

namespace simgrad::cli {

namespace {

using outputs::CaseOutcome;
using outputs::TestCase;

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool on_github() { return environment_value("GITHUB_ACTIONS") == "true"; }

const char* outcome_name(CaseOutcome outcome) {
  switch (outcome) {
    case CaseOutcome::ok:
      return outputs::translatable("ok").data();
    case CaseOutcome::untested:
      return outputs::translatable("untested").data();
    case CaseOutcome::vacuous:
      return outputs::translatable("vacuous").data();
    case CaseOutcome::failed:
    case CaseOutcome::error:
      break;
  }
  return outputs::translatable("FAILED").data();
}

/// The name of a case, whose words are in the language of the process.
std::string shown_name(const TestCase& test) {
  std::string name = test.name;
  if (const auto at = name.rfind(test.bound); !test.bound.empty() && at != std::string::npos)
    name.replace(at, test.bound.size(), outputs::translated(test.bound));
  return name;
}

/// Takes ":12" from the end of the text; 0 if there is none.
int taken_number(std::string_view& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return 0;
  int number = 0;
  const auto [end, fault] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size()) return 0;
  text = text.substr(0, colon);
  return number;
}

/// A fault, "file:line:column: message", with its place taken apart; else at the scenario.
outputs::CaseRemark placed(const std::string& fault, const std::string& scenario) {
  std::string_view before = std::string_view(fault).substr(0, fault.find(": "));
  const int last = taken_number(before);
  const int first = taken_number(before);
  if (last == 0) return {{scenario}, fault};
  return first > 0 ? outputs::CaseRemark{{std::string(before), first, last}, fault}
                   : outputs::CaseRemark{{std::string(before), last, 1}, fault};
}

void append(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) written = std::fclose(file) == 0 && written;
  if (!written)
    throw base::EnvironmentError(
        fmt::format("{}: cannot be written: {} (GITHUB_STEP_SUMMARY names it)", path, std::strerror(errno)));
}

}  // namespace

void CheckReport::write_junit() const {
  if (!options_.junit.empty()) outputs::write_named_file(options_.junit, outputs::junit(suites_));
}

void CheckReport::start() const {
  if (options_.tap) fmt::print("{}", outputs::tap_begin());
  // The reader of a pipe would take the first end for the only one.
  std::error_code unknown;
  if (!std::filesystem::is_fifo(options_.junit, unknown)) write_junit();
  std::fflush(stdout);  // else the scenarios' children would print the buffer again
}

void CheckReport::begin(const std::string& scenario) {
  suites_.push_back({.name = scenario});
  remark(scenario);
}

void CheckReport::remark(const std::string& text) const {
  if (!options_.tap) fmt::print("{}\n", base::printable(text));
  std::fflush(stdout);
}

void CheckReport::print(const TestCase& test) const {
  if (test.outcome == CaseOutcome::ok && options_.quiet) return;
  fmt::print("  {}  {}\n", outputs::padded(outputs::tr(outcome_name(test.outcome)), 8, outputs::Align::left),
             outputs::printable(fmt::format("{}{}{}", shown_name(test), test.text.empty() ? "" : ": ",
                                            outputs::translated(test.text))));
  for (const std::string& line : outputs::table_lines(test)) fmt::print("            {}\n", line);
}

void CheckReport::print_tap(const TestCase& test) {
  if (options_.tap) fmt::print("{}", outputs::tap_point(++points_, suites_.back(), test));
}

void CheckReport::add(TestCase test) {
  if (!options_.tap) print(test);
  add_silently(std::move(test));
}

void CheckReport::add_silently(TestCase test) {
  print_tap(test);
  std::fflush(stdout);
  suites_.back().cases.push_back(std::move(test));
}

/// Adds a suite of the file's with a single case.
void CheckReport::add_error(const std::string& file, const char* name, const std::vector<std::string>& faults) {
  TestCase test{.name = name, .outcome = CaseOutcome::error, .place = {.file = file}};
  for (const std::string& fault : faults) {
    test.text += (test.text.empty() ? "" : "\n") + fault;
    test.remarks.push_back(placed(fault, file));
  }
  if (!test.remarks.empty()) test.place = test.remarks.front().place;
  suites_.push_back({.name = file});
  add_silently(std::move(test));
}

void CheckReport::add_broken(const std::string& scenario, const std::vector<std::string>& faults) {
  add_error(scenario, "the scenario can be run", faults);
}

void CheckReport::add_broken_baseline(const std::string& baseline, const std::vector<std::string>& faults) {
  add_error(baseline, "the stored baseline can be used", faults);
}

void CheckReport::end(const std::string& tally) const {
  if (options_.tap)
    fmt::print("{}", outputs::tap_end(points_));
  else if (!tally.empty())
    fmt::print("{}\n", outputs::translated(tally));
  write_junit();
  tell_github(tally);
}

void CheckReport::tell_github(const std::string& tally) const {
  if (!on_github()) return;
  if (!options_.tap) fmt::print("{}", outputs::github_annotations(suites_));
  if (const std::string file = environment_value("GITHUB_STEP_SUMMARY"); !file.empty())
    append(file, outputs::github_summary(suites_, tally));
}

void CheckReport::bail_out(const std::string& reason) const {
  if (options_.tap) fmt::print("{}", outputs::tap_bail_out(reason));
  write_junit();
  tell_github(reason);
}

}  // namespace simgrad::cli
