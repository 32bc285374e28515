import AggregatorKit
import AggregatorLaws
import Foundation

extension ScenarioRun {
  mutating func judge(_ page: Page<Item>, _ label: String) {
    judge(page.records, page.provenance, label)
    if page.unreadable.count > 0 {
      reportedUnreadable = true
      if scenario.expectation == .noFault {
        violated(
          .recordsIntact, label, "readable rows", page.unreadable.firstReason ?? "unreadable rows")
      }
    }
  }

  mutating func judge(_ records: [Item], _ provenance: Provenance, _ label: String) {
    if let reason = provenance.reason {
      judge(reason, label)
    } else if provenance.origin == .bundled {
      violated(.failuresReported, label, "a reason for bundled data", "none")
    } else if scenario.expectation == .failing, faultsInjected > 0 {
      if provenance.origin == .live {
        violated(.failuresReported, label, "an error or a fallback", "a live answer")
      } else if !isLocalFirst {
        violated(.failuresReported, label, "a reason for cached data", "none")
      }
    }
    add(records, from: provenance)
    for record in records {
      if record.id == deleted {
        violated(.storeConsistent, label, "no deleted records", "\"\(record.id)\"")
      }
      switch provenance.origin {
      case .live where !matchesBaseline(record):
        violated(.recordsIntact, label, "\"\(record.id)\" as in the baseline", "\(record)")
      case .cached where !isFromService(record):
        violated(
          .storeConsistent, label, "\"\(record.id)\" as the service returned it", "\(record)")
      case .bundled where !baseline.bundle.contains(record):
        violated(.recordsIntact, label, "\"\(record.id)\" as bundled", "\(record)")
      default: break
      }
    }
  }

  mutating func judge(_ error: SourceError, _ label: String) {
    if error.code == .malformed { reportedUnreadable = true }
    if let maxWait = scenario.wait, error.code == .rateLimited, let wait = error.retryAfter,
      wait > maxWait
    {
      violated(.failuresReported, label, "a retry time of at most \(maxWait)", "\(wait)")
    }
    // The store is empty if the service never answered.
    let isEmpty = isLocalFirst && error.code == .nothingCached
    guard !scenario.codes.contains(error.code), !isEmpty else { return }
    let names = scenario.codes.map(\.description).sorted().joined(separator: ", ")
    violated(
      .failuresReported, label, names.isEmpty ? "an answer" : names, "\(error.code): \(error)")
  }

  mutating func add(_ records: [Item], from provenance: Provenance) {
    guard provenance.origin == .live else { return }
    for record in records { delivered[record.id, default: []].insert(record) }
  }

  /// True if the service returned this record, now or in the baseline.
  func isFromService(_ record: Item) -> Bool {
    delivered[record.id]?.contains(record) == true || matchesBaseline(record)
  }

  private func matchesBaseline(_ record: Item) -> Bool {
    // If the service repeats an ID, the source keeps the first record; a fault may remove it, and then
    // another one counts.
    let isOneOfMany = plugin.policy.repeatsRecords && scenario.changesRows
    return baseline.contains(record) || isOneOfMany && baseline.containsID(record.id)
  }

  /// Expects the initial records if the service returned no newer ones.
  mutating func expectInitialRecords(_ walk: CollectedListing<Item>) {
    guard scenario.expectation == .failing, faultsInjected > 0, let initialPage,
      walk.pages.first?.page.provenance.origin != .live
    else { return }
    let ids = Set(walk.records.map(\.id))
    for record in initialPage.records.dropFirst() where !ids.contains(record.id) {
      violated(.recordsIntact, "list", "cached record \"\(record.id)\"", "none")
    }
  }

  mutating func violated(
    _ guarantee: ScenarioGuarantee, _ label: String, _ expected: String, _ found: String
  ) {
    let violation = ScenarioViolation(
      guarantee: guarantee, call: label, expected: expected, found: found.oneLine(atMost: 200))
    // Further violations would only repeat the first ones.
    guard violations.count(where: { $0.guarantee == guarantee }) < 5,
      !violations.contains(violation)
    else {
      return
    }
    violations.append(violation)
  }

  mutating func inspectStore() async {
    guard !hasHung else { return }
    do throws(SourceError) {
      for inconsistency in try await store.inconsistencies() {
        violated(.storeConsistent, "store file", "an intact file", inconsistency)
      }
      if try await !store.isIndexSound() {
        violated(.storeConsistent, "search index", "the text of the records", "other text")
      }
      let all = try await store.records(of: plugin.name, matching: [], after: 0, limit: 10_000)
      for stored in all.records {
        let record = try? JSONText(stored.json)?.read(Item.self)
        if let record, isFromService(record) { continue }
        let text = String(decoding: stored.json, as: UTF8.self)
        violated(.storeConsistent, "cached records", "records of the service", text)
      }
      for id in delivered.keys where try await store.record(id.description, of: plugin.name) == nil
      {
        violated(
          .storeConsistent, "cached records", "\"\(id)\", which the service returned", "none")
      }
      guard let id = deleted?.description else { return }
      if try await !store.deleted(among: [id], of: plugin.name).contains(RecordKey(id)) {
        violated(.storeConsistent, "deleted records", "\"\(id)\"", "not deleted")
      }
    } catch {
      violated(.storeConsistent, "store file", "an intact file", "\(error.code): \(error)")
    }
  }

  mutating func expectRecovery() async {
    guard !hasHung else { return }
    scenarioEnvironment.proxy.handler.begin(.noFault)
    scenarioEnvironment.expireEverything()
    let label = "list, after the fault"
    let stored = (try? await store.status(of: plugin.name).records) ?? 0
    let bound = PaginationBound(items: isLocalFirst ? stored + 15 : 30, pages: 100)
    guard let walk = await walk(upTo: bound, label) else { return }
    if let failure = walk.failure {
      return violated(.recovers, label, "an answer", "\(failure.code): \(failure)")
    }
    let answer =
      isLocalFirst
      ? walk.pages.first { $0.page.provenance.origin != .cached } : walk.pages.first
    guard let provenance = answer?.page.provenance, provenance.origin == .live,
      provenance.reason == nil
    else {
      let reason = answer?.page.provenance.reason.map { " (\($0.code): \($0))" } ?? ""
      let origin = answer?.page.provenance.origin.rawValue ?? "nothing"
      return violated(.recovers, label, "the service's answer", origin + reason)
    }
    for record in walk.records where !isFromService(record) {
      violated(.recovers, label, "\"\(record.id)\" as in the baseline", "\(record)")
    }
    guard !isLocalFirst, !plugin.policy.repeatsRecords else { return }
    let expected = baseline.list.filter { $0.id != deleted }.prefix(30).map(\.id)
    if walk.records.map(\.id) != expected {
      violated(.recovers, label, "\(expected)", "\(walk.records.map(\.id))")
    }
  }
}
