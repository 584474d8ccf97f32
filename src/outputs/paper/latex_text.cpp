#include "outputs/paper/latex_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "outputs/text/text_layout.h"

namespace simgrad::outputs::paper {
namespace {

std::string_view escaped(char c) {
  switch (c) {
    case '\\':
      return "\\textbackslash{}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '|':
      return "\\textbar{}";
    case '"':
      return "\\char34{}";
    case '{':
      return "\\{";
    case '}':
      return "\\}";
    case '$':
      return "\\$";
    case '&':
      return "\\&";
    case '#':
      return "\\#";
    case '_':
      return "\\_";
    case '%':
      return "\\%";
    default:
      return {};
  }
}

/// Returns the decimals with which a number has so many significant digits, at least 0.
int decimals_of(double number, int digits) {
  if (number == 0.0) return 0;
  // As written: 9.996 with three digits is 10.0.
  const std::string written = fmt::format("{:.{}e}", std::abs(number), digits - 1);
  return std::max(0, digits - 1 - std::stoi(written.substr(written.find('e') + 1)));
}

std::string in_powers_of_ten(double number) {
  const std::string written = fmt::format("{:.2e}", number);
  const std::size_t e = written.find('e');
  return fmt::format("${} \\times 10^{{{}}}$", written.substr(0, e), std::stoi(written.substr(e + 1)));
}

}  // namespace

std::string latex_text(std::string_view text) {
  std::string written;
  const std::string clean = printable(text);
  for (std::size_t k = 0; k < clean.size(); ++k) {
    const std::string_view instead = escaped(clean[k]);
    if (instead.empty())
      written += clean[k];
    else
      written += instead;
    if (clean[k] == '-' && k + 1 < clean.size() && clean[k + 1] == '-') written += "{}";  // two hyphens, and no dash
  }
  return written;
}

std::string latex_number(double number, double margin) {
  constexpr int decimals_most = 8;
  constexpr double large = 1e7;
  if (!std::isfinite(number)) return "--";
  const int of_number = decimals_of(number, 3);
  if (of_number > decimals_most || std::abs(number) >= large) return in_powers_of_ten(number);
  const auto written = [](double x, int decimals) { return fmt::format("{:.{}f}", x, decimals); };
  if (std::isfinite(margin) && margin > 0.0) {
    const int decimals = std::min(decimals_of(margin, 2), decimals_of(number, 4));
    const std::string of_margin = written(margin, decimals);
    if (of_margin.find_first_not_of("0.") != std::string::npos)
      return fmt::format("${} \\pm {}$", written(number, decimals), of_margin);
  }
  return number < 0.0 ? fmt::format("${}$", written(number, of_number)) : written(number, of_number);
}

std::string latex_p_value(double p) {
  constexpr double significant = 0.05, shown_least = 0.001;
  if (std::isnan(p)) return "--";
  if (p < shown_least) return "$\\mathbf{<0.001}$";
  const std::string written = fmt::format("{:.3f}", p);
  return p < significant ? fmt::format("\\textbf{{{}}}", written) : written;
}

}  // namespace simgrad::outputs::paper
