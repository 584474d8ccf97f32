#include "experiment/run/shared_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/hash.h"
#include "experiment/plan/numbers_key.h"
#include "outputs/results.h"
#include "training/session/stop_rules.h"
#include "values/contents.h"

namespace simgrad::experiment {

namespace {

constexpr std::string_view heading = SharedNumbers::heading;
constexpr std::string_view checksum_word = "checksum ";

using Reach = SharedNumbers::Reach;

/// Whether a run with this source computes numbers that others have in common with it.
bool computes(NumbersFrom from) { return from == NumbersFrom::first || from == NumbersFrom::state; }

/// States are kept until they have so many bytes in a directory.
constexpr std::uintmax_t bytes_of_states_most = std::uintmax_t{1} << 30;

/// A file's size; 0 without the file.
std::uintmax_t size_of(const std::string& file) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  return unknown ? 0 : size;
}

std::uintmax_t bytes_of_states_in(const std::string& folder) {
  std::error_code unknown;
  std::uintmax_t bytes = 0;
  for (std::filesystem::directory_iterator at(folder, unknown), end; !unknown && at != end; at.increment(unknown))
    if (at->path().extension() == SharedNumbers::state_extension) bytes += size_of(at->path().string());
  return bytes;
}

/// The file: how far the furthest of its runs goes, the numbers, and a checksum of both.
std::string trajectory_file_text(const training::Trajectory& trajectory, const Reach& done) {
  std::string text = fmt::format("{}{} {}\n{}", heading, done.steps, done.loss, trajectory.text());
  return text + fmt::format("{}{}\n", checksum_word, base::hash(text));
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// The text of a trajectory without its checksum; nothing if that is another one.
std::optional<std::string_view> whole_trajectory(std::string_view text) {
  const auto sum = text.rfind(checksum_word);
  if (!text.starts_with(heading) || sum == std::string_view::npos) return {};
  const std::string_view body = text.substr(0, sum);
  return text.substr(sum) == fmt::format("{}{}\n", checksum_word, base::hash(body)) ? std::optional(body)
                                                                                    : std::nullopt;
}

/// The reach in a file's text, whose numbers are added to the trajectory. Nothing if the text is not whole.
std::optional<Reach> read_trajectory(std::string_view text, training::Trajectory& trajectory) {
  const auto body = whole_trajectory(text);
  if (!body) return {};
  const std::string_view first = body->substr(heading.size(), body->find('\n') - heading.size());
  const auto space = std::min(first.find(' '), first.size() - 1);
  Reach done;
  if (!parse_number(first.substr(0, space), done.steps) || !parse_number(first.substr(space + 1), done.loss)) return {};
  if (done.steps < 0 || std::isnan(done.loss)) return {};
  return trajectory.add(body->substr(body->find('\n') + 1)) ? std::optional(done) : std::nullopt;
}

}  // namespace

SharedNumbers::SharedNumbers(std::string out, const Options& options, std::function<void(const std::string& text)> tell)
    : out_(std::move(out)), options_(options), tell_(std::move(tell)) {}

std::string SharedNumbers::file(const std::string& key) const { return fmt::format("{}/trajectories/{}", out_, key); }

void SharedNumbers::expect(const RunPlan& run) {
  const std::string key = numbers_key(run);
  if (key.empty()) return;
  keys_[&run] = key;
  Common& common = common_[key];
  common.shared = ++common.users > 1;
  common.waiting[&run] = reach(run);
}

void SharedNumbers::forget(const RunPlan& run) {
  Common* const common = of(run);
  if (!common) return;
  common->waiting.erase(&run);
  --common->users;
}

SharedNumbers::Reach SharedNumbers::reach(const RunPlan& run) {
  const Settings& settings = *run.settings;
  Reach reach{.steps = settings.stop.steps.value_or(std::numeric_limits<std::int64_t>::max()),
              .loss = settings.stop.loss.value_or(-std::numeric_limits<double>::infinity())};
  if (const auto rows = known_rows(settings))
    if (const auto limit = training::StopRules(settings.stop, *rows, settings.batch(*rows)).step_limit())
      reach.steps = *limit;
  return reach;
}

SharedNumbers::Common* SharedNumbers::of(const RunPlan& run) {
  const auto key = keys_.find(&run);
  if (key == keys_.end()) return nullptr;
  Common& common = common_.at(key->second);
  if (options_.reads && !common.read) read(key->second, common);
  return &common;
}

void SharedNumbers::read(const std::string& key, Common& common) {
  common.read = true;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file(key), unknown)) return;
  training::Trajectory kept;
  std::optional<Reach> done;
  try {
    done = read_trajectory(outputs::read_file(file(key)), kept);
  } catch (const std::runtime_error&) {
    done.reset();
  }
  if (!done) {
    if (tell_) tell_(fmt::format("{} is not whole; its numbers are computed again", file(key)));
    return;
  }
  common.from_file = !kept.empty();
  common.trajectory = std::move(kept);
  common.done = done;
}

bool SharedNumbers::covers(const Common& common, const RunPlan& run) const {
  if (!common.done || common.trajectory.empty() || lacks(run, NumbersFrom::known)) return false;
  const Reach end = reach(run);
  return std::isfinite(end.loss) || !(*common.done < end);  // a target may be reached at any step
}

bool SharedNumbers::lacks(const RunPlan& run, NumbersFrom from) const {
  const auto found = lacking_.find(&run);
  return found != lacking_.end() && found->second.contains(from);
}

/// The source of a run that computes: a state to go on from, if the run is longer than all before.
NumbersFrom SharedNumbers::computed(const Common& common, const RunPlan& run) const {
  std::error_code unknown;
  const bool goes_on = options_.reads && options_.states && common.done && *common.done < reach(run) &&
                       !lacks(run, NumbersFrom::state) && std::filesystem::is_regular_file(state_file(run), unknown);
  return goes_on ? NumbersFrom::state : NumbersFrom::first;
}

bool SharedNumbers::leaves_state(const RunPlan& run) {
  Common* const common = of(run);
  if (!options_.states || !common || (common->done && !(*common->done < reach(run)))) return false;
  if (!bytes_of_states_) bytes_of_states_ = bytes_of_states_in(out_ + "/trajectories");
  return *bytes_of_states_ - size_of(state_file(run)) < bytes_of_states_most;
}

NumbersFrom SharedNumbers::source(const RunPlan& run) {
  const Common* const common = of(run);
  if (!common) return NumbersFrom::itself;
  if (lacking_.contains(&run)) return computed(*common, run);
  const Reach own = reach(run);
  const auto not_shorter = [&](const auto& other) { return other.first != &run && !(other.second < own); };
  const auto longer = [&](const auto& other) { return own < other.second; };
  if (std::ranges::any_of(common->computing, not_shorter)) return NumbersFrom::another_run;
  if (covers(*common, run)) return NumbersFrom::known;
  return std::ranges::any_of(common->waiting, longer) ? NumbersFrom::another_run : computed(*common, run);
}

bool SharedNumbers::are_common(const RunPlan& one, const RunPlan& other) const {
  const auto first = keys_.find(&one), second = keys_.find(&other);
  return first != keys_.end() && second != keys_.end() && first->second == second->second;
}

training::Trajectory& SharedNumbers::trajectory(const RunPlan& run) { return of(run)->trajectory; }

void SharedNumbers::started(const RunPlan& run, NumbersFrom from) {
  Common* const common = of(run);
  if (!common) return;
  const auto waited = common->waiting.extract(&run);
  if (computes(from)) common->state_bytes = size_of(state_file(run));
  if (computes(from) && waited) common->computing[&run] = waited.mapped();
}

void SharedNumbers::lacked(const RunPlan& run, NumbersFrom from) {
  lacking_[&run].insert(from);
  if (Common* const common = of(run)) common->from_file = false;
  put_back(run);
}

void SharedNumbers::put_back(const RunPlan& run) {
  Common* const common = of(run);
  if (!common) return;
  common->computing.erase(&run);
  common->waiting[&run] = reach(run);
}

void SharedNumbers::ended(const RunPlan& run, NumbersFrom from, const std::string& lines, bool whole, double effort_s) {
  Common* const common = of(run);
  if (!common) return;
  const bool last = --common->users == 0;
  common->waiting.erase(&run);  // a run whose data could not be loaded was never started
  common->computing.erase(&run);
  if (computes(from)) {
    if (bytes_of_states_) *bytes_of_states_ += size_of(state_file(run)) - std::exchange(common->state_bytes, 0);
    common->trajectory.add(lines);
    if (whole && (!common->done || *common->done < reach(run))) common->done = reach(run);
    if (common->done && !lines.empty() && (common->shared || effort_s >= worth_keeping_s)) {
      base::make_own_folder(out_ + "/trajectories");
      outputs::write_file(file(keys_.at(&run)), trajectory_file_text(common->trajectory, *common->done));
    }
  }
  if (!last) return;
  common->trajectory = {};  // nobody asks any more
}

bool is_whole_trajectory(const std::string& file) {
  try {
    const std::string text = base::read_file(
        file, {.bytes_most = base::as_memory_allows, .contents = base::Contents::bytes, .links = base::Links::refuse});
    return file.ends_with(SharedNumbers::state_extension) ? values::contents_of(text).has_value()
                                                          : whole_trajectory(text).has_value();
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace simgrad::experiment
