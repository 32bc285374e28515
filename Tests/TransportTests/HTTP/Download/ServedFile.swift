import AggregatorCore
import AggregatorFakeServices
import AggregatorFiles
import AggregatorHTTP
import AggregatorSourceTesting
import Foundation

/// A private directory of downloads; it goes away with the test.
final class DownloadDirectory: Sendable {
  let path = FileManager.default.temporaryDirectory
    .appending(path: "downloads-\(UUID().uuidString)").path

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// The number of files that downloads have open.
  var usedCount: Int {
    names.filter { $0.hasSuffix(".part") }.count { name in
      (try? OpenFile("\(path)/\(name)", O_RDWR).lock(.exclusive, within: .zero)) == false
    }
  }

  func contents(of ending: String) throws -> Data? {
    try names.first { $0.hasSuffix(ending) }.map {
      try Data(contentsOf: URL(filePath: "\(path)/\($0)"))
    }
  }

  func download(
    _ request: HTTPRequest, over transport: any Transport = LongTimeoutTransport(),
    maxBytes: Int = 1 << 30, window: Int = 32 << 20
  ) -> Download {
    Download(request, over: transport, into: path, maxBytes: maxBytes, window: window)
  }
}

extension Download {
  /// All bytes from an offset to the end, read in pieces.
  func rest(
    from start: Int = 0, of version: Int = 0, atMost count: Int = 1 << 20
  ) async throws(SourceError) -> Data {
    _ = try await head()
    var data = Data()
    while true {
      let piece = try await bytes(at: start + data.count, atMost: count, of: version)
      if piece.isEmpty { return data }
      data += piece
    }
  }

  /// The bytes before the first error, and that error.
  func restBeforeError(of version: Int = 0) async throws -> Cut {
    _ = try await head()
    var data = Data()
    do throws(SourceError) {
      while true {
        let piece = try await bytes(at: data.count, atMost: 1 << 20, of: version)
        if piece.isEmpty { return Cut(data: data, error: nil) }
        data += piece
      }
    } catch {
      return Cut(data: data, error: error)
    }
  }

  struct Cut {
    let data: Data
    let error: SourceError?
  }
}
