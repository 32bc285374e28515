import AggregatorKit
import Foundation

/// A place as it is kept in a file, which anybody may have changed.
extension SessionPosition {
  /// Why a file is no place.
  package enum Fault: Error {
    /// It is not what was written.
    case damaged
    /// Another version of the program wrote it.
    case otherVersion
  }

  /// The largest file that is read, in bytes.
  ///
  /// Ten thousand digests take 107 KB, two hundred cursors at their longest 114 KB.
  static let largestFile = 1 << 20

  private static let version = 1
  private static let counts = 0...1_000_000_000

  private struct Version: Codable { let version: Int }

  private struct Stored: Codable {
    let version: Int
    let query: String?
    let next: Cursor?
    let request: Cursor?
    let latest: Shown
    let earlier: [Shown]
    /// The digests, 8 bytes each, big-endian.
    let ids: Data
  }

  /// What is written to a file.
  package var bytes: [UInt8] {
    let stored = Stored(
      version: Self.version, query: query?.text, next: next, request: request, latest: latest,
      earlier: earlier,
      ids: Data(ids.digests.flatMap { digest in withUnsafeBytes(of: digest.bigEndian, Array.init) })
    )
    // Texts, numbers and bytes: nothing that an encoder refuses. What cannot be read is damaged.
    return Array((try? CanonicalJSON.bytes(of: stored)) ?? Data())
  }

  /// Reads a file's contents.
  package init(_ bytes: [UInt8]) throws(Fault) {
    guard let json = JSONText(Data(bytes)), let version = try? json.read(Version.self)
    else { throw .damaged }
    guard version.version == Self.version else { throw .otherVersion }
    guard let stored = try? json.read(Stored.self),
      stored.earlier.count <= Self.mostEarlier,
      (stored.earlier + [stored.latest]).allSatisfy({
        Self.counts ~= $0.count && Self.counts ~= $0.limit && $0.limit > 0
      }),
      stored.ids.count % 8 == 0, stored.ids.count <= 8 * ShownIDs.most
    else { throw .damaged }
    var query: Query?
    if let text = stored.query {
      guard let read = try? Query(text), read.text == text else { throw .damaged }
      query = read
    }
    let ids = Array(stored.ids)
    self.init(
      query: query, earlier: stored.earlier, latest: stored.latest, request: stored.request,
      next: stored.next,
      ids: ShownIDs(
        stride(from: 0, to: ids.count, by: 8).map { start in
          ids[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }))
  }
}
