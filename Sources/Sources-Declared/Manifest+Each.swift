package import AggregatorKit

extension Manifest {
  /// The lists that a source consists of, each at a URL of its own: the manifest's `each`.
  package struct Each: Hashable, Sendable {
    /// The text in the braces of URLs, and the name of the member that each row gets: `repos.full_name`, `date`, `value`.
    package let name: String

    package let partitions: Partitions

    /// The value that the URLs have; `nil` if they have the placeholder.
    fileprivate(set) var value: String?

    package var placeholder: String { "{\(name)}" }

    fileprivate var shownPlaceholder: String { placeholder.oneLine(atMost: 80) }

    /// Where a row has the value.
    var path: JSONPath { JSONPath([.member(name)]) }

    /// The field of the value.
    var field: DeclaredField { DeclaredField(name: name, path: path) }

    /// The names of the placeholders in a URL, of which `{id}` and `{query}` are none.
    package static func names(in url: String) -> [String] {
      url.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
        guard let end = part.firstIndex(of: "}") else { return nil }
        return isName(part[..<end]) ? String(part[..<end]) : nil
      }
    }

    private static func isName(_ text: Substring) -> Bool {
      if text == "date" || text == "value" { return true }
      // The parts of a URL are told apart before the value is filled in.
      guard let dot = text.firstIndex(of: "."), ManifestFolder.isName(String(text[..<dot])),
        !text.contains(where: { "\"?#".contains($0) }),
        let path = JSONPath(String(text[text.index(after: dot)...]))
      else { return false }
      return path != .root && path.components.plainNames != nil
    }

    /// A URL with a value in the place of the placeholder.
    ///
    /// - Throws: ``SourceError`` with code `rejected` for a value that would lead to another resource.
    fileprivate func filled(_ url: String, with value: String) throws(SourceError) -> String {
      let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      let query = parts.dropFirst().map {
        "?\($0.replacing(placeholder, with: value.percentEncoded))"
      }
      guard parts[0].contains(placeholder) else { return parts[0] + query.joined() }
      let text = try Partition(position: 0, value: value).path()
      let path = parts[0].replacing(placeholder, with: text)
      // Beside other text, a dot may become two.
      guard !path.split(separator: "/").contains(where: { [".", ".."].contains($0) }) else {
        throw SourceError(
          .rejected, "\"\(value.oneLine(atMost: 80))\" would lead the URL to another place")
      }
      return path + query.joined()
    }

    /// A URL that was found for the list of ``value``, with the placeholder where the URL of the list has it; `nil` if
    /// that is nowhere.
    package func template(of found: String, as list: String) -> String? {
      guard let value, let filled = try? filled(list, with: value) else { return nil }
      let own = list.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      let text = value.split(separator: "/").map { String($0).percentEncoded }.joined(
        separator: "/")
      let literals = own[0].split(separator: placeholder, omittingEmptySubsequences: false)
      var (template, rest) = ("", found[...])
      for literal in literals.dropLast() where rest.hasPrefix(literal + text) {
        template += literal + placeholder
        rest = rest.dropFirst(literal.count + text.count)
      }
      let query = filled.split(separator: "?", maxSplits: 1).dropFirst().joined()
      if own.count > 1, rest.hasSuffix("?\(query)") {
        template += rest.dropLast(query.count) + own[1]
      } else {
        template += rest
      }
      return template.contains(placeholder) ? template : nil
    }
  }

  /// The URLs and their keys.
  var urls: [(key: String, text: String)] {
    var urls = [(key: "url", text: url)]
    if let item { urls.append(("item", item)) }
    if case .url(let url)? = search { urls.append(("search", url)) }
    return urls
  }

  /// The manifest of the list for one value.
  ///
  /// - Throws: ``SourceError`` with code `rejected` for a value that would lead to another resource.
  package func filled(with value: String) throws(SourceError) -> Manifest {
    guard let each else { return self }
    var filled = self
    filled.each?.value = value
    filled.url = try each.filled(url, with: value)
    filled.item = try item.map { url throws(SourceError) in try each.filled(url, with: value) }
    if case .url(let url)? = search { filled.search = .url(try each.filled(url, with: value)) }
    return filled
  }
}

extension JSON {
  /// This row of one of several lists, with the value of the list over a member of the same name.
  ///
  /// Members in alphabetical order stay so.
  func row(of each: Manifest.Each?) -> JSON {
    guard let each, let value = each.value, case .object(var members) = self else { return self }
    members.removeAll { $0.name == each.name }
    let index = members.firstIndex { $0.name > each.name } ?? members.endIndex
    members.insert(Member(each.name, .string(value)), at: index)
    return .object(members)
  }
}

extension ManifestReader {
  private static let maxValues = 10_000
  private static let maxValueBytes = 512

  /// The `each` of a manifest, whose URLs were read.
  func each(_ manifest: Manifest) throws(SourceError) -> Manifest.Each? {
    let each = try declaredEach(manifest)
    for (key, url) in manifest.urls {
      if let other = Manifest.Each.names(in: url).first(where: { $0 != each?.name }) {
        throw failure(
          at: offsets[key] ?? 0,
          "\"\(key)\" has {\(other.oneLine(atMost: 80))}, "
            + (each.map { "but \"each\" is for \($0.shownPlaceholder)" }
              ?? "but there is no \"each\""))
      }
      // The fragment is not sent.
      if let each, !url.prefix(while: { $0 != "#" }).contains(each.placeholder) {
        throw failure(key, "a URL with \(each.shownPlaceholder) in its path or query")
      }
    }
    return each
  }

  private func declaredEach(_ manifest: Manifest) throws(SourceError) -> Manifest.Each? {
    switch values["each"] ?? .null {
    case .null: return nil
    case .string(let parent):
      guard !parent.isEmpty,
        let source = lists[parent] ?? (ManifestFolder.isName(parent) ? parent : nil)
      else { throw failure("each", "the name of a source such as \"repos\"") }
      let names = Manifest.Each.names(in: manifest.url)
      guard let name = names.first(where: { $0.hasPrefix("\(parent).") }) else {
        throw failure("url", "a URL with {\(parent).NAME} in its path or query: {\(parent).id}")
      }
      let field = String(name.dropFirst(parent.count + 1))
      return Manifest.Each(name: name, partitions: .records(of: source, field: field))
    case .object(let members):
      for member in members {
        try requireKnown(
          member.name, among: ["dates", "step", "lookback", "values"],
          at: offset(of: ["each", member.name]))
      }
      if let values = try listedValues() {
        return Manifest.Each(name: "value", partitions: .values(values))
      }
      return Manifest.Each(name: "date", partitions: try days())
    default:
      throw failure("each", "the name of a source, or an object with \"dates\" or \"values\"")
    }
  }

  private func days() throws(SourceError) -> Partitions {
    let first = try read("dates", "a day such as \"2024-01-01\"") { text in
      DailyPartitions(since: text, now: { Date() }).map { _ in text }
    }
    guard let first else {
      throw failure("each", "the name of a source, or an object with \"dates\" or \"values\"")
    }
    let step = try read("step", "whole days such as \"1d\" or \"7d\"") { text in
      Duration(manifest: text).flatMap { step -> Int? in
        let days = step.components.seconds / 86_400
        return days > 0 && step == .seconds(days * 86_400) ? Int(days) : nil
      }
    }
    let lookback = try read(
      "lookback", "a duration such as \"12h\" or \"3d\"", Duration.init(manifest:))
    return .days(since: first, step: step ?? 1, lookback: lookback ?? .zero)
  }

  private func read<Value>(
    _ key: String, _ rule: String, _ parse: (String) -> Value?
  ) throws(SourceError) -> Value? {
    guard let value = values["each"]?[key] else { return nil }
    guard let parsed = value.string.flatMap(parse) else { throw failureOfEach(key, rule) }
    return parsed
  }

  private func listedValues() throws(SourceError) -> [String]? {
    guard let json = values["each"]?["values"] else { return nil }
    let texts = json.array?.compactMap(\.string) ?? []
    guard 1...Self.maxValues ~= texts.count, texts.count == json.array?.count,
      Set(texts).count == texts.count,
      texts.allSatisfy({ 1...Self.maxValueBytes ~= $0.utf8.count })
    else {
      throw failureOfEach(
        "values",
        "a list of 1 to \(Self.maxValues) different texts of 1 to \(Self.maxValueBytes) bytes")
    }
    guard values["each"]?.members.count == 1 else {
      throw failureOfEach("values", "without other keys beside it")
    }
    return texts
  }

  private func failureOfEach(_ key: String, _ rule: String) -> SourceError {
    failure(at: offset(of: ["each", key]), "\"each.\(key)\" must be \(rule)")
  }
}

extension Manifest.Each {
  /// The part of it that says which lists there are: with another one, nothing stored is of use.
  var scope: JSON {
    switch partitions {
    case .records(let source, _): .string(source)
    case .days(let first, let step, _): [.string(first), .integer(step)]
    case .values(let values): .array(values.map(JSON.string))
    }
  }

  var json: JSON {
    switch partitions {
    case .records: return .string(String(name.prefix { $0 != "." }))
    case .values(let values): return ["values": .array(values.map(JSON.string))]
    case .days(let first, let step, let lookback):
      var members = [JSON.Member("dates", .string(first))]
      if step != 1 { members.append(JSON.Member("step", .string("\(step)d"))) }
      if lookback != .zero {
        let text = lookback.text(in: Duration.manifestUnits)
        members.append(JSON.Member("lookback", .string(text)))
      }
      return .object(members)
    }
  }
}
