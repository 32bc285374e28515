import AggregatorFoundation

/// Records compiled into the program: paginated, searchable, always available.
///
/// The JSON is parsed once, on first use.
public struct BundledSource<Item: Record>: DataSource, CustomStringConvertible {
  private struct Entry: Sendable {
    let item: Item
    let text: FoldedText
  }

  private let name: String
  private let entries: Lazy<[Entry], SourceError>

  /// Reads an array of records, as the EmbedJSON build plugin embeds it.
  public init(_ name: String, json: StaticString, fields: [Field<Item>]) {
    self.init(name, fields: fields) { () throws(SourceError) in
      do {
        let text = json.withUTF8Buffer { JSONText(Data($0)) }
        guard let text else { throw SourceError(.malformed, "invalid JSON") }
        return try text.read()
      } catch {
        let reason = error.rowReason.map { ": \($0)" } ?? ""
        throw SourceError(.malformed, "cannot read the bundled \(name)\(reason)", cause: error)
      }
    }
  }

  public init(_ name: String, items: [Item], fields: [Field<Item>]) {
    self.init(name, fields: fields) { () throws(SourceError) in items }
  }

  private init(
    _ name: String, fields: [Field<Item>],
    items: @escaping @Sendable () throws(SourceError) -> [Item]
  ) {
    self.name = name
    entries = Lazy { () throws(SourceError) in
      try items().map { Entry(item: $0, text: fields.searchableText(of: $0)) }
    }
  }

  @concurrent public func page(_ request: PageRequest) async throws(SourceError) -> Page<Item> {
    guard !Task.isCancelled else { throw .cancelled }
    let seal = seal(request)
    let offset = try seal.openOffset(request.cursor)
    var matches = try entries.value()
    if let query = request.query {
      let search = RankedSearch(query, for: Item.self)
      matches.removeAll { !$0.text.containsAll(search.words) }
      matches = search.sorted(matches) { search.rank($0.item.id.description, $0.text) }
    }
    let records = matches.dropFirst(offset).prefix(request.limit).map(\.item)
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
    guard let entry = try entries.value().first(where: { $0.item.id == id }) else {
      throw .notFound(id, in: name)
    }
    return LookupResult(entry.item, provenance: Provenance(.bundled))
  }

  public func cursor(skipping count: Int, from request: PageRequest) -> Cursor? {
    seal(request).offset(skipping: count, from: request.cursor)
  }

  /// Offsets of searches count in their order, the closest matches first.
  private func seal(_ request: PageRequest) -> CursorSeal {
    CursorSeal(request.query == nil ? description : "\(description).ranked", for: request.query)
  }

  /// The source's name and tier: `heroes.bundled`.
  public var description: String { "\(name).bundled" }
}
