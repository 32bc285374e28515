import AggregatorFiles
package import AggregatorKit

extension Manifest {
  /// The absolute path of the file that has the records; `nil` for a service or a program.
  package var file: String? { Self.file(at: url) }

  /// The path in the URL of a file, `file:///PATH`; `nil` for any other text.
  static func file(at url: String) -> String? {
    guard url.hasPrefix("file:///"), url.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
      !url.contains(where: { "?#{".contains($0) }),
      let path = URL(string: url)?.path(percentEncoded: false), !path.contains("\0")
    else { return nil }
    return path
  }

  /// The URL of the file at a path.
  package static func url(ofFile path: String) -> String {
    URL(filePath: path, directoryHint: .notDirectory).absoluteURL.absoluteString
  }

  /// True if the list is a file that is read row by row: a response of a service, or a file of this machine that is large, or
  /// may be when it is decompressed.
  var isFile: Bool {
    guard format?.isLines == true, paging.step == nil else { return false }
    guard let file else { return true }
    return file.hasSuffix(".gz")
      || OpenFile.size(of: file).map { $0 > HTTPLimits.standard.bodyBytes } ?? false
  }
}

extension ManifestReader {
  /// The keys of a manifest that names a file.
  private static let fileKeys = [
    "url", "summary", "rows", "format", "kinds", "id", "fields", "tables", "total", "paging",
    "image", "link", "title", "rate", "fresh", "timeout",
  ]

  /// Refuses what is about requests, beside the URL of a file.
  func requireNothingToSend() throws(SourceError) {
    for (key, _) in offsets.sorted(by: { $0.value < $1.value }) where !Self.fileKeys.contains(key) {
      throw failure(key, "absent for a file, of which nothing is requested")
    }
  }
}

extension ManifestFolder {
  /// The mark in the file of bound secrets, in the place of a host, of a file that may be read.
  static let fileMark = "file"

  /// True for the folder of the person who runs the program: only its manifests may start programs and read files.
  package var isOwn: Bool { feeds != nil }

  /// Refuses a file that nobody has added by its path: somebody else may have written the manifest.
  package func requireAdded(_ manifest: Manifest, as name: String) throws(SourceError) {
    guard let file = manifest.file, !(isOwn && isBound(manifest.url, to: Self.fileMark)) else {
      return
    }
    throw SourceError(
      .invalidSettings,
      isOwn
        ? "the manifest reads \(file.oneLine(atMost: 200)), which nobody has allowed yet"
        : "the manifest reads a file, which only one in your own folder may",
      remedy: isOwn
        ? Remedy("sources add \(name) \(file.shellQuoted) --replace", .command) : nil)
  }
}
