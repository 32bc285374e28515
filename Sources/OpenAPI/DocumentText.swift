import AggregatorKit
import Synchronization

/// The JSON text of a document, or of a part of one that is a file of its own.
final class DocumentText: Sendable {
  let text: JSONText
  /// Where the document was read.
  let address: URL

  /// The members of large objects, such as the schemas of a document, which are looked up again and again.
  private let members = Mutex<[Int: [String: Int]]>([:])

  init(_ text: JSONText, at address: URL) {
    self.text = text
    self.address = address
  }

  /// The index of a member's value; `nil` if the part is no object, or has no such member.
  func index(of name: String, in part: Int) -> Int? {
    guard text.parts[part].kind == .object else { return nil }
    guard text.parts[part].end > 32 else { return text.index(of: name, in: part) }
    return members.withLock { members in
      if let known = members[part] { return known[name] }
      var all: [String: Int] = [:]
      for (name, index) in self.members(of: part) where all[name] == nil { all[name] = index }
      members[part] = all
      return all[name]
    }
  }

  /// The members of an object, in order: names and the indices of their values; none of another part.
  func members(of part: Int) -> [(name: String, index: Int)] {
    guard text.parts[part].kind == .object else { return [] }
    var members: [(name: String, index: Int)] = []
    var index = part + 1
    while index < Int(text.parts[part].next) {
      members.append((text.string(text.parts[index]), index + 1))
      index = Int(text.parts[index + 1].next)
    }
    return members
  }

  /// The indices of the elements of an array; none of another part.
  func elements(of part: Int) -> [Int] {
    guard text.parts[part].kind == .array else { return [] }
    var elements: [Int] = []
    var index = part + 1
    while index < Int(text.parts[part].next) {
      elements.append(index)
      index = Int(text.parts[index].next)
    }
    return elements
  }

  /// The values of all members `$ref` that lead to other documents, each once.
  var otherDocuments: [String] {
    let name = Array("$ref\"".utf8)
    var seen: Set<String> = []
    var found: [String] = []
    for (part, value) in zip(text.parts, text.parts.dropFirst()) where part.kind == .text {
      let start = Int(part.start)
      guard Int(part.end) - start == 4, value.kind == .text || value.kind == .escapedText,
        text.bytes[start..<start + 5].elementsEqual(name)
      else { continue }
      let reference = text.string(value)
      guard !reference.hasPrefix("#") else { continue }
      let document = String(reference.prefix { $0 != "#" })
      if seen.insert(document).inserted { found.append(document) }
    }
    return found
  }
}

/// A document in JSON or YAML, and the others that it refers to, by their addresses.
struct DocumentSet: Sendable {
  let main: DocumentText
  var others: [String: Result<DocumentText, SourceError>] = [:]

  /// The value of the document that it was read for.
  var root: DocumentNode { DocumentNode(documents: self, text: main, index: 0) }

  /// Where a reference leads to another document; `nil` if it is none.
  static func address(of reference: String, from document: DocumentText) -> URL? {
    URL(string: String(reference.prefix { $0 != "#" }), relativeTo: document.address)?.absoluteURL
  }

  /// The value that a reference (RFC 3986 with a JSON Pointer, RFC 6901) leads to.
  fileprivate func target(
    of reference: String, from document: DocumentText
  ) throws(SourceError) -> DocumentNode {
    func invalid(_ reason: String) -> SourceError {
      SourceError(.malformed, "$ref \"\(reference.oneLine(atMost: 80))\" \(reason)")
    }
    let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    var text = document
    if !parts[0].isEmpty {
      guard let address = Self.address(of: reference, from: document) else {
        throw invalid("is not a URL")
      }
      if address != main.address {
        guard let other = others[address.absoluteString] else { throw invalid("was not read") }
        text = try other.get()
      } else {
        text = main
      }
    }
    var index = 0
    let pointer = parts.count > 1 ? String(parts[1]).percentDecoded ?? String(parts[1]) : ""
    guard pointer.isEmpty || pointer.hasPrefix("/") else { throw invalid("is not a JSON Pointer") }
    for part in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      let name = String(part).replacing("~1", with: "/").replacing("~0", with: "~")
      let elements = text.elements(of: index)
      let element = Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      guard let found = text.index(of: name, in: index) ?? element else {
        throw invalid("leads nowhere")
      }
      index = found
    }
    return DocumentNode(documents: self, text: text, index: index)
  }
}

/// A value of a document that is no reference, or still one.
struct DocumentNode: Sendable {
  private let documents: DocumentSet
  private let text: DocumentText
  private let index: Int

  fileprivate init(documents: DocumentSet, text: DocumentText, index: Int) {
    self.documents = documents
    self.text = text
    self.index = index
  }

  private static let maxReferences = 64

  /// The value, or the one that a chain of references leads to.
  private func resolved() throws(SourceError) -> DocumentNode {
    var node = self
    for _ in 0..<Self.maxReferences {
      guard let index = node.text.index(of: "$ref", in: node.index),
        let reference = node.at(index).string
      else { return node }
      node = try documents.target(of: reference, from: node.text)
    }
    let reference = text.index(of: "$ref", in: index).flatMap { at($0).string } ?? ""
    throw SourceError(
      .malformed, "$ref \"\(reference.oneLine(atMost: 80))\" leads to itself")
  }

  private func at(_ index: Int) -> DocumentNode {
    DocumentNode(documents: documents, text: text, index: index)
  }

  private var part: JSONText.Part { text.text.parts[index] }

  /// The value of a member; `nil` if there is none.
  ///
  /// - Throws: ``SourceError`` with code `malformed` if it is a reference that leads nowhere, or to itself; an error of
  ///   reading another document.
  func member(_ name: String) throws(SourceError) -> DocumentNode? {
    guard let index = text.index(of: name, in: index) else { return nil }
    return try at(index).resolved()
  }

  /// The members of an object, in order; none of another value.
  func members() throws(SourceError) -> [(name: String, value: DocumentNode)] {
    try text.members(of: index).map { name, index throws(SourceError) in
      (name, try at(index).resolved())
    }
  }

  /// The elements of an array; none of another value.
  func elements() throws(SourceError) -> [DocumentNode] {
    try text.elements(of: index).map { index throws(SourceError) in try at(index).resolved() }
  }

  /// The names of an object's members, whose values are not looked at.
  var names: [String] { text.members(of: index).map(\.name) }

  /// A text; `nil` for any other value.
  var string: String? {
    part.kind == .text || part.kind == .escapedText ? text.text.string(part) : nil
  }

  /// A number, a truth value or null as it is written; `nil` for any other value.
  private var literal: String? {
    switch part.kind {
    case .null, .bool, .number:
      String(decoding: text.text.bytes[Int(part.start)..<Int(part.end)], as: UTF8.self)
    default: nil
    }
  }

  var integer: Int? { literal.flatMap { Int($0) } }

  var isTrue: Bool { literal == "true" }

  /// A scalar as a parameter has it; `nil` for null and any other value.
  var parameterText: String? { string ?? (part.kind == .null ? nil : literal) }

  /// The text of a member; `nil` if it is no text.
  func text(_ name: String) throws(SourceError) -> String? { try member(name)?.string }
}
