#include "outputs/files/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

#include "base/errors.h"
#include "outputs/files/temporary_file.h"
#include "outputs/result_tables.h"
#include "outputs/results_digest.h"
#include "outputs/summary.h"

namespace simgrad::outputs {
namespace {

struct StatementEnd {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, StatementEnd>;

/// A new database under a temporary name; keep() gives it its own. One that is not kept is removed.
class NewDatabase {
 public:
  explicit NewDatabase(const std::string& path) : path_(path), file_(path) {
    // Nobody else has the file: locks of SQLite's own would only get in the way of ours on NFS.
    const int code = sqlite3_open_v2(file_.name().c_str(), &database_, SQLITE_OPEN_READWRITE, "unix-none");
    if (code == SQLITE_OK) return;
    sqlite3_close(database_);
    refuse(sqlite3_errstr(code));
  }
  ~NewDatabase() { sqlite3_close(database_); }
  NewDatabase(const NewDatabase&) = delete;
  NewDatabase& operator=(const NewDatabase&) = delete;

  void execute(const std::string& sql) { check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr)); }

  Statement prepared(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr));
    return Statement(statement);
  }

  void insert(sqlite3_stmt* statement, const ResultRow& row) {
    for (std::size_t i = 0; i < row.size(); ++i) check(bind(statement, static_cast<int>(i) + 1, row[i]));
    if (sqlite3_step(statement) != SQLITE_DONE) refuse(sqlite3_errmsg(database_));
    check(sqlite3_reset(statement));
  }

  void keep(const std::string& made_of) {
    check(sqlite3_close(database_));
    database_ = nullptr;
    file_.keep(made_of);
  }

 private:
  static int bind(sqlite3_stmt* statement, int place, const nlohmann::ordered_json& value) {
    if (value.is_null()) return sqlite3_bind_null(statement, place);
    if (value.is_boolean()) return sqlite3_bind_int(statement, place, value.get<bool>() ? 1 : 0);
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)  // SQLite has signed integers only
      return sqlite3_bind_double(statement, place, value.get<double>());
    if (value.is_number_integer()) return sqlite3_bind_int64(statement, place, value.get<std::int64_t>());
    if (value.is_number()) return sqlite3_bind_double(statement, place, value.get<double>());
    const std::string text = value.is_string() ? sound_text(value.get_ref<const std::string&>()) : compact(value);
    return sqlite3_bind_text64(statement, place, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }

  void check(int code) const {
    if (code != SQLITE_OK) refuse(sqlite3_errmsg(database_));
  }
  [[noreturn]] void refuse(const std::string& reason) const {
    throw base::EnvironmentError(fmt::format("{}: cannot be written: {}", path_, reason));
  }

  std::string path_;
  TemporaryFile file_;
  sqlite3* database_ = nullptr;
};

std::string quoted_name(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

const char* type_name(ColumnType type) {
  switch (type) {
    case ColumnType::integer:
      return " INTEGER";
    case ColumnType::number:
      return " REAL";
    case ColumnType::text:
      return " TEXT";
    case ColumnType::any:
      break;
  }
  return "";
}

/// Returns names that differ in more than the case of their letters, as SQLite wants them.
std::vector<std::string> column_names(const ResultTable& table) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  for (const ResultColumn& column : table.columns) {
    std::string name = sound_text(column.name);
    for (int n = 2; !taken.insert(lower(name)).second; ++n) name = fmt::format("{} ({})", sound_text(column.name), n);
    names.push_back(std::move(name));
  }
  return names;
}

void add_table(NewDatabase& database, const ResultTable& table) {
  const std::vector<std::string> names = column_names(table);
  std::string columns, places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns += fmt::format("{}{}{}", i == 0 ? "" : ", ", quoted_name(names[i]), type_name(table.columns[i].type));
    places += i == 0 ? "?" : ", ?";
  }
  database.execute(fmt::format("CREATE TABLE {} ({})", quoted_name(table.name), columns));
  const Statement insertion =
      database.prepared(fmt::format("INSERT INTO {} VALUES ({})", quoted_name(table.name), places));
  table.each_row([&](const ResultRow& row) { database.insert(insertion.get(), row); });
  for (const char* key : {"run", "id"})
    if (names.front() == key) database.execute(fmt::format("CREATE INDEX {0}_{1} ON {0} ({1})", table.name, key));
}

}  // namespace

void write_sqlite(const Results& results, const std::string& path) {
  const std::string made_of = digest(results) + sqlite3_sourceid();
  if (is_made_of(path, made_of)) return;
  NewDatabase database(path);
  // The temporary file needs no journal: where anything fails, it is removed.
  database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
  database.execute(fmt::format("PRAGMA user_version = {}; BEGIN", schema));
  for (const ResultTable& table : result_tables(results)) add_table(database, table);
  database.execute("COMMIT");
  database.keep(made_of);
}

}  // namespace simgrad::outputs
