import AggregatorCore
import AggregatorStore
import AggregatorText
import Foundation

/// Records with a computed name and age, of which some are null.
enum ComputedSample {
  static let view = SourceView(
    "things",
    [
      Field<Bool>("id", "ID", .text, about: "The ID.") { _ in .null }.stored(at: "id"),
      Field<Bool>("name", "Name", .text, about: "A name.") { _ in .null }.computed(
        as: .joined([
          .coalesce(.joined([.member("title"), .text(" ")]), .text("")), .member("last"),
        ])),
      Field<Bool>("age", "Age", .integer, about: "An age.") { _ in .null }
        .computed(as: .age(bornOn: .member("born", "day"))),
    ])

  private static let records: [(json: String, text: String)] = [
    (#"{"id":"0","title":"Dr","last":"O'A","born":{"day":"1990-01-01"}}"#, "Dr O'A with an age"),
    (#"{"id":"1","last":"B","born":{"day":"1990-13-01"}}"#, "B"),
    (#"{"id":"2","title":null,"last":"C","born":{"day":"2990-01-01"}}"#, "C"),
    (#"{"id":"3","title":"Dr","born":{"day":"1800-01-01"}}"#, "null"),
    (#"{"id":"4","last":"E","born":"1990-01-01"}"#, "E"),
    (#"{"id":"5","last":"F","born":{"day":"1990-01-01T00:00:00Z"}}"#, "F"),
  ]

  static let texts = records.map(\.text)

  static var entries: [StoreEntry] {
    records.enumerated().map { index, record in
      StoreEntry(id: "\(index)", json: Data(record.json.utf8)) { FoldedText("") }
    }
  }

  static func query(of table: String) -> String {
    """
    SELECT coalesce(name, 'null') || CASE WHEN age IS NULL THEN '' ELSE ' with an age' END
    FROM \(table) ORDER BY id
    """
  }
}
