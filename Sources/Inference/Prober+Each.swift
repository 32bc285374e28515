import AggregatorKit
import DeclaredSource

extension Prober {
  /// The most lists in which rows are looked for.
  private static let maxLists = 8

  /// Completes the manifest of several lists: by the first one that has rows, and a look at the one after it.
  ///
  /// - Throws: As for a single list, and ``SourceError`` with code `notFound` if there is no list.
  func complete(
    _ hints: Manifest, forEach each: Manifest.Each, of lists: any PartitionList, isSingle: Bool,
    isProbing: Bool
  ) async throws(SourceError) -> Proposal {
    var found: Proposal?
    var (prober, tried, warnings) = (self, [String](), [String]())
    prober.mayNumberRows = false
    var rest = try await first(Self.maxLists, of: lists, &warnings)[...]
    while let partition = rest.popFirst() {
      do throws(SourceError) {
        let list = try hints.filled(with: partition.value)
        var proposal = try await prober.complete(
          list.single, isSingle: isSingle, isProbing: isProbing)
        proposal.requests += found?.requests ?? 0
        proposal.restore(hints, from: list)
        tried.append(partition.tried(proposal.rowCount))
        (found, prober.previous) = (proposal, proposal)
      } catch {
        guard [.rejected, .notFound].contains(error.code) else { throw error }
        guard found != nil else { throw each.refused(partition, error) }
        tried.append(partition.tried(nil))
      }
      if found?.hasNoRows == false { break }
    }
    guard var proposal = found else { throw each.missing }
    if let second = rest.first, !proposal.hasNoRows {
      let count = try await prober.rowCount(of: second, &proposal)
      tried.append(second.tried(count))
    }
    let all = [tried.dropLast().joined(separator: ", "), tried.last ?? ""].filter { !$0.isEmpty }
    proposal.evidence.insert(
      .init(
        key: "each", value: each.placeholder, reason: "tried \(all.joined(separator: " and "))"),
      at: 0)
    proposal.warnings += warnings
    return proposal
  }

  /// The first lists.
  private func first(
    _ count: Int, of lists: any PartitionList, _ warnings: inout [String]
  ) async throws(SourceError) -> [Partition] {
    var partitions: [Partition] = []
    while partitions.count < count {
      let slice = try await lists.partitions(
        after: partitions.last?.position ?? 0, limit: count - partitions.count,
        cachePolicy: .normal)
      warnings += slice.warnings.map(\.message)
      guard !slice.partitions.isEmpty else { break }
      partitions += slice.partitions
    }
    return partitions
  }

  /// The number of rows on the first page of another list, as the manifest finds them; `nil`, with a warning, if it cannot
  /// be read.
  private func rowCount(
    of partition: Partition, _ proposal: inout Proposal
  ) async throws(SourceError) -> Int? {
    do throws(SourceError) {
      let list = try proposal.manifest.filled(with: partition.value)
      return try await fetch(list, at: .first, &proposal).get().rows.count
    } catch {
      guard error.code != .cancelled else { throw error }
      proposal.warnings.append("\(partition.value.oneLine(atMost: 80)): \(error.message)")
      return nil
    }
  }
}

extension Partition {
  fileprivate func tried(_ rowCount: Int?) -> String {
    "\(value.oneLine(atMost: 80)) (\(rowCount?.of("row") ?? "failed"))"
  }
}

extension Manifest {
  /// The manifest of one list, without what makes several of it.
  fileprivate var single: Manifest {
    var single = self
    single.each = nil
    return single
  }
}

extension Proposal {
  /// Puts the placeholder of the hints back into what was inferred from a list whose URLs had the value.
  fileprivate mutating func restore(_ hints: Manifest, from list: Manifest) {
    manifest.each = hints.each
    manifest.url = hints.url
    if manifest.search == list.search { manifest.search = hints.search }
    guard let item = manifest.item, let each = list.each else { return }
    manifest.item = item == list.item ? hints.item : each.template(of: item, as: hints.url)
    for index in evidence.indices where evidence[index].value == item {
      evidence[index].value = manifest.item ?? "–"
      if manifest.item == nil { evidence[index].reason = "\(item) does not name the list" }
    }
  }
}

extension Manifest.Each {
  fileprivate func refused(_ partition: Partition, _ error: SourceError) -> SourceError {
    SourceError(
      error.code, "\(partition.value.oneLine(atMost: 80)): \(error.message)",
      remedy:
        "add a list that is not refused, with the value in its URL, and put \(placeholder) and \"each\" into its manifest"
    )
  }

  /// The error that there are no lists.
  fileprivate var missing: SourceError {
    switch partitions {
    case .records(let source, let field):
      SourceError(
        .notFound, "no record of \(source) has a text or a whole number at \"\(field)\"",
        remedy: Remedy("\(source) list", .command))
    case .days(let first, _, _): SourceError(.notFound, "\(first) has not begun yet")
    case .values: SourceError(.notFound, "there are no values")
    }
  }
}
