#include "outputs/report/data/time_phrases.h"

#include <array>

#include "outputs/summary.h"
#include "outputs/text/language.h"

namespace simgrad::outputs::report {

using record::TimePart;
using record::TimeParts;

std::string_view phrase(TimePart part) {
  static constexpr std::array<std::string_view, record::time_parts> phrases{
      translatable("gradients"),
      translatable("sums"),
      translatable("updates"),
      translatable("encoding"),
      translatable("other computing"),
      translatable("transfers"),
      translatable("input"),
      translatable("storage"),
      translatable("checkpoints"),
      translatable("waiting for a gradient"),
      translatable("waiting for another worker's other work"),
      translatable("waiting for a server's processor"),
      translatable("waiting for the transfers of others"),
      translatable("waiting for a turn"),
      translatable("waiting for a storage"),
      translatable("waiting for a checkpoint"),
      translatable("waiting for a recovery"),
      translatable("idle"),
      translatable("down")};
  return phrases.at(static_cast<std::size_t>(part));
}

std::string_view phrase(record::GradientPart part) {
  static constexpr std::array<std::string_view, record::gradient_parts> phrases{
      translatable("products"), translatable("attention"), translatable("elementwise work")};
  return phrases.at(static_cast<std::size_t>(part));
}

std::optional<record::GradientTimes> gradient_of(const Case& one) {
  record::GradientTimes mean;
  for (std::size_t k = 0; k < record::gradient_parts; ++k) {
    const auto part = static_cast<record::GradientPart>(k);
    double sum = 0.0;
    for (const Run* run : one.runs) {
      if (!run->record.gradient[part]) return std::nullopt;
      sum += *run->record.gradient[part];
    }
    mean[part] = sum / static_cast<double>(one.runs.size());
  }
  return mean;
}

std::optional<TimeParts> parts_of(const Case& one) {
  TimeParts mean;
  for (const Run* run : one.runs) {
    const auto parts = time_by_part(run->record);
    if (!parts) return std::nullopt;
    for (std::size_t k = 0; k < record::time_parts; ++k)
      mean[static_cast<TimePart>(k)] += (*parts)[static_cast<TimePart>(k)] / static_cast<double>(one.runs.size());
  }
  return mean;
}

std::optional<TimePart> main_part(const Case& one, record::Activity activity) {
  const auto parts = parts_of(one);
  if (!parts) return std::nullopt;
  double sum = 0.0, most = 0.0;
  TimePart largest = TimePart::down;
  for (std::size_t k = 0; k < record::time_parts; ++k) {
    const auto part = static_cast<TimePart>(k);
    if (record::activity_of(part) != activity) continue;
    sum += (*parts)[part];
    if ((*parts)[part] > most) most = (*parts)[part], largest = part;
  }
  return most > 0.0 && most >= 0.5 * sum ? std::optional(largest) : std::nullopt;
}

}  // namespace simgrad::outputs::report
