package import AggregatorKit
import AggregatorQueries

/// A source as a table of a query.
package struct SQLView: Sendable {
  /// The columns, and the same view for other programs.
  package let source: SourceView

  /// The JSON of bundled records that take the place of those of the store, which has none.
  package private(set) var bundled: [Data]?

  /// True if the table has the column ``origin``, `cached` or `bundled`: only for queries that name it, so that
  /// `SELECT *` has the fields alone.
  private var hasOrigin = false

  private let compute: @Sendable (_ column: Int, _ record: Data) -> JSON

  package var name: String { source.name }
  package var columns: [String] { source.columns }

  package static let origin = "_origin"

  package init<P: Plugin>(_ plugin: P) { self.init(plugin.name, plugin.fields) }

  /// The table for a query, with bundled records if the store of the environment has none of the source.
  package init<P: Plugin>(
    _ plugin: P, for query: String, in environment: PluginEnvironment
  ) async throws(SourceError) {
    self.init(plugin)
    let query = query.lowercased()
    hasOrigin = query.contains(Self.origin) && !columns.contains(Self.origin)
    guard query.contains(name.lowercased()) else { return }
    let local = try await plugin.localRecords(in: environment)
    guard !local.isCached else { return }
    var records: [Data] = []
    do throws(SourceError) {
      let pages = local.source.pages(size: 1000).makeAsyncIterator()
      while let step = try await pages.next() {
        records += step.items.compactMap { try? CanonicalJSON.bytes(of: $0) }
      }
    } catch  where [.nothingCached, .offline].contains(error.code) {
      return
    }
    bundled = records
  }

  package init<Item: Record>(_ name: String, _ fields: [Field<Item>]) {
    source = SourceView(name, fields)
    compute = { column, record in
      guard fields.indices.contains(column), let item = try? JSONText(record)?.read(Item.self)
      else { return .null }
      return fields[column][item]
    }
  }

  /// The function of the computed columns: of a record's JSON and the number of a column.
  var computed: SQLFunction {
    SQLFunction { [compute] record, column in compute(column, record) }
  }

  /// Two layers, because SQLite passes the reader of a table to the ``SQLAuthorizer`` only by name:
  /// a query may use any name in `WITH heroes AS …`, but cannot guess `inner`.
  ///
  /// `number` is `nil` if nothing is stored; `function` is the name of ``computed``.
  ///
  /// With `hasTooLarge` the records of ``tooLarge(of:over:maxSize:)`` are left out.
  func definition(
    of number: Int64?, over inner: String, hasTooLarge: Bool, computedBy function: String
  ) -> String {
    let names = columns.map(\.sqlName)
    let body: String
    if bundled != nil {
      body = source.select(from: "temp.\(Self.bundledName(inner)) WHERE position > 0") {
        "\(function.sqlName)(json, \($0))"
      }
    } else if let number {
      // A condition of the query may be evaluated before those of the view.
      let json = hasTooLarge ? "CASE WHEN \(isTooLarge(inner)) THEN NULL ELSE json END" : "json"
      // It reads some column of `records`, here `position`: if no column of a table is read
      // (`SELECT count(*) FROM heroes`), SQLite does not tell the authorizer which view reads it.
      body = source.select(
        of: "\(number)", in: "main.", json: json,
        where: hasTooLarge ? "NOT \(isTooLarge(inner))" : nil
      ) { "\(function.sqlName)(\(json), \($0))" }
    } else {
      body = "SELECT \(names.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0"
    }
    let origin = "\((bundled == nil ? "cached" : "bundled").sqlText) AS \(Self.origin)"
    return """
      CREATE TEMP VIEW \(inner.sqlName) AS \(body);
      CREATE TEMP VIEW \(name.sqlName) AS
      SELECT \((names + (hasOrigin ? [origin] : [])).joined(separator: ", ")) FROM temp.\(inner.sqlName);
      """
  }

  /// The statements that make a table of ``bundled``.
  func bundledTable(over inner: String) -> [String] {
    let table = "temp.\(Self.bundledName(inner))"
    let rows = (bundled ?? []).map { record in
      "INSERT INTO \(table) (json) VALUES (\(String(decoding: record, as: UTF8.self).sqlText))"
    }
    return ["CREATE TABLE \(table) (position INTEGER PRIMARY KEY, json TEXT)"] + rows
  }

  private static func bundledName(_ inner: String) -> String { "\(inner)_bundled".sqlName }

  /// Collects the positions of the records of more than `maxSize` bytes, which cannot even be read under
  /// such a limit.
  func tooLarge(of number: Int64, over inner: String, maxSize: Int) -> String {
    """
    CREATE TEMP TABLE \(Self.tooLargeName(inner)) (position INTEGER PRIMARY KEY);
    INSERT INTO temp.\(Self.tooLargeName(inner)) SELECT position FROM main.records
    WHERE \(source.isShown("\(number)", in: "main.")) AND length(CAST(json AS BLOB)) > \(maxSize)
    """
  }

  private func isTooLarge(_ inner: String) -> String {
    "(position IN (SELECT position FROM temp.\(Self.tooLargeName(inner))))"
  }

  private static func tooLargeName(_ inner: String) -> String { "\(inner)_large".sqlName }
}
