import AggregatorKit

/// Compares the whole list with all that is known of the service: the IDs that a test states, the pages before the
/// first and after the last, the total, and the source's own warnings.
struct ListComplete: LawCheck {
  /// The fewest pages in which mistakes of paging show.
  private static let minPages = 4

  func run(on subject: LawSubject<some SourceRecord>, _ law: inout LawContext)
    async throws(SourceError)
  {
    if subject.repeatsRecords { return law.notApplicable("the service repeats records") }
    let whole = await subject.wholeList()
    if let failure = whole.listing.failure { throw failure }
    let (isWhole, call) = (whole.isWhole, whole.listing.start.text)
    if let ids = subject.allIDs, let difference = whole.difference(from: ids) {
      return law.violation(difference, at: call)
    }
    var isEndKnown = subject.allIDs != nil
    if isWhole, subject.isRemote, !subject.spendsTokens {
      let neighbors = try await NeighboringPages(of: whole, in: subject)
      if let found = neighbors.found { return law.violation(found, at: call) }
      isEndKnown = isEndKnown || neighbors.isEndKnown
    }
    if isWhole, let contradiction = whole.contradiction(isEndKnown: isEndKnown) {
      return law.violation(contradiction, at: whole.lastCall)
    }
    // The walk itself compares the totals with what it has read.
    for (index, (_, page)) in whole.listing.pages.enumerated() {
      for warning in page.warnings where warning.meansIncomplete && warning.code != .depthLimit {
        return law.violation(warning.message, at: whole.listing.text(ofPage: index))
      }
    }
    if let reason = unseen(whole, isEndKnown, of: subject) { law.notApplicable(reason) }
  }

  /// The reason why a mistake may not have been seen.
  private func unseen<Item: SourceRecord>(
    _ whole: WholeListing<Item>, _ isEndKnown: Bool, of subject: LawSubject<Item>
  ) -> String? {
    let count = whole.listing.records.count
    let pages = whole.pageCount
    if let limit = whole.depthLimit { return limit.message }
    guard whole.isWhole else {
      return pages < Self.minPages
        ? "only \(pages.of("page")) of a longer list \(pages == 1 ? "was" : "were") read"
        : LawContext.unreachedEnd(after: count)
    }
    guard subject.isRemote else { return nil }
    if count == 0 { return "there are no records" }
    if pages < Self.minPages {
      return "the list has only \(pages.of("page")) of the service, too few to see its paging"
    }
    return isEndKnown || !whole.totals.isEmpty
      ? nil
      : "the service reports no total, so records that are missing at the end would not be seen"
  }
}

/// The pages before the first and after the last page of a list, which must have no records that the list lacks.
private struct NeighboringPages {
  /// True if the service says that there is no page after the last.
  private(set) var isEndKnown = false

  /// The records that the list lacks, and why.
  private(set) var found: String?

  init<Item: SourceRecord>(
    of whole: WholeListing<Item>, in subject: LawSubject<Item>
  ) async throws(SourceError) {
    guard let parameter = PageParameter(of: whole.requests) else { return }
    let known = Set(whole.keys)
    if let number = parameter.before,
      let records = try await subject.records(at: number, of: parameter)?.filter({
        !known.contains($0.key)
      }),
      !records.isEmpty
    {
      found =
        "the list lacks \(records.idList) of \(parameter.text(at: number)), before its first page: "
        + "does its paging start too late?"
      return
    }
    let number = parameter.after(whole.listing.pages.last?.page.rowCount ?? 0)
    guard let records = try await subject.records(at: number, of: parameter) else { return }
    isEndKnown = true
    let lost = records.filter { !known.contains($0.key) }
    if !lost.isEmpty {
      found =
        "the list lacks \(lost.idList) of \(parameter.text(at: number)), after its last page: "
        + "does its paging end too early?"
    }
  }
}

extension WholeListing {
  /// The first difference from the IDs that the service has.
  fileprivate func difference(from ids: [Item.ID]) -> String? {
    let (keys, all) = (keys, ids.map { RecordKey($0) })
    let expected = isWhole ? all : Array(all.prefix(keys.count))
    guard keys != expected else { return nil }
    let (found, known) = (Set(keys), Set(all))
    if let key = keys.first(where: { !known.contains($0) }) {
      return "the list has \"\(key.text)\", which the service does not have"
    }
    let missing = expected.filter { !found.contains($0) }
    guard let first = missing.first else {
      let pair = zip(keys, expected).enumerated().first { $1.0 != $1.1 }
      return pair.map { index, pair in
        "record \(index + 1) is \"\(pair.0.text)\", but \"\(pair.1.text)\" in the service"
      } ?? "the list has \(keys.count.of("record")), the service \(expected.count)"
    }
    let text = "the list lacks \(missing.count) of the service's \(all.count.of("record"))"
    if all.starts(with: missing) {
      return "\(text), the first ones: does its paging start too late?"
    }
    if isWhole, all.suffix(missing.count).elementsEqual(missing) {
      return "\(text), the last ones: does its paging end too early?"
    }
    return "\(text), such as \"\(first.text)\""
  }

  /// A total that is not the number of rows.
  ///
  /// - Parameter isEndKnown: True if no page is missing at the end.
  fileprivate func contradiction(isEndKnown: Bool) -> String? {
    guard let (page, total) = totals.first, totals.contains(where: { $0.total != rowCount }) else {
      return nil
    }
    if let other = totals.first(where: { $0.total != total }) {
      return
        "the service reports \(total.of("record")) on page \(page), but \(other.total) on page \(other.page)"
    }
    let text = "the service reports \(total.of("record")), the source yields \(rowCount)"
    let firstCount = listing.pages.first?.page.rowCount
    let fullPages = listing.pages.count { $0.page.rowCount > 0 }
    return switch total {
    case pageCount, fullPages: "\(text): is that the number of its pages?"
    case firstCount: "\(text): is that the number of records of a page?"
    case ..<rowCount: "\(text): is that the total of something else?"
    case _ where rowCount == 0: "\(text): does its paging start at another page?"
    case _ where isEndKnown: "\(text), and no page follows: is the total of something else?"
    default: "\(text): the last page is missing?"
    }
  }
}
