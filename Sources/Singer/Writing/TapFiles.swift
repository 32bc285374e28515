import AggregatorFiles
package import AggregatorKit

/// A file that another program gives to a tap: JSON that nobody has checked.
private struct TapFile {
  /// Of a state and a catalog, whose streams may be many.
  private static let maxSize = 64 << 20

  let path: String
  let kind: String
  let code: SourceError.Code

  /// The value in the file, or in its last line: a target prints state after state.
  func read() throws(SourceError) -> JSON? {
    let bytes: [UInt8]
    do throws(FileReadFailure) {
      bytes = try OpenFile.contents(of: path, atMost: Self.maxSize)
    } catch {
      switch error {
      case .system(let failure):
        throw SourceError(.storage, "cannot read \(kind) file \"\(path)\": \(failure.words)")
      case .notRegular: throw failure("it is not a file")
      case .tooLarge: throw failure("it is larger than \(Self.maxSize >> 20) MB")
      }
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { line in
      !line.allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
    }
    guard let last = lines.last else { return nil }
    guard let text = JSONText(Data(bytes)) ?? (lines.count > 1 ? JSONText(Data(last)) : nil) else {
      let offset = JSONText.errorOffset(in: Data(bytes)).map { " (byte \($0))" } ?? ""
      throw failure("it is not JSON\(offset)")
    }
    let value = JSON(text)
    guard value.isObject else { throw failure("it is not a JSON object") }
    return value
  }

  func failure(_ reason: String, remedy: Remedy? = nil) -> SourceError {
    SourceError(code, "invalid \(kind) file \"\(path)\": \(reason)", remedy: remedy)
  }
}

/// The state of a target, with a bookmark for each stream.
///
/// What it has besides stays as it is.
package struct SingerState: Sendable {
  package private(set) var json: JSON
  private let path: String?

  /// Nothing was exported.
  package init() { (json, path) = (["bookmarks": [:]], nil) }

  /// - Parameter path: An empty file is the state of nothing.
  /// - Throws: ``SourceError`` with code `invalidRequest`, or `storage` if the file cannot be read.
  package init(reading path: String) throws(SourceError) {
    let file = TapFile(path: path, kind: "state", code: .invalidRequest)
    json = try file.read() ?? SingerState().json
    self.path = path
    let bookmarks = json["bookmarks"]
    guard bookmarks == nil || bookmarks?.isObject == true else {
      throw file.failure("\"bookmarks\" is not an object")
    }
  }

  /// The bookmark of a stream; `nil` if there is none.
  package func position(of stream: String) throws(SourceError) -> ExportPosition? {
    guard let bookmark = json["bookmarks"]?[stream], bookmark != .null, bookmark != [:] else {
      return nil
    }
    guard let position = ExportPosition(bookmark) else {
      throw TapFile(path: path ?? "", kind: "state", code: .invalidRequest).failure(
        "the bookmark of \"\(stream)\" is not one of this program",
        remedy: "remove it to send everything again")
    }
    return position
  }

  package func setting(_ stream: String, to position: ExportPosition) -> SingerState {
    var state = self
    let bookmarks = (json["bookmarks"] ?? [:]).replacing(stream, by: position.json)
    state.json = json.replacing("bookmarks", by: bookmarks)
    return state
  }
}

extension JSON {
  /// This object with another value of a member.
  fileprivate func replacing(_ name: String, by value: JSON) -> JSON {
    var members = members
    if let index = members.firstIndex(where: { $0.name == name }) {
      members[index] = Member(name, value)
    } else {
      members.append(Member(name, value))
    }
    return .object(members)
  }
}

/// The configuration of this program as a tap: `{"sources": ["heroes"], "sync": true}`.
package struct TapConfig: Sendable {
  /// The names of the sources; `nil` for all.
  package private(set) var sources: [String]?

  /// True to sync each source first.
  package private(set) var syncs = false

  package init() {}

  /// - Throws: ``SourceError`` with code `invalidSettings`, or `storage` if the file cannot be read.
  package init(reading path: String) throws(SourceError) {
    let file = TapFile(path: path, kind: "config", code: .invalidSettings)
    for member in try file.read()?.members ?? [] {
      switch member.name {
      case "sources":
        let names = member.value.array?.compactMap(\.string)
        guard let names, names.count == member.value.array?.count else {
          throw file.failure("\"sources\" must be a list of names, such as [\"heroes\"]")
        }
        sources = names
      case "sync":
        guard let bool = member.value.bool else {
          throw file.failure("\"sync\" must be true or false")
        }
        syncs = bool
      case let name:
        let near = nearest(to: name, in: ["sources", "sync"])
        throw file.failure(
          "unknown member \"\(name)\"",
          remedy: near.map { "did you mean \"\($0)\"?" } ?? "the members are sources and sync")
      }
    }
  }
}

/// The streams and fields that a catalog selects.
package struct TapCatalog: Sendable {
  fileprivate struct Stream {
    var isSelected: Bool
    /// By the names of properties that the catalog says something of.
    var fields: [String: Bool]
  }

  private let streams: [String: Stream]

  /// The names of the selected streams, in alphabetical order.
  package var selected: [String] { streams.filter(\.value.isSelected).keys.sorted() }

  /// - Throws: ``SourceError`` with code `invalidRequest`, or `storage` if the file cannot be read.
  package init(reading path: String) throws(SourceError) {
    let file = TapFile(path: path, kind: "catalog", code: .invalidRequest)
    guard let entries = try file.read()?["streams"]?.array else {
      throw file.failure("\"streams\" is not a list")
    }
    var streams: [String: Stream] = [:]
    for entry in entries {
      guard let name = (entry["tap_stream_id"] ?? entry["stream"])?.string else {
        throw file.failure("a stream has no \"tap_stream_id\"")
      }
      guard streams[name] == nil else { throw file.failure("\"\(name)\" is there twice") }
      guard let stream = Stream(entry) else {
        throw file.failure("the metadata of \"\(name)\" is invalid")
      }
      streams[name] = stream
    }
    self.streams = streams
  }

  /// True unless the catalog leaves out the field.
  package func isSelected(_ field: String, of stream: String) -> Bool {
    streams[stream]?.fields[field] ?? true
  }
}

extension TapCatalog.Stream {
  /// Reads the metadata, or the members `selected` of old catalogs; `nil` if it is invalid.
  fileprivate init?(_ entry: JSON) {
    let schema = entry["schema"]
    guard let metadata = (entry["metadata"] ?? []).array,
      let old = Self.selection(entry, or: Self.selection(schema ?? [:], or: metadata.isEmpty))
    else { return nil }
    (isSelected, fields) = (old, [:])
    for property in schema?["properties"]?.members ?? [] {
      // Old catalogs alone have it there.
      if let bool = property.value["selected"]?.bool { fields[property.name] = bool }
    }
    for part in metadata {
      guard let path = part["breadcrumb"]?.array, let values = part["metadata"], values.isObject
      else { return nil }
      switch path.count {
      case 0:
        guard let selected = Self.selection(values, or: old) else { return nil }
        isSelected = selected
      case 2 where path[0] == "properties":
        guard let name = path[1].string, let selected = Self.selection(values, or: true) else {
          return nil
        }
        fields[name] = selected
      default: continue
      }
    }
  }

  /// False if it is unsupported, or not selected; `nil` if that is said in an unknown way.
  private static func selection(_ values: JSON, or other: Bool?) -> Bool? {
    switch values["inclusion"]?.string {
    case "unsupported": return false
    case "automatic": return true
    default: break
    }
    switch values["selected"] ?? values["selected-by-default"] {
    case .bool(let bool): return bool
    case nil, .null: return other
    default: return nil
    }
  }
}

extension StreamWriter {
  /// The entry of the stream in a catalog.
  package var catalogEntry: JSON {
    func metadata(_ path: JSON, _ values: JSON) -> JSON {
      ["breadcrumb": path, "metadata": values]
    }
    let stream = metadata(
      [],
      [
        "inclusion": "available", "selected-by-default": true,
        "table-key-properties": [.string(key)], "forced-replication-method": "LOG_BASED",
      ])
    let fields = fields.map { field in
      metadata(
        ["properties", .string(field)],
        field == key
          ? ["inclusion": "automatic"] : ["inclusion": "available", "selected-by-default": true])
    }
    return [
      "tap_stream_id": .string(self.stream), "stream": .string(self.stream), "schema": schema,
      "key_properties": [.string(key)], "metadata": .array([stream] + fields),
    ]
  }
}
