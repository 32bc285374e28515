package import AggregatorCore
package import AggregatorFormats
import AggregatorFoundation

extension HTTPResponse {
  /// The original form of a body that was converted to JSON.
  package struct Conversion: Sendable {
    /// The format in which it was sent; `nil` for JSON that was compressed, or not in UTF-8.
    package let format: BodyFormat?
    /// The names of the columns of CSV and TSV; `nil` for other formats.
    package let columns: [String]?
    /// The reason it seems to be cut off; `nil` if it does not.
    package let cut: String?
    /// The reason the first row that is null cannot be read; `nil` if all can be.
    package let fault: String?
    /// True if the text was not in the encoding that it should have, and the one that was read is a guess.
    package var isGuess = false
    /// The number of rows of a file before those of the body.
    package var rowsBefore = 0

    /// The warnings for a body that is cut off, or whose encoding was guessed.
    package var warnings: [Warning] {
      [
        cut.map { Warning(.cutOff, "the file is incomplete: \($0)") },
        isGuess ? Warning(.guessed, "the text is not UTF-8: it was read as Windows-1252") : nil,
      ].compactMap(\.self)
    }
  }

  /// This response with a body in JSON, if it was sent in another format of records.
  ///
  /// - Parameters:
  ///   - format: The format that is expected; `nil` to recognise it.
  ///   - rows: The names that lead to the rows; `nil` if they are not known.
  /// - Throws: ``SourceError``: `malformed` or `tooLarge` if a successful response cannot be read in its format,
  ///   `unsupported` if that takes a library that is not installed.
  package func converted(
    from request: HTTPRequest, as format: BodyFormat?, rows: [String]?, by service: String
  ) throws(SourceError) -> HTTPResponse {
    guard conversion == nil else { return self }
    let origin = ConvertedBody.Origin(
      contentType: header("content-type"), path: request.url.path(percentEncoded: false),
      format: format, rows: rows)
    do {
      guard
        let body = try ConvertedBody(self.body, from: origin, maxBytes: request.limits.bodyBytes)
      else { return self }
      var converted = self
      converted.body = body.json
      converted.conversion = Conversion(
        format: body.format, columns: body.columns, cut: body.cut, fault: body.fault,
        isGuess: body.isGuess)
      if let next = body.next, nextLink == nil {
        converted.headers.append((name: "link", value: "<\(next)>; rel=\"next\""))
      }
      return converted
    } catch {
      // Of an error the status says enough.
      guard 200..<300 ~= status else { return self }
      throw error.sourceError(from: service)
    }
  }
}
