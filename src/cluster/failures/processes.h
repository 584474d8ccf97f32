/// The kinds of failure processes and repairs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/failures/process.h"

namespace simgrad::cluster {

struct NoRepair final : Repair {
  static constexpr base::About about{
      .kind = "never", .summary = "a failed host or link stays down", .cost = "", .source = ""};
  std::optional<double> duration(base::Stream&) const override { return {}; }
  std::optional<double> mean_s() const override { return {}; }
};

struct ConstantRepair final : Repair {
  static constexpr base::About about{
      .kind = "constant", .summary = "every repair takes the same time", .cost = "time", .source = ""};
  double time_s = 60.0;

  void describe(base::Describer& d) override;
  std::optional<double> duration(base::Stream&) const override { return time_s; }
  std::optional<double> mean_s() const override { return time_s; }
};

struct ExponentialRepair final : Repair {
  static constexpr base::About about{
      .kind = "exponential", .summary = "repairs take exponential times", .cost = "mean", .source = ""};
  double mean = 60.0;

  void describe(base::Describer& d) override;
  std::optional<double> duration(base::Stream& stream) const override;
  std::optional<double> mean_s() const override { return mean; }
};

struct NoFailures final : FailureProcess {
  static constexpr base::About about{
      .kind = "none", .summary = "only the crashes that `crash` names", .cost = "", .source = ""};
  void describe(base::Describer&) override {}
  bool happens() const override { return false; }
  std::optional<Outage> next(int, std::int64_t, double, const base::Stream::Key&, const Repair&) const override {
    return {};
  }
};

struct ExponentialFailures final : FailureProcess {
  static constexpr base::About about{
      .kind = "exponential",
      .summary =
          "each host or link fails an exponential time after its last repair: a failure is equally likely at any time",
      .cost = "a cluster of N hosts has a failure every mtbf / N",
      .source = ""};
  double mean_s = 86400.0;

  void describe(base::Describer& d) override;
  bool is_memoryless() const override { return true; }
  std::optional<double> mtbf_s() const override { return mean_s; }
  std::optional<Outage> next(int which, std::int64_t count, double up_since_s, const base::Stream::Key& draws,
                             const Repair& repair) const override;
};

struct WeibullFailures final : FailureProcess {
  static constexpr base::About about{
      .kind = "weibull",
      .summary =
          "each host or link fails a Weibull time after its last repair; with a shape below 1 most failures follow a "
          "repair soon",
      .cost = "scale = mtbf / Gamma(1 + 1/shape)",
      .source =
          "B. Schroeder, G. A. Gibson, A Large-Scale Study of Failures in High-Performance Computing Systems, 2006"};
  double mean_s = 86400.0;
  double shape = 0.7;

  void describe(base::Describer& d) override;
  std::optional<double> mtbf_s() const override { return mean_s; }
  std::optional<Outage> next(int which, std::int64_t count, double up_since_s, const base::Stream::Key& draws,
                             const Repair& repair) const override;
};

class FaultTrace;

/// Source of the layouts: a CSV of one outage a line, as in the Failure Trace Archive reduced to what is needed; and
/// that of fault_trace.h.
struct TracedFailures final : FailureProcess {
  static constexpr base::About about{
      .kind = "trace",
      .summary =
          "failures read from a CSV file: host,down_at,up_at (a number, seconds, seconds or nothing), or faults "
          "of another cluster's servers, server,start_day,end_day,level,class, for any number of hosts",
      .cost = "",
      .source = ""};
  std::string path;
  std::optional<std::int64_t> servers;  ///< as in TracedCluster
  std::optional<double> days;           ///< likewise

  void describe(base::Describer& d) override;
  bool repairs() const override { return true; }
  std::optional<double> mtbf_s() const override;
  std::optional<Outage> next(int which, std::int64_t count, double up_since_s, const base::Stream::Key& draws,
                             const Repair& repair) const override;
  std::vector<std::string> files() const override { return {path}; }
  std::vector<std::vector<Outage>> known_outages() const override;
  void check_files(std::int64_t those) const override;

 private:
  /// The file, in one of the two layouts.
  struct Contents {
    std::vector<std::vector<Outage>> of_host;
    std::shared_ptr<const FaultTrace> faults;
  };
  const Contents& contents() const;

  mutable std::shared_ptr<const Contents> read_;
};

/// The outages in a file, by host number. Those of one host ascend and do not overlap.
/// Errors: EnvironmentError if it cannot be opened; ScenarioError `file:line:column: ...`.
std::vector<std::vector<Outage>> read_outages(const std::string& file);

}  // namespace simgrad::cluster
