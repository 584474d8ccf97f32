#include "outputs/report/charts/memory.h"

#include <algorithm>
#include <array>

#include "outputs/report/data/host_names.h"
#include "outputs/report/data/phrases.h"
#include "outputs/text/language.h"
#include "outputs/text/number_text.h"

namespace simgrad::outputs::report {
namespace {

using record::MemoryPart;
using record::MemoryParts;

constexpr double peaks_alike_within = 0.005;  ///< peaks that are not told apart

std::string_view memory_phrase(MemoryPart part) {
  static constexpr std::array<std::string_view, record::memory_parts> phrases{
      translatable("model parameters"), translatable("gradients"),      translatable("optimizer state"),
      translatable("activations"),      translatable("gathered units"), translatable("buckets"),
      translatable("workspace")};
  return phrases.at(static_cast<std::size_t>(part));
}

/// A rank's memory: means over the seeds.
struct RankMemory {
  MemoryParts bytes;
  std::optional<double> limit_bytes;
  bool works = true;
  std::optional<std::int64_t> stage = {};  ///< of a model that is cut into stages

  bool operator==(const RankMemory&) const = default;
};

/// Returns the ranks in their order. Seeds with another number of ranks are left out, and so are those without memory.
std::vector<RankMemory> by_rank(const Case& one) {
  std::vector<const Run*> runs;
  for (const Run* run : one.runs) {
    const auto& ranks = run->record.ranks;
    const bool known =
        !ranks.empty() && std::ranges::all_of(ranks, [](const auto& rank) { return rank.memory_bytes.has_value(); });
    if (known && (runs.empty() || runs.front()->record.ranks.size() == ranks.size())) runs.push_back(run);
  }
  if (runs.empty()) return {};
  std::vector<RankMemory> all(runs.front()->record.ranks.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    const record::RankUse& first = runs.front()->record.ranks[r];
    all[r].works = first.role == "worker";
    if (first.mesh.bubble_s) all[r].stage = first.mesh.pipeline;
    all[r].limit_bytes = first.memory_limit_bytes;
    for (std::size_t k = 0; k < record::memory_parts; ++k) {
      double sum = 0.0;
      for (const Run* run : runs) sum += run->record.ranks[r].memory[k].value_or(0.0);
      all[r].bytes[static_cast<MemoryPart>(k)] = sum / static_cast<double>(runs.size());
    }
  }
  return all;
}

/// Returns the kinds of ranks of a case, the largest peak first.
std::vector<AlikeRanks> alike_ranks(const Case& one) {
  struct Kind {
    RankMemory memory;
    NumberedRanks ranks;
  };
  std::vector<Kind> kinds;
  std::int64_t workers = 0, servers = 0;
  for (const RankMemory& rank : by_rank(one)) {
    auto kind = std::ranges::find(kinds, rank, &Kind::memory);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {rank, {}});
    (rank.works ? kind->ranks.workers : kind->ranks.servers).push_back(rank.works ? workers++ : servers++);
  }
  std::ranges::stable_sort(kinds, {}, [](const Kind& kind) { return -kind.memory.bytes.sum(); });
  std::vector<AlikeRanks> found;
  for (const Kind& kind : kinds) {
    const std::string ranks = text_of(kind.ranks);
    const std::string name = kind.memory.stage ? tr("stage {}: {}", *kind.memory.stage, ranks) : ranks;
    found.push_back({name, kind.memory.bytes, kind.memory.limit_bytes});
  }
  return found;
}

/// The case of a row, its rank with the largest peak, and whether all of its ranks fit into their devices.
struct Peak {
  const Case* one = nullptr;
  AlikeRanks rank;
  std::optional<bool> fits;  ///< nothing where the memory of a device is not known

  double bytes() const { return rank.bytes.sum(); }
};

std::optional<bool> fit(const std::vector<AlikeRanks>& ranks) {
  if (!std::ranges::all_of(ranks, [](const AlikeRanks& each) { return each.limit_bytes.has_value(); })) return {};
  return std::ranges::all_of(ranks, [](const AlikeRanks& each) { return each.bytes.sum() <= *each.limit_bytes; });
}

/// Returns "64 MB at the peak of a rank, 50 % of it optimizer".
std::string peak_text(const Peak& peak) {
  MemoryPart most = MemoryPart::parameters;
  for (std::size_t k = 0; k < record::memory_parts; ++k)
    if (const auto part = static_cast<MemoryPart>(k); peak.rank.bytes[part] > peak.rank.bytes[most]) most = part;
  return tr("{} at the peak of a rank, {} of it {}", byte_count(peak.bytes()),
            percent(peak.rank.bytes[most] / peak.bytes()), tr(memory_phrase(most)));
}

/// Tells whether the cases fit into their devices; empty where the memory of a device is not known.
std::string fit_text(const std::vector<Peak>& peaks) {
  if (!std::ranges::all_of(peaks, [](const Peak& peak) { return peak.fits.has_value(); })) return "";
  const auto over = std::ranges::count_if(peaks, [](const Peak& peak) { return !*peak.fits; });
  if (over > 0) return tr(" Cases that hold more than a device has: {} of {}.", over, peaks.size());
  return peaks.size() == 1 ? tr(" The device has {}.", byte_count(*peaks.front().rank.limit_bytes))
                           : tr(" Every case fits into its devices.");
}

std::string sentence(const ReportModel& model, const std::vector<Peak>& peaks) {
  const auto least = std::ranges::min_element(peaks, {}, &Peak::bytes);
  const auto most = std::ranges::max_element(peaks, {}, &Peak::bytes);
  const std::string name = model.named(*most->one), largest = peak_text(*most);
  if (peaks.size() == 1) return tr("{} holds {}.", name, largest) + fit_text(peaks);
  if (least->bytes() >= (1.0 - peaks_alike_within) * most->bytes())
    return tr("{} holds {}, and every other case as much, within 0.5 %.", name, largest) + fit_text(peaks);
  return tr("{} holds the most memory: {}. {} holds the least: {}.", name, largest, model.named(*least->one),
            byte_count(least->bytes())) +
         fit_text(peaks);
}

std::vector<MemoryPart> occurring(const std::vector<MemoryRow>& rows) {
  std::vector<MemoryPart> found;
  for (std::size_t k = 0; k < record::memory_parts; ++k) {
    const auto part = static_cast<MemoryPart>(k);
    const auto has = [&](const AlikeRanks& ranks) { return ranks.bytes[part] > 0.0; };
    if (std::ranges::any_of(rows, [&](const MemoryRow& row) { return std::ranges::any_of(row.ranks, has); }))
      found.push_back(part);
  }
  return found;
}

Table table(const ReportModel& model, const Memory& chart, const std::vector<Peak>& peaks) {
  Table table;
  table.columns = {{"strategy"}, {"parameters"}, {"ranks"}, {"peak", "B"}, {"memory of the device", "B"}};
  for (const MemoryPart part : chart.parts) table.columns.push_back({std::string(memory_phrase(part)), "B"});
  for (std::size_t i = 0; i < chart.rows.size(); ++i)
    for (const AlikeRanks& ranks : chart.rows[i].ranks) {
      table.rows.push_back(
          {model.label(*peaks[i].one), model.text(*peaks[i].one), ranks.name, ranks.bytes.sum(), ranks.limit_bytes});
      for (const MemoryPart part : chart.parts) table.rows.back().emplace_back(ranks.bytes[part]);
    }
  return table;
}

}  // namespace

std::optional<Memory> memory(const ReportModel& model) {
  Memory chart;
  std::vector<Peak> peaks;
  for (const Case* one : model.ran()) {
    std::vector<AlikeRanks> ranks = alike_ranks(*one);
    if (ranks.empty() || !(ranks.front().bytes.sum() > 0.0)) continue;
    peaks.push_back({one, ranks.front(), fit(ranks)});
    chart.rows.push_back({one->strategy, one->point, std::move(ranks)});
  }
  if (chart.rows.empty()) return std::nullopt;
  chart.sentence = sentence(model, peaks);
  chart.about = subject_of(*std::ranges::max_element(peaks, {}, &Peak::bytes)->one);
  const std::size_t most = std::max<std::size_t>(8, most_alike_ranks_in_all / chart.rows.size());
  bool cut = false;
  for (MemoryRow& row : chart.rows) {
    if (row.ranks.size() > most && !cut)
      chart.sentence += tr(" The {} largest of {} different ranks are shown.", most, row.ranks.size());
    cut = cut || row.ranks.size() > most;
    if (row.ranks.size() > most) row.ranks.resize(most);
  }
  chart.parts = occurring(chart.rows);
  chart.table = table(model, chart, peaks);
  return chart;
}

void write(Writer& writer, const Memory& memory) {
  writer.begin_object();
  write_chart(writer, memory);
  write_objects(writer, "parts", memory.parts, [&](MemoryPart part) {
    writer.member("name", tr(memory_phrase(part)));
    writer.member("part", static_cast<std::size_t>(part));
  });
  write_objects(writer, "rows", memory.rows, [&](const MemoryRow& row) {
    writer.member("strategy", row.strategy);
    writer.member("point", row.point);
    write_objects(writer, "ranks", row.ranks, [&](const AlikeRanks& ranks) {
      writer.member("name", ranks.name);
      writer.key("bytes");
      writer.begin_array();
      for (const MemoryPart part : memory.parts) writer.value(ranks.bytes[part]);
      writer.end_array();
      writer.member("limit", ranks.limit_bytes);
    });
  });
  writer.end_object();
}

}  // namespace simgrad::outputs::report
