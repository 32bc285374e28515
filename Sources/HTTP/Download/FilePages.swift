package import AggregatorCore
package import AggregatorFormats
import AggregatorFoundation
import Synchronization

/// A transport that reads a file of records as a list with pages: a file of any size, of which little is in memory.
///
/// A request of a page is one with the parameter ``parameter``, which is not sent. Its response has the next rows as a JSON
/// array, and the place of the next page in a header field. All other requests are sent as they are.
///
/// Pages after the first one continue with the file that was begun, also in another process. If the service has
/// another version by then, the page is the first of that one, and says so.
package final class FilePages: Transport {
  /// The parameter with the place of a page.
  package static let parameter = RESTParameter.query("aggregator-file-place")
  private static let name = "aggregator-file-place"
  private static let restartField = "aggregator-file-restarted"
  /// The place of the first page.
  package static let start = "0"

  /// The most rows and bytes of a page, of which the last row may be beyond the bytes.
  package static let maxRows = 2000
  private static let maxBytes = 1 << 20
  /// The most readings that wait for their next page.
  private static let maxReadings = 8

  private let base: any Transport
  private let directory: String
  private let maxFileBytes: Int
  private let format: BodyFormat?
  private let rowCount: Int
  private let state = Mutex(State())

  private struct State {
    /// The file of each list that was begun last.
    var downloads: [String: Download] = [:]
    /// The readings that wait for their next page.
    var readings: [(key: String, next: FilePlace, reading: FileReading)] = []
  }

  /// - Parameters:
  ///   - base: Sends the requests of files, and all others.
  ///   - directory: The path of a directory for files of a single account of the service.
  ///   - maxFileBytes: The most bytes of a file.
  ///   - format: The format of the rows; `nil` to recognise it.
  ///   - rowCount: The most rows of a page.
  package init(
    over base: any Transport, into directory: String, maxFileBytes: Int, as format: BodyFormat?,
    rowCount: Int? = nil
  ) {
    self.base = base
    self.directory = directory
    self.maxFileBytes = maxFileBytes
    self.format = format
    self.rowCount = min(rowCount ?? Self.maxRows, Self.maxRows)
  }

  /// Adds to a page, as its rows are read, what the response says of the file.
  static func complete<Item>(_ page: inout RESTResponse<Item>, by response: HTTPResponse) {
    page.next = response.header(name).map { .token($0) }
    if response.header(restartField) != nil {
      page.warnings.append(
        Warning(
          .restarted,
          "the file has changed since its first rows were read, so it was started over: records that moved "
            + "meanwhile may be missing"))
    }
  }

  package func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    guard let item = request.query.first(where: { $0.name == Self.name }) else {
      return try await base.send(request)
    }
    var request = request
    request.query.removeAll { $0.name == Self.name }
    guard case .plain(let text) = item.value, let place = FilePlace(text) else {
      throw .damaged("\(item.value)")
    }
    let key = request.shownAddress + String(decoding: request.body ?? Data(), as: UTF8.self)
    let reading = reading(of: request, key, at: place)
    do throws(SourceError) {
      let page = try await reading.page(at: place, rows: rowCount, bytes: Self.maxBytes)
      if let next = page.next { keep(reading, key, until: next) } else { release(key) }
      return response(page)
    } catch {
      // The rows that it has are those of the same page.
      keep(reading, key, until: place)
      throw error
    }
  }

  private func response(_ page: FileReading.Page) -> HTTPResponse {
    var response = page.response
    if let next = page.next { response.headers.append((Self.name, next.description)) }
    if page.isRestarted { response.headers.append((Self.restartField, "1")) }
    return response
  }

  /// The reading that stopped at a place, or a new one.
  private func reading(of request: HTTPRequest, _ key: String, at place: FilePlace) -> FileReading {
    state.withLock { state in
      if place.rows > 0 {
        if let index = state.readings.lastIndex(where: { $0.key == key && $0.next == place }) {
          return state.readings.remove(at: index).reading
        }
      } else {
        // Who begins a list wants the present version.
        state.downloads[key] = nil
        state.readings.removeAll { $0.key == key }
      }
      let download =
        state.downloads[key]
        ?? Download(request, over: base, into: directory, maxBytes: maxFileBytes)
      state.downloads[key] = download
      return FileReading(
        download, of: request.url, as: format,
        limits: (maxFileBytes, request.limits.bodyBytes))
    }
  }

  /// Lets go of the file of a list that was read to its end.
  private func release(_ key: String) {
    state.withLock { state in
      if !state.readings.contains(where: { $0.key == key }) { state.downloads[key] = nil }
    }
  }

  private func keep(_ reading: FileReading, _ key: String, until next: FilePlace) {
    state.withLock { state in
      state.readings.append((key, next, reading))
      if state.readings.count > Self.maxReadings {
        let key = state.readings.removeFirst().key
        if !state.readings.contains(where: { $0.key == key }) { state.downloads[key] = nil }
      }
    }
  }
}

/// The place of a page: the number of rows before it, and the version of the file.
struct FilePlace: Hashable, LosslessStringConvertible, Sendable {
  var rows: Int
  /// A digest of the validator, or a random number if there is none; empty for the first page.
  var version: String

  init(rows: Int, version: String) {
    self.rows = rows
    self.version = version
  }

  init?(_ description: String) {
    let parts = description.split(separator: "-", maxSplits: 1)
    guard let rows = parts.first.flatMap({ Int($0) }), rows >= 0 else { return nil }
    self.init(rows: rows, version: parts.count > 1 ? String(parts[1]) : "")
  }

  var description: String { version.isEmpty ? "\(rows)" : "\(rows)-\(version)" }
}
