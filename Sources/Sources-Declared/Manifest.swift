package import AggregatorFormats
package import AggregatorKit

/// The declaration of a source: the address of a JSON API, where its records are, and how its pages follow
/// one another.
///
/// A manifest is untrusted data: it is validated when it is read, and never reads files, the environment, or
/// other sources' settings.
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
  /// Several values are joined by `/`. Empty if they must still be inferred.
  package var id: [JSONPath] = []

  package var fields: [DeclaredField] = []

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

  package init(url: String) { self.url = url }

  /// A field of a record.
  package struct DeclaredField: Hashable, Sendable {
    /// The JSON key and SQL column.
    package var name: String
    package var path: JSONPath
    /// False to leave a text out of local search.
    package var isSearchable = true

    package init(name: String, path: JSONPath, isSearchable: Bool = true) {
      (self.name, self.path, self.isSearchable) = (name, path, isSearchable)
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
    /// A header field; of `Link` (RFC 8288) the URL with `rel="next"`.
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
