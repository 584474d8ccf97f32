/// The chart of a cut model's mesh: the time of a step by cause, for each stage, the links of each dimension, and a
/// picture of the mesh.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "outputs/report/charts/chart.h"
#include "outputs/report/charts/mesh_picture.h"
#include "outputs/report/data/report_model.h"

namespace simgrad::outputs::report {

/// The causes of a stage's time, which add up to it.
enum class MeshCause : unsigned char {
  passes,   ///< forward and backward
  tensor,   ///< collectives among the ranks that share products
  context,  ///< likewise, tokens
  expert,   ///< likewise, experts or tables
  hops,     ///< transfers between stages
  bubble,   ///< waiting for another stage
  data,     ///< the strategy among replicas, where no pass hides it
  update,
  rest,  ///< idle time at the end of the run, and all else
  count
};
inline constexpr auto mesh_causes = static_cast<std::size_t>(MeshCause::count);

/// The ranks of a stage: means over them and over the seeds.
struct StageTimes {
  std::int64_t stage = 0;
  std::vector<double> step_s;          ///< seconds of a step by cause: Mesh::causes
  std::optional<double> memory_bytes;  ///< the largest peak of a rank
};

struct MeshRow {
  std::size_t strategy = 0;
  std::size_t point = 0;
  std::vector<StageTimes> stages;
  std::vector<record::DimensionUse> links;  ///< of the first seed; bytes of a step
  std::size_t picture = 0;                  ///< likewise; one of Mesh::pictures
};

struct Mesh : Chart {
  std::vector<MeshCause> causes;  ///< those that may take time: a dimension of one rank is none
  std::vector<MeshRow> rows;
  std::vector<MeshPicture> pictures;  ///< each once
};

/// Returns nothing where no run has a cut model.
std::optional<Mesh> mesh(const ReportModel& model);

void write(Writer& writer, const Mesh& mesh);

}  // namespace simgrad::outputs::report
