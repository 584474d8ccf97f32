#include "outputs/terminal/table_footer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

std::string named(const Row& row) {
  const std::string point = point_text(row.parameters);
  return printable(row.label) + (point.empty() ? "" : " at " + point);
}

/// Returns "; its time is 71% computing, 24% communicating, 5% waiting", the largest part first.
std::string shares(const Row& row) {
  if (!row.parts_s) return "";
  static constexpr std::array<std::string_view, 4> doing = {"computing", "communicating", "waiting", "down"};
  const auto percents = apportioned(*row.parts_s, 100);
  std::array<std::size_t, 4> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return percents[a] > percents[b]; });
  std::string text;
  for (const std::size_t k : order) {
    if (percents[k] > 0) text += fmt::format("{}{}% {}", text.empty() ? "; its time is " : ", ", percents[k], doing[k]);
  }
  return text;
}

/// Returns the row with the highest number, without rows in which a run diverged or failed.
const Row* highest(const std::vector<Row>& rows, std::optional<double> Row::*number) {
  const Row* best = nullptr;
  for (const Row& row : rows) {
    if (row.*number && row.sound() && (!best || *(row.*number) > *(best->*number))) best = &row;
  }
  return best;
}

/// Returns the row with the highest throughput: by speed-up if there is a baseline, else by samples per second.
const Row* most_samples(const std::vector<Row>& rows) {
  const Row* best = highest(rows, &Row::speedup_throughput);
  return best ? best : highest(rows, &Row::samples_per_s);
}

std::string rate(const Row& row) {
  if (row.speedup_throughput) return three_digits(*row.speedup_throughput) + "x that of one worker";
  return count(*row.samples_per_s) + " samples/s";
}

std::string fastest_sentence(const Comparison& c, const Row& best) {
  std::string text = fmt::format("Fastest to the target: {}, after {}", named(best), duration(*best.time_to_target_s));
  if (const auto speedup = best.speedup_time_to_target) {
    text += fmt::format(", {}x as fast as one worker", three_digits(*speedup));
    if (*speedup < 1.0) text += ", so one worker alone is faster";
  }
  text += shares(best) + ".";
  if (const Row* cheap = cheapest(c)) {
    const std::string price = dollars(*cheap->cost_to_target_usd);
    text += cheap == &best
                ? fmt::format(" It is also the cheapest: {}.", price)
                : fmt::format(" Cheapest to the target: {}, {} instead of {}, after {}.", named(*cheap), price,
                              dollars(best.cost_to_target_usd.value_or(0.0)), duration(*cheap->time_to_target_s));
  }
  const Row* most = most_samples(c.rows);
  if (most && most != &best) text += fmt::format(" Highest throughput: {}, {}.", named(*most), rate(*most));
  return text;
}

/// Returns the sentence if no row reached the target with all of its seeds.
std::string unreached_sentence(const Comparison& c) {
  if (std::any_of(c.rows.begin(), c.rows.end(), [](const Row& row) { return row.reached > 0; })) {
    return "No strategy reached the target with every seed.";
  }
  const Row* closest = nullptr;
  for (const Row& row : c.rows) {
    const bool comparable = row.final_loss && row.sound();
    if (comparable && (!closest || *row.final_loss < *closest->final_loss)) closest = &row;
  }
  if (!closest) return "No run reached the target.";
  return fmt::format("No run reached the target; the closest is {} with loss {:.4g} after {}{}.", named(*closest),
                     *closest->final_loss, duration(closest->simulated_s.value_or(0.0)), shares(*closest));
}

std::string baseline_text(const Row& row) {
  if (row.failed == row.seeds) return "failed";
  std::string text = "simulated " + duration(row.simulated_s.value_or(0.0));
  if (row.time_to_target_s) text += ", target after " + duration(*row.time_to_target_s);
  return text;
}

/// Returns one line if all baselines say the same, else one line for each of the first four.
std::string baseline_lines(const std::vector<Row>& baselines, std::size_t width) {
  if (baselines.empty()) return "";
  const std::string first = baseline_text(baselines.front());
  const bool same =
      std::all_of(baselines.begin(), baselines.end(), [&](const Row& row) { return baseline_text(row) == first; });
  if (same) return wrapped("Baseline, one worker without a network: " + first + ".", width);
  std::string text = wrapped("Baselines, one worker without a network:", width);
  constexpr std::size_t shown = 4;
  for (std::size_t i = 0; i < std::min(shown, baselines.size()); ++i) {
    text += "  " + wrapped(fmt::format("{}: {}.", named(baselines[i]), baseline_text(baselines[i])), width - 2);
  }
  if (baselines.size() > shown) text += fmt::format("  {} more are in results.json.\n", baselines.size() - shown);
  return text;
}

std::string legend(const Comparison& c) {
  bool any_down = false;
  for (const Row& row : c.rows) any_down = any_down || (row.parts_s && (*row.parts_s)[3] > 0.0);
  std::string text = "Time went to:";
  for (std::size_t k = 0; k < (any_down ? 4U : 3U); ++k) text += fmt::format(" {} {}", shades[k], part_names[k]);
  return text + " (mean over workers).";
}

std::string error_lines(const std::vector<Run>& runs, std::size_t width) {
  std::string text;
  for (const Run& run : runs) {
    if (run.record.status != record::Status::failed) continue;
    const std::string point = point_text(run.parameters);
    text += wrapped(fmt::format("Failed: {}{}, seed {}: {}", run.label, point.empty() ? "" : ", " + point, run.seed,
                                run.record.error.empty() ? "no reason was recorded" : run.record.error),
                    width);
  }
  return text;
}

/// Names the spectral gap of each gossip once: the speed at which replicas come to agree.
std::string spectral_gap_lines(const std::vector<Run>& runs, std::size_t width) {
  std::vector<std::string> known;
  for (const Run& run : runs) {
    if (!run.record.spectral_gap) continue;
    std::string text = fmt::format("{:.4g} for {} with {} worker{}", *run.record.spectral_gap, printable(run.label),
                                   run.workers, run.workers == 1 ? "" : "s");
    if (std::find(known.begin(), known.end(), text) == known.end()) known.push_back(std::move(text));
  }
  if (known.empty()) return "";
  return wrapped("Spectral gap (1: one step averages exactly): " + fmt::format("{}", fmt::join(known, ", ")) + ".",
                 width);
}

/// Returns the first notes, each once with the number of its runs: a run with many crashes has a note per crash.
std::string note_lines(const std::vector<Run>& runs, std::size_t width) {
  struct Note {
    std::string text;
    const Run* first;
    std::size_t runs;
  };
  std::vector<Note> notes;
  for (const Run& run : runs) {
    for (const std::string& text : run.record.notes) {
      const auto known = std::find_if(notes.begin(), notes.end(), [&](const Note& note) { return note.text == text; });
      if (known == notes.end())
        notes.push_back({text, &run, 1});
      else
        ++known->runs;
    }
  }
  constexpr std::size_t shown = 8;
  std::string lines;
  for (const Note& note : std::span(notes).first(std::min(shown, notes.size()))) {
    const std::string source = note.runs == 1 ? note.first->label : fmt::format("{} runs", note.runs);
    lines += wrapped(fmt::format("Note ({}): {}", source, note.text), width);
  }
  if (notes.size() > shown) lines += fmt::format("{} more notes are in results.json.\n", notes.size() - shown);
  return lines;
}

}  // namespace

std::string sentence(const Comparison& c) {
  if (c.rows.empty()) return "No run has finished.";
  if (std::all_of(c.rows.begin(), c.rows.end(), [](const Row& row) { return row.failed == row.seeds; })) {
    return "Every run failed.";
  }
  if (const Row* best = fastest(c)) return fastest_sentence(c, *best);
  if (c.has_target) return unreached_sentence(c);
  const Row* most = most_samples(c.rows);
  if (!most) return "No run processed any samples.";
  return fmt::format("Highest throughput: {}, {}{}.", named(*most), rate(*most), shares(*most));
}

std::string table_footer(const Results& results, const Comparison& c, std::size_t width, bool bars_shown) {
  std::string text = bars_shown ? wrapped(legend(c), width) : "";
  if (c.target) text += wrapped(fmt::format("Target: loss {:.6g} or less.", *c.target), width);
  text += baseline_lines(c.baselines, width);
  text += wrapped(sentence(c), width);
  if (!results.complete) {
    text += wrapped(fmt::format("Incomplete: these are the {} runs finished so far.", results.runs.size()), width);
  }
  text += spectral_gap_lines(results.runs, width);
  return text + error_lines(results.runs, width) + note_lines(results.runs, width);
}

}  // namespace simgrad::outputs
