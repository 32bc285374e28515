import AggregatorCore
package import AggregatorFoundation

/// The body of a response as JSON, whatever the format in which it was sent.
package struct ConvertedBody: Sendable {
  package var json: Data

  /// The format in which it was sent; `nil` for JSON that was compressed, or not in UTF-8.
  package var format: BodyFormat?

  /// The names of the columns of CSV and TSV; `nil` for other formats.
  package var columns: [String]?

  /// The reason the body seems to be cut off; `nil` if it does not.
  package var cut: String?

  /// The reason the first row that is null cannot be read; `nil` if all can be.
  package var fault: String?

  /// True if the encoding is a guess, see ``TextDecoder/isGuess``.
  package var isGuess = false

  /// The link to the next page of an Atom feed (RFC 5005); `nil` for none.
  package var next: String?

  /// Where a body is from, and what is known of it.
  package struct Origin: Sendable {
    /// The value of `Content-Type`; `nil` for none.
    package var contentType: String?
    /// The path of the URL.
    package var path: String
    /// The format that is expected; `nil` to recognise it.
    package var format: BodyFormat?
    /// The names that lead to the rows, which are a list also if there is one of them; `nil` if they are not known.
    package var rows: [String]?

    package init(
      contentType: String?, path: String, format: BodyFormat? = nil, rows: [String]? = nil
    ) {
      self.contentType = contentType
      self.path = path
      self.format = format
      self.rows = rows
    }
  }

  /// Each byte of CSV may be a value with a long name.
  private static let maxGrowth = 4

  /// Converts a body; `nil` if it is JSON in UTF-8 already, or has no records.
  ///
  /// - Parameter maxBytes: The most bytes of the body after it is decompressed.
  package init?(_ body: Data, from origin: Origin, maxBytes: Int) throws(FormatError) {
    guard !body.isDatabase else { throw .database }
    let isCompressed = Inflation.isNeeded(for: body)
    let isJSON =
      origin.format == nil && !isCompressed
      && BodyFormat(contentType: origin.contentType, path: origin.path, head: body) == nil
    // Nearly all bodies are JSON, in UTF-8.
    if isJSON, !body.hasUTF16Mark, body.isUTF8 { return nil }
    var bytes = Array(body)
    if isCompressed {
      var inflation = try Inflation()
      var (whole, position) = ([UInt8](), 0)
      repeat {
        guard whole.count < maxBytes else { throw .tooLarge(maxBytes) }
        let before = (position, whole.count)
        try inflation.decompress(
          bytes, from: &position, into: &whole, room: min(1 << 20, maxBytes - whole.count))
        if (position, whole.count) == before { break }
      } while position < bytes.count || !inflation.isWhole
      if !inflation.isWhole { cut = "the compressed file ends too early" }
      bytes = whole
    }
    // XML names its encoding itself.
    var text: [UInt8]?
    if origin.format != .xml {
      let (type, head) = (origin.contentType, bytes.prefix(4))
      // JSON has one encoding, so that an unknown name is not worth a failure.
      let isIgnored = isJSON && (try? TextDecoder(contentType: type, head: head)) == nil
      var decoder = try TextDecoder(contentType: isIgnored ? nil : type, head: head)
      text = decoder.decode(bytes) + decoder.finish()
      isGuess = decoder.isGuess
    }
    let format = BodyFormat(
      expecting: origin.format, contentType: origin.contentType, path: origin.path,
      head: text ?? bytes)
    self.format = format
    switch format {
    case nil:
      json = Data(text ?? bytes)
      // Bytes may begin as UTF-16 does without being text.
      guard isCompressed || JSONText(json) != nil else { return nil }
    case .xml:
      isGuess = false
      let charset = TextDecoder.charset(of: origin.contentType)
      let document = try XMLReader.document(
        bytes, charset: charset, rows: origin.rows)
      json = Data(document.json.text.utf8)
      cut = cut ?? document.cut
      next = document.json.nextLink
    case let format?:
      let text = text ?? bytes
      var reader = try RowReader(format, head: text.prefix(BodyFormat.headSize))
      var rows = JSONRows()
      var position = 0
      let maxSize = maxBytes * Self.maxGrowth
      while position < text.count {
        try reader.read(text, from: &position, into: &rows, upTo: rows.count + 1000)
        guard rows.size <= maxSize else { throw .tooLarge(maxBytes) }
      }
      let end = try reader.finish(after: 0, into: &rows)
      cut = cut ?? end
      columns = reader.columns
      (json, fault) = (rows.json, rows.fault)
    }
  }
}

extension Data {
  fileprivate var hasUTF16Mark: Bool { starts(with: [0xFF, 0xFE]) || starts(with: [0xFE, 0xFF]) }

  fileprivate var isUTF8: Bool {
    withUnsafeBytes { (try? UTF8Span(validating: $0.bindMemory(to: UInt8.self).span)) != nil }
  }
}

extension JSON {
  /// The link with `rel="next"` of a feed.
  fileprivate var nextLink: String? {
    let links = self["feed"]?["link"].map { link -> [JSON] in
      if case .array(let links) = link { links } else { [link] }
    }
    let next = links?.first { $0["@rel"] == "next" }
    guard case .string(let url)? = next?["@href"] else { return nil }
    return url
  }
}
