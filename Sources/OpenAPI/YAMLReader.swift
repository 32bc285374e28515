package import AggregatorFormats
import AggregatorKit
import CAggregatorYAML

/// Turns a document in YAML 1.2 (https://yaml.org/spec/1.2.2/) into JSON text, by the core schema.
///
/// Aliases are written out, so a document may be much larger as JSON: a limit ends that. Names are text whatever they
/// look like. Tags, and numbers that JSON does not have, are text.
package struct YAMLReader {
  private static let libraries = ["libyaml-0.so.2", "/opt/homebrew/lib/libyaml-0.2.dylib"]

  /// True if libyaml is installed.
  package static var isInstalled: Bool { libraries.contains { cyaml_load($0) } }

  private static let maxDepth = 200

  /// - Parameter limit: The most bytes of the JSON text.
  package static func json(
    of bytes: [UInt8], atMost limit: Int
  ) throws(FormatError) -> [UInt8] {
    guard isInstalled else {
      throw FormatError(
        .notInstalled, "the document is YAML, and libyaml is not installed",
        remedy: "run \"apt-get install libyaml-0-2\", or give the document as JSON")
    }
    let writing = Writing(limit: limit)
    var line = 0
    var reason: UnsafePointer<CChar>?
    // libyaml calls back only inside of this call, during which the object lives.
    let result = withExtendedLifetime(writing) {
      let context = Unmanaged.passUnretained(writing).toOpaque()
      return bytes.withUnsafeBytes { bytes in
        cyaml_read(
          bytes.baseAddress, bytes.count,
          { context, event in
            guard let context, let event else { return false }
            return Unmanaged<Writing>.fromOpaque(context).takeUnretainedValue().add(event.pointee)
          }, context, &line, &reason)
      }
    }
    switch result {
    case CYAML_WHOLE: return writing.text
    case CYAML_STOPPED where writing.isTooLarge:
      throw FormatError(
        .tooLarge, "the document is larger than \(limit >> 20) MB with its aliases written out")
    case CYAML_STOPPED: throw .invalid(writing.failure ?? "not YAML", line: line)
    case CYAML_NO_MEMORY: throw FormatError(.tooLarge, "the document is too large")
    default: throw .invalid(reason.map { String(cString: $0) } ?? "not YAML", line: line)
    }
  }

  private final class Writing {
    private struct Collection {
      let isMapping: Bool
      let anchor: String?
      /// Where its text begins.
      let start: Int
      /// The number of values, and of names.
      var count = 0
    }

    private let limit: Int
    private var open: [Collection] = []
    /// The text of what has an anchor.
    private var anchors: [String: Range<Int>] = [:]
    private(set) var text: [UInt8] = []
    private(set) var failure: String?
    private(set) var isTooLarge = false

    init(limit: Int) { self.limit = limit }

    /// True if the next scalar is the name of a member.
    private var expectsName: Bool {
      open.last.map { $0.isMapping && $0.count.isMultiple(of: 2) } ?? false
    }

    /// False if reading cannot go on.
    func add(_ event: cyaml_event) -> Bool {
      let anchor = event.anchor.map { String(cString: $0) }
      let isName = expectsName
      if event.kind != CYAML_END { separate() }
      switch event.kind {
      case CYAML_SCALAR:
        let start = text.count
        write(event, asText: isName)
        if let anchor { anchors[anchor] = start..<text.count }
      case CYAML_ALIAS:
        guard let anchor, let range = anchors[anchor] else {
          failure = "there is nothing before with the anchor of an alias"
          return false
        }
        if isName, text[range.lowerBound] != UInt8(ascii: "\"") {
          failure = "the name of a member is no text"
        } else if range.count <= limit - text.count {
          text += text[range]
        } else {
          isTooLarge = true
        }
      case CYAML_SEQUENCE, CYAML_MAPPING:
        let isMapping = event.kind == CYAML_MAPPING
        if isName { failure = "the name of a member is no text" }
        if open.count >= YAMLReader.maxDepth {
          failure = "values are nested more than \(YAMLReader.maxDepth) deep"
        }
        open.append(Collection(isMapping: isMapping, anchor: anchor, start: text.count))
        text.append(UInt8(ascii: isMapping ? "{" : "["))
      default:
        guard let closed = open.popLast() else { break }
        text.append(UInt8(ascii: closed.isMapping ? "}" : "]"))
        if let anchor = closed.anchor { anchors[anchor] = closed.start..<text.count }
      }
      isTooLarge = isTooLarge || text.count > limit
      return failure == nil && !isTooLarge
    }

    /// Counts a value or a name, and writes what stands before it.
    private func separate() {
      guard let last = open.indices.last else { return }
      let isName = expectsName
      if open[last].count > 0 {
        text.append(UInt8(ascii: open[last].isMapping && !isName ? ":" : ","))
      }
      open[last].count += 1
    }

    private func write(_ event: cyaml_event, asText isText: Bool) {
      let bytes = UnsafeRawBufferPointer(start: event.text, count: event.count)
      if event.is_plain, !isText {
        switch String(decoding: bytes.prefix(6), as: UTF8.self) {
        case "", "~", "null", "Null", "NULL": return text += Array("null".utf8)
        case "true", "True", "TRUE": return text += Array("true".utf8)
        case "false", "False", "FALSE": return text += Array("false".utf8)
        // A value too large for a number is text.
        default:
          let isNumber = NumberKind(bytes) != nil
          if isNumber, Double(String(decoding: bytes, as: UTF8.self))?.isFinite == true {
            return text += bytes
          }
        }
      }
      text.append(UInt8(ascii: "\""))
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
        case 0..<0x20:
          let digits = Array("0123456789abcdef".utf8)
          text += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        default: text.append(byte)
        }
      }
      text.append(UInt8(ascii: "\""))
    }
  }
}
