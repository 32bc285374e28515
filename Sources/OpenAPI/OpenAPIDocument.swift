import AggregatorFiles
import AggregatorFormats
import AggregatorInference
package import AggregatorKit
import DeclaredSource

/// An OpenAPI document (https://spec.openapis.org/oas/latest.html), version 3.0 or 3.1, in JSON or YAML.
package struct OpenAPIDocument: Sendable {
  private(set) var documents: DocumentSet

  /// True if the document is a file, which has no host.
  private let isFile: Bool

  /// True if the document was refused without credentials, which then belong to its host.
  private let isSigned: Bool

  /// The hosts that a document from the network may name beside its own.
  private let allowedHosts: Set<String>

  /// The largest document, as JSON text; 64 MiB.
  fileprivate static let maxBytes = 64 << 20

  /// The most documents that a document may refer to, directly and indirectly.
  private static let maxDocuments = 32

  /// Reads a document, and those that it refers to.
  ///
  /// Nothing on another host is read, and of a file nothing outside of its directory: a list whose description is there
  /// cannot be read, and is left out with that reason.
  ///
  /// - Parameters:
  ///   - place: An http or https URL, or the path of a file.
  ///   - hosts: The other hosts that may be read.
  ///   - hints: A manifest whose header fields and `auth` are sent if the service does not give the document without;
  ///     `nil` for none.
  /// - Throws: ``SourceError``: `malformed` if it is no such document, `tooLarge`, `storage`, or that of the request.
  package init(
    at place: String, allowing hosts: [String] = [], signingIn hints: JSON? = nil,
    in environment: PluginEnvironment
  ) async throws(SourceError) {
    let isURL = place.hasPrefix("https://") || place.hasPrefix("http://")
    guard let address = isURL ? URL(string: place) : URL(filePath: place) else {
      throw SourceError(.invalidRequest, "invalid URL \"\(place.oneLine(atMost: 80))\"")
    }
    let main = try await Self.text(at: address, signingIn: hints, in: environment)
    try self.init(main.0, isSigned: main.isSigned, allowing: hosts)
    try await readOthers(in: environment)
  }

  /// A document that refers to no other.
  package init(reading bytes: Data) throws(SourceError) {
    try self.init(DocumentText(reading: bytes, at: URL(filePath: "/openapi.yaml")))
  }

  private init(
    _ main: DocumentText, isSigned: Bool = false, allowing hosts: [String] = []
  ) throws(SourceError) {
    isFile = main.address.isFileURL
    self.isSigned = isSigned
    allowedHosts = Set(hosts)
    documents = DocumentSet(main: main)
    let place = main.address.lastPathComponent
    guard documents.root.names.contains("openapi") else {
      let isOld = documents.root.names.contains("swagger")
      throw SourceError(
        .malformed,
        isOld
          ? "\(place.oneLine(atMost: 80)) is a Swagger 2.0 document"
          : "\(place.oneLine(atMost: 80)) is no OpenAPI document",
        remedy: isOld
          ? "convert it to OpenAPI 3, for example with swagger2openapi"
          : "name the file or the URL of an OpenAPI 3 document in JSON or YAML")
    }
    let version = try documents.root.text("openapi") ?? ""
    guard version.hasPrefix("3.") else {
      throw SourceError(
        .malformed, "the version of the document is \"\(version.oneLine(atMost: 20))\", not 3")
    }
  }

  /// Reads the documents that the main one refers to, directly and indirectly.
  private mutating func readOthers(in environment: PluginEnvironment) async throws(SourceError) {
    let main = documents.main
    var waiting = [main]
    var size = main.text.bytes.count
    while let document = waiting.popLast() {
      for reference in document.otherDocuments {
        guard let other = DocumentSet.address(of: reference, from: document),
          other != main.address, documents.others[other.absoluteString] == nil
        else { continue }
        let read: Result<DocumentText, SourceError>
        if let refusal = refusal(of: other, from: main.address) {
          read = .failure(refusal)
        } else if documents.others.count >= Self.maxDocuments || size > Self.maxBytes {
          read = .failure(
            SourceError(.tooLarge, "the document refers to more than \(Self.maxDocuments) others"))
        } else {
          do throws(SourceError) {
            let (text, _) = try await Self.text(at: other, signingIn: nil, in: environment)
            size += text.text.bytes.count
            waiting.append(text)
            read = .success(text)
          } catch {
            guard error.code != .cancelled else { throw error }
            read = .failure(error)
          }
        }
        documents.others[other.absoluteString] = read
      }
    }
  }

  /// The reason another document is not read; `nil` if it may be.
  private func refusal(of other: URL, from main: URL) -> SourceError? {
    if other.isFileURL {
      // A document from the network reads no files, and a file none that it does not stand beside.
      let directory = main.deletingLastPathComponent().resolvingSymlinksInPath().path
      let path = other.resolvingSymlinksInPath().path
      if isFile, path.hasPrefix(directory.hasSuffix("/") ? directory : "\(directory)/") {
        return nil
      }
      return SourceError(
        .rejected, "the document refers to \(path.oneLine(atMost: 80)), outside of its directory")
    }
    return otherHost(other, "the document refers to another one on")
  }

  /// The error that something is on a host that was not allowed; `nil` if it may be there.
  private func otherHost(_ address: URL, _ reason: String) -> SourceError? {
    let host = address.host() ?? ""
    if !isFile, Address(address)?.authority == Address(documents.main.address)?.authority {
      return nil
    }
    guard !allowedHosts.contains(host) else { return nil }
    return SourceError(
      .rejected, "\(reason) \(host.oneLine(atMost: 80))", cause: NotAllowedHost(host: host))
  }

  /// The document at an address, and whether it was refused without credentials.
  private static func text(
    at address: URL, signingIn hints: JSON?, in environment: PluginEnvironment
  ) async throws(SourceError) -> (DocumentText, isSigned: Bool) {
    guard address.isFileURL else {
      let answer = try await HTTPResponse.document(
        at: address, atMost: maxBytes, signingIn: hints, in: environment)
      return (try DocumentText(reading: answer.response.body, at: address), answer.isSigned)
    }
    guard let contents = try PrivateFile(path: address.path).contents(atMost: maxBytes) else {
      throw SourceError(.storage, "cannot read \(address.path): no such file")
    }
    return (try DocumentText(reading: Data(contents), at: address), false)
  }
}

extension DocumentText {
  /// Reads JSON or YAML.
  ///
  /// - Throws: ``SourceError``: `malformed` with the line, `tooLarge` if its aliases make too much of it, or `unsupported`
  ///   if libyaml is not installed.
  fileprivate convenience init(reading bytes: Data, at address: URL) throws(SourceError) {
    let name = address.lastPathComponent.oneLine(atMost: 80)
    // JSON is YAML, too, but is read faster as what it is.
    if let text = JSONText(bytes) {
      self.init(text, at: address)
      return
    }
    let json: [UInt8]
    do { json = try YAMLReader.json(of: Array(bytes), atMost: OpenAPIDocument.maxBytes) } catch {
      switch error.kind {
      case .invalid: throw SourceError(.malformed, "\(name): \(error)")
      case .tooLarge: throw SourceError(.tooLarge, "\(name): \(error)")
      case .notInstalled:
        throw SourceError(.unsupported, error.reason, remedy: error.remedy.map { Remedy($0) })
      }
    }
    guard let text = JSONText(Data(json)) else {
      throw SourceError(.malformed, "\(name) is neither JSON nor YAML")
    }
    self.init(text, at: address)
  }
}

/// A host that a document names, and that was not allowed.
package struct NotAllowedHost: Error {
  package let host: String
}

// MARK: - The service

extension OpenAPIDocument {
  /// The URL of the service, without a slash at its end: the given one, or that of the first server.
  ///
  /// - Throws: ``SourceError``: `malformed` if the document names none, `rejected` if it is on another host than the
  ///   document, and that host is not allowed.
  func base(orGiven given: String?) throws(SourceError) -> String {
    var base: String
    if let given {
      base = given
      while base.hasSuffix("/") { base.removeLast() }
    } else if let server = try documents.root.member("servers")?.elements().first {
      base = try self.base(of: server)
    } else {
      base = try absolute("/")
    }
    let host = Address(documents.main.address)?.authority ?? ""
    let other = URL(string: base).flatMap { Address($0)?.authority } ?? ""
    if isSigned, other != host {
      throw SourceError(
        .rejected, "\(host) got credentials for the document, so they cannot be sent to \(other)",
        remedy: "save the document, and give it as a file")
    }
    return base
  }

  /// The URL of a server, with the default values of its variables.
  func base(of server: DocumentNode) throws(SourceError) -> String {
    var url = try server.text("url") ?? "/"
    for variable in try server.member("variables")?.members() ?? [] {
      guard let value = try variable.value.member("default")?.parameterText else { continue }
      url = url.replacing("{\(variable.name)}", with: value)
    }
    return try absolute(url)
  }

  private func absolute(_ url: String) throws(SourceError) -> String {
    let shown = url.oneLine(atMost: 80)
    let main = documents.main.address
    guard let address = URL(string: url, relativeTo: main)?.absoluteURL, !url.contains("{") else {
      throw SourceError(.malformed, "the document names the server \"\(shown)\", which is no URL")
    }
    guard !address.isFileURL else {
      throw SourceError(
        .malformed, "the document does not name the host of its service",
        remedy: "give the URL of the service: sources add NAME URL --openapi FILE")
    }
    guard address.scheme == "https" || address.scheme == "http", address.host()?.isEmpty == false,
      address.query() == nil, address.fragment() == nil, address.user() == nil
    else {
      throw SourceError(
        .malformed, "the document names the server \"\(shown)\", which is no http or https URL")
    }
    // Nobody but the person can say that the host of a file is the right one, who is shown it.
    if !isFile, let refusal = otherHost(address, "the document says that its service is on") {
      throw refusal
    }
    var text = address.absoluteString
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }

  /// The URL at which tokens are issued, as a document names it.
  func tokenURL(_ url: String, from base: String) throws(SourceError) -> String {
    guard let address = URL(string: url, relativeTo: URL(string: base))?.absoluteURL,
      address.scheme == "https" || address.scheme == "http", !url.contains("${")
    else {
      throw SourceError(.malformed, "invalid tokenUrl \"\(url.oneLine(atMost: 80))\"")
    }
    if !isFile, let refusal = otherHost(address, "the document says that tokens are issued by") {
      throw refusal
    }
    return address.absoluteString
  }
}
