package import AggregatorFormats
package import AggregatorKit

/// The declaration of a source: the address of a JSON API, where its records are, and how its pages follow
/// one another.
///
/// A manifest is untrusted data: it is validated when it is read, and never reads the environment, other sources' settings,
/// or a file that nobody has added by its path.
package struct Manifest: Hashable, Sendable {
  /// The URL of the first page.
  ///
  /// It may hold `${NAME}`, the value of a secret setting, and has the placeholder of ``each``.
  package var url: String

  /// The program that sends the records, so that there is no URL; `nil` for a service.
  package var tap: Tap?

  /// The URL of the service of which the source is a list; `nil` if it has a manifest of its own.
  var base: String?

  /// The lists that the source consists of; `nil` if it is one list.
  package var each: Each?

  /// A one-line summary; `nil` for the host, its port and the path.
  package var summary: String?

  /// Header fields, in order; values may hold `${NAME}`.
  package var headers: [SourceRequest.Header] = []

  /// The method and the credentials of requests; `nil` for none, or if header fields hold them.
  package var auth: Authorization?

  /// The JSON body, which makes the request a `POST`; `nil` for `GET`.
  package var body: JSON?

  /// Where the records are in a response; `nil` if it must still be inferred.
  package var rows: RowsPath?

  /// The format of responses; `nil` for JSON, or what their content type and first bytes say.
  package var format: BodyFormat?

  /// The kinds of values that are sent as text.
  package var kinds = ValueKinds.none

  /// The paths in a row whose values identify it.
  ///
  /// Several values are joined by `/`. Empty if they must still be inferred, and if ``numbersRows``.
  package var id: [JSONPath] = []

  /// True if the ID of a record is the number of its row, from 1; written as the ID ``rowNumber``.
  package var numbersRows = false

  package var fields: [DeclaredField] = []

  package static let maxFields = 256

  /// The lists in a record that are tables of their own.
  package var tables: [Table] = []

  package var paging = Paging()

  /// Where the total is in a response.
  package var total: ResponsePath?

  /// The URL of one record, with `{id}`.
  package var item: String?

  package var search: Search?

  /// The paths in a row of an image's URL, a web page's URL, and a title.
  package var image: JSONPath?
  package var link: JSONPath?
  package var title: JSONPath?

  /// The rules for failures, and ends of the list, that the status does not tell; the first that applies decides.
  package var errors: [ErrorRule] = []

  /// The way to ask for changed records alone; `nil` if there is none.
  package var changes: Changes?

  /// The rate limit: `5/s` by default; `nil` for `off`.
  package var rate: Rate? = Self.defaultRate
  /// The time to live of cached pages.
  package var fresh: Duration = .seconds(600)
  package var timeout: Duration = .seconds(15)

  package static let defaultRate = Rate("5/s")

  package init(url: String) {
    self.url = url
    // Reading it again costs little, and a person who has changed it wants to see that. A page in memory has its version.
    if file != nil { fresh = .zero }
  }

  /// A field of a record.
  package struct DeclaredField: Hashable, Sendable {
    /// The JSON key and SQL column.
    package var name: String
    package var path: JSONPath
    /// False to leave a text out of local search.
    package var isSearchable = true
    /// False for a field that gives way to others in lists: one with long texts.
    package var isShown = true

    package init(name: String, path: JSONPath, isSearchable: Bool = true, isShown: Bool = true) {
      (self.name, self.path, self.isSearchable) = (name, path, isSearchable)
      self.isShown = isShown
    }
  }

  /// A search of the service.
  package enum Search: Hashable, Sendable {
    /// The query parameter, or member of the body, that takes the text.
    case parameter(String)
    /// A URL with `{query}`.
    case url(String)
  }
}

extension Manifest {
  /// A query parameter, or a member of the body, and its value: `per_page=100`, `variables.from=0`.
  ///
  /// The name is a member of the body if the manifest has a body and the URL has no such parameter.
  package struct Parameter: Hashable, Sendable, LosslessStringConvertible {
    package var name: String
    package var value: Int

    package init(name: String, value: Int) {
      self.name = name
      self.value = value
    }

    package init?(_ description: String) {
      guard let equals = description.lastIndex(of: "="), equals > description.startIndex,
        let value = Int(description[description.index(after: equals)...]), 0...1_000_000 ~= value
      else { return nil }
      self.init(name: String(description[..<equals]), value: value)
    }

    package var description: String { "\(name)=\(value)" }
  }

  /// The rows of a response: an array, or the members of an object.
  package struct RowsPath: Hashable, Sendable, LosslessStringConvertible {
    package var path: JSONPath

    /// True if the rows are the members of the object at ``path``, whose names are the IDs; written as a
    /// last component `{}`.
    package var isEntries = false

    package init(_ path: JSONPath, isEntries: Bool = false) {
      self.path = path
      self.isEntries = isEntries
    }

    package init?(_ description: String) {
      let isEntries = description == "{}" || description.hasSuffix(".{}")
      let text = isEntries ? String(description.dropLast(3)) : description
      guard let path = description == "{}" ? .root : JSONPath(text) else { return nil }
      self.init(path, isEntries: isEntries)
    }

    package var description: String {
      guard isEntries else { return path.description }
      return path == .root ? "{}" : "\(path).{}"
    }

    /// The rows in a response; `nil` if there is no array, or object, at the path.
    ///
    /// A path to several arrays joins them. An entry becomes an object: its name as `id`, then the members of
    /// its value, or the value as `value`.
    package func rows(in document: JSON) -> [JSON]? {
      if isEntries {
        guard case .object(let members)? = path.value(in: document) else { return nil }
        return members.map { member in
          let id = JSON.Member("id", .string(member.name))
          guard case .object(let inner) = member.value else {
            return .object([id, JSON.Member("value", member.value)])
          }
          return .object([id] + inner.filter { $0.name != "id" })
        }
      }
      let values = path.values(in: document)
      let arrays = values.compactMap(\.array)
      return path.isMultiple ? arrays.flatMap(\.self) : arrays.first
    }
  }

  /// A place in a response: `meta.total`, `header:X-Total-Count`, `last.id` in the last row.
  package enum ResponsePath: Hashable, Sendable, LosslessStringConvertible {
    case body(JSONPath)
    /// A header field; of `Link` (RFC 8288) the URL with `rel="next"`, and of a total what
    /// ``HTTPResponse/total(inField:)`` reads.
    case header(String)
    /// A value in the last row.
    case lastRow(JSONPath)

    package init?(_ description: String) {
      if description.lowercased().hasPrefix("header:") {
        let name = description.dropFirst("header:".count)
        guard !name.isEmpty, name.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        self = .header(String(name))
      } else if description.hasPrefix("last.") {
        guard let path = JSONPath(String(description.dropFirst("last.".count))) else { return nil }
        self = .lastRow(path)
      } else {
        guard let path = JSONPath(description) else { return nil }
        self = .body(path)
      }
    }

    /// This path if it leads to one value, also if it names all members of it: `continue.*`; `nil` if it leads
    /// to several.
    package var ofOneValue: ResponsePath? {
      switch self {
      case .header: return self
      case .lastRow(let path): return path.isMultiple ? nil : self
      case .body(var path):
        if path.components.last == .each { path = JSONPath(path.components.dropLast()) }
        return path.isMultiple || path == .root ? nil : .body(path)
      }
    }

    package var description: String {
      switch self {
      case .body(let path):
        // A member of the body named `last` is quoted, to distinguish it from the last row.
        path.components.first == .member("last")
          ? "\"last\"" + path.description.dropFirst("last".count) : path.description
      case .header(let name): "header:\(name)"
      case .lastRow(let path): "last.\(path)"
      }
    }
  }
}

extension Manifest {
  /// The ID in a manifest that numbers rows; a member of this name is written in quotes.
  package static let rowNumber = "#"

  /// The rule of a manifest that must not number rows, after "must be".
  package static let unnumberedRule =
    "a path: rows are numbered only in a file, or in a list that is one response, without \"each\", \"item\", "
    + "\"search\" and \"since\""

  /// The ID as it is written.
  package var idTexts: [String] { numbersRows ? [Self.rowNumber] : id.map(\.description) }

  /// Renames fields that the ID of every record, the field `id`, would hide: that is the number of a row, another member,
  /// or several.
  package mutating func renameFieldsNamedID() {
    guard !idTexts.isEmpty, rows?.isEntries != true else { return }
    // Columns of SQL are the same in upper and lower case.
    for index in fields.indices
    where fields[index].name.lowercased() == "id" && [fields[index].path] != id {
      var number = 2
      while fields.contains(where: { $0.name.lowercased() == "id_\(number)" }) { number += 1 }
      fields[index].name = "id_\(number)"
    }
  }

  /// True if every response is the whole list, so that a row has a number in it.
  package var canNumberRows: Bool {
    tap == nil && each == nil && paging.step == nil && item == nil && search == nil
      && changes == nil && rows?.isEntries != true
  }

  /// The words for a number of rows whose records cannot be told from earlier ones.
  package static func repeatedIDs(_ count: Int) -> String {
    "\(count.of("row")) \(count == 1 ? "has" : "have") the ID of an earlier one and \(count == 1 ? "is" : "are") left out"
  }
}

extension Manifest {
  /// The members beside the request, the rows and the paging, which can be found again.
  package var otherMembers: [JSON.Member] {
    var other = self
    (other.headers, other.rows, other.total, other.paging) = ([], nil, nil, Paging())
    other.paging.hosts = paging.hosts
    return other.json.members.filter { $0.name != "url" }
  }

  /// This manifest with the choices of a person.
  ///
  /// - Parameters:
  ///   - title: The path of the title in a record, empty for none; `nil` to leave it.
  ///   - names: The names of fields by their paths, of several with one path that of the first; one with an empty name is left out. `nil` to leave them.
  ///   - id: The path of the ID in a record; `nil` to leave it.
  ///   - link: The path of the web page in a record, empty for none; `nil` to leave it.
  ///   - image: The path of the picture in a record, empty for none; `nil` to leave it.
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  package func edited(
    title: String?, names: [String: String]?, id: String? = nil, link: String? = nil,
    image: String? = nil
  ) throws(SourceError) -> Manifest {
    guard title != nil || names != nil || id != nil || link != nil || image != nil else {
      return self
    }
    var edited = self
    if var names {
      edited.fields = fields.compactMap { field in
        let path = field.path.description
        // One that was not sent is as it was, and so is another one of the same path.
        guard let typed = names.removeValue(forKey: path) else { return field }
        guard let name = typed.trimmed.nonBlank else { return nil }
        var field = field
        // A form shows the path of a field that has no other name.
        field.name = name == path ? field.path.fieldName : name
        return field
      }
      guard !edited.fields.isEmpty else {
        throw SourceError(.invalidSettings, "all fields are left out", remedy: "name one of them")
      }
    }
    if let title { edited.title = try Self.path(title) }
    if let link { edited.link = try Self.path(link) }
    if let image { edited.image = try Self.path(image) }
    if let id, let path = JSONPath(id), edited.id != [path] {
      // The old one is no field while it identifies records.
      if let old = edited.id.first, edited.id.count == 1,
        !edited.fields.contains(where: { $0.path == old || $0.name == old.fieldName })
      {
        edited.fields.insert(.init(name: old.fieldName, path: old), at: 0)
      }
      edited.numbersRows = id == Self.rowNumber
      edited.id = edited.numbersRows ? [] : [path]
    }
    // Only what a file may say is saved.
    return try Manifest(reading: Data(edited.json.text.utf8))
  }

  /// The path that a person chose; `nil` for none.
  private static func path(_ text: String) throws(SourceError) -> JSONPath? {
    guard !text.isEmpty else { return nil }
    guard let path = JSONPath(text) else {
      throw SourceError(.invalidSettings, "invalid path \"\(text.oneLine(atMost: 80))\"")
    }
    return path
  }

  /// The paths that none of some records has, each once, with a name that may have been meant; safe to show.
  package static func missing(
    _ paths: [JSONPath], in records: [DeclaredRecord]
  ) -> [(path: String, near: String?)] {
    guard let first = records.first else { return [] }
    var said: Set<JSONPath> = []
    return paths.filter { path in
      said.insert(path).inserted && !records.contains { path.value(in: $0.row) != nil }
    }.map { path in
      let near = nearest(to: path.description, in: first.row.members.map(\.name))
      return (path.description.oneLine(atMost: 80), near?.oneLine(atMost: 80))
    }
  }

  /// This manifest with other fields, by their names or paths, and other members; `nil` leaves the fields.
  ///
  /// As in `list`, `*` is all fields, without those after a dash: `*,-name`.
  ///
  /// - Parameter others: Fields that records have besides.
  /// - Throws: ``SourceError`` with code `invalidSettings`.
  package func edited(
    fields names: [String]?, and others: [DeclaredField] = [], setting members: [JSON.Member]
  ) throws(SourceError) -> Manifest {
    var new = members
    if let names {
      let fields = fields + others
      let hasAll = names.contains("*")
      var chosen: [JSON] = []
      for name in names {
        if hasAll, name.hasPrefix("-"), !fields.contains(where: { $0.name == name }) {
          guard fields.contains(where: { "-\($0.name)" == name }) else {
            throw SourceError(.invalidSettings, "--fields: \"\(name)\" leaves out no field")
          }
          continue
        }
        let added =
          name == "*"
          ? fields.filter { !names.contains("-\($0.name)") }.map(\.json)
          : [fields.first { $0.name == name }?.json ?? .string(name)]
        chosen += added.filter { !chosen.contains($0) }
      }
      new.append(.init("fields", .array(chosen)))
    }
    let others = json.members.filter { old in !new.contains { $0.name == old.name } }
    return try Manifest(reading: Data(JSON.object(others + new).text.utf8))
  }
}
