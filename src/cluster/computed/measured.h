/// Times of collectives as somebody has measured them: by ranks and bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace simgrad::cluster {

/// The collectives of which measured times are taken.
enum class Measured : unsigned char { allreduce, reduce_scatter, all_gather };
inline constexpr std::size_t measured_collectives = 3;
std::string_view name(Measured collective);

/// Seconds by ranks and bytes. The bytes are those of the whole vector: of an allreduce's input, of all that a
/// reduce-scatter combines on one rank, of all that an all-gather leaves on one.
class MeasuredCollectives {
 public:
  using Sizes = std::map<double, double>;  ///< seconds by bytes

  /// Errors: base::ScenarioError `what, expected what`, for a row that contradicts those before.
  void add(Measured collective, int ranks, double bytes, double seconds);
  bool has(Measured collective) const { return !of(collective).empty(); }
  bool empty() const;

  /// The time of one call: between two measured sizes, or numbers of ranks, its logarithm is linear in theirs. Below
  /// the smallest size it is that of the smallest; above the largest it has the latency and bandwidth of the last two;
  /// with more ranks than measured, or fewer, it goes on as between the two nearest. What lies outside is remembered
  /// for notes().  Errors: std::runtime_error where one number of ranks was measured, and there is another,
  /// or where those of the two nearest cannot be extrapolated.
  double seconds(Measured collective, int ranks, double bytes) const;
  /// Sentences on the times that were extrapolated.
  const std::set<std::string>& notes() const { return notes_; }

 private:
  using ByRanks = std::map<int, Sizes>;
  const ByRanks& of(Measured collective) const { return times_[static_cast<std::size_t>(collective)]; }

  std::array<ByRanks, measured_collectives> times_;
  mutable std::set<std::string> notes_;
};

/// Reads a table `ranks,bytes,seconds[,collective]`, or the output of nccl-tests or of the OSU micro-benchmarks;
/// several outputs may stand one after another.  ranks: of outputs that do not say them. Source: NVIDIA, nccl-tests
/// (PERFORMANCE.md); D. Panda et al., OSU Micro-Benchmarks. Errors: EnvironmentError for a file that cannot be opened;
/// ScenarioError `file:line: ...` for a fault in it.
MeasuredCollectives read_measured(const std::string& file, std::optional<std::int64_t> ranks);

}  // namespace simgrad::cluster
