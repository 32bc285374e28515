import AggregatorAPI
import AggregatorFilters
import AggregatorKit
import AggregatorQueries
import AggregatorTerminal

/// The cached records of other sources that a record names by their IDs, and the lists of those that name it.
///
/// No service says what its IDs stand for: the names of fields do, such as `maker_id` of a source `makers`.
struct RecordLinks: Sendable {
  struct Target: Sendable {
    let source: any ServedSource
    let record: ServedRecord
  }

  /// The list of the cached records of a source in which a field has the ID.
  struct Referrers: Sendable {
    let source: any ServedSource
    let query: ServedQuery
    /// `nil` if counting them would take long, so that there may be none.
    let count: Int?
  }

  /// The records that are named, by the names of the fields.
  var targets: [String: Target] = [:]
  /// One of each source at most.
  var referrers: [Referrers] = []

  /// The most records that are looked up, and the most lists that are counted.
  private static let maxCount = 8
  /// The most bytes of an ID that is looked up.
  private static let maxLength = 200
}

extension RecordLinks {
  /// Each target is looked up by its ID in the cache alone.
  init(
    of record: ServedRecord, in source: any ServedSource, among sources: [any ServedSource]
  ) async {
    let others = sources.filter { $0.name != source.name && $0.hasStore }
    let named = record.card.flatMap { line in
      line.elements.isEmpty && 1...Self.maxLength ~= line.value.utf8.count
        ? others.filter { $0.noun.names(line.field) }.map { (line: line, source: $0) } : []
    }
    let query = ServedQuery.plain.with(\.cache, .offline).with(\.isForPeople, true)
    let found = await Array(named.prefix(Self.maxCount)).concurrentMap { line, source in
      let page = try? await source.record(line.value, query)
      // Bundled records are not those of the service, and `007` is not the ID of record 7.
      guard let page, page.summary.provenance?.origin == .cached, let record = page.records.first,
        record.id == line.value
      else { return nil as Target? }
      return Target(source: source, record: record)
    }
    for (name, target) in zip(named, found) where targets[name.line.field] == nil {
      targets[name.line.field] = target
    }
    let naming = others.flatMap { other in
      other.fields.filter { source.noun.names($0.id) }.map { (source: other, field: $0.id) }
    }
    let lists = await Array(naming.prefix(Self.maxCount)).concurrentMap { source, field in
      let condition = TypedCondition(field, .equal, record.id).quoted
      let query = ServedQuery.plain.with(\.conditions, [condition])
      return Referrers(source: source, query: query, count: await source.knownCount(of: query))
    }
    for list in lists where list.count != 0 {
      // The next page knows.
      if list.count == nil { list.source.prepareIndex() }
      if !referrers.contains(where: { $0.source.name == list.source.name }) {
        referrers.append(list)
      }
    }
  }
}

extension RecordNoun {
  /// True if a field is named after such a record: `maker`, `makers`, `maker_id`, `makerId` or `maker.id`.
  func names(_ field: String) -> Bool {
    func letters(_ text: some StringProtocol) -> String {
      text.lowercased().filter { $0.isLetter || $0.isNumber }
    }
    var stem = field[...]
    if ["_id", "-id", ".id", " id"].contains(where: field.lowercased().hasSuffix) {
      stem = field.dropLast(3)
    } else if field.hasSuffix("Id") || field.hasSuffix("ID") {
      stem = field.dropLast(2)
    }
    let word = letters(stem.split(separator: ".").last ?? "")
    let all = letters(plural)
    return !word.isEmpty && ([letters(singular), all].contains(word) || word + "es" == all)
  }
}

extension HTMLRenderer {
  /// The ID of a record of another source with its name, as a way to it.
  func reference(to target: RecordLinks.Target) -> HTML {
    let (id, name) = (target.record.id, target.record.name)
    let address = WebAddress.record(target.source.name, id, .plain)
    let title: HTML? = name == id ? nil : " · <bdi>\(name.safeLine)</bdi>"
    // The script copies the ID alone.
    return
      #"<a href="\#(address)"><data value="\#(id)"><bdi>\#(id.safeLine)</bdi></data>\#(title)</a>"#
  }

  /// The way to the records of another source that name one.
  func line(of list: RecordLinks.Referrers, naming noun: RecordNoun) -> HTML {
    let (source, singular) = (list.source, noun.one.safeLine)
    let words: HTML =
      if let count = list.count {
        "\(count.grouped) cached \(source.noun.word(for: count).safeLine) with this \(singular)"
      } else {
        "Cached \(source.noun.word(for: 2).safeLine) that may have this \(singular)"
      }
    let address = WebAddress.list(source.name, list.query)
    return #"<div><dt>\#(source.title)</dt><dd><a href="\#(address)">\#(words)</a></dd></div>"#
  }
}
