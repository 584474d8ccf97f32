#include "outputs/terminal/table_footer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "outputs/finding.h"
#include "outputs/leaders.h"
#include "outputs/text/language.h"
#include "outputs/text/notes.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

std::string named(const Row& row) {
  const std::string point = point_text(row.parameters);
  return point.empty() ? printable(row.label) : tr("{} at {}", printable(row.label), point);
}

/// Returns "; its time is 71% computing, 24% communicating, 5% waiting", the largest part first.
std::string shares(const Row& row) {
  if (!row.parts_s) return "";
  const auto percents = apportioned(*row.parts_s, 100);
  const std::array<std::string, 4> texts = {tr("{}% computing", percents[0]),
                                            row.reads_storage
                                                ? tr("{}% communicating, mostly with a storage", percents[1])
                                                : tr("{}% communicating", percents[1]),
                                            tr("{}% waiting", percents[2]), tr("{}% down", percents[3])};
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return percents[a] > percents[b]; });
  std::string text;
  for (const std::size_t k : order) {
    if (percents[k] > 0) text += (text.empty() ? "" : tr(", ")) + texts[k];
  }
  return text.empty() ? "" : tr("; its time is {}", text);
}

/// Returns the rows at the places.
std::vector<const Row*> at_places(const std::vector<const Row*>& rows, const std::vector<std::size_t>& places) {
  std::vector<const Row*> found;
  for (const std::size_t i : places) found.push_back(rows[i]);
  return found;
}

std::string rate(const Row& row) {
  if (row.speedup_throughput)
    return tr("{} that of one worker", speedup_text(*row.speedup_throughput)) + would_not_fit(row);
  return tr("{} samples/s", count(1.0 / *compared(row, by_time_per_sample)));
}

constexpr std::size_t most_named = 6;

/// Returns "a, 4.10 ms ± 0.3, and b, 4.55 ms ± 1": the rows between which chance may decide.
std::string unclear_between(const std::vector<const Row*>& rows, Compared by, std::string (*text)(double)) {
  std::vector<std::string> names;
  for (const Row* row : rows) {
    const Interval of_seeds = seeds_interval(*row, by.number);
    names.push_back(tr("{} ({})", named(*row), with_margin(of_seeds.mean, of_seeds.high - of_seeds.mean, text)));
  }
  return listed(names, most_named);
}

/// Returns " Cheapest to the target: ...", after the sentence on the fastest.  fastest: null if there is no clear one.
std::string cheapest_sentence(const Comparison& c, const Row* fastest) {
  const std::vector<const Row*> rows = ranked(c, by_cost_to_target);
  if (rows.empty() || !(*compared(*rows.back(), by_cost_to_target) > 0.0)) return "";
  const Leaders top = leaders(rows, by_cost_to_target);
  const Row& cheap = *rows.front();
  const std::string price = dollars(*compared(cheap, by_cost_to_target));
  if (top.lead == Lead::unclear)
    return tr(" No clear winner by cost: chance may decide between {}.",
              unclear_between(at_places(rows, top.all), by_cost_to_target, dollars));
  const std::vector<const Row*> equals = at_places(rows, top.all);
  const bool fastest_is = std::ranges::find(equals, fastest) != equals.end();
  if (fastest_is && equals.size() == 1) return tr(" It is also the cheapest: {}.", price);
  if (equals.size() > 1) {
    std::vector<std::string> names;
    for (const Row* row : equals) names.push_back(named(*row));
    return tr(" Cheapest to the target: {}, equally, {}.", listed(names, most_named), price);
  }
  const std::string instead = fastest ? tr(" instead of {}", dollars(fastest->cost_to_target_usd.value_or(0.0))) : "";
  return tr(" Cheapest to the target: {}, {}{}, after {}.", named(cheap), price, instead,
            duration(*cheap.time_to_target_s));
}

/// Returns "Highest throughput: ...". besides: a row that needs no naming.
std::string throughput_sentence(const Comparison& c, const Row* besides) {
  const std::vector<const Row*> rows = ranked(c, by_time_per_sample);
  if (rows.empty()) return "";
  const Leaders top = leaders(rows, by_time_per_sample);
  if (top.lead == Lead::unclear && besides) return "";
  if (top.lead == Lead::unclear)
    return tr("No clear winner by time per sample: chance may decide between {}.",
              unclear_between(at_places(rows, top.all), by_time_per_sample, duration));
  std::vector<std::string> equals;
  for (const Row* row : at_places(rows, top.all)) {
    if (row == besides) return "";
    equals.push_back(named(*row));
  }
  return tr("Highest throughput: {}, {}{}.", listed(equals, most_named), rate(*rows.front()),
            besides || equals.size() > 1 ? "" : shares(*rows.front()));
}

std::string fastest_sentence(const Comparison& c, const std::vector<const Row*>& rows) {
  const Leaders top = leaders(rows, by_time_to_target);
  const Row& best = *rows.front();
  if (top.lead == Lead::unclear)
    return tr("No clear winner to the target: chance may decide between {}.",
              unclear_between(at_places(rows, top.all), by_time_to_target, duration)) +
           cheapest_sentence(c, nullptr);
  std::vector<std::string> equals;
  for (const Row* row : at_places(rows, top.all)) equals.push_back(named(*row));
  const std::string names = listed(equals, most_named), after = duration(*best.time_to_target_s);
  std::string text = equals.size() > 1 ? tr("Fastest to the target: {}, equally, after {}", names, after)
                                       : tr("Fastest to the target: {}, after {}", names, after);
  if (const auto speedup = best.speedup_time_to_target) {
    text += tr(", {} as fast as one worker", speedup_text(*speedup)) + would_not_fit(best);
    if (*speedup < 1.0) text += tr(", so one worker alone is faster");
  }
  text += (equals.size() > 1 ? "" : shares(best)) + tr(".") + cheapest_sentence(c, &best);
  if (const std::string most = throughput_sentence(c, &best); !most.empty()) text += tr(" ") + most;
  if (top.lead == Lead::one_seed) text += tr(" ") + one_seed_remark(c);
  return text;
}

/// Returns the row with the least of a number; null where none has it.
const Row* least_of(const Comparison& c, std::optional<double> Row::*number) {
  const Row* least = nullptr;
  for (const Row& row : c.rows)
    if (row.sound() && row.*number && (!least || *(row.*number) < *(least->*number))) least = &row;
  return least;
}

/// Returns " Cheapest: ..." of runs that answer requests. Chance moves the prices of runs under one load by some per
/// cent.
std::string cheapest_answers_sentence(const Comparison& c) {
  constexpr double equally = 1.05;
  const Row* const cheap = least_of(c, &Row::dollars_per_million_tokens);
  if (!cheap) return "";
  std::vector<std::string> names;
  for (const Row& row : c.rows)
    if (row.sound() && row.dollars_per_million_tokens &&
        *row.dollars_per_million_tokens <= equally * *cheap->dollars_per_million_tokens)
      names.push_back(named(row));
  const std::string price = dollars(*cheap->dollars_per_million_tokens);
  return names.size() > 1 ? tr(" Cheapest, within 5 % of each other: {}, from {} for a million tokens.",
                               listed(names, most_named), price)
                          : tr(" Cheapest: {}, {} for a million tokens.", named(*cheap), price);
}

/// Returns sentences about runs that answer requests; nothing where there are none.
std::string answers_sentence(const Comparison& c) {
  const Row* const first = least_of(c, &Row::ttft_s_median);
  if (!first) return "";
  std::string text = tr("Shortest median time to the first token: {}, {}{}.", named(*first),
                        duration(*first->ttft_s_median), shares(*first));
  if (const Row* const each = least_of(c, &Row::tpot_s_median))
    text += tr(" Shortest median time of each token after it: {}, {}.", named(*each), duration(*each->tpot_s_median));
  return text + cheapest_answers_sentence(c);
}

/// Returns the sentence if every run diverged or failed; else nothing.
std::string all_diverged_sentence(const Comparison& c) {
  const auto lost = [](const Row& row) { return row.diverged + row.failed == row.seeds; };
  if (!std::ranges::all_of(c.rows, lost)) return "";
  return std::ranges::any_of(c.rows, [](const Row& row) { return row.failed > 0; })
             ? tr("Every run diverged or failed.")
             : tr("Every run diverged. A smaller training.learning_rate may help.");
}

/// Returns the sentence if no row has a throughput by which it could be compared.
std::string without_throughput(const Comparison& c) {
  if (std::ranges::none_of(c.rows, &Row::sound))
    return tr("Every case has a seed that diverged or failed, so no case is called the best.");
  return std::ranges::all_of(c.rows, &Row::sound)
             ? tr("No run processed any samples.")
             : tr("No case in which every run is sound has processed any samples, so no case is called the best.");
}

/// Returns the sentence if no row reached the target with all of its seeds.
std::string unreached_sentence(const Comparison& c) {
  if (std::any_of(c.rows.begin(), c.rows.end(), [](const Row& row) { return row.reached > 0; })) {
    return tr("No strategy reached the target with every seed.");
  }
  const Row* closest = nullptr;
  for (const Row& row : c.rows) {
    const bool comparable = row.final_loss && row.sound();
    if (comparable && (!closest || *row.final_loss < *closest->final_loss)) closest = &row;
  }
  if (!closest) return tr("No run reached the target.");
  if (closest->levelled_off)
    return tr("No run reached the target; {} came closest: its loss levelled off at {:.4g}, after {}{}.",
              named(*closest), *closest->final_loss, duration(closest->simulated_s.value_or(0.0)), shares(*closest));
  return tr("No run reached the target; the closest is {} with loss {:.4g} after {}{}.", named(*closest),
            *closest->final_loss, duration(closest->simulated_s.value_or(0.0)), shares(*closest));
}

/// Returns " (which would not fit into memory: it needs 380 GB)".
std::string baseline_memory(const Row& row) {
  if (!row.too_large_for_one || !row.memory_bytes) return would_not_fit(row);
  return tr(" (which would not fit into memory: it needs {})", byte_count(*row.memory_bytes));
}

std::string baseline_text(const Row& row) {
  if (row.failed == row.seeds) return tr("failed");
  std::string text = tr("simulated {}", duration(row.simulated_s.value_or(0.0))) + baseline_memory(row);
  if (row.time_to_target_s) text += tr(", target after {}", duration(*row.time_to_target_s));
  if (row.diverged > 0)
    text += row.diverged == row.seeds ? tr(", diverged") : tr(", {} of {} diverged", row.diverged, row.seeds);
  return text;
}

/// Returns one line if all baselines say the same, else one line for each of the first four.
std::string baseline_lines(const Comparison& c, std::size_t width) {
  const std::vector<Row>& baselines = c.baselines;
  if (baselines.empty()) return "";
  if (std::ranges::any_of(c.rows, &Row::idle_baseline) &&
      std::ranges::none_of(c.rows, [](const Row& row) { return row.speedup_throughput.has_value(); }))
    return wrapped(tr("Baseline, one worker without a network: next to no time, so there are no speed-ups."), width);
  const std::string first = baseline_text(baselines.front());
  const bool same =
      std::all_of(baselines.begin(), baselines.end(), [&](const Row& row) { return baseline_text(row) == first; });
  if (same) return wrapped(tr("Baseline, one worker without a network: {}.", first), width);
  std::string text = wrapped(tr("Baselines, one worker without a network:"), width);
  constexpr std::size_t shown = 4;
  for (std::size_t i = 0; i < std::min(shown, baselines.size()); ++i) {
    text += "  " + wrapped(tr("{}: {}.", named(baselines[i]), baseline_text(baselines[i])), width - 2);
  }
  if (baselines.size() > shown) text += tr("  {} more are in results.json.\n", baselines.size() - shown);
  return text;
}

std::string legend(const Comparison& c) {
  bool any_down = false;
  for (const Row& row : c.rows) any_down = any_down || (row.parts_s && (*row.parts_s)[3] > 0.0);
  std::string parts;
  for (std::size_t k = 0; k < (any_down ? 4U : 3U); ++k) parts += fmt::format(" {} {}", shades[k], tr(part_names[k]));
  return tr("Time went to:{} (mean over workers).", parts);
}

/// Names the rows of which samples were computed again after crashes.
std::string redone_lines(const Comparison& c, std::size_t width) {
  std::vector<std::string> parts;
  for (const Row& row : c.rows)
    if (row.samples && row.samples_seen && *row.samples > *row.samples_seen)
      parts.push_back(tr("{} {} of {}", named(row), count(*row.samples - *row.samples_seen), count(*row.samples)));
  if (parts.empty()) return "";
  return wrapped(tr("Samples lost to crashes (no part of samples/s and speed-ups): {}.", listed(parts, most_named)),
                 width);
}

/// Explains the sign in the column of the time to the target.
std::string margin_line(const Comparison& c, std::size_t width) {
  const bool shown =
      std::ranges::any_of(c.rows, [](const Row& row) { return row.time_to_target_margin_s.has_value(); });
  return shown ? wrapped(tr("±: half of the 95 % interval of the mean over the seeds (Student's t)."), width) : "";
}

std::string error_lines(const std::vector<Run>& runs, std::size_t width) {
  std::string text;
  for (const Run& run : runs) {
    if (run.record.status != record::Status::failed) continue;
    const std::string point = point_text(run.parameters);
    text += wrapped(tr("Failed: {}{}, seed {}: {}", run.label, point.empty() ? "" : tr(", ") + point, run.seed,
                       run.record.error.empty() ? tr("no reason was recorded") : run.record.error),
                    width);
  }
  return text;
}

/// Names the spectral gap of each gossip once: the speed at which replicas come to agree.
std::string spectral_gap_lines(const std::vector<Run>& runs, std::size_t width) {
  std::vector<std::string> known;
  for (const Run& run : runs) {
    if (!run.record.spectral_gap) continue;
    const double of_graph = *run.record.spectral_gap;
    std::string text = run.workers == 1
                           ? tr("{:.4g} for {} with {} worker", of_graph, printable(run.label), run.workers)
                           : tr("{:.4g} for {} with {} workers", of_graph, printable(run.label), run.workers);
    if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(std::move(text));
  }
  if (known.empty()) return "";
  return wrapped(tr("Spectral gap (1: one step averages exactly): {}.", fmt::format("{}", fmt::join(known, tr(", ")))),
                 width);
}

/// A note, and the runs that have it.
struct Note {
  std::string text;
  std::vector<const Run*> runs;
};

/// Returns "gossip", "gossip, 5 seeds", "gossip, 3 runs" of several grid points, or "ring and tree, 10 runs".
std::string owners(const Note& note) {
  std::vector<std::string> labels;
  for (const Run* run : note.runs)
    if (std::string label = printable(run->label); std::ranges::find(labels, label) == labels.end())
      labels.push_back(std::move(label));
  constexpr std::size_t most_owners = 3;
  const std::string names = listed(labels, most_owners);
  if (note.runs.size() == labels.size()) return names;
  const Run& first = *note.runs.front();
  const bool seeds = labels.size() == 1 && std::ranges::all_of(note.runs, [&](const Run* run) {
                       return run->parameters == first.parameters;
                     });
  return seeds ? tr("{}, {} seeds", names, note.runs.size()) : tr("{}, {} runs", names, note.runs.size());
}

/// Returns the first notes, each once with the names of its runs: a run with many crashes has a note per crash.
std::string note_lines(const std::vector<Run>& runs, std::size_t width) {
  std::vector<Note> notes;
  for (const Run& run : runs) {
    for (const std::string& text : run.record.notes) {
      const auto known = std::find_if(notes.begin(), notes.end(), [&](const Note& note) { return note.text == text; });
      if (known == notes.end())
        notes.push_back({text, {&run}});
      else if (known->runs.back() != &run)
        known->runs.push_back(&run);
    }
  }
  constexpr std::size_t shown = 8;
  std::string lines;
  for (const Note& note : std::span(notes).first(std::min(shown, notes.size()))) {
    lines += wrapped(tr("Note ({}): {}", owners(note), note_text(note.text)), width);
  }
  if (notes.size() > shown) lines += tr("{} more notes are in results.json.\n", notes.size() - shown);
  return lines;
}

/// Returns the strategies that a race has dropped.
std::string dropped_line(const std::vector<Dropped>& all, std::size_t width) {
  if (all.empty()) return "";
  std::vector<std::string> items;
  for (const Dropped& each : all) {
    const std::string point = point_text(each.parameters);
    const std::string name = point.empty() ? printable(each.label) : tr("{} at {}", printable(each.label), point);
    items.push_back(tr("{} ({} of {} seeds, behind {})", name, each.seeds, each.seeds + each.seeds_left_out,
                       printable(each.behind)));
  }
  return wrapped(tr("Dropped from the race: {}.", listed(items)), width);
}

/// Returns the cause that binds the run that was explained first, the fastest of those that could be.
std::string binding_line(const Results& results, std::size_t width) {
  if (results.counterfactuals.empty()) return results.scenario.contains("job") ? wrapped(jobs_untried(), width) : "";
  const Counterfactual& first = results.counterfactuals.front();
  const auto run = std::ranges::find(results.runs, first.id, &Run::id);
  if (run == results.runs.end()) return "";
  const std::string point = point_text(run->parameters);
  std::string name = point.empty() ? printable(run->label) : tr("{} at {}", printable(run->label), point);
  const auto same = [&](const Run& each) { return each.label == run->label && each.parameters == run->parameters; };
  if (std::ranges::count_if(results.runs, same) > 1) name = tr("{} (seed {})", name, run->seed);
  const std::string text = finding(first, name);
  return text.empty() ? "" : wrapped(text, width);
}

}  // namespace

std::string sentence(const Comparison& c) {
  if (c.rows.empty()) return tr("No run has finished.");
  if (std::all_of(c.rows.begin(), c.rows.end(), [](const Row& row) { return row.failed == row.seeds; })) {
    return tr("Every run failed.");
  }
  if (const std::string answers = answers_sentence(c); !answers.empty()) return answers;
  if (const auto rows = ranked(c, by_time_to_target); !rows.empty()) return fastest_sentence(c, rows);
  if (const std::string lost = all_diverged_sentence(c); !lost.empty()) return lost;
  if (c.has_target) return unreached_sentence(c);
  const std::string most = throughput_sentence(c, nullptr);
  if (most.empty()) return without_throughput(c);
  const bool by_chance =
      c.speed_by_chance && leaders(ranked(c, by_time_per_sample), by_time_per_sample).lead == Lead::one_seed;
  return by_chance ? most + tr(" ") + one_seed_remark(c) : most;
}

std::string table_footer(const Results& results, const Comparison& c, std::size_t width, bool bars_shown) {
  std::string text = bars_shown ? wrapped(legend(c), width) : "";
  if (c.target) text += wrapped(tr("Target: loss {:.6g} or less.", *c.target), width);
  text += baseline_lines(c, width);
  text += margin_line(c, width);
  text += wrapped(sentence(c), width);
  text += binding_line(results, width);
  text += redone_lines(c, width);
  text += dropped_line(results.dropped, width);
  if (!results.complete) {
    const std::size_t done = results.runs.size();
    // Without a run the sentence above has said so.
    if (done == 1) text += wrapped(tr("Incomplete: this is the one run finished so far."), width);
    if (done > 1) text += wrapped(tr("Incomplete: these are the {} runs finished so far.", done), width);
  }
  text += spectral_gap_lines(results.runs, width);
  return text + error_lines(results.runs, width) + note_lines(results.runs, width);
}

}  // namespace simgrad::outputs
