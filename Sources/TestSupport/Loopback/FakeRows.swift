import AggregatorKit
import Foundation

/// The rows of a fake service, for a handler that pages, searches and looks them up.
///
/// ```swift
/// let papers = FakeRows((1...30).map { #"{"id": \#($0), "title": "Paper \#($0)"}"# })
/// try await expectLawsUnderFaults(of: PapersPlugin()) { request in
///   if let id = request.path(below: "/papers") { return papers.reply(id) }
///   let size = request.number("limit") ?? 20
///   let page = papers.page(from: request.number("skip") ?? 0, size: size, with: request.parameter("q"))
///   return .json(#"{"items": \#(page.json), "total": \#(page.total)}"#)
/// }
/// ```
public struct FakeRows: Sendable {
  /// A page of rows.
  public struct Page: Sendable {
    public let rows: [String]

    /// The number of rows on all pages.
    public let total: Int

    /// The position of the row after the last one of this page; `nil` on the last page.
    public let next: Int?

    /// The rows as a JSON array.
    public var json: String { "[\(rows.joined(separator: ","))]" }
  }

  private let rows: [String]

  private let positions: [String: Int]

  /// - Parameters:
  ///   - rows: JSON objects, in the order of the service.
  ///   - id: The member with the ID: the names that lead to it, with dots between them.
  public init(_ rows: [String], id: String = "id") {
    let path = id.split(separator: ".").map(String.init)
    let ids = rows.map { row in
      let id = path.reduce(JSON(reading: Data(row.utf8))) { value, name in value?[name] }
      return if case .string(let text)? = id { text } else { id?.text ?? "" }
    }
    self.init(rows, ids: ids)
  }

  /// - Parameter ids: The IDs of the rows, which need not be in them.
  public init(_ rows: [String], ids: [String]) {
    self.rows = rows
    positions = Dictionary(zip(ids, rows.indices)) { first, _ in first }
  }

  /// The page of the rows that contain a text, in upper or lower case, from a position on; of all rows without one.
  ///
  /// A position before the first row is that of the first.
  public func page(from position: Int, size: Int, with text: String? = nil) -> Page {
    let found = rows.filter { row in
      text.map { $0.isEmpty || row.lowercased().contains($0.lowercased()) } ?? true
    }
    let page = found.dropFirst(max(position, 0)).prefix(max(size, 0))
    return Page(
      rows: Array(page), total: found.count,
      next: page.endIndex < found.count ? page.endIndex : nil)
  }

  /// A row; `nil` if none has this ID.
  public subscript(id: some StringProtocol) -> String? { positions[String(id)].map { rows[$0] } }

  /// The row with an ID as a reply, or else status 404.
  public func reply(_ id: some StringProtocol) -> LoopbackReply {
    self[id].map { .json($0) } ?? .json("{}", status: 404)
  }
}

extension LoopbackRequest {
  /// The value of a parameter: of the query, or else of the JSON body, where dots join the names that lead to it.
  public func parameter(_ name: String) -> String? {
    if let value = query[name] { return value }
    let value = name.split(separator: ".").reduce(JSON(reading: body)) { value, name in
      value?[String(name)]
    }
    return switch value {
    case .string(let text)?: text
    case .integer(let number)?: String(number)
    default: nil
    }
  }

  /// The value of a parameter if it is an integer; see ``parameter(_:)``.
  public func number(_ name: String) -> Int? { parameter(name).flatMap { Int($0) } }

  /// The rest of the path below a folder, percent-decoded: `a/7` of `/papers/a%2F7` below `/papers`.
  ///
  /// `nil` if the path is another one, or the folder itself.
  public func path(below folder: String) -> String? {
    let folder = folder.hasSuffix("/") ? folder : folder + "/"
    guard path.hasPrefix(folder), path != folder else { return nil }
    return path.dropFirst(folder.count).removingPercentEncoding
  }
}
