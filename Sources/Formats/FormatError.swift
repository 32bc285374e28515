package import AggregatorCore

/// The reason a body cannot be read in its format.
package struct FormatError: Error, CustomStringConvertible {
  package enum Kind: Sendable {
    /// It is not of the format.
    case invalid
    /// It is larger than it may be after it is decompressed or converted.
    case tooLarge
    /// A library is not installed.
    case notInstalled
  }

  package let kind: Kind
  package let reason: String
  /// The line of a text, from 1; `nil` if it is not known.
  package let line: Int?
  package let remedy: String?

  package init(_ kind: Kind, _ reason: String, line: Int? = nil, remedy: String? = nil) {
    self.kind = kind
    self.reason = reason
    self.line = line
    self.remedy = remedy
  }

  package static func invalid(_ reason: String, line: Int) -> FormatError {
    FormatError(.invalid, reason, line: line)
  }

  package static let database = FormatError(
    .invalid, "it is an SQLite database: export its tables as CSV instead")

  package static func tooLarge(_ bytes: Int) -> FormatError {
    FormatError(.tooLarge, "the file is larger than \(bytes >> 20) MiB")
  }

  /// The line, if it is known, and the reason.
  package var description: String { line.map { "line \($0): \(reason)" } ?? reason }

  /// The error of a source whose service sent the body.
  package func sourceError(from service: String) -> SourceError {
    switch kind {
    case .invalid: SourceError(.malformed, "invalid file from \(service): \(description)")
    case .tooLarge:
      SourceError(.tooLarge, reason, remedy: Remedy("allow a larger file", .allowMoreBytes))
    case .notInstalled: SourceError(.unsupported, reason, remedy: remedy.map { Remedy($0) })
    }
  }
}

extension Collection<UInt8> {
  /// True for the first bytes of an SQLite database (https://sqlite.org/fileformat.html).
  package var isDatabase: Bool { starts(with: "SQLite format 3\0".utf8) }
}
