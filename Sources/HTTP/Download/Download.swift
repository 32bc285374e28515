package import AggregatorCore
import AggregatorFoundation

/// A large file of a service, received into a private file while it is read.
///
/// ```swift
/// let download = Download(request, over: transport, into: directory, maxBytes: 4 << 30)
/// let head = try await download.head()
/// let bytes = try await download.bytes(at: 0, atMost: 1 << 20, of: head.version)
/// ```
///
/// The transfer begins with the first call, goes on between calls, and ends with the last reference to the download. It
/// pauses when it is further ahead of all readers than its window. It has no limit of time but that of idleness, which does
/// not count pauses.
///
/// When it fails, the bytes before are still read; then one call throws the error, and the next one continues with a range
/// request, if the service has a strong validator. A download of the same request in the same directory does that, too, after
/// the process has ended. Where the service sends the whole file again, the file is another version: the bytes of the one
/// before are gone.
///
/// Secrets of the request that the service repeats are masked in ``bytes(at:atMost:of:)``, each by a text of its length.
/// They are found if they are encoded in at most 16 KiB, and not if they are compressed: whoever decompresses the file masks
/// the ``secrets``.
package final class Download: Sendable {
  /// The status and the header fields of the file.
  package struct Head: Sendable {
    /// Without a body, unless it is not successful.
    package let response: HTTPResponse
    /// The number of the version in this object.
    package let version: Int
    /// True if bytes of another version were received before, by this process or an earlier one.
    package let isRestarted: Bool
    /// The number of bytes; `nil` if the service does not say it.
    package let length: Int?

    /// The version among all that the service has had: the strong entity tag, else the time of the last change with the
    /// length, else `nil`.
    package var validator: String? { response.validator(length: length) }
  }

  /// The cause of the error of a reader whose version of the file is gone.
  package struct VersionChanged: Error {}

  private let transfer: DownloadTransfer

  /// - Parameters:
  ///   - directory: The absolute path of a directory for downloads, of a single account of the service: files of another
  ///     one could have the same validator. It is created with mode 0700.
  ///   - maxBytes: The most bytes to receive, and the most bytes of earlier downloads that stay in the directory.
  ///   - window: The most bytes to receive before they are asked for, in addition to those in memory.
  package init(
    _ request: HTTPRequest, over transport: any Transport, into directory: String, maxBytes: Int,
    window: Int = 32 << 20
  ) {
    transfer = DownloadTransfer(
      request, over: transport, into: directory, maxBytes: maxBytes, window: window)
  }

  deinit { transfer.close() }

  /// The validator of the current version; `nil` if it has none, or before the head is known.
  package var validator: String? { transfer.currentHead?.validator }

  /// The secrets of the requests so far, which the service may repeat in the file.
  package var secrets: [Secret] { transfer.secrets }

  /// Waits for the head of the file, or of a response that is not successful, with its body; the next call repeats
  /// that request.
  ///
  /// - Throws: ``SourceError`` as ``Transport/send(_:)``, and `storage` if the file cannot be written.
  package func head() async throws(SourceError) -> Head { try await transfer.head() }

  /// Waits for bytes at an offset; empty at the end of the file.
  ///
  /// - Parameter version: That of the ``Head``.
  /// - Throws: ``SourceError`` as ``head()``; as ``HTTPResponse/checked(by:wantsKey:now:)`` for a response that is not
  ///   successful; `invalidCursor`, caused by ``VersionChanged``, for another version; `tooLarge` at the end of the bytes that
  ///   are allowed.
  package func bytes(
    at offset: Int, atMost count: Int, of version: Int
  ) async throws(SourceError) -> [UInt8] {
    try await transfer.bytes(at: offset, atMost: count, of: version)
  }
}
