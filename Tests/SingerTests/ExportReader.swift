import Foundation
import Testing

/// A message of the protocol, read strictly: an unknown member, or a missing one, is an error.
enum Message {
  case schema(stream: String, [String: Any], keys: [String])
  case record(stream: String, [String: Any], version: Int)
  case state([String: Any])
  case activate(stream: String, version: Int)

  struct Invalid: Error, CustomStringConvertible { let description: String }

  static func object(_ line: String) throws -> [String: Any] {
    guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    else { throw Invalid(description: "not an object: \(line)") }
    return object
  }

  /// A value as JSON with sorted members.
  static func text(_ value: Any?) -> String {
    if let text = value as? String { return text }
    guard let value,
      let data = try? JSONSerialization.data(
        withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
    else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  init(_ line: String) throws {
    let object = try Self.object(line)
    func names(_ expected: String...) throws {
      guard Set(object.keys) == Set(expected + ["type"]) else {
        throw Invalid(description: "members \(object.keys.sorted()) of \(line)")
      }
    }
    func value<Value>(_ name: String, _ type: Value.Type = Value.self) throws -> Value {
      guard let value = object[name] as? Value else {
        throw Invalid(description: "\(name) of \(line)")
      }
      return value
    }
    switch object["type"] as? String {
    case "SCHEMA":
      try names("stream", "schema", "key_properties")
      self = .schema(
        stream: try value("stream"), try value("schema"), keys: try value("key_properties"))
    case "RECORD":
      try names("stream", "record", "version", "time_extracted")
      let time: String = try value("time_extracted")
      guard time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil else {
        throw Invalid(description: "time_extracted of \(line)")
      }
      self = .record(
        stream: try value("stream"), try value("record"), version: try value("version"))
    case "STATE":
      try names("value")
      self = .state(try value("value"))
    case "ACTIVATE_VERSION":
      try names("stream", "version")
      self = .activate(stream: try value("stream"), version: try value("version"))
    default: throw Invalid(description: "type of \(line)")
    }
  }
}

/// A target that keeps tables in memory, and refuses what the protocol or its schemas do not allow.
struct TableTarget {
  struct Row {
    var record: [String: Any]
    var version: Int
  }

  private(set) var tables: [String: [String: Row]] = [:]
  /// The last state, once everything before it is stored.
  private(set) var state: [String: Any]?
  /// The number of messages of each type.
  private(set) var counts: [String: Int] = [:]
  private(set) var deletions = 0

  /// Reads the output of one run.
  mutating func read(_ lines: [String]) throws {
    var schemas: [String: (types: [String: Set<String>], keys: [String])] = [:]
    counts = [:]
    deletions = 0
    for line in lines {
      switch try Message(line) {
      case .schema(let stream, let schema, let keys):
        counts["SCHEMA", default: 0] += 1
        guard schema["type"] as? String == "object",
          let properties = schema["properties"] as? [String: [String: Any]],
          Set(keys).isSubset(of: properties.keys), !keys.isEmpty
        else { throw Message.Invalid(description: line) }
        schemas[stream] = (
          properties.mapValues { Set($0["type"] as? [String] ?? [$0["type"] as? String ?? ""]) },
          keys
        )
      case .record(let stream, let record, let version):
        counts["RECORD", default: 0] += 1
        guard let (types, keys) = schemas[stream] else {
          throw Message.Invalid(description: "a record before its schema: \(line)")
        }
        for (name, value) in record {
          guard let allowed = types[name], Self.fits(value, allowed) else {
            throw Message.Invalid(description: "the schema does not allow \(name) of \(line)")
          }
        }
        let key = keys.map { Message.text(record[$0]) }.joined(separator: "\0")
        if record["_sdc_deleted_at"] is String {
          tables[stream, default: [:]][key] = nil
          deletions += 1
        } else {
          tables[stream, default: [:]][key] = Row(record: record, version: version)
        }
      case .state(let value):
        counts["STATE", default: 0] += 1
        state = value
      case .activate(let stream, let version):
        counts["ACTIVATE_VERSION", default: 0] += 1
        guard schemas[stream] != nil else {
          throw Message.Invalid(description: "a version before its schema")
        }
        tables[stream] = tables[stream]?.filter { $0.value.version >= version }
      }
    }
    guard let last = lines.last, case .state = try Message(last) else {
      throw Message.Invalid(description: "the last message is not a state")
    }
  }

  private static func fits(_ value: Any, _ types: Set<String>) -> Bool {
    switch value {
    case is NSNull: return types.contains("null")
    case is String: return types.contains("string")
    case is [Any]: return types.contains("array")
    case is [String: Any]: return types.contains("object")
    case let number as NSNumber:
      if Message.text(number) == "true" || Message.text(number) == "false" {
        return types.contains("boolean")
      }
      let isWhole = number.doubleValue.rounded() == number.doubleValue
      return types.contains("number") || isWhole && types.contains("integer")
    default: return false
    }
  }

  /// The rows of a table as ``ExportHome/cached(_:id:)`` returns them.
  func rows(_ stream: String = "things") -> [String: String] {
    (tables[stream] ?? [:]).mapValues { row in
      Message.text(row.record.filter { $0.key != "_sdc_deleted_at" })
    }
  }
}

extension ExportHome {
  /// Exports to a target by its last state, and compares its rows with the cached records.
  @discardableResult
  func export(
    to target: inout TableTarget, _ variables: [String: String] = [:], status: Int32 = 0
  ) async throws -> Outcome {
    var option = ""
    if let state = target.state {
      try write(Message.text(state), to: "state.json")
      option = "--state state.json"
    }
    let outcome = try await run("export things --format singer \(option)", variables)
    #expect(outcome.status == status, "\(outcome)")
    try target.read(outcome.lines)
    #expect(try await target.rows() == cached(), "\(outcome)")
    return outcome
  }
}
