#include "outputs/files/sqlite.h"

#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/errors.h"
#include "catch.h"
#include "outputs/result_tables.h"
#include "outputs/summary.h"
#include "sample.h"

namespace sqlite_test {

using namespace simgrad;
using namespace simgrad::outputs;

namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("simgrad-sqlite-" + std::to_string(std::random_device()()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

/// The value of a cell as its type and its text: numbers as in results.json, so that no digit is lost.
std::string cell(sqlite3_stmt* statement, int i) {
  switch (sqlite3_column_type(statement, i)) {
    case SQLITE_NULL:
      return "null";
    case SQLITE_INTEGER:
      return "integer " + std::to_string(sqlite3_column_int64(statement, i));
    case SQLITE_FLOAT:
      return "real " + compact(sqlite3_column_double(statement, i));
    default:
      return std::string("text ") + reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
  }
}

Rows query(const std::string& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  INFO(sql << ": " << sqlite3_errmsg(database));
  REQUIRE(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK);
  Rows rows;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    auto& row = rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(cell(statement, i));
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return rows;
}

/// The cell that stands for a value of results.json in a column.
std::string expected_cell(const nlohmann::ordered_json& value, ColumnType type) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return value.get<bool>() ? "integer 1" : "integer 0";
  if (value.is_number_float() || (value.is_number() && type == ColumnType::number))
    return "real " + compact(value.get<double>());
  if (value.is_number()) return "integer " + compact(value);
  return "text " + (value.is_string() ? value.get<std::string>() : compact(value));
}

Results varied() {
  Results results = six_runs();
  int workers = 0;
  for (Run& run : results.runs) {
    const bool even = ++workers % 2 == 0;
    run = at(at(std::move(run), "cluster.workers", workers), "cluster.\"quoted\" key", even ? "=1us" : "10us");
    run.parameters["training.learning_rate"] = even ? nlohmann::ordered_json(0.1) : nlohmann::ordered_json("auto");
    run.record.metric_name = "accuracy";
    run.record.links.push_back({.link = "up-\"0\"", .bytes = 30, .utilisation = even ? 0.125 : std::nan("")});
    for (auto& evaluation : run.record.curve) evaluation.metric = 0.1 + 1.0 / 3.0;
  }
  return results;
}

}  // namespace

TEST_CASE("results.sqlite has the tables of the CSV files, equal in every cell") {
  const Folder folder;
  const Results results = varied();
  write_sqlite(results, folder / "results.sqlite");
  for (const ResultTable& table : result_tables(results)) {
    INFO(table.name);
    std::string columns;
    for (const ResultColumn& column : table.columns) {
      std::string name = column.name;
      for (std::size_t at = 0; (at = name.find('"', at)) != std::string::npos; at += 2) name.insert(at, "\"");
      columns += (columns.empty() ? "\"" : ", \"") + name + "\"";
    }
    Rows expected;
    table.each_row([&](const ResultRow& row) {
      auto& cells = expected.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i) cells.push_back(expected_cell(row[i], table.columns[i].type));
    });
    CHECK_FALSE(expected.empty());
    CHECK(query(folder / "results.sqlite", "SELECT " + columns + " FROM " + table.name + " ORDER BY rowid") ==
          expected);
  }
}

TEST_CASE("results.sqlite has typed columns and indices on the runs' ids") {
  const Folder folder;
  write_sqlite(varied(), folder / "results.sqlite");
  const auto type_of = [&](const std::string& table, const std::string& column) {
    return query(folder / "results.sqlite",
                 "SELECT type FROM pragma_table_info('" + table + "') WHERE name = '" + column + "'");
  };
  CHECK(type_of("runs", "simulated_s") == Rows{{"text REAL"}});
  CHECK(type_of("runs", "steps") == Rows{{"text INTEGER"}});
  CHECK(type_of("runs", "label") == Rows{{"text TEXT"}});
  CHECK(type_of("runs", "param.cluster.workers") == Rows{{"text "}});
  CHECK(type_of("summary", "simulated_s_low") == Rows{{"text REAL"}});
  CHECK(type_of("curves", "accuracy") == Rows{{"text REAL"}});
  CHECK(query(folder / "results.sqlite", "SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY name") ==
        Rows{{"text curves_run"}, {"text links_run"}, {"text ranks_run"}, {"text runs_id"}});
}

TEST_CASE("names of columns that differ in case only stay apart in results.sqlite") {
  const Folder folder;
  Results results;
  results.runs.push_back(at(at(sample_run("a", 1, {}), "strategy.A.every", 1), "strategy.a.every", 2));
  write_sqlite(results, folder / "results.sqlite");
  const std::string both = "SELECT \"param.strategy.A.every\", \"param.strategy.a.every (2)\" FROM runs";
  CHECK(query(folder / "results.sqlite", both) == Rows{{"integer 1", "integer 2"}});
}

TEST_CASE("equal results give databases of equal bytes, and nothing else stays in the directory") {
  const Folder folder;
  write_sqlite(varied(), folder / "a.sqlite");
  write_sqlite(varied(), folder / "b.sqlite");
  write_sqlite(varied(), folder / "b.sqlite");  // replaces
  CHECK(read_file(folder / "a.sqlite") == read_file(folder / "b.sqlite"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), std::filesystem::directory_iterator()) == 2);
}

TEST_CASE("a database that cannot be written is an error with its name, and leaves nothing") {
  const Folder folder;
  CHECK_THROWS_WITH(write_sqlite(six_runs(), folder / "none/results.sqlite"),
                    (folder / "none/results.sqlite") + ": cannot be written: No such file or directory");
  std::filesystem::create_directories(folder / "results.sqlite/full");
  CHECK_THROWS_AS(write_sqlite(six_runs(), folder / "results.sqlite"), base::EnvironmentError);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), std::filesystem::directory_iterator()) == 1);
}

}  // namespace sqlite_test
