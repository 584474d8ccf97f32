#include "outputs/report/charts/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/report/data/phrases.h"
#include "outputs/report/sentences/ranking.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

bool has_loss(const Run& run) {
  return std::ranges::any_of(run.record.curve, [](const auto& each) { return each.loss.has_value(); });
}

std::size_t diverged(const ReportModel& model) {
  std::size_t n = 0;
  for (const Case& one : model.cases) n += static_cast<std::size_t>(one.row.diverged);
  return n;
}

std::string diverged_text(const ReportModel& model) {
  const std::size_t n = diverged(model);
  return n == 0 ? "" : tr(" {} diverged.", counted(n, "{} run", "{} runs"));
}

/// Returns the cases in which no run diverged or failed, the lowest final loss first.
std::vector<const Case*> by_loss(const std::vector<const Case*>& cases) {
  std::vector<const Case*> sorted;
  for (const Case* one : cases)
    if (one->ran() && one->row.final_loss && one->row.sound()) sorted.push_back(one);
  std::ranges::stable_sort(sorted, {}, [](const Case* one) { return *one->row.final_loss; });
  return sorted;
}

/// Returns why there is no case whose losses could be named, of these or of all.
std::string without_loss(const ReportModel& model) {
  const bool none_sound = std::ranges::none_of(model.cases, [](const Case& one) { return one.row.sound(); });
  if (!none_sound) return tr("No case ends with a loss for every seed.");
  const bool none_learnt = std::ranges::all_of(
      model.cases, [](const Case& one) { return one.row.diverged + one.row.failed == one.row.seeds; });
  if (!none_learnt) return tr("Every case has a run that diverged or failed.");
  const bool some_failed = std::ranges::any_of(model.cases, [](const Case& one) { return one.row.failed > 0; });
  return some_failed ? tr("Every run diverged or failed.") : tr("Every run diverged.");
}

std::string ends_text(const ReportModel& model, const Case& one) {
  return tr("{} ends at loss {} after {}", model.named(one), number_text(*one.row.final_loss, 4),
            duration(one.row.simulated_s.value_or(0.0)));
}

std::string untargeted_sentence(const ReportModel& model, const std::vector<const Case*>& alternatives) {
  const auto cases = by_loss(alternatives);
  if (cases.empty()) return without_loss(model);
  std::string text = model.comparison.has_target ? tr("No strategy reaches the target with every seed; ") : "";
  text += ends_text(model, *cases.front());
  if (cases.size() < 2) return text + tr(".") + diverged_text(model);
  const auto loss = [](const Case& one) { return number_text(*one.row.final_loss, 4); };
  if (loss(*cases.front()) == loss(*cases.back()))
    text += cases.size() == 2 ? tr(", and so does {}", model.named(*cases.back())) : tr(", and so do all others");
  else
    text += tr(", the lowest; {}, the highest", ends_text(model, *cases.back()));
  return text + tr(".") + diverged_text(model);
}

/// Names the final loss of each job: jobs do not compete, so none is the best.
std::string jobs_sentence(const ReportModel& model) {
  std::vector<std::string> ends;
  for (const Case* one : model.ran())
    if (one->row.final_loss && one->row.sound()) ends.push_back(ends_text(model, *one));
  return ends.empty() ? without_loss(model) : listed_clauses(ends) + tr(".") + diverged_text(model);
}

/// Returns the cases that the sentence compares. Losses and times on different data cannot be compared, so they are
/// those of one question: the last one with a case in which no run diverged or failed, or else the last one.
std::vector<const Case*> alternatives_of(const ReportModel& model) {
  auto all = questions(model);
  const auto sound =
      std::find_if(all.rbegin(), all.rend(), [](const Question& each) { return !by_loss(each.cases).empty(); });
  return sound == all.rend() ? all.back().cases : sound->cases;
}

std::string sentence(const ReportModel& model) {
  if (model.cases.front().conditions.jobs) return jobs_sentence(model);
  const auto alternatives = alternatives_of(model);
  const auto cases = ranking(model, alternatives, Measure::time_to_target);
  if (cases.empty()) return untargeted_sentence(model, alternatives);
  const Case& best = *cases.front();
  const std::string target =
      model.comparison.target ? tr("loss {}", number_text(*model.comparison.target, 4)) : tr("the target");
  const Leaders top = leaders(cases, Measure::time_to_target);
  const bool first = top.all.size() < 2;
  const std::string after = duration(*best.row.time_to_target_s);
  std::string text = cases.size() > 1 && first ? tr("{} reaches {} first, after {}", model.named(best), target, after)
                                               : tr("{} reaches {} after {}", model.named(best), target, after);
  if (top.lead == Lead::unclear)
    text += top.all.size() == 2 ? tr(", by the mean; {} is not clearly slower", model.named(*cases[top.all[1]]))
                                : tr(", by the mean; {} others are not clearly slower", top.all.size() - 1);
  if (cases.size() > 1 && top.all.back() + 1 != cases.size())
    text += tr(": ") + ahead(model, best, *cases.back(), Measure::time_to_target);
  else if (cases.size() > 1 && top.lead == Lead::equal)
    text += tr(": ") + lead(model, best, *cases.back(), Measure::time_to_target);
  std::size_t missed = 0;
  for (const Case& one : model.cases) missed += one.row.all_reached() ? 0 : 1;
  text += tr(".");
  if (missed > 0) text += tr(" Curves that miss the target with some seed: {} of {}.", missed, model.cases.size());
  return text + diverged_text(model);
}

Table table(const ReportModel& model) {
  Table table;
  table.columns = {
      {"strategy"},
      {"parameters"},
      {"seeds"},
      {"evaluations"},
      {"final loss"},
      {"final " + (model.comparison.metric_name.empty() ? std::string("metric") : model.comparison.metric_name)},
      {"simulated", "s"},
      {"time to target", "s"}};
  for (const Case* one : model.ran()) {
    const std::size_t evaluations = one->runs.front()->record.curve.size();
    table.rows.push_back({model.label(*one), model.text(*one), one->row.seeds, static_cast<std::int64_t>(evaluations),
                          one->row.final_loss, one->row.final_metric, one->row.simulated_s, one->row.time_to_target_s});
  }
  return table;
}

/// Returns the case that the sentence begins with, if there is one: the first at the target, or else the lowest loss.
std::optional<Subject> subject(const ReportModel& model) {
  if (model.cases.front().conditions.jobs) return {};
  const auto alternatives = alternatives_of(model);
  auto cases = ranking(model, alternatives, Measure::time_to_target);
  if (cases.empty()) cases = by_loss(alternatives);
  return cases.empty() ? std::nullopt : std::optional(subject_of(*cases.front()));
}

/// Writes a line as its three terms, which saves most of the page's bytes for bytes and operations: they grow alike in
/// each step. Other columns have as many digits as an axis shows.
void write_amount(Writer& writer, std::string_view name, const Series& series, const std::vector<double>& column) {
  constexpr int digits = 6;
  auto line = line_over("step", series.step, column);
  if (!line) line = line_over("simulated_s", series.simulated_s, column);
  if (!line) return writer.rounded_or_null(name, column, digits);
  writer.key(name);
  writer.begin_object();
  writer.member("of", line->of);
  writer.member("from", line->from);
  writer.member("per", line->per);
  writer.end_object();
}

void write_series(Writer& writer, const Series& series) {
  writer.begin_object();
  writer.member("strategy", series.strategy);
  writer.member("point", series.point);
  writer.member("seeds", series.seeds);
  writer.rounded_member("step", series.step);
  writer.rounded_member("simulated_s", series.simulated_s);
  writer.rounded_member("epochs", series.epochs);
  write_amount(writer, "cost_usd", series, series.cost_usd);
  write_amount(writer, "energy_j", series, series.energy_j);
  write_amount(writer, "bytes", series, series.bytes);
  write_amount(writer, "flops", series, series.flops);
  writer.rounded_member("loss", series.loss);
  writer.rounded_or_null("loss_low", series.loss_low);
  writer.rounded_or_null("loss_high", series.loss_high);
  writer.rounded_or_null("metric", series.metric);
  writer.rounded_or_null("metric_low", series.metric_low);
  writer.rounded_or_null("metric_high", series.metric_high);
  writer.rounded_or_null("consensus", series.consensus);
  writer.member("diverged", series.diverged);
  writer.member("loss_floor", series.loss_floor);
  writer.end_object();
}

}  // namespace

std::optional<Line> line_over(std::string_view name, const std::vector<double>& over,
                              const std::vector<double>& column) {
  if (column.size() < 2 || !(over.back() != over.front())) return std::nullopt;
  const double per = (column.back() - column.front()) / (over.back() - over.front());
  const double from = column.front() - per * over.front();
  const double most = std::max(std::abs(column.front()), std::abs(column.back()));
  for (std::size_t i = 0; i < column.size(); ++i)
    if (!(std::abs(from + per * over[i] - column[i]) <= 1e-9 * most)) return std::nullopt;
  return Line{.of = name, .from = from, .per = per};
}

std::optional<Curves> curves(const ReportModel& model) {
  const auto cases = model.ran();
  const bool any = std::ranges::any_of(cases, [](const Case* one) {
    return std::ranges::any_of(one->runs, [](const Run* run) { return has_loss(*run); });
  });
  if (!any) return std::nullopt;
  Curves curves;
  curves.sentence = sentence(model);
  curves.table = table(model);
  curves.about = subject(model);
  const std::size_t most = std::clamp<std::size_t>(most_points_in_all / cases.size(), 16, most_points_a_series);
  for (const Case* one : cases) curves.series.push_back(series(*one, most));
  return curves;
}

void write(Writer& writer, const Divergence& divergence) {
  writer.begin_object();
  writer.member("step", divergence.step);
  writer.member("seeds", divergence.seeds);
  writer.member("points", divergence.points);
  writer.end_object();
}

void write(Writer& writer, const Curves& curves) {
  writer.begin_object();
  write_chart(writer, curves);
  writer.key("series");
  writer.begin_array();
  for (const Series& each : curves.series) write_series(writer, each);
  writer.end_array();
  writer.end_object();
}

}  // namespace simgrad::outputs::report
