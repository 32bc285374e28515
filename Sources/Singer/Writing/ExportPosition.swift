package import AggregatorKit

/// The point up to which a target has the records of a stream: a bookmark of its state.
package struct ExportPosition: Hashable, Sendable {
  /// A run through the records that has not ended.
  struct Pass: Hashable, Sendable {
    /// The point since which changes are sent; `nil` if all records are.
    var start: HistoryMark?
    /// The position of the record sent last.
    var after: Int64
  }

  /// The version of all records that were sent since everything was.
  var version: Int

  /// False if the target was not told yet that records of earlier versions are gone.
  var isActivated = false

  /// The name of the export that began at the mark, which the store knows.
  var export: String?

  /// The point in the history that the target has reached, once the pass has ended; `nil` if the store keeps none.
  var mark: HistoryMark?

  /// The number of replaced records that are not in the history; see `UnrecordedChanges`.
  var details: Int64 = 0

  /// The IDs of deleted records, which the target has as deleted or does not have.
  var deleted: Set<RecordKey> = []

  /// See ``StreamWriter/types``.
  var types: JSON = [:]

  var pass: Pass?

  init(version: Int) { self.version = version }
}

extension ExportPosition {
  /// Versions are JSON numbers, which other programs read as Double.
  private static let versions = 1...(1 << 53)

  /// Reads a bookmark; `nil` if it is not one of this program.
  init?(_ json: JSON) {
    guard let version = json["version"]?.integer, Self.versions ~= version,
      let activated = json["activated"]?.bool
    else { return nil }
    self.init(version: version)
    (isActivated, types) = (activated, json["types"] ?? [:])
    guard json["export"] != nil else { return }
    guard let export = json["export"]?.string, let mark = HistoryMark(json),
      let details = json["details"]?.integer, let deleted = json["deleted"]?.array
    else { return nil }
    (self.export, self.mark, self.details) = (export, mark, Int64(details))
    for id in deleted {
      guard let id = id.string else { return nil }
      self.deleted.insert(RecordKey(id))
    }
    guard let pass = json["pass"] else { return }
    guard let after = pass["after"]?.integer else { return nil }
    self.pass = Pass(start: HistoryMark(pass), after: Int64(after))
    guard self.pass?.start != nil || pass["position"] == nil else { return nil }
  }

  package var json: JSON {
    var members: [JSON.Member] = [
      .init("version", .integer(version)), .init("activated", .bool(isActivated)),
      .init("types", types),
    ]
    guard let export, let mark else { return .object(members) }
    members.append(.init("export", .string(export)))
    members += mark.members
    members += [
      .init("details", .integer(Int(details))),
      .init("deleted", .array(deleted.sorted().map { .string($0.text) })),
    ]
    if let pass {
      members.append(
        .init(
          "pass", .object([.init("after", .integer(Int(pass.after)))] + (pass.start?.members ?? []))
        )
      )
    }
    return .object(members)
  }

  /// The version of records after these: of the time in milliseconds, unless that is not later.
  static func version(at date: Date, after earlier: ExportPosition?) -> Int {
    let time = Int(min(max(date.timeIntervalSince1970 * 1000, 1), 0x1p52))
    return min(max(time, (earlier?.version ?? 0) + 1), versions.upperBound)
  }
}

extension HistoryMark {
  fileprivate init?(_ json: JSON) {
    guard let position = json["position"]?.integer, let change = json["change"]?.integer else {
      return nil
    }
    self.init(position: Int64(position), change: Int64(change))
  }

  fileprivate var members: [JSON.Member] {
    [.init("position", .integer(Int(position))), .init("change", .integer(Int(change)))]
  }
}

extension JSON {
  fileprivate var integer: Int? { if case .integer(let integer) = self { integer } else { nil } }
  package var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
}

/// The names of the last exports of a source: a checkpoint.
///
/// By them a store knows the states that it has made. One of another store, of records that were cleared since, or
/// made after the backup from which the store was restored, means other records by the same numbers.
struct KnownExports {
  static let checkpoint = "exports"

  /// Enough for one an hour beside one a month.
  private static let maxCount = 1000

  private let names: [Substring]

  init(_ text: String?) { names = (text ?? "").split(separator: " ") }

  func contains(_ name: String) -> Bool { names.contains { $0 == name } }

  func adding(_ name: String) -> String {
    (names + [name[...]]).suffix(Self.maxCount).joined(separator: " ")
  }
}
