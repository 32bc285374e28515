package import AggregatorCore
package import AggregatorFiles
import AggregatorFoundation
import AggregatorText

/// A transport that reads a file of this machine for a request with its `file` URL, in the place of a service.
///
/// The entity tag of the response stands for the version of the file: a request on the condition that this is another one
/// is answered by 304 without opening the file. Header fields, query and body of a request are ignored, and no event is
/// reported, because nothing is sent.
package struct FileTransport: Transport {
  /// The most bytes of a file that is in memory as a whole, because its format has no rows that follow one another.
  package static let maxBytes = 64 << 20

  private static let chunkSize = 256 << 10

  package init() {}

  /// Reads the file, or hands it to the stream of the request.
  ///
  /// - Throws: ``SourceError``: `rejected` if it cannot be read, or is no regular file; `tooLarge` for more bytes than the
  ///   limit of the request; `serverError` if the file is changed meanwhile, before any byte of another version is handed on.
  package func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    let path = request.url.path(percentEncoded: false)
    guard request.url.isFileURL else { throw .unreadable(path, "no such file") }
    let identity = try Self.identity(ofFile: path)
    var response = HTTPResponse(
      status: 200, headers: [("content-length", String(identity.size))])
    // A file that has just changed may change again without another time.
    if abs(Date().timeIntervalSince1970 - Double(identity.modified)) > 2 {
      let tag = "\"\(identity.version)\""
      response.headers.append(("etag", tag))
      if request.headers.contains(where: { $0.name == "If-None-Match" && $0.value.shown == tag }) {
        response.status = 304
        return response
      }
    }
    let stream = request.responseStream
    let limit = stream == nil ? request.limits.bodyBytes : .max
    guard identity.size <= limit else { throw .tooLarge(limit, path) }
    var isChanged = false
    do throws(SystemFailure) {
      let file = try OpenFile(reading: path)
      _ = stream?.begin(response)
      while true {
        let bytes = try file.prefix(Self.chunkSize)
        isChanged = try !FileIdentity(of: file).isUnchanged(since: identity)
        if isChanged || bytes.isEmpty { break }
        guard let stream else {
          response.body += bytes
          // It may have grown since.
          if response.body.count > limit { break }
          continue
        }
        let room = Wakeup()
        while !bytes.withUnsafeBytes({ stream.receive($0) { room.signal() } }), !Task.isCancelled {
          await room.wait()
        }
        if Task.isCancelled { break }
      }
    } catch { throw .unreadable(path, error.words) }
    if Task.isCancelled { throw .cancelled }
    if isChanged {
      throw SourceError(
        .serverError, "\(path.oneLine(atMost: 200)) was changed while it was read",
        remedy: "try again when nothing writes to it")
    }
    guard response.body.count <= limit else { throw .tooLarge(limit, path) }
    return response
  }

  /// The identity of a file of records.
  ///
  /// - Throws: ``SourceError``: `rejected` if it cannot be read, or is no regular file.
  package static func identity(ofFile path: String) throws(SourceError) -> FileIdentity {
    let identity: FileIdentity?
    do throws(SystemFailure) {
      identity = try FileIdentity(ifPresent: path)
      try SystemFailure.check { access(path, R_OK) }
    } catch { throw .unreadable(path, error.isMissing ? "no such file" : error.words) }
    guard let identity else { throw .unreadable(path, "no such file") }
    guard identity.isRegular else {
      throw .unreadable(path, identity.isDirectory ? "is a directory" : "is a device or a pipe")
    }
    return identity
  }
}

extension SourceError {
  fileprivate static func unreadable(_ path: String, _ reason: String) -> SourceError {
    SourceError(
      .rejected, "cannot read \(path.oneLine(atMost: 200)): \(reason)",
      remedy: "add the source again with the path of a file that you may read")
  }
}
