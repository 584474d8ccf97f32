#include "outputs/report/charts/chart.h"

namespace simgrad::outputs::report {

Subject subject_of(const Case& one) { return {one.strategy, one.point}; }

void write(Writer& writer, const Cell& cell) {
  if (cell.text)
    writer.value(*cell.text);
  else
    writer.value(cell.number);
}

void write(Writer& writer, const Table& table) {
  writer.begin_object();
  writer.key("columns");
  writer.begin_array();
  for (const Column& column : table.columns) {
    writer.begin_object();
    writer.member("name", column.name);
    writer.member("unit", column.unit);
    writer.end_object();
  }
  writer.end_array();
  writer.member("rows", table.rows);
  writer.end_object();
}

void write(Writer& writer, const std::optional<Subject>& subject) {
  if (!subject) return writer.null();
  writer.begin_object();
  writer.member("strategy", subject->strategy);
  writer.member("point", subject->point);
  writer.end_object();
}

void write_chart(Writer& writer, const Chart& chart) {
  writer.member("sentence", chart.sentence);
  writer.key("about");
  write(writer, chart.about);
  writer.member("table", chart.table);
}

}  // namespace simgrad::outputs::report
