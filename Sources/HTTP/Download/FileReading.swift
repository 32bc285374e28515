import AggregatorCore
import AggregatorFormats
import AggregatorFoundation
import AggregatorText

/// A file that is being read row by row. Two calls never overlap: ``FilePages`` hands it to one caller at a time.
actor FileReading {
  struct Page: Sendable {
    var response: HTTPResponse
    /// `nil` at the end of the file.
    var next: FilePlace?
    /// True if the file is another version than that of the place.
    var isRestarted = false
  }

  private static let chunkSize = 256 << 10
  /// The most bytes that a compressed file has at once.
  private static let roomSize = 1 << 20

  private let download: Download
  private let expected: BodyFormat?
  private let path: String
  private let service: String
  private let limits: (file: Int, body: Int)
  /// Names the version of a file without a validator.
  private let random = String(UInt64.random(in: .min ... .max), radix: 36)

  // The next properties belong to one version of the file.
  private var head: Download.Head?
  private var offset = 0
  private var hasEnded = false
  private var chunk: [UInt8] = []
  private var chunkPosition = 0
  private var inflation: Inflation?
  private var inflated = 0
  private var decoder: TextDecoder?
  private var text: [UInt8] = []
  private var textPosition = 0
  private var format: BodyFormat?
  private var reader: RowReader?
  private var cut: String?

  /// The number of rows that were handed out or passed over, and the rows after them.
  private var passed = 0
  private var rows = JSONRows()

  /// - Parameter limits: The most bytes of a file, also after it is decompressed, and of a response without rows.
  init(
    _ download: Download, of url: URL, as format: BodyFormat?, limits: (file: Int, body: Int)
  ) {
    self.download = download
    expected = format
    path = url.path(percentEncoded: false)
    service = Address(url)?.authority ?? path
    self.limits = limits
  }

  /// Reads the page at a place, which a new reading looks for.
  ///
  /// - Parameter bytes: The bytes of rows after which no further one is read.
  func page(at place: FilePlace, rows limit: Int, bytes: Int) async throws(SourceError) -> Page {
    var isRestarted = false
    while true {
      do throws(SourceError) {
        let head = try await begun()
        guard head.response.status == 200 || head.response.status == 206 else {
          return Page(response: head.response)
        }
        let version = version(of: head)
        let isSame = place.rows == 0 || place.version == version
        isRestarted = isRestarted || !isSame
        if let other = try await notRows(head) { return Page(response: other) }
        try await fill(from: isSame ? place.rows : 0, upTo: limit, bytes)
        return try page(version, isRestarted)
      } catch {
        guard error.cause is Download.VersionChanged, !isRestarted else { throw error }
        isRestarted = place.rows > 0
        forget()
      }
    }
  }

  private func version(of head: Download.Head) -> String {
    head.validator.map { String($0.fnv1a, radix: 36) } ?? random
  }

  /// The head of the file; that of another version forgets what was read.
  private func begun() async throws(SourceError) -> Download.Head {
    if let head { return head }
    let head = try await download.head()
    if 200..<300 ~= head.response.status { self.head = head }
    return head
  }

  private func forget() {
    head = nil
    (offset, hasEnded, chunk, chunkPosition) = (0, false, [], 0)
    inflation = nil
    inflated = 0
    decoder = nil
    (text, textPosition, format, reader, cut) = ([], 0, nil, nil, nil)
    passed = 0
    rows.removeAll()
  }

  /// The rows that were read, as a page.
  private func page(_ version: String, _ isRestarted: Bool) throws(SourceError) -> Page {
    var response = head?.response ?? HTTPResponse(status: 200)
    response.body = rows.json
    let isLast = reader == nil
    response.conversion = HTTPResponse.Conversion(
      format: format, columns: columns, cut: isLast ? cut : nil, fault: rows.fault,
      isGuess: decoder?.isGuess ?? false, rowsBefore: passed)
    passed += rows.count
    rows.removeAll()
    // Where the file is compressed, or in another encoding, the download cannot see them.
    let secrets = download.secrets
    if !secrets.isEmpty { response = SecretScanner(secrets).redacted(response) }
    return Page(
      response: response, next: isLast ? nil : FilePlace(rows: passed, version: version),
      isRestarted: isRestarted)
  }

  // MARK: - Rows

  private var columns: [String]?

  /// Reads the rows after a place until there are enough, or the file ends.
  private func fill(from place: Int, upTo limit: Int, _ bytes: Int) async throws(SourceError) {
    while reader != nil {
      let wanted = passed < place ? min(place - passed, limit) : limit
      rows.isCounting = passed < place
      if rows.count >= wanted || passed >= place && rows.size >= bytes {
        if passed >= place { return }
        passed += rows.count
        rows.removeAll()
        continue
      }
      // The way to the place is not what was asked for: in a compressed file it leads through all that is before it.
      if rows.isCounting { Deadline.current?.restart() }
      do throws(SourceError) {
        if textPosition == text.count, try await !read() {
          try finish()
          // The last rows may be before the place, too.
          if passed < place {
            passed += rows.count
            rows.removeAll()
          }
          return
        }
        do throws(FormatError) {
          try reader?.read(text, from: &textPosition, into: &rows, upTo: wanted)
        } catch {
          throw error.sourceError(from: service)
        }
      } catch {
        // The rows before a failure of the transfer are a page, and the next call meets the failure.
        let isOfTransfer =
          ![.cancelled, .malformed].contains(error.code)
          && !(error.cause is Download.VersionChanged)
        guard isOfTransfer, passed >= place, rows.count > 0 else { throw error }
        return
      }
    }
  }

  private func finish() throws(SourceError) {
    guard var reader else { return }
    do throws(FormatError) {
      let end = try reader.finish(after: passed, into: &rows)
      cut = cut ?? end
      columns = reader.columns
    } catch {
      throw error.sourceError(from: service)
    }
    self.reader = nil
  }

  // MARK: - Text

  /// Reads further text; false at the end of the file.
  private func read() async throws(SourceError) -> Bool {
    var isFirst = false
    if chunkPosition == chunk.count, !hasEnded {
      chunk = try await download.bytes(
        at: offset, atMost: Self.chunkSize, of: head?.version ?? 0)
      chunkPosition = 0
      hasEnded = chunk.isEmpty
      isFirst = offset == 0
      offset += chunk.count
    }
    do throws(FormatError) {
      if isFirst, Inflation.isNeeded(for: chunk) { inflation = try Inflation() }
      let plain = try plainBytes()
      if decoder == nil {
        decoder = try TextDecoder(
          contentType: head?.response.header("content-type"), head: plain.prefix(4))
      }
      text = Array(text[textPosition...]) + (decoder?.decode(plain) ?? [])
      textPosition = 0
      guard hasEnded, plain.isEmpty else { return true }
      let last = decoder?.finish() ?? []
      text += last
      guard last.isEmpty else { return true }
    } catch {
      throw error.sourceError(from: service)
    }
    if let isWhole = inflation?.isWhole, !isWhole { cut = "the compressed file ends too early" }
    return false
  }

  /// The next bytes of the file, decompressed; empty at the end.
  private func plainBytes() throws(FormatError) -> [UInt8] {
    guard inflation != nil else {
      defer { chunkPosition = chunk.count }
      return chunk
    }
    var plain: [UInt8] = []
    try inflation?.decompress(chunk, from: &chunkPosition, into: &plain, room: Self.roomSize)
    inflated += plain.count
    guard inflated <= limits.file else { throw .tooLarge(limits.file) }
    return plain
  }

  /// Finds out the format; returns the whole response if it has no rows that follow one another.
  private func notRows(_ head: Download.Head) async throws(SourceError) -> HTTPResponse? {
    guard reader == nil, !hasEnded || offset == 0 else { return nil }
    while text.count < BodyFormat.headSize, try await read() {}
    let type = head.response.header("content-type")
    format = BodyFormat(expecting: expected, contentType: type, path: path, head: text)
    if let format, format.isLines {
      do throws(FormatError) {
        reader = try RowReader(format, head: text.prefix(BodyFormat.headSize))
      } catch {
        throw error.sourceError(from: service)
      }
      return nil
    }
    var body: [UInt8] = []
    while true {
      let bytes = try await download.bytes(
        at: body.count, atMost: Self.chunkSize, of: head.version)
      if bytes.isEmpty { break }
      body += bytes
      guard body.count <= limits.body else {
        throw .tooLarge(limits.body, service == path ? path : "the response")
      }
    }
    var response = head.response
    response.body = Data(body)
    return response
  }
}
