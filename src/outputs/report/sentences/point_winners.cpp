#include "outputs/report/sentences/point_winners.h"

#include <algorithm>
#include <utility>

#include "outputs/text/language.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs::report {

std::vector<PointWinners> winners_by_point(const ReportModel& model, Measure measure) {
  std::vector<std::vector<const Case*>> by_point(model.points.size());
  for (const Case& one : model.cases) by_point[one.point].push_back(&one);
  std::vector<PointWinners> all;
  for (const std::vector<const Case*>& cases : by_point) {
    PointWinners& point = all.emplace_back(PointWinners{ranking(model, cases, measure), {}});
    if (!point.ranked.empty()) point.top = leaders(point.ranked, measure);
  }
  return all;
}

std::string chance_remark(const ReportModel& model, const std::vector<PointWinners>& points, Measure measure) {
  const bool chance = std::ranges::any_of(points, [&](const PointWinners& point) {
    return !point.ranked.empty() && order_may_be_chance(model, point.top, measure);
  });
  return chance ? one_seed_remark(model.comparison) : "";
}

std::string tally(const ReportModel& model, Measure measure) {
  const std::vector<PointWinners> points = winners_by_point(model, measure);
  std::vector<std::pair<std::size_t, std::size_t>> wins(model.strategies.size());  // grid points, strategy
  for (std::size_t k = 0; k < wins.size(); ++k) wins[k].second = k;
  std::size_t equal = 0, unclear = 0, none = 0;
  for (const auto& [ranked, top] : points) {
    if (ranked.empty())
      ++none;
    else if (top.lead == Lead::unclear)
      ++unclear;
    else if (top.all.size() > 1)
      ++equal;
    else
      ++wins[ranked.front()->strategy].first;
  }
  std::ranges::stable_sort(wins, std::ranges::greater(), &std::pair<std::size_t, std::size_t>::first);
  std::vector<std::string> parts;
  for (const auto& [count, strategy] : wins)
    if (count > 0) parts.push_back(tr("{} is first at {}", printable(model.strategies[strategy].label), count));
  if (equal > 0) parts.push_back(tr("several are equally fast at {}", equal));
  if (unclear > 0) parts.push_back(tr("there is no clear winner at {}", unclear));
  if (none > 0) parts.push_back(tr("no strategy can be compared at {}", none));
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : tr("; ")) + part;
  const std::string remark = chance_remark(model, points, measure);
  return (measure == Measure::time_to_target ? tr("Of {} grid points, by time to the target: {}.", points.size(), all)
                                             : tr("Of {} grid points, by time per sample: {}.", points.size(), all)) +
         (remark.empty() ? "" : between_sentences() + remark);
}

CloserLook closer_look(const ReportModel& model, std::optional<Measure> measure) {
  std::vector<std::pair<double, std::size_t>> best;  // the first strategy's number, point
  const auto points = measure ? winners_by_point(model, *measure) : std::vector<PointWinners>();
  for (std::size_t point = 0; point < points.size(); ++point)
    if (!points[point].ranked.empty()) best.emplace_back(*measured(*points[point].ranked.front(), *measure), point);
  std::ranges::stable_sort(best, {}, &std::pair<double, std::size_t>::first);
  const bool known = best.size() >= 3;
  if (!known) {
    best.clear();
    for (std::size_t point = 0; point < model.points.size(); ++point) best.emplace_back(0.0, point);
  }
  const std::size_t first = best.front().second, middle = best[best.size() / 2].second, last = best.back().second;
  const auto text = [&](std::size_t point) { return model.points[point].text; };
  std::string sentence = tr("The charts below show 3 of {} grid points: ", model.points.size());
  if (!known)
    sentence +=
        tr("the first ({}), the middle one ({}) and the last ({}) of the grid.", text(first), text(middle), text(last));
  else if (*measure == Measure::time_to_target)
    sentence += tr("those where the winner's time to the target is the least ({}), the median ({}) and the most ({}).",
                   text(first), text(middle), text(last));
  else
    sentence += tr("those where the winner's time per sample is the least ({}), the median ({}) and the most ({}).",
                   text(first), text(middle), text(last));
  sentence += tr(" A page with all ranks and links would be too large; they are in ranks.csv and links.csv.");
  return {{first, middle, last}, std::move(sentence)};
}

}  // namespace simgrad::outputs::report
