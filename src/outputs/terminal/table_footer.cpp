#include "outputs/terminal/table_footer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "outputs/finding.h"
#include "outputs/terminal/summary_sentence.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"
#include "outputs/text/recognised.h"
#include "outputs/text/text_layout.h"

namespace simgrad::outputs {
namespace {

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
  const bool shown = std::ranges::any_of(c.rows, [](const Row& row) {
    return row.time_to_target_s && row.time_to_target_margin_s &&
           shows_margin(*row.time_to_target_s, *row.time_to_target_margin_s);
  });
  return shown ? wrapped(tr("±: half of the 95 % interval of the mean over the seeds (Student's t)."), width) : "";
}

std::string error_lines(const std::vector<Run>& runs, std::size_t width) {
  std::string text;
  for (const Run& run : runs) {
    if (run.record.status != record::Status::failed) continue;
    const std::string point = point_text(run.parameters);
    text += wrapped(tr("Failed: {}{}, seed {}: {}", run.label, point.empty() ? "" : tr(", ") + point, run.seed,
                       run.record.error.empty() ? tr("no reason was recorded") : translated(run.record.error)),
                    width);
  }
  return text;
}

/// Names the spectral gap of each gossip once: the speed at which replicas come to agree.
std::string spectral_gap_lines(const std::vector<Run>& runs, std::size_t width) {
  std::vector<std::string> known;
  for (const Run& run : runs) {
    if (!run.record.spectral_gap) continue;
    const std::string of_graph = number_text(*run.record.spectral_gap, 4);
    std::string text = run.workers == 1 ? tr("{} for {} with {} worker", of_graph, printable(run.label), run.workers)
                                        : tr("{} for {} with {} workers", of_graph, printable(run.label), run.workers);
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
    lines += wrapped(tr("Note ({}): {}", owners(note), translated(note.text)), width);
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

std::string table_footer(const Results& results, const Comparison& c, std::size_t width, bool bars_shown) {
  std::string text = bars_shown ? wrapped(legend(c), width) : "";
  if (c.target) text += wrapped(tr("Target: loss {} or less.", number_text(*c.target, 6)), width);
  text += baseline_lines(c, width);
  text += margin_line(c, width);
  text += wrapped(sentence(results, c), width);
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
