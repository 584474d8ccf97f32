/// The readers of input that fuzzing calls: each takes the bytes of one file as a user would give it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace simgrad::fuzz {

struct Target {
  std::string_view name;
  /// Reads the bytes. Errors: the program's own for input that it refuses; Fault for an answer that is wrong.
  void (*read)(const std::string& bytes);
};

/// All targets, by name.
std::span<const Target> targets();
/// The target of that name, or null.
const Target* target(std::string_view name);

/// Returns the fault that reading the bytes shows, or "". A refusal in a sentence is no fault. Faults are exceptions
/// that no user should meet, such as std::bad_alloc, and refusals with words of a library in them.
std::string fault_of(const Target& target, const std::string& bytes);

/// A reader's answer that is wrong.
struct Fault {
  std::string text;
};
/// Throws Fault unless `holds`.
void expect(bool holds, std::string_view what);

/// The files of one process, in memory where the system has a file system there.
class Files {
 public:
  Files();
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  /// Writes the bytes to the file `name`, in place of its earlier contents. Returns its path.
  std::string write(std::string_view name, std::string_view bytes) const;
  const std::string& directory() const { return directory_; }

 private:
  std::string directory_;
};
const Files& files();

/// A scenario that runs in a moment.
inline constexpr std::string_view small_scenario = R"(
[cluster]
workers = 2
[data]
samples = 20
[model]
kind = "least_squares"
[stop]
steps = 2
[[strategy]]
kind = "allreduce"
)";

// The targets, each in the file of its subject.
void read_csv(const std::string& bytes);
void read_gzip(const std::string& bytes);
void read_idx(const std::string& bytes);
void read_libsvm(const std::string& bytes);
void read_npy(const std::string& bytes);
void read_edges(const std::string& bytes);
void read_matrix(const std::string& bytes);
void read_failures(const std::string& bytes);
void read_speeds(const std::string& bytes);
void read_platform(const std::string& bytes);
void read_scenario(const std::string& bytes);
void read_arguments(const std::string& bytes);
void read_config(const std::string& bytes);
void read_operators(const std::string& bytes);
void read_profile(const std::string& bytes);
void read_requests(const std::string& bytes);
void read_measured(const std::string& bytes);
void read_transfers(const std::string& bytes);
void read_measured_runs(const std::string& bytes);
void read_experiment(const std::string& bytes);
void read_results(const std::string& bytes);
void read_plan_answer(const std::string& bytes);
void read_baseline(const std::string& bytes);
void read_timeline(const std::string& bytes);
void read_model(const std::string& bytes);
void read_record(const std::string& bytes);
void read_trajectory(const std::string& bytes);
void read_trials(const std::string& bytes);
void read_state(const std::string& bytes);

}  // namespace simgrad::fuzz
