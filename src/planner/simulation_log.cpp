#include "planner/simulation_log.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/hash.h"
#include "base/say.h"
#include "outputs/results.h"
#include "outputs/sealed_text.h"

namespace simgrad::planner {

using nlohmann::ordered_json;

namespace {

/// "<id of the run>-<8 digits>", as the laboratory gives them.
bool is_id(std::string_view text) {
  constexpr std::size_t digits_of_run = 16, digits = 8;
  return text.size() > digits_of_run && text[digits_of_run] == '-' &&
         base::is_hexadecimal(text.substr(0, digits_of_run), digits_of_run) &&
         base::is_hexadecimal(text.substr(digits_of_run + 1), digits);
}

bool is_amount(double number) { return std::isfinite(number) && number >= 0.0; }

/// Whether a simulation may have ended so.
bool is_sound(const Outcome& outcome) {
  const auto amount_if_any = [](const std::optional<double>& number) { return !number || is_amount(*number); };
  if (!is_amount(outcome.time_s) || !is_amount(outcome.samples) || !is_amount(outcome.real_s)) return false;
  if (outcome.steps < 0 || outcome.workers < 0) return false;
  if (!amount_if_any(outcome.usd) || !amount_if_any(outcome.energy_j)) return false;
  for (std::size_t k = 0; k < outcome.curve.size(); ++k) {
    const Moment& moment = outcome.curve[k];
    if (!is_amount(moment.samples) || !is_amount(moment.time_s) || (moment.loss && !std::isfinite(*moment.loss)))
      return false;
    if (k > 0 && moment.time_s < outcome.curve[k - 1].time_s) return false;
  }
  return true;
}

/// The id and the outcome of a line; nothing if it is not one that `add` has written.
std::optional<std::pair<std::string, Outcome>> simulation_in(std::string_view line, const std::string& file) {
  const auto contents = outputs::unsealed(std::string(line));
  if (!contents.object) return {};
  try {
    const ordered_json json = outputs::parse_json(*contents.object, file);
    std::pair<std::string, Outcome> simulation(json.at("id"), outcome_from_json(json.at("outcome")));
    const bool whole = is_id(simulation.first) && is_sound(simulation.second) &&
                       to_json(simulation.second) == json.at("outcome");  // a status that is known, say
    return whole ? std::optional(std::move(simulation)) : std::nullopt;
  } catch (const base::EnvironmentError&) {
    return {};
  } catch (const ordered_json::exception&) {
    return {};
  }
}

/// The contents of the file there; empty for what is no regular file.
std::string text_before(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, unknown))) return {};
  return base::read_file(
      file, {.bytes_most = base::as_memory_allows, .contents = base::Contents::bytes, .links = base::Links::refuse});
}

bool is_empty(const base::OpenFile& file) {
  struct stat found = {};
  return fstat(file.descriptor(), &found) == 0 && found.st_size == 0;
}

}  // namespace

SimulationLog::SimulationLog(const std::string& out)
    : file_(out + "/simulations.jsonl"), before_(text_before(file_)), open_(base::open_own_file(file_)) {}

std::map<std::string, Outcome> SimulationLog::read() const {
  const std::string& text = before_;
  std::map<std::string, Outcome> outcomes;
  std::size_t whole = 0, lines = 0, unknown = 0;
  for (std::size_t end = 0; (end = text.find('\n', whole)) != std::string::npos; whole = end + 1) {
    auto simulation = simulation_in(std::string_view(text).substr(whole, end - whole), file_);
    ++lines;
    if (simulation)
      outcomes[simulation->first] = std::move(simulation->second);
    else
      ++unknown;
  }
  if (is_empty(open_))
    for (const auto& [id, outcome] : outcomes) add(id, outcome);
  else if (whole < text.size())
    cut(whole);
  if (unknown > 0)
    base::say(
        fmt::format("{}: {} of {} line{} {} no checksum or other contents than those of the checksum; {} done "
                    "again where the plan needs {}",
                    file_, unknown, lines, lines == 1 ? "" : "s", unknown == 1 ? "has" : "have",
                    unknown == 1 ? "its simulation is" : "their simulations are", unknown == 1 ? "it" : "them"));
  return outcomes;
}

void SimulationLog::clear() const { cut(0); }

void SimulationLog::add(const std::string& id, const Outcome& outcome) const {
  const std::string line = outputs::sealed(ordered_json{{"id", id}, {"outcome", to_json(outcome)}}.dump()) + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t size = write(open_.descriptor(), rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", file_, std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

void SimulationLog::cut(std::uintmax_t size) const {
  if (ftruncate(open_.descriptor(), static_cast<off_t>(size)) != 0)
    throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", file_, std::strerror(errno)));
}

}  // namespace simgrad::planner
