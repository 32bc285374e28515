package import AggregatorCore
import AggregatorFoundation
import CAggregatorFormats

/// Reads an XML document as JSON.
///
/// An element is an object of its attributes (`@name`), its children and its text (`#text`); an element with nothing but
/// text is that text, and one with nothing at all is null. What repeats within an element is a list. Names keep their
/// prefixes; declarations of namespaces, and `isPermaLink` of RSS, are left out.
///
/// Entities that a document declares are refused, and so nothing outside of the document is read.
package struct XMLReader {
  /// The rows of RSS 2.0, RSS 1.0 and Atom.
  private static let feeds = [
    ["rss", "channel", "item"], ["rdf:RDF", "item"], ["feed", "entry"],
  ]

  private static let libraries = ["libexpat.so.1", "/usr/lib/libexpat.1.dylib"]

  /// True if Expat is installed.
  package static var isInstalled: Bool { libraries.contains { cformats_load_expat($0) } }

  private static let maxDepth = 200
  private static let maxElements = 2_000_000

  /// A document as JSON.
  package struct Document {
    package var json: JSON
    /// The reason the document seems to be cut off; `nil` if it does not.
    package var cut: String?
  }

  private final class Reading {
    /// The names that lead to elements that are rows.
    let rows: [[String]]
    var open: [Element] = [Element(name: "")]
    var count = 0
    var isTooDeep = false

    init(rows: [[String]]) { self.rows = rows }

    static func of(_ context: UnsafeMutableRawPointer?) -> Reading? {
      context.map { Unmanaged<Reading>.fromOpaque($0).takeUnretainedValue() }
    }

    var isStopped: Bool { isTooDeep || count > XMLReader.maxElements }

    func begin(
      _ name: UnsafePointer<CChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
      guard let name else { return }
      count += 1
      isTooDeep = isTooDeep || open.count > XMLReader.maxDepth
      var element = XMLReader.Element(name: String(cString: name))
      var index = 0
      while let name = attributes?[index], let value = attributes?[index + 1] {
        index += 2
        let name = String(cString: name)
        // The last one says of an ID whether it is a URL: with it, the ID would not be a text.
        if name == "xmlns" || name.hasPrefix("xmlns:") || name == "isPermaLink" { continue }
        element.attributes.append(JSON.Member("@\(name)", .string(String(cString: value))))
      }
      open.append(element)
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
      open[open.count - 1].text += bytes
    }

    func end() {
      let list = rows.first { rows in
        rows.count == open.count && zip(open.dropFirst(), rows).allSatisfy { $0.name == $1 }
      }?.last
      let element = open.removeLast()
      open[open.count - 1].append(element.json(list: list), named: element.name)
    }

    /// The document, whose open elements end where the text does; a row that is open is left out.
    func finish() -> JSON {
      let names = open.dropFirst().map(\.name)
      if let row = rows.first(where: { names.starts(with: $0) }) {
        open.removeLast(names.count - row.count + 1)
      }
      while open.count > 1 { end() }
      return open[0].json(list: nil)
    }
  }

  private struct Element {
    let name: String
    /// The attributes, then the children by name, in order of appearance.
    var attributes: [JSON.Member] = []
    var children: [(name: String, values: [JSON])] = []
    var places: [String: Int] = [:]
    var text: [UInt8] = []

    mutating func append(_ value: JSON, named name: String) {
      if let place = places[name] {
        children[place].values.append(value)
      } else {
        places[name] = children.count
        children.append((name, [value]))
      }
    }

    /// - Parameter list: The name of children that are a list even if there is one of them, or none.
    func json(list: String?) -> JSON {
      var members = attributes
      for child in children {
        let isList = child.values.count > 1 || child.name == list
        members.append(JSON.Member(child.name, isList ? .array(child.values) : child.values[0]))
      }
      if let list, places[list] == nil { members.append(JSON.Member(list, .array([]))) }
      let isBlank = text.allSatisfy { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
      let text = JSON.string(String(decoding: text, as: UTF8.self))
      guard !members.isEmpty else { return isBlank ? .null : text }
      if !isBlank { members.append(JSON.Member("#text", text)) }
      return .object(members)
    }
  }

  /// - Parameters:
  ///   - charset: The encoding that the service names, which overrides that of the document.
  ///   - rows: The names that lead to the rows, which are a list even if there is one of them, or none; `nil` for those
  ///     of RSS and Atom.
  package static func document(
    _ bytes: [UInt8], charset: String?, rows: [String]?
  ) throws(FormatError) -> Document {
    guard isInstalled else {
      throw FormatError(
        .notInstalled, "the service sends XML, and Expat is not installed",
        remedy: "run \"apt-get install libexpat1\"")
    }
    let reading = Reading(rows: rows.map { [$0] } ?? feeds)
    var handlers = handlers
    var line: UInt = 0
    var reason: UnsafePointer<CChar>?
    // Expat calls back only inside of this call, during which the object lives.
    let result = withExtendedLifetime(reading) {
      let context = Unmanaged.passUnretained(reading).toOpaque()
      return bytes.withUnsafeBytes { bytes in
        cformats_read_xml(
          bytes.baseAddress, bytes.count, encoding(charset), &handlers, context, &line, &reason)
      }
    }
    switch result {
    case CFORMATS_XML_WHOLE: return Document(json: reading.finish())
    case CFORMATS_XML_CUT where reading.count > 0:
      return Document(json: reading.finish(), cut: "the document ends in line \(line)")
    case CFORMATS_XML_ENTITIES:
      throw .invalid("the document declares entities, which are not read", line: Int(line))
    case CFORMATS_XML_STOPPED where reading.isTooDeep:
      throw .invalid("elements are nested more than \(maxDepth) deep", line: Int(line))
    case CFORMATS_XML_STOPPED:
      throw FormatError(.tooLarge, "the document has more than \(maxElements) elements")
    case CFORMATS_XML_NO_MEMORY: throw FormatError(.tooLarge, "the document is too large")
    default: throw .invalid(reason.map { String(cString: $0) } ?? "not XML", line: Int(line))
    }
  }

  /// The name of an encoding, if Expat knows it; others are those that the document names.
  private static func encoding(_ charset: String?) -> String? {
    ["utf-8", "utf-16", "iso-8859-1", "us-ascii"].contains(charset ?? "") ? charset : nil
  }

  private static var handlers: cformats_handlers {
    cformats_handlers(
      start: { context, name, attributes in
        Reading.of(context)?.begin(name, attributes)
      },
      end: { context, _ in Reading.of(context)?.end() },
      text: { context, bytes, count in
        guard let bytes else { return }
        Reading.of(context)?.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      },
      is_done: { context in Reading.of(context)?.isStopped ?? true })
  }
}
