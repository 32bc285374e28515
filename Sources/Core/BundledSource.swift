import AggregatorFoundation
import AggregatorText

/// Records compiled into the program: paginated, searchable, always available.
///
/// The JSON is parsed once, on first use. A record that is looked up is decoded alone.
public struct BundledSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  private let name: String
  private let items: Lazy<[Item], SourceError>
  private let find: @Sendable (Item.ID) throws(SourceError) -> Item?
  /// The records with their texts for a search.
  private let entries: Lazy<[(item: Item, text: FoldedText)], SourceError>

  /// Reads an array of records, as the EmbedJSON build plugin embeds it.
  public init(_ name: String, json: StaticString, fields: [Field<Item>]) {
    let text = Lazy { () throws(SourceError) in
      guard let text = json.withUTF8Buffer({ JSONText(Data($0)) }) else {
        throw .unreadableBundle(name, SourceError(.malformed, "invalid JSON"))
      }
      return text
    }
    let items = Lazy { () throws(SourceError) in
      let text = try text.value()
      do { return try text.read([Item].self) } catch { throw .unreadableBundle(name, error) }
    }
    self.init(name, fields: fields, items) { id throws(SourceError) in
      let text = try text.value()
      do {
        let found = try text.firstElement(with: id.description) { (item: Item) in
          item.id == id
        }
        if let found { return found }
      } catch {
        throw .unreadableBundle(name, error)
      }
      // Its ID may be written in another way.
      return try items.value().first { $0.id == id }
    }
  }

  public init(_ name: String, items: [Item], fields: [Field<Item>]) {
    self.init(name, fields: fields, Lazy { () throws(SourceError) in items }) {
      id throws(SourceError) in items.first { $0.id == id }
    }
  }

  private init(
    _ name: String, fields: [Field<Item>], _ items: Lazy<[Item], SourceError>,
    find: @escaping @Sendable (Item.ID) throws(SourceError) -> Item?
  ) {
    self.name = name
    self.items = items
    self.find = find
    entries = Lazy { () throws(SourceError) in
      let text = fields.searchableText()
      return try items.value().map { ($0, text($0)) }
    }
  }

  @concurrent public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    guard !Task.isCancelled else { throw .cancelled }
    let seal = seal(request)
    let offset = try seal.openOffset(request.cursor)
    let matches =
      if let query = request.query { try items(matching: query) } else { try items.value() }
    let records = Array(matches.dropFirst(offset).prefix(request.limit))
    let total = matches.count
    let end = offset + records.count
    return Page(
      records, next: end < total && !records.isEmpty ? try seal.close(end) : nil, total: total,
      provenance: Provenance(.bundled))
  }

  @concurrent public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> {
    guard !Task.isCancelled else { throw .cancelled }
    guard let item = try find(id) else { throw .notFound(id, in: name) }
    return LookupResult(item, provenance: Provenance(.bundled))
  }

  /// All records, without waiting; none if they cannot be read.
  package var records: [Item] { (try? items.value()) ?? [] }

  private func items(matching query: SearchQuery) throws(SourceError) -> [Item] {
    let search = RankedSearch(query, for: Item.self)
    let matches = try entries.value().filter { $0.text.containsAll(search.words) }
    return search.sorted(matches) { search.rank($0.item.id.description, $0.text) }.map(\.item)
  }

  public func cursor(skipping count: Int, from request: PageRequest) -> PageCursor? {
    seal(request).offset(skipping: count, from: request.cursor)
  }

  /// Offsets of searches count in their order, the closest matches first.
  private func seal(_ request: PageRequest) -> CursorSeal {
    CursorSeal(request.query == nil ? description : "\(description).ranked", for: request.query)
  }

  /// The source's name and tier: `heroes.bundled`.
  public var description: String { "\(name).bundled" }
}

extension SourceError {
  fileprivate static func unreadableBundle(_ name: String, _ error: any Error) -> SourceError {
    let reason = error.rowReason.map { ": \($0)" } ?? ""
    return SourceError(.malformed, "cannot read the bundled \(name)\(reason)", cause: error)
  }
}

/// A stand-in for a source that cannot be used, such as one without its API key or in offline mode.
///
/// Every call fails with the same error, so that a `fallback` answers and reports it.
public struct UnavailableSource<Item: SourceRecord>: DataSource, CustomStringConvertible {
  private let reason: SourceError

  public init(_ reason: SourceError) { self.reason = reason }

  public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> { throw reason }

  public func item(
    _ id: Item.ID, cachePolicy: CachePolicy
  ) async throws(SourceError) -> LookupResult<Item> { throw reason }

  public var description: String { "unavailable: \(reason.message)" }
}
