/// A request that has arrived completely (RFC 9110).
package struct ServerRequest: Sendable {
  package struct Parameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// `GET`, `POST`, …, as sent.
  package var method: String

  /// The path as sent, with its percent encoding and without the query.
  package var rawPath: String

  /// The segments of the path, decoded one by one, so that an encoded slash is part of its segment.
  ///
  /// The path `/` has none; an empty segment at the end is left out.
  package var path: [String]

  /// The query as sent, without `?`; `nil` if there is none.
  package var rawQuery: String?

  /// The parameters of the query, decoded, in order; `+` is a space.
  package var query: [Parameter]

  package var headers: [Parameter]

  package var body: [UInt8]

  /// The address of the client, without a port.
  package var client: String

  package init(
    _ method: String, rawPath: String, path: [String], rawQuery: String? = nil,
    query: [Parameter] = [], headers: [Parameter] = [], body: [UInt8] = [],
    client: String = "127.0.0.1"
  ) {
    self.method = method
    self.rawPath = rawPath
    self.path = path
    self.rawQuery = rawQuery
    self.query = query
    self.headers = headers
    self.body = body
    self.client = client
  }

  /// The value of the first header field with a name, in any case; `nil` if there is none.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The value of the first parameter of the query with a name; `nil` if there is none.
  package func parameter(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }
}
