import AggregatorHTTP
import AggregatorKit
import DeclaredSource
import Foundation

@testable import AggregatorSinger

/// Messages of taps, their catalogs, and what targets give back.
extension FuzzTarget {
  static let taps = [messages, catalog, bookmark]

  private static let entry = """
    {"streams": [{"tap_stream_id": "orders", "stream": "orders", "key_properties": ["id"],
     "schema": {"properties": {"id": {}, "name": {}}}, "metadata": [{"breadcrumb": [], "metadata":
     {"replication-method": "FULL_TABLE", "parent-tap-stream-id": "orders"}}]}]}
    """

  private static let messages = FuzzTarget(
    "tap",
    texts: [
      """
      {"type":"SCHEMA","stream":"orders","schema":{},"key_properties":["id"]}
      {"type":"RECORD","stream":"orders","record":{"id":1,"name":"a"},"version":1}
      {"type":"STATE","value":{"orders":12345678901234567890.5}}
      {"type":"RECORD","stream":"orders","record":{"id":"2","name":"b"},"version":2}
      {"type":"ACTIVATE_VERSION","stream":"orders","version":2}
      {"type":"STATE", "value" : "text" , "more":[]}
      {"type":"BATCH","stream":"orders","manifest":["file:///etc/passwd"]}
      """
    ], tokens: ["\n", "NaN", "\"type\"", "\"stream\"", "orders", "\"value\"", "RECORD", "STATE"]
  ) { text in
    let bytes = Array(text.utf8)
    let whole = try read(bytes, inPiecesOf: .max)
    for size in [1, 7] {
      try expect(try read(bytes, inPiecesOf: size) == whole, "other records in pieces of \(size)")
    }
  }

  /// The records and states, and what is said of the rest.
  private static func read(_ bytes: [UInt8], inPiecesOf size: Int) throws -> [String] {
    guard let json = JSON(reading: Data(entry.utf8)) else { return [] }
    let stream = try TapCatalog(json).streams[0]
    let reader = TapReader(
      stream, ids: [JSONPath("id") ?? .root], redacting: SecretScanner([]),
      files: TapBatchFiles(directory: "/nowhere"))
    var found: [String] = []
    do throws(SourceError) {
      var start = 0
      while start < bytes.count {
        try reader.add(Array(bytes[start...].prefix(size)))
        start += size
      }
      try reader.finish()
    } catch {
      try expectHarmless(error)
      found.append(error.message)
    }
    reader.flush(isEnd: true)
    while let batch = reader.next() {
      let reason = batch.step.unreadable.firstReason ?? ""
      try expectHarmless(SourceError(.malformed, reason))
      found +=
        batch.records.map(\.id) + [
          reason, batch.step.state ?? "-", "\(batch.step.version ?? -1)",
        ]
      // What the tap reads again must be what it wrote.
      guard let state = batch.step.state else { continue }
      try expect(JSONText(Data(state.utf8)) != nil, "a state that is not JSON: \(state)")
    }
    let end = reader.end
    for warning in end.warnings { try expectHarmless(SourceError(.malformed, warning.message)) }
    return found + [end.incompleteReason ?? ""]
  }

  private static let catalog = FuzzTarget(
    "tap-catalog", texts: [entry], tokens: ["null", "[]", "{}", "\"streams\"", "\"metadata\""]
  ) { text in
    guard let text = JSONText(Data(text.utf8)) else { return }
    do throws(SourceError) {
      let catalog = try TapCatalog(JSON(text))
      for stream in catalog.streams {
        // The same streams, of which these are selected.
        let selected = try TapCatalog(catalog.selecting(stream.id))
        if selected.streams.count != catalog.streams.count {
          throw SourceError(.noProgress, "a stream is lost")
        }
        _ = (stream.keys, stream.columns, stream.methodText, stream.replicationKey)
        _ = catalog.keeping([stream.id])
      }
    } catch {
      try expect(error.code != .noProgress, error.message)
      try expectHarmless(error)
    }
  }

  private static let bookmark = FuzzTarget(
    "tap-bookmark",
    texts: [
      #"{"version":1700000000000,"activated":true,"types":{"id":"string"},"export":"a","position":7,"#
        + #""change":9,"details":2,"deleted":["x"],"pass":{"after":3,"position":1,"change":2}}"#
    ], tokens: ["null", "1e999", "-1", "9007199254740993", "\"pass\"", "\"export\"", "[]"]
  ) { text in
    guard let text = JSONText(Data(text.utf8)), let position = ExportPosition(JSON(text)) else {
      return
    }
    try expect(
      ExportPosition(position.json) == position, "another position is written: \(position)")
    let next = ExportPosition.version(at: .distantPast, after: position)
    try expect(
      next > position.version || position.version == 1 << 53, "no version after \(position.version)"
    )
  }
}
