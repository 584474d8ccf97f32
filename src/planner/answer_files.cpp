/// The answer of a plan as JSON and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/csv_cell.h"
#include "outputs/text/language.h"
#include "planner/rates.h"
#include "planner/sentences.h"
#include "scenario/json.h"

namespace simgrad::planner {

using nlohmann::ordered_json;

namespace {

ordered_json or_null(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? ordered_json(*number) : ordered_json(nullptr);
}

ordered_json json_of(const Measures& measures) {
  return {{"time_s", or_null(measures.time_s)},
          {"cost_usd", or_null(measures.usd)},
          {"energy_j", or_null(measures.energy_j)}};
}

std::string_view name(Limited::Of of) {
  return of == Limited::Of::deadline ? "deadline" : of == Limited::Of::budget ? "budget" : "power";
}

class Json {
 public:
  explicit Json(const Answer& answer) : answer_(answer) {}

  ordered_json all() const {
    ordered_json json{{"schema", 1}, {"name", answer_.name}, {"title", answer_.title}};
    json["sentence"] = sentence(answer_);
    json["objective"] = answer_.candidates.all.front().settings->goal.objective.kind();
    json["goal"] = goal_text(answer_.candidates.all.front());
    json["winner"] = answer_.winner ? choice(*answer_.winner) : ordered_json(nullptr);
    json["runner_up"] = answer_.runner_up ? choice(*answer_.runner_up) : ordered_json(nullptr);
    json["ties"] = ties();
    json["front"] = ordered_json::array();
    for (const Choice& each : answer_.front) json["front"].push_back(choice(each));
    json["limits"] = limits();
    json["tried"] = answer_.tried;
    json["tried_factor"] = answer_.tried_factor;
    json["turns"] = turns();
    json["refused"] = refused();
    json["texts"] = texts();
    json["candidates"] = ordered_json::array();
    for (std::size_t c = 0; c < answer_.candidates.all.size(); ++c) json["candidates"].push_back(candidate(c));
    json["space"] = answer_.candidates.size();
    json["unread"] = answer_.candidates.unread;
    json["decided"] = answer_.decided;
    json["front_decided"] = answer_.front_decided;
    json["sensitivity_done"] = answer_.sensitivity_done;
    json["tally"] = {{"whole", answer_.tally.whole},
                     {"behind", answer_.tally.behind},
                     {"dropped", answer_.tally.dropped},
                     {"lost", answer_.tally.lost},
                     {"open", answer_.tally.open}};
    json["simulated"] = {{"runs", answer_.effort.runs}, {"worker_steps", answer_.effort.worker_steps}};
    json["simulated_for_assumptions"] = {{"runs", answer_.of_assumptions.runs},
                                         {"worker_steps", answer_.of_assumptions.worker_steps}};
    json["wall_s"] = answer_.effort.real_s + answer_.of_assumptions.real_s;
    return json;
  }

 private:
  /// How many hosts, and how many devices, spare ones among them, where hosts have several.
  static ordered_json hosts(const Candidate& candidate) {
    const std::size_t several = hosts_of_devices(candidate).size(), others = other_hosts(candidate).size();
    if (several == 0) return {{"hosts", others}};
    return {{"hosts", several + others}, {"devices", candidate.hosts.size() - others}};
  }

  ordered_json choice(const Choice& choice) const {
    const Candidate& candidate = answer_.candidates.all[choice.candidate];
    ordered_json json{{"candidate", candidate.index},
                      {"text", choice_text(answer_, choice.candidate)},
                      {"strategy", candidate.run.kind},
                      {"label", candidate.run.label},
                      {"parameters", candidate.parameters}};
    json.update(hosts(candidate));
    json.update(json_of(choice.mean));
    json["value"] = choice.value.mean;
    json["value_low"] = or_null(choice.value.low);
    json["value_high"] = or_null(choice.value.high);
    json["seeds"] = choice.seeds;
    json["projected"] = choice.projected;
    json.update(course(choice.candidate));
    if (const FleetCheck* const check = answer_.fleet_check(choice.candidate))
      json["time_by_simulation"] = {{"mean_s", check->time_s.mean},
                                    {"low_s", or_null(check->time_s.low)},
                                    {"high_s", or_null(check->time_s.high)},
                                    {"seeds", check->seeds()}};
    return json;
  }

  /// The course among failures, all null where a closed form takes none in.
  ordered_json course(std::size_t c) const {
    const std::optional<Interrupted>& course = answer_.standings[c].interrupted;
    if (!course)
      return {{"goodput", nullptr},
              {"failures_expected", nullptr},
              {"checkpoint_interval_s", nullptr},
              {"spares", nullptr},
              {"time_by_formula_s", nullptr}};
    return {{"goodput", course->goodput()},
            {"failures_expected", course->failures_expected()},
            {"checkpoint_interval_s", or_null(course->interval_s)},
            {"spares", course->spares},
            {"time_by_formula_s", course->formula_s}};
  }

  ordered_json ties() const {
    ordered_json json = ordered_json::array();
    for (const Tie& tie : answer_.ties) {
      json.push_back(choice(tie.choice));
      json.back()["difference"] = or_null(tie.difference.mean);
      json.back()["difference_low"] = or_null(tie.difference.low);
      json.back()["difference_high"] = or_null(tie.difference.high);
      json.back()["among_failures"] = tie.among_failures;
    }
    return json;
  }

  ordered_json limits() const {
    ordered_json json = ordered_json::array();
    const auto index = [&](const std::optional<std::size_t>& c) {
      return c ? ordered_json(answer_.candidates.all[*c].index) : ordered_json(nullptr);
    };
    for (const LimitPrice& price : answer_.limits)
      json.push_back({{"limit", name(price.of)},
                      {"at_most", price.limit},
                      {"is", price.is},
                      {"without", index(price.without)},
                      {"tighter", index(price.tighter)}});
    return json;
  }

  ordered_json turns() const {
    ordered_json json = ordered_json::array();
    for (const Turn& turn : answer_.turns)
      json.push_back({{"assumption", turn.assumption},
                      {"still_factor", turn.still},
                      {"factor", turn.factor},
                      {"value", turn.value},
                      {"then", answer_.candidates.all[turn.then].index},
                      {"sets", turn.sets}});
    return json;
  }

  ordered_json refused() const {
    ordered_json json = ordered_json::array();
    for (const Reason& reason : counted(answer_.candidates.refused))
      json.push_back({{"reason", reason.text},
                      {"count", reason.count},
                      {"nearest",
                       {{"candidate", reason.nearest->index},
                        {"text", name_of(*reason.nearest)},
                        {"fault", reason.nearest->fault},
                        {"excess", reason.nearest->excess},
                        {"fits_with", reason.nearest->fits_with}}},
                      {"near", near(reason)}});
    return json;
  }

  /// The candidates for which changes were looked for, the nearest first.
  ordered_json near(const Reason& reason) const {
    std::vector<const Refused*> found;
    for (const Refused& each : answer_.candidates.refused)
      if (each.reason == reason.text && !each.fits_with.empty()) found.push_back(&each);
    std::ranges::stable_sort(found, {}, [](const Refused* each) { return each->excess; });
    ordered_json json = ordered_json::array();
    for (const Refused* each : found)
      json.push_back({{"candidate", each->index},
                      {"text", name_of(*each)},
                      {"excess", each->excess},
                      {"fits_with", each->fits_with}});
    return json;
  }

  /// The sentences of the page, in the language of the process.
  ordered_json texts() const {
    return {{"tie", tie_text(answer_)},           {"decided", decided_text(answer_)},
            {"effort", effort_text(answer_)},     {"limits", limit_texts(answer_)},
            {"turns", turn_texts(answer_)},       {"refused", refused_texts(answer_)},
            {"failures", failures_text(answer_)}, {"left_out", left_out_text(answer_)}};
  }

  ordered_json candidate(std::size_t c) const {
    const Candidate& candidate = answer_.candidates.all[c];
    const Standing& standing = answer_.standings[c];
    ordered_json json{
        {"candidate", candidate.index}, {"label", candidate.run.label}, {"parameters", candidate.parameters}};
    json["state"] = state(standing);
    json["least"] = json_of(standing.least);
    const bool expected = standing.known != Standing::Known::bounded && standing.lost.empty();
    json["expected"] = expected ? json_of(standing.expected) : ordered_json(nullptr);
    json.update(course(c));
    if (!standing.lost.empty()) json["lost"] = standing.lost;
    return json;
  }

  static std::string_view state(const Standing& standing) {
    if (!standing.lost.empty()) return "lost";
    return standing.known == Standing::Known::whole   ? "whole"
           : standing.known == Standing::Known::begun ? "begun"
                                                      : "bounded";
  }

  const Answer& answer_;
};

std::string cell(const ordered_json& value) {
  if (value.is_null()) return "";
  return value.is_number()
             ? scenario::inline_toml(value)
             : outputs::csv_cell(value.is_string() ? value.get<std::string>() : scenario::inline_toml(value));
}

}  // namespace

ordered_json answer_json(const Answer& answer) { return Json(answer).all(); }

std::string candidates_csv(const Answer& answer) {
  const ordered_json json = answer_json(answer);
  std::vector<std::string> keys;
  for (const auto& [key, value] : answer.candidates.all.front().parameters.items()) keys.push_back(key);
  std::string text =
      "candidate,label,state,time_s,cost_usd,energy_j,least_time_s,least_cost_usd,least_energy_j,"
      "goodput,failures_expected,checkpoint_interval_s,spares,reason";
  for (const std::string& key : keys) text += "," + outputs::csv_cell("param." + key);
  text += "\n";
  const auto parameters = [&](const ordered_json& of) {
    for (const std::string& key : keys) text += "," + cell(of.value(key, ordered_json(nullptr)));
    text += "\n";
  };
  for (const ordered_json& each : json.at("candidates")) {
    const ordered_json& expected = each.at("expected");
    text += fmt::format("{},{},{}", each.at("candidate").get<std::size_t>(), cell(each.at("label")),
                        each.at("state").get<std::string>());
    for (const char* key : {"time_s", "cost_usd", "energy_j"})
      text += "," + (expected.is_null() ? "" : cell(expected.at(key)));
    for (const char* key : {"time_s", "cost_usd", "energy_j"}) text += "," + cell(each.at("least").at(key));
    for (const char* key : {"goodput", "failures_expected", "checkpoint_interval_s", "spares"})
      text += "," + cell(each.at(key));
    text += "," + cell(each.value("lost", ordered_json("")));
    parameters(each.at("parameters"));
  }
  for (const Refused& each : answer.candidates.refused) {
    text += fmt::format("{},{},refused,,,,,,,,,,,{}", each.index, outputs::csv_cell(each.strategy),
                        outputs::csv_cell(each.fault));
    parameters(each.parameters);
  }
  return text;
}

}  // namespace simgrad::planner
