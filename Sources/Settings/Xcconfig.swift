package import AggregatorCore

/// The statements of one `.xcconfig` text, line by line; nothing is included or expanded yet.
///
/// Follows Xcode where Xcode reads the text at all: `//` starts a comment wherever it stands, one
/// or more `;` after a value are dropped, quotes belong to the value, and CR, LF and CRLF end a
/// line. What cannot be read is a statement too, so that whoever asked decides whether it matters.
/// No fault ever quotes the text, which may hold a key.
package struct Xcconfig: Sendable {
  /// One line that says something.
  package struct Line: Sendable {
    /// Where it stands, 1-based.
    package let number: Int
    /// What it says.
    package let statement: Statement
  }

  /// What a line says.
  package enum Statement: Sendable {
    /// `KEY = value`.
    case assignment(Assignment)
    /// `#include "file"`, or with `isOptional` `#include? "file"`.
    case include(String, isOptional: Bool)
    /// None of them.
    case unreadable(XcconfigFault)
  }

  /// The giving of a value: `KEY = value`.
  package struct Assignment: Sendable {
    /// The key: letters, digits and `_`.
    package let key: String
    /// The value as written, without its comment and surrounding blanks.
    package let value: String
    /// Whether a condition such as `[sdk=*]` follows the key.
    package let isConditional: Bool
    /// Where the value stands in the file, in bytes.
    package let valueRange: Range<Int>
    /// Where the line's comment stands in the file, in bytes; empty without one.
    package let commentRange: Range<Int>

    /// Whether the value is an address whose `//` was taken for a comment: `https:`.
    package var isCut: Bool {
      !commentRange.isEmpty && valueRange.upperBound == commentRange.lowerBound
        && ["http:", "https:"].contains { value.lowercased().hasSuffix($0) }
    }
  }

  /// The longest line that is read, in bytes.
  package static let longestLine = 16_384

  /// The lines that say something, in order.
  package let lines: [Line]

  /// Takes a text apart.
  ///
  /// - Parameter bytes: The file's contents: UTF-8, with or without a byte order mark.
  package init(_ bytes: [UInt8]) {
    guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
      let fault = XcconfigFault("is UTF-16 text", remedy: "save the file as UTF-8")
      lines = [Line(number: 1, statement: .unreadable(fault))]
      return
    }
    var lines: [Line] = []
    var number = 1
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    while start < bytes.count {
      let end =
        bytes[start...].firstIndex { $0 == .lineFeed || $0 == .carriageReturn } ?? bytes.count
      if let statement = Statement(bytes[start..<end]) {
        lines.append(Line(number: number, statement: statement))
      }
      let isPair =
        end + 1 < bytes.count && bytes[end] == .carriageReturn && bytes[end + 1] == .lineFeed
      start = end + (isPair ? 2 : 1)
      number += 1
    }
    self.lines = lines
  }
}

/// What is wrong with a line of a settings file, and what to do about it.
package struct XcconfigFault: Error, Hashable {
  /// What kind of failure it is where it may not be passed over.
  package let code: SourceError.Code
  /// What is wrong, without a full stop; never the line's text.
  package let what: String
  /// What to do about it.
  package let remedy: Remedy?

  /// A fault.
  ///
  /// - Parameters:
  ///   - what: What is wrong, without a full stop.
  ///   - remedy: What to do about it.
  ///   - code: What kind of failure it is.
  package init(_ what: String, remedy: Remedy? = nil, code: SourceError.Code = .badSettings) {
    self.code = code
    self.what = what
    self.remedy = remedy
  }
}

extension UInt8 {
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
}
