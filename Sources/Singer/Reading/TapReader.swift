import AggregatorFiles
import AggregatorFormats
import AggregatorHTTP
import AggregatorKit
import DeclaredSource

/// Reads the messages of a tap, and makes batches of the records of one stream.
final class TapReader {
  typealias Batch = FeedBatch<DeclaredRecord>

  /// A batch with so many records, or bytes, takes no more.
  private static let (maxRecords, maxBytes) = (2000, 8 << 20)

  /// The number of complete lines so far.
  private(set) var lines = 0

  /// The batches that are complete.
  private var ready: [Batch] = []
  private var batch = Batch()
  private var bytes = 0
  private var schema = RowSchema.Reader()
  private var version: Int?

  /// The beginning of a line that is not complete.
  private var rest: [UInt8] = []
  /// True within a line that is too long, of which nothing is kept.
  private var isSkipping = false

  /// True if the stream was announced.
  private(set) var hasSchema = false
  private var dropped = 0
  private var rounded: Warning?
  private var unknown: (count: Int, types: [String]) = (0, [])

  private let names: Set<String>
  private let ids: [JSONPath]
  private let scanner: SecretScanner
  private let files: TapBatchFiles

  /// - Parameters:
  ///   - stream: The stream whose records count.
  ///   - ids: The paths of what identifies a record; empty for a digest of all of it.
  init(
    _ stream: TapStream, ids: [JSONPath], redacting scanner: SecretScanner,
    files: TapBatchFiles
  ) {
    names = [stream.id, stream.name]
    (self.ids, self.scanner, self.files) = (ids, scanner, files)
  }

  // MARK: - Batches

  /// The next batch that is complete; `nil` if there is none.
  func next() -> Batch? { ready.isEmpty ? nil : ready.removeFirst() }

  /// Completes the batch if records or a state wait in it; before the tap sends more, only if there is a state.
  func flush(isEnd: Bool) {
    guard batch.step.state != nil || isEnd && (bytes > 0 || batch.step.unreadable.count > 0) else {
      return
    }
    complete()
  }

  private func complete() {
    batch.step.schema = schema.schema
    batch.step.version = version
    ready.append(batch)
    (batch, bytes, schema) = (Batch(), 0, RowSchema.Reader())
  }

  /// The end, if the tap has ended well.
  var end: FeedEnd {
    var end = FeedEnd()
    if dropped > 0 { end.incompleteReason = "\(dropped.of("record")) came before their schema" }
    if unknown.count > 0 {
      let types = unknown.types.joined(separator: ", ")
      end.warnings.append(
        Warning(
          .leftOut, "left out \(unknown.count.of("message")) of unknown types: \(types)"))
    }
    if let rounded { end.warnings.append(rounded) }
    return end
  }

  // MARK: - Lines

  /// Reads the output that follows.
  func add(_ new: [UInt8]) throws(SourceError) {
    var start = 0
    while let end = Self.lineEnd(in: new, from: start) {
      lines += 1
      let line = new[start..<end]
      start = end + 1
      if isSkipping {
        isSkipping = false
      } else if rest.count + line.count > RowReader.maxRecordSize {
        noteTooLong()
      } else {
        try read(rest.isEmpty ? Array(line) : rest + line)
      }
      rest = []
    }
    guard !isSkipping else { return }
    rest += new[start...]
    if rest.count > RowReader.maxRecordSize {
      noteTooLong()
      (rest, isSkipping) = ([], true)
    }
  }

  private static func lineEnd(in bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < bytes.count else { return nil }
      return memchr(base + start, 0x0A, bytes.count - start).map {
        $0 - UnsafeMutableRawPointer(mutating: base)
      }
    }
  }

  /// Reads a last line without an end.
  func finish() throws(SourceError) {
    let line = rest
    rest = []
    if !line.isEmpty { try read(line) }
  }

  private func noteTooLong() {
    note("line \(max(lines, 1)): larger than \(RowReader.maxRecordSize >> 20) MB")
  }

  private func note(_ reason: String) {
    batch.step.unreadable =
      batch.step.unreadable + UnreadableRows(count: 1, firstReason: scanner.redacted(reason))
  }

  private func read(_ line: [UInt8]) throws(SourceError) {
    guard line.contains(where: { $0 > 0x20 }) else { return }
    let clean = scanner.isEmpty ? line : scanner.redacted(line)
    guard let text = JSONText(Data(clean)) else {
      return note(
        "line \(lines) is not JSON: \(String(decoding: clean.prefix(80), as: UTF8.self).oneLine(atMost: 80))"
      )
    }
    let message = JSON(canonical: text)
    switch message["type"]?.string {
    case "SCHEMA"?: if isOwn(message) { hasSchema = true }
    case "RECORD"?: if isOwn(message) { take(message, of: text, clean.count) }
    case "STATE"?: batch.step.state = text.rawText(of: "value") ?? batch.step.state
    case "ACTIVATE_VERSION"?: if isOwn(message) { activate(message["version"]) }
    case "BATCH"?: if isOwn(message) { try readFiles(of: message) }
    case let type?:
      unknown.count += 1
      let type = type.oneLine(atMost: 40)
      if unknown.types.count < 5, !unknown.types.contains(type) { unknown.types.append(type) }
    case nil: note("line \(lines) has no \"type\"")
    }
    if batch.records.count >= Self.maxRecords || bytes >= Self.maxBytes { complete() }
  }

  private func isOwn(_ message: JSON) -> Bool {
    message["stream"]?.string.map(names.contains) ?? false
  }

  private func take(_ message: JSON, of text: JSONText, _ size: Int) {
    if case .integer(let new)? = message["version"], new != version {
      if bytes > 0 || batch.step.state != nil { complete() }
      version = new
    }
    take(row: message["record"] ?? .null, of: text, size)
  }

  /// - Parameter row: In canonical form.
  private func take(row: JSON, of text: JSONText, _ size: Int) {
    guard hasSchema else {
      dropped += 1
      return
    }
    guard row.isObject else { return note("line \(lines) has no \"record\"") }
    do throws(SourceError) {
      batch.records.append(
        ids.isEmpty
          ? DeclaredRecord(canonical: row, id: row.digest)
          : try DeclaredRecord(row, id: ids, isCanonical: true))
      schema.add(row)
      rounded = rounded ?? Warning.rounded(in: [row], of: text)
      bytes += size
    } catch { note("line \(lines): \(error.message)") }
  }

  private func activate(_ version: JSON?) {
    guard case .integer(let new)? = version else { return }
    if new != self.version, bytes > 0 || batch.step.state != nil { complete() }
    self.version = new
    batch.step.isWholeVersion = true
    complete()
  }

  private func readFiles(of message: JSON) throws(SourceError) {
    for file in message["manifest"]?.array ?? [] {
      for line in try files.lines(of: file.string ?? "") {
        guard let text = JSONText(Data(scanner.redacted(line))) else {
          note("a line of a BATCH file is not JSON")
          continue
        }
        take(row: JSON(canonical: text), of: text, line.count)
        if batch.records.count >= Self.maxRecords || bytes >= Self.maxBytes { complete() }
      }
    }
  }
}

/// The files of `BATCH` messages, which must be in the directory of the run.
struct TapBatchFiles {
  private static let maxBytes = 256 << 20

  let directory: String

  /// The lines of a file in JSON, compressed or not, which is removed.
  ///
  /// - Throws: ``SourceError`` with code `rejected` if it is elsewhere, or cannot be read.
  func lines(of address: String) throws(SourceError) -> [[UInt8]] {
    let path = URL(string: address).map { $0.isFileURL ? $0.path : address } ?? address
    let shown = address.oneLine(atMost: 80)
    // By its real path: a link could lead anywhere.
    guard let real = realPath(path), let own = realPath(directory), real.hasPrefix("\(own)/") else {
      throw SourceError(
        .rejected, "the file \"\(shown)\" of a BATCH is not in the directory of the run",
        remedy: "let the tap write its files below the directory in TMPDIR")
    }
    guard var bytes = try? OpenFile.contents(of: real, atMost: Self.maxBytes, followingLink: false)
    else {
      throw SourceError(
        .rejected, "the file \"\(shown)\" of a BATCH cannot be read, or is too large")
    }
    unlink(real)
    if Inflation.isNeeded(for: bytes) {
      do throws(FormatError) { bytes = try inflated(bytes) } catch {
        throw SourceError(.rejected, "the file \"\(shown)\" of a BATCH: \(error.reason)")
      }
    }
    return bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
  }

  private func inflated(_ bytes: [UInt8]) throws(FormatError) -> [UInt8] {
    var inflation = try Inflation()
    var (position, output) = (0, [UInt8]())
    while output.count < Self.maxBytes {
      let before = (position, output.count)
      try inflation.decompress(bytes, from: &position, into: &output, room: 1 << 20)
      if before == (position, output.count) { break }
    }
    guard inflation.isWhole, position == bytes.count else {
      throw FormatError(.invalid, "it is damaged, or too large")
    }
    return output
  }

  private func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}

extension JSON {
  /// A digest of this value in its canonical form.
  fileprivate var digest: String {
    var writer = JSONWriter(escaping: .invisible)
    write(to: &writer, isCanonical: true)
    return writer.bytes.withUnsafeBytes { bytes in
      // Two, because half as long a hash may be that of another one of many rows.
      let hashes = [bytes.fnv1a(), bytes.fnv1a(from: 0x9e37_79b9_7f4a_7c15)]
      return hashes.map { String($0, radix: 36) }.joined(separator: "-")
    }
  }
}

extension JSONText {
  /// The value of a member of the whole object as it is written: the program that reads it again may keep numbers that
  /// ``JSON`` does not.
  fileprivate func rawText(of name: String) -> String? {
    guard parts.first?.kind == .object else { return nil }
    var index = 1
    while index < parts.count {
      let (value, next) = (parts[index + 1], Int(parts[index + 1].next))
      if string(parts[index]) == name {
        let isQuoted = value.kind == .text || value.kind == .escapedText
        let start = Int(value.start) - (isQuoted ? 1 : 0)
        // Before the quote of the next name and its comma, or before the end of the object.
        var end = next < parts.count ? Int(parts[next].start) - 1 : bytes.count
        let separator = UInt8(ascii: next < parts.count ? "," : "}")
        while end > start, bytes[end - 1] != separator { end -= 1 }
        return String(decoding: bytes[start..<max(start, end - 1)], as: UTF8.self)
      }
      index = next
    }
    return nil
  }
}
