#include "outputs/report/charts/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {
namespace {

constexpr double equal_times_within = 0.005;
constexpr double no_skew = 1e-9;      ///< share of a call's time: rounding
constexpr double uneven_from = 1.05;  ///< the slowest worker's computing time over the mean

double gap(const record::CollectiveUse& use) { return use.simulated_s - use.predicted_s; }

/// Returns the gap over the prediction; 0 without a prediction.
double relative_gap(const record::CollectiveUse& use) {
  return use.predicted_s > 0.0 ? gap(use) / use.predicted_s : 0.0;
}

/// Returns the share of the members' time in which their ranks did something else; 0 where it is not known.
double hidden_share(const record::CollectiveUse& use) {
  const double duration_s = use.duration_s.value_or(0.0);
  return duration_s > 0.0 ? std::max(0.0, 1.0 - use.exposed_s.value_or(duration_s) / duration_s) : 0.0;
}

std::string named(const ReportModel& model, const CollectiveRow& row) {
  return tr("{} of {} ({} members, {})", printable(row.use.name), model.named(*row.one), row.use.members,
            byte_count(static_cast<double>(row.use.bytes)));
}

/// Returns the collective whose time is farthest from its prediction.
const CollectiveRow& farthest(const Collectives& chart) {
  return *std::ranges::max_element(chart.rows, {},
                                   [](const CollectiveRow& row) { return std::abs(relative_gap(row.use)); });
}

/// Returns the collective whose members wait longest for the last one; null if none waits.
const CollectiveRow* latest(const Collectives& chart) {
  const auto most = std::ranges::max_element(chart.rows, {}, [](const CollectiveRow& row) { return row.use.skew_s; });
  return most->use.skew_s > no_skew * most->use.simulated_s ? &*most : nullptr;
}

std::string sentence(const ReportModel& model, const Collectives& chart) {
  const CollectiveRow* const most = &farthest(chart);
  const auto as_predicted = std::ranges::count_if(
      chart.rows, [](const CollectiveRow& row) { return std::abs(relative_gap(row.use)) <= equal_times_within; });
  const auto all = static_cast<std::ptrdiff_t>(chart.rows.size());
  if (as_predicted == all) {
    std::string text = all == 1   ? tr("{} takes as long as the model predicts: {}", named(model, chart.rows.front()),
                                       duration(chart.rows.front().use.simulated_s))
                       : all == 2 ? tr("Both take as long as the model predicts, within 0.5 %")
                                  : tr("All {} take as long as the model predicts, within 0.5 %", all);
    if (const CollectiveRow* late = latest(chart))
      text += all == 1 ? tr(". Members wait {} on average for the last one", duration(late->use.skew_s))
                       : tr(". Members wait longest in {}: {} on average for the last one", model.named(*late->one),
                            duration(late->use.skew_s));
    return text + tr(".");
  }
  std::string text = tr("{} takes {} instead of the predicted {}: {}.", named(model, *most),
                        duration(most->use.simulated_s), duration(most->use.predicted_s), most->explanation);
  if (as_predicted > 0) text += tr(" As predicted: {} of {} collectives.", as_predicted, all);
  return text;
}

/// Returns the cause with a leading separator, so that it can follow the numbers; empty if no cause is known.
std::string slower_because(const Causes& causes) {
  if (!causes.network_model.empty())
    return tr(", because of the network model \"{}\": the prediction is for the ideal one",
              printable(causes.network_model));
  if (causes.jitter) return tr(", because latencies vary from message to message");
  if (causes.traffic) return tr(", because other traffic takes part of the bandwidth");
  if (causes.uneven) return tr(", because members have different speeds");
  if (causes.shared) return tr(", because messages share links");
  return "";
}

}  // namespace

Causes causes(const Case& one) {
  const record::Record& record = one.runs.front()->record;
  Causes found;
  const std::string& model = record.network_model;
  if (model == "tcp" || model == "infiniband") found.network_model = model;
  found.jitter = one.conditions.jitter;
  found.uneven =
      one.conditions.uneven || (!one.conditions.stragglers && one.slowest_over_mean.value_or(1.0) > uneven_from);
  found.traffic = one.conditions.traffic || one.conditions.jobs;
  found.shared = std::ranges::any_of(record.links, [](const auto& link) { return link.link_class != "nic"; }) ||
                 record.ranks.size() > record.hosts.size();
  found.stragglers = one.conditions.stragglers || one.slowest_over_mean.value_or(1.0) > uneven_from;
  return found;
}

std::string explained(const record::CollectiveUse& use, const Causes& causes) {
  const double relative = relative_gap(use);
  std::string text;
  if (!(use.predicted_s > 0.0))
    text = tr("no prediction");
  else if (std::abs(relative) <= equal_times_within)
    text = tr("as predicted");
  else if (relative > 0.0)
    text = tr("{} more ({}){}", duration(gap(use)), percent(relative), slower_because(causes));
  else
    text = tr("{} less ({}): part of the work was done before the last member arrived", duration(-gap(use)),
              percent(-relative));
  const double scale = std::max(use.simulated_s, use.predicted_s);
  if (use.skew_s > equal_times_within * scale)
    text += causes.stragglers
                ? tr("; members first wait {} on average for the last one, a straggler", duration(use.skew_s))
                : tr("; members first wait {} on average for the last one", duration(use.skew_s));
  if (const double hidden = hidden_share(use); hidden > equal_times_within)
    text += tr("; {} of its time is hidden behind other work", percent(hidden));
  return text;
}

std::optional<Collectives> collectives(const ReportModel& model) {
  Collectives chart;
  chart.table.columns = {{"strategy"},   {"parameters"},    {"collective"},     {"members"},
                         {"bytes", "B"}, {"calls"},         {"predicted", "s"}, {"simulated", "s"},
                         {"skew", "s"},  {"duration", "s"}, {"exposed", "s"},   {"explanation"}};
  for (const Case* one : model.ran()) {
    const Causes around = causes(*one);
    for (const record::CollectiveUse& use : one->runs.front()->record.collectives) {
      const std::string explanation = explained(use, around);
      chart.rows.push_back({one, use, explanation});
      chart.table.rows.push_back({model.label(*one), model.text(*one), use.name, use.members, use.bytes, use.calls,
                                  use.predicted_s, use.simulated_s, use.skew_s, use.duration_s, use.exposed_s,
                                  explanation});
    }
  }
  if (chart.rows.empty()) return std::nullopt;
  chart.sentence = sentence(model, chart);
  if (std::abs(relative_gap(farthest(chart).use)) > equal_times_within)
    chart.about = subject_of(*farthest(chart).one);
  else if (const CollectiveRow* late = latest(chart))
    chart.about = subject_of(*late->one);
  return chart;
}

void write(Writer& writer, const Collectives& chart) {
  writer.begin_object();
  write_chart(writer, chart);
  write_objects(writer, "rows", chart.rows, [&](const CollectiveRow& row) {
    writer.member("strategy", row.one->strategy);
    writer.member("point", row.one->point);
    writer.member("name", row.use.name);
    writer.member("members", row.use.members);
    writer.member("bytes", row.use.bytes);
    writer.member("calls", row.use.calls);
    writer.member("predicted_s", row.use.predicted_s);
    writer.member("simulated_s", row.use.simulated_s);
    writer.member("skew_s", row.use.skew_s);
    writer.member("duration_s", row.use.duration_s);
    writer.member("exposed_s", row.use.exposed_s);
    writer.member("explanation", row.explanation);
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
