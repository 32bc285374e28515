package import AggregatorCore
import AggregatorText

/// A source, or a list in its records, as a table, without records that are deleted or removed upstream.
package struct SourceView: Sendable {
  package struct Column: Sendable {
    package let name: String
    package let kind: FieldKind
    /// The path of the value in the record's JSON, or the element's; `nil` for a computed field.
    package let path: String?
    /// The value of a computed field; `nil` if only Swift can compute it.
    package let expression: FieldExpression?

    init<Item>(_ field: Field<Item>) {
      (name, kind) = (field.name, field.kind)
      (path, expression) = (field.path, field.expression)
    }
  }

  /// The list whose elements are the rows of a ``NestedTable``; another value than null is a list of one.
  package struct List: Sendable {
    package let path: [String]
    package let idKind: FieldKind
    /// The path of the record's ID in its JSON, where the service decides of which kind it is; `nil` for the stored one.
    package let idPath: [String]?
  }

  package let name: String

  /// The source with the records, which has the same name unless the view is that of a ``list``.
  package let source: String

  package let fields: [Column]

  /// `nil` for a view with a row for each record.
  package let list: List?

  /// The member of the record's JSON that is ``row``; `nil` for all of it.
  package let rowMember: String?

  package var columns: [String] { ownColumns + fields.map(\.name) }

  /// The kinds of the columns by their names.
  package var kinds: [String: FieldKind] {
    let own = list.map { [$0.idKind, FieldKind.integer] } ?? []
    return Dictionary(zip(columns, own + fields.map(\.kind))) { first, _ in first }
  }

  /// The columns before the fields.
  package var ownColumns: [String] {
    list == nil ? [] : NestedTable<Never>.ownColumns(of: source)
  }

  /// The column with all of a record, as the service has sent it, or of an element, as JSON text.
  package static let row = "_row"

  /// False if a field has the name ``row``.
  package var hasRow: Bool { !columns.contains { $0.lowercased() == Self.row } }

  package init<Item>(_ name: String, _ fields: [Field<Item>]) {
    (self.name, source, list) = (name, name, nil)
    self.fields = fields.map { Column($0) }
    rowMember = (Item.self as? any RowRecord.Type)?.rowMember
  }

  /// The view of a list in the records of a source with these fields.
  package init<Item>(_ source: String, _ fields: [Field<Item>], _ table: NestedTable<Item>) {
    (name, self.source) = ("\(source)_\(table.name)", source)
    let id = fields.first { $0.name == "id" && $0.kind == .any }
    list = List(
      path: table.path, idKind: FieldKind.ofID(in: fields),
      idPath: id?.path?.split(separator: ".").map(String.init))
    self.fields = table.columns
    rowMember = nil
  }

  /// The views of a source and of its lists.
  package static func all<Item>(
    of source: String, _ fields: [Field<Item>], _ tables: [NestedTable<Item>]
  ) -> [SourceView] {
    [SourceView(source, fields)] + tables.map { SourceView(source, fields, $0) }
  }
}

/// The views that a store shows to other programs.
package struct SourceViews: Sendable {
  fileprivate let keepsOthers: Bool
  fileprivate let make: @Sendable () -> [SourceView]

  /// - Parameters:
  ///   - keepsOthers: True to keep the views of sources that are not among these.
  ///   - views: Called at the first write.
  package init(
    keepingOthers keepsOthers: Bool = false, _ views: @escaping @Sendable () -> [SourceView]
  ) {
    self.keepsOthers = keepsOthers
    make = views
  }
}

/// The views of a store, in its dialect of SQL.
package struct ViewDefinitions: Sendable {
  package struct View: Sendable {
    package let name: String
    package let definition: String
    /// The name and a digest of the definition.
    package let mark: String
  }

  /// A step of an update.
  package enum Step {
    /// Drops the view of this name.
    case drop(String)
    /// Creates a view, unless there is something of its name.
    case create(View)
  }

  /// The key of the shared value with the marks of the views that a store has created.
  package static let key = "views"

  private let keepsOthers: Bool
  private let stored: Lazy<(views: [View], mark: String), Never>

  /// `define` returns the name of a view and the statement that creates it.
  package init(
    _ views: SourceViews, define: @escaping @Sendable (SourceView) -> (name: String, sql: String)
  ) {
    keepsOthers = views.keepsOthers
    stored = Lazy {
      let stored = views.make().map { view in
        let (name, definition) = define(view)
        let mark = "\(Self.escaped(name)):\(String(definition.fnv1a, radix: 36))"
        return View(name: name, definition: definition, mark: mark)
      }
      return (stored, Self.text(of: Set(stored.map(\.mark))))
    }
  }

  /// The text of the marks if the views of the store are these.
  package var mark: String { stored.value().mark }

  /// Brings the views of a store up to date whose marks are `text`, and returns the new marks.
  ///
  /// Only views that a store has created are replaced or removed: other programs may have added their own.
  ///
  /// - Parameter perform: Performs a step; returns false to leave it to a later update.
  package func update<Failure: Error>(
    from text: String, _ perform: (Step) throws(Failure) -> Bool
  ) throws(Failure) -> String {
    var marks = Set(text.split(separator: " ").map(String.init))
    let views = stored.value().views
    let missing = views.filter { !marks.contains($0.mark) }
    for mark in marks.subtracting(views.map(\.mark)).sorted() {
      let name = Self.unescaped(mark.prefix { $0 != ":" })
      guard !keepsOthers || views.contains(where: { $0.name == name }) else { continue }
      if try perform(.drop(name)) { marks.remove(mark) }
    }
    for view in missing where try perform(.create(view)) { marks.insert(view.mark) }
    return Self.text(of: marks)
  }

  private static func text(of marks: Set<String>) -> String {
    marks.sorted().joined(separator: " ")
  }

  /// The characters that separate names and marks.
  private static let special = [("%", "%25"), (" ", "%20"), (":", "%3A")]

  private static func escaped(_ name: String) -> String {
    special.reduce(name) { $0.replacing($1.0, with: $1.1) }
  }

  private static func unescaped(_ name: Substring) -> String {
    special.reversed().reduce(String(name)) { $0.replacing($1.1, with: $1.0) }
  }
}
