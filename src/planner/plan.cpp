#include "planner/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/errors.h"
#include "experiment/plan/places.h"
#include "experiment/run/children.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "planner/finalists.h"
#include "planner/kinds.h"
#include "planner/sensitivity.h"

namespace simgrad::planner {

using outputs::tr;

namespace {

class Planning {
 public:
  Planning(const experiment::SearchSpace& space, Candidates candidates, const PlanOptions& options)
      : options_(options), laboratory_(options.out, options.real_s, options.jobs, options.threads, options.again) {
    answer_.name = space.name;
    answer_.title = space.title;
    answer_.candidates = std::move(candidates);
  }

  Answer run() {
    const std::vector<Candidate>& all = answer_.candidates.all;
    Search search(all, laboratory_, all.front().run.seed, [this](const Search& now) { tell(now); });
    search_ = &search;
    decide();
    if (answer_.winner) {
      answer_.front_decided = search.find_front();
      find_runner_up();
      // A candidate that was simulated for these two may be better than one that was dropped for its learning curve.
      decide();
      find_runner_up();
      answer_.effort = laboratory_.effort();
      look_at_assumptions();
    }
    describe(search);
    return std::move(answer_);
  }

 private:
  /// The winner by the times that are shown: those of the fleet's simulation, or of the closed form where there is
  /// none. It goes on until the winner and those close to it are simulated.
  void decide() {
    for (;;) {
      decide_by_known_times();
      if (!answer_.winner) return;
      if (!check_closest(answer_.candidates.all, *search_, laboratory_, answer_.winner->candidate, answer_.fleet))
        return add_ties_among_failures();
      search_->refresh();
    }
  }

  /// Adds the candidates that the simulations among failures do not separate from the winner.
  void add_ties_among_failures() {
    const std::size_t winner = answer_.winner->candidate;
    const FleetCheck* const won = fleet_check(winner);
    if (!won) return;
    for (const std::size_t c : search_->known()) {
      const bool told = std::ranges::any_of(answer_.ties, [&](const Tie& tie) { return tie.choice.candidate == c; });
      const FleetCheck* const check = fleet_check(c);
      const Rank rank = search_->rank(c), best = search_->rank(winner);
      if (c == winner || told || !check || rank.violation > best.violation) continue;
      const outputs::Interval difference = difference_over_seeds(*won, best.value, *check, rank.value);
      if (difference.low > 0.0) continue;
      answer_.ties.push_back({.choice = by_first_seed(c), .difference = difference, .among_failures = true});
    }
  }

  /// The candidate's simulation among failures; null: it has none.
  const FleetCheck* fleet_check(std::size_t candidate) const {
    const std::optional<Interrupted>& course = search_->standing(candidate).interrupted;
    const auto found = course ? answer_.fleet.find({candidate, course->spares}) : answer_.fleet.end();
    return found == answer_.fleet.end() || !found->second ? nullptr : &*found->second;
  }

  /// The winner, over seeds where these matter.
  void decide_by_known_times() {
    answer_.decided = false;
    const auto tick = [this] { tell(*search_); };
    const std::vector<Candidate>& all = answer_.candidates.all;
    bool sure = search_->find_best(0.0);
    if (sure && search_->best()) {
      const auto slack = seed_slack(all, laboratory_, *search_->best(), tick);
      answer_.slack = slack.value_or(0.0);
      sure = slack && search_->find_best(answer_.slack);
    }
    const std::vector<std::size_t> finalists = close_ones();
    finals_.clear();
    answer_.ties.clear();
    if (finalists.empty()) return expect_winner();
    std::optional<Final> last;
    if (sure) last = last_comparison(all, laboratory_, finalists, tick);
    if (!last) {
      answer_.winner = by_first_seed(finalists.front());
      return;
    }
    answer_.winner = last->winner;
    answer_.winner->projected = search_->standing(last->winner.candidate).projected;
    answer_.ties = last->ties;
    finals_ = last->others;
    answer_.decided = true;
  }

  /// The best that are known, as far as seeds may change their order.
  std::vector<std::size_t> close_ones() const {
    std::vector<std::size_t> known = search_->known();
    if (known.empty()) return known;
    const Rank best = search_->rank(known.front());
    std::erase_if(known, [&](std::size_t c) {
      const Rank rank = search_->rank(c);
      return rank.violation > best.violation * (1.0 + answer_.slack) || rank.value > best.value * (1.0 + answer_.slack);
    });
    if (known.size() > finalists_most) known.resize(finalists_most);
    return known;
  }

  /// The time was up before any candidate was known to its end.
  void expect_winner() {
    if (const auto best = search_->best_expected()) answer_.winner = by_first_seed(*best);
  }

  Choice by_first_seed(std::size_t candidate) const {
    const Standing& standing = search_->standing(candidate);
    const Rank rank = search_->rank(candidate);
    return {.candidate = candidate,
            .mean = standing.expected,
            .rank = rank,
            .value = {rank.value, outputs::nan, outputs::nan},
            .seeds = 1,
            .projected = standing.projected || standing.known != Standing::Known::whole};
  }

  /// The best of those that differ from the winner in the coarsest kind in which any does. It is simulated to its end.
  void find_runner_up() {
    const std::vector<Candidate>& all = answer_.candidates.all;
    const Candidate& winner = all[answer_.winner->candidate];
    std::size_t coarsest = Kinds().size();
    for (std::size_t c = 0; c < all.size(); ++c)
      if (c != answer_.winner->candidate && search_->standing(c).lost.empty())
        coarsest = std::min(coarsest, distinction(winner, all[c]));
    const auto other = [&](std::size_t c) {
      return c != answer_.winner->candidate && distinction(winner, all[c]) == coarsest;
    };
    answer_.runner_up.reset();
    if (const auto best = search_->find_best_of(other)) {
      const auto seen = std::ranges::find(finals_, *best, &Choice::candidate);
      answer_.runner_up = seen == finals_.end() ? by_first_seed(*best) : *seen;
    }
  }

  /// The winner, the runner-up, those that it ties with, and the best of each strategy and of each kind of hosts.
  std::vector<std::size_t> rivals() const {
    constexpr std::size_t rivals_most = 5;
    std::vector<std::size_t> all{answer_.winner->candidate};
    const auto add = [&](std::size_t c) {
      if (std::ranges::find(all, c) == all.end() && all.size() < rivals_most) all.push_back(c);
    };
    if (answer_.runner_up) add(answer_.runner_up->candidate);
    for (const Tie& tie : answer_.ties) add(tie.choice.candidate);
    std::set<std::string> kinds;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}})  // strategies, then hosts
      for (const std::size_t c : search_->known())
        if (kinds.insert(kinds_of(answer_.candidates.all[c])[k]).second) add(c);
    for (const std::size_t c : search_->known()) add(c);
    return all;
  }

  void look_at_assumptions() {
    answer_.tried_factor = off_most;
    if (laboratory_.over()) return;
    const std::vector<std::size_t> chosen = rivals();
    Sensitivity found = sensitivity_of(answer_.candidates.all, laboratory_, chosen, [this] { tell(*search_); });
    answer_.tried = std::move(found.tried);
    answer_.turns = std::move(found.turns);
    answer_.sensitivity_done = found.done;
  }

  void describe(const Search& search) {
    for (const std::size_t c : search.known()) answer_.known.push_back(by_first_seed(c));
    for (std::size_t c = 0; c < answer_.candidates.all.size(); ++c) answer_.standings.push_back(search.standing(c));
    for (const Choice& each : answer_.known)
      if (std::ranges::none_of(answer_.known, [&](const Choice& other) { return dominates(other.mean, each.mean); }))
        answer_.front.push_back(each);
    std::ranges::stable_sort(answer_.front, {}, [](const Choice& each) { return each.mean.time_s; });
    if (answer_.winner) price_limits();
    answer_.tally = search.tally(answer_.slack);
    const Effort& all = laboratory_.effort();
    if (!answer_.winner) answer_.effort = all;
    answer_.of_assumptions = {.runs = all.runs - answer_.effort.runs,
                              .worker_steps = all.worker_steps - answer_.effort.worker_steps,
                              .real_s = all.real_s - answer_.effort.real_s};
    answer_.interrupted = experiment::interrupted();
    if (answer_.candidates.unread > 0) answer_.decided = answer_.front_decided = false;
  }

  const experiment::Goal& goal() const { return answer_.candidates.all.front().settings->goal; }

  /// The winner without each limit, and the best that meets a tighter one.
  void price_limits() {
    // As the others are known: under the first seed.
    const Measures& winner = search_->standing(answer_.winner->candidate).expected;
    const double value = goal().objective->value(winner);
    for (const Limited& limited : limits_of(goal(), winner)) {
      LimitPrice price{.of = limited.of, .limit = limited.limit, .is = limited.is, .without = {}, .tighter = {}};
      double least_without = value, least_tighter = std::numeric_limits<double>::infinity();
      for (const Choice& each : answer_.known)
        for (const auto& [measures, spares] : ways_of(each.candidate)) {
          double others = 0.0, own = 0.0;
          for (const Limited& of : limits_of(goal(), measures))
            if (of.of == limited.of)
              own = of.is;
            else
              others = std::max(others, of.excess());
          if (others > 0.0) continue;
          const double of_way = goal().objective->value(measures);
          // The winner has as few spares as are nearly as good as more.
          const bool same = each.candidate == answer_.winner->candidate;
          if (of_way < least_without && (!same || of_way < value * (1.0 - as_good))) {
            least_without = of_way;
            price.without = each.candidate;
            price.of_without = measures;
            price.spares_without = spares;
          }
          if (own < limited.is * (1.0 - 1e-9) && of_way < least_tighter) {
            least_tighter = of_way;
            price.tighter = each.candidate;
            price.of_tighter = measures;
            price.spares_tighter = spares;
          }
        }
      answer_.limits.push_back(price);
    }
  }

  /// A candidate's measures, with each number of spares that it may have.
  std::vector<std::pair<Measures, int>> ways_of(std::size_t candidate) const {
    const Standing& standing = search_->standing(candidate);
    std::vector<std::pair<Measures, int>> all;
    for (const WithFailures& each : standing.by_spares) all.emplace_back(each.measures, each.interrupted.spares);
    if (all.empty()) all.emplace_back(standing.expected, 0);
    return all;
  }

  void tell(const Search& search) const {
    if (!options_.progress) return;
    const Tally tally = search.tally(answer_.slack);
    const std::size_t all = answer_.candidates.all.size();
    std::string best;
    if (const auto first = search.best())
      best = tr("; best so far: {}, {}", outputs::translated(goal().objective->text(search.rank(*first).value)),
                name_of(answer_.candidates.all[*first]));
    options_.progress(
        tr("{} of {} candidates decided, {} simulations{}", tally.decided(), all, laboratory_.effort().runs, best));
  }

  const PlanOptions& options_;
  Laboratory laboratory_;
  Answer answer_;
  Search* search_ = nullptr;
  std::vector<Choice> finals_;
};

/// Refuses limits that none of the candidates meets, once that is sure.
void refuse_unmet(const Answer& answer, const experiment::SearchSpace& space) {
  if (!answer.winner || !answer.decided || !(answer.winner->rank.violation > 0.0)) return;
  const Candidate& nearest = answer.candidates.all[answer.winner->candidate];
  std::vector<std::string> faults;
  for (const Limited& limited : limits_of(nearest.settings->goal, answer.winner->mean)) {
    if (!(limited.excess() > 0.0)) continue;
    const bool time = limited.of == Limited::Of::deadline, money = limited.of == Limited::Of::budget;
    const auto number = [&](double value) {
      return time ? outputs::duration(value) : money ? outputs::dollars(value) : outputs::count(value) + "W";
    };
    const char* const key = time ? "plan.deadline" : money ? "plan.budget" : "plan.power";
    faults.push_back(
        outputs::translated(fmt::format("{}: no candidate meets {} = {}: the nearest, {}, takes {}, which is {}",
                                        experiment::place(space.document, key).text(), key, number(limited.limit),
                                        name_of(nearest), number(limited.is), outputs::more_than(limited.excess()))));
  }
  throw base::ScenarioError(std::move(faults));
}

}  // namespace

Answer planned(const experiment::SearchSpace& space, Candidates candidates, const PlanOptions& options) {
  Answer answer = Planning(space, std::move(candidates), options).run();
  refuse_unmet(answer, space);
  return answer;
}

}  // namespace simgrad::planner
