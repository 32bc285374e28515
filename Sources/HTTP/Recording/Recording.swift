public import AggregatorCore
public import Foundation

/// A directory that ``RecordingTransport`` wrote, read whole.
///
/// What is in it may have been written by anybody: it is bounded in size, only regular files of the
/// directory itself are read, and what is no recording is an error that names file and line.
public struct Recording: Sendable {
  /// Where it was read from.
  public let directory: String

  /// When the first exchange was recorded; `nil` if there is none.
  public var recordedAt: Date? { exchanges.map(\.exchange.time).min() }

  /// How many exchanges there are.
  public var count: Int { exchanges.count }

  let exchanges: [(name: String, exchange: RecordedExchange)]

  /// Reads a recording.
  ///
  /// - Parameter directory: The directory's path.
  /// - Throws: ``SourceError``: `storage` if the system refuses to read it, `malformed` with file and
  ///   line for what is no recording, `tooLarge`.
  public init(_ directory: String) throws(SourceError) {
    self.directory = directory
    exchanges = try RecordingDirectory(path: directory).exchanges()
  }

  /// Why a request cannot be answered: which recording is nearest, and how the request differs from it.
  func missing(_ request: RecordedRequest) -> SourceError {
    let asked = "\(request.method.rawValue) \(request.authority.oneLine(atMost: 120))"
    let nearest = exchanges.map {
      (name: $0.name, words: request.differences(from: $0.exchange.request))
    }
    .min { $0.words.count < $1.words.count }
    let reason =
      nearest.map { "the nearest, \($0.name), \($0.words.prefix(3).joined(separator: ", "))" }
      ?? "there is none at all"
    return SourceError(
      .notRecorded, "\(asked) is not in the recording \(directory): \(reason)",
      remedy: Remedy("record it", .record))
  }
}
