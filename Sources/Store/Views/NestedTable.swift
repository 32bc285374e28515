public import AggregatorCore
import AggregatorFoundation

/// A list in each record of a source, as a table of its own: the lines of orders.
///
/// SQL has it as `orders_lines`, and an export writes it beside the table of the source. Each element is a row: its columns are
/// `orders.id`, the ID of the record, `position`, the position in the list from 0, and fields of the element.
///
/// ```swift
/// NestedTable("lines", at: "lineItems", fields: [Field(\.sku), Field(\.quantity)], elements: \.lineItems)
/// ```
public struct NestedTable<Item>: Sendable {
  public let name: String

  let path: [String]
  let columns: [SourceView.Column]
  let compute: @Sendable (_ column: Int, _ element: Data) -> JSON
  private let read: @Sendable (Item) -> [[JSON]]

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - name: Lower-case letters, digits and `_`.
  ///   - path: The path of the list in the record's stored JSON: member names, joined by dots.
  ///   - fields: The fields of an element, whose paths begin in it; an empty path is the element itself. None may have
  ///     the name `position`.
  ///   - elements: The list of a record.
  public init<Element: Decodable & Sendable>(
    _ name: String, at path: String, fields: [Field<Element>],
    elements: @escaping @Sendable (Item) -> [Element]
  ) {
    self.name = name
    self.path = path.split(separator: ".").map(String.init)
    columns = fields.map { SourceView.Column($0) }
    compute = { column, element in
      guard fields.indices.contains(column), let value = try? JSONText(element)?.read(Element.self)
      else { return .null }
      return fields[column][value]
    }
    read = { item in elements(item).map { element in fields.map { $0[element] } } }
  }

  /// The names of the first two columns of a table of a source.
  package static func ownColumns(of source: String) -> [String] { ["\(source).id", "position"] }

  /// The columns of the table of a source as fields of its rows.
  package func fields(of source: String, _ fields: [Field<Item>]) -> [Field<NestedRow>] {
    let own = Self.ownColumns(of: source)
    let kinds = [FieldKind.ofID(in: fields), .integer] + columns.map(\.kind)
    return zip(own + columns.map(\.name), kinds).enumerated().map { index, column in
      Field(column.0, column.0, column.1, about: "A column.") { $0.values[index] }
    }
  }
}

extension NestedTable where Item: SourceRecord {
  /// The rows of a record with these fields.
  package func rows(of item: Item, _ fields: [Field<Item>]) -> [NestedRow] {
    let id = fields.first { $0.name == "id" }?[item] ?? .string(item.id.description)
    return read(item).enumerated().map { NestedRow(values: [id, .integer($0)] + $1) }
  }
}

/// A row of a ``NestedTable``.
package struct NestedRow: SourceRecord {
  /// A constant that equals no value, so that a table treats no column as the IDs.
  package var id: String { "\u{0}" }

  let values: [JSON]
}

extension FieldKind {
  /// The kind of the column `id`, with which IDs are compared; text if there is none.
  static func ofID(in fields: [Field<some Any>]) -> FieldKind {
    fields.first { $0.name == "id" }?.kind ?? .text
  }
}

/// A record whose stored JSON has the row that a service sent as a member.
package protocol RowRecord: SourceRecord {
  /// The name of the member.
  static var rowMember: String { get }
}
