/// The sentences of an answer about failures, checkpoints and the reading of data: those that it takes in, and those
/// that it leaves out.
#include <cmath>

#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"
#include "planner/rates.h"
#include "planner/sentences.h"

namespace simgrad::planner {

using outputs::counted;
using outputs::tr;

namespace {

std::string counted_spares(int spares) {
  if (spares == 0) return tr("no spare server");
  return counted(static_cast<std::size_t>(spares), "{} spare server", "{} spare servers");
}

std::string expectation_text(const Interrupted& course, int servers) {
  const std::string goodput = outputs::percentage(course.goodput());
  const double interval_s = course.interval_s;
  const std::string checkpoints =
      std::isinf(interval_s) ? tr("no checkpoints") : tr("a checkpoint every {}", outputs::duration(interval_s));
  if (std::isinf(course.failures.mtbf_s))
    return tr("The expected goodput is {}, with {} and without failures.", goodput, checkpoints);
  return tr("The expected goodput is {}: {} of {} are expected, with {} and {}.", goodput,
            tr("{} failures", outputs::count(course.failures_expected())),
            counted(static_cast<std::size_t>(servers), "{} server", "{} servers"), checkpoints,
            counted_spares(course.spares));
}

std::string check_text(const Interrupted& course, const FleetCheck& check) {
  std::string text = tr(" With failures the time is {} by the formula, and {} by the simulation of {} seeds",
                        outputs::duration(course.formula_s), outputs::duration(check.time_s.mean), check.seeds());
  text += tr(" (95 % interval {} to {})", outputs::duration(check.time_s.low), outputs::duration(check.time_s.high));
  return text + tr(". The simulated time counts.");
}

}  // namespace

const FleetCheck* Answer::fleet_check(std::size_t candidate) const {
  const std::optional<Interrupted>& course = standings[candidate].interrupted;
  const auto found = course ? fleet.find({candidate, course->spares}) : fleet.end();
  return found != fleet.end() && found->second ? &*found->second : nullptr;
}

int spares_of(const Answer& answer, std::size_t candidate) {
  const std::optional<Interrupted>& course = answer.standings[candidate].interrupted;
  return course ? course->spares : 0;
}

std::string spares_text(const Candidate& candidate, int spares) {
  if (spares == 0 || !takes_capacity(*candidate.settings)) return {};
  return tr(" and {}", counted_spares(spares));
}

std::string choice_text(const Answer& answer, std::size_t candidate) {
  return choice_text(answer, candidate, spares_of(answer, candidate));
}

std::string choice_text(const Answer& answer, std::size_t candidate, int spares) {
  const Candidate& chosen = answer.candidates.all[candidate];
  return tr("{}: {}", hosts_text(chosen) + spares_text(chosen, spares), way_text(chosen));
}

std::string failures_text(const Answer& answer) {
  if (!answer.winner) return {};
  const std::size_t c = answer.winner->candidate;
  const std::optional<Interrupted>& course = answer.standings[c].interrupted;
  if (!course) return {};
  const Candidate& candidate = answer.candidates.all[c];
  const std::optional<Reliability> reliability = reliability_of(candidate, candidate.settings);
  std::string text = expectation_text(*course, reliability->servers);
  if (const FleetCheck* const check = answer.fleet_check(c))
    text += check_text(*course, *check);
  else if (reliability->fails())
    text += tr(" This is by the formula alone.");
  if (!reliability->exponential)
    text += tr(" The formula is for exponential failures, and those of the scenario are not.");
  return text;
}

std::string left_out_text(const Answer& answer) {
  if (!answer.winner) return {};
  const std::size_t c = answer.winner->candidate;
  const Candidate& candidate = answer.candidates.all[c];
  const experiment::Settings& settings = *candidate.settings;
  const std::optional<Interrupted>& course = answer.standings[c].interrupted;
  // A candidate that is simulated without them may not be known among them yet.
  const bool simulated = !course && !candidate.undisturbed;
  const bool fails = course ? std::isfinite(course->failures.mtbf_s) : simulated && settings.cluster.failures.any();
  const bool saves =
      course ? course->work.checkpoint_s + course->work.write_s > 0.0
             : simulated && settings.training.checkpoints() && settings.cluster.storage_bandwidth_bytes_per_s;
  const bool reads = settings.training.input.from != training::InputFrom::memory || candidate.run.kind == "mapreduce";
  std::vector<std::string> parts;
  if (!fails) parts.push_back(tr("failures of hosts"));
  if (!saves) parts.push_back(tr("writing checkpoints"));
  if (!reads) parts.push_back(tr("reading the input"));
  if (parts.empty()) return {};
  std::string text = tr("The answer leaves out {}.", outputs::listed(parts));
  const bool amount = candidate.samples > 0.0;
  if (!fails || !saves)
    text +=
        amount ? tr(" [capacity] with failures, repair, restart and checkpoint_time takes in failures and checkpoints.")
               : tr(" [cluster.failures] takes in failures, and checkpoint_every of [training] with storage_bandwidth "
                    "of [cluster] checkpoints.");
  if (!reads) text += tr(" [training.input] takes in the reading.");
  return text;
}

}  // namespace simgrad::planner
