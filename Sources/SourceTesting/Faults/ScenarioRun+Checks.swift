import AggregatorKit
import Foundation

/// What is made of the answers.
extension ScenarioRun {
  mutating func judge(_ page: Page<Item>, _ place: String) {
    judge(page.records, page.provenance, place)
    if page.unreadable.count > 0 {
      saidUnreadable = true
      if scenario.prospect == .fair {
        note(.kept, place, "rows that can be read", page.unreadable.firstReason ?? "others")
      }
    }
  }

  mutating func judge(_ records: [Item], _ provenance: Provenance, _ place: String) {
    if let reason = provenance.reason {
      judge(reason, place)
    } else if provenance.origin == .bundled {
      note(.reason, place, "why the bundle answered", "nothing")
    } else if scenario.prospect == .failing, strikes > 0 {
      if provenance.origin == .live {
        note(.reason, place, "a failure, or another tier", "an answer as if of the service")
      } else if !isLocalFirst {
        note(.reason, place, "why the store answered", "nothing")
      }
    }
    add(records, from: provenance)
    for record in records {
      if record.id == deleted {
        note(.store, place, "that '\(record.id)' stays deleted", "it")
      }
      switch provenance.origin {
      case .live where !isTrue(record):
        note(.kept, place, "'\(record.id)' as in fair weather, or not at all", "\(record)")
      case .stored where !isOfService(record):
        note(.store, place, "'\(record.id)' as the service gave it", "\(record)")
      case .bundled where !baseline.bundle.contains(record):
        note(.kept, place, "'\(record.id)' as in the bundle", "\(record)")
      default: break
      }
    }
  }

  mutating func judge(_ error: SourceError, _ place: String) {
    if error.code == .malformed { saidUnreadable = true }
    if let most = scenario.wait, error.code == .rateLimited, let wait = error.retryAfter,
      wait > most
    {
      note(.reason, place, "a wait of \(most) at most", "\(wait)")
    }
    // Nothing is stored where nothing came.
    let isEmpty = isLocalFirst && error.code == .nothingStored
    guard !scenario.codes.contains(error.code), !isEmpty else { return }
    let names = scenario.codes.map(\.description).sorted().joined(separator: ", ")
    note(.reason, place, names.isEmpty ? "an answer" : names, "\(error.code): \(error)")
  }

  mutating func add(_ records: [Item], from provenance: Provenance) {
    guard provenance.origin == .live else { return }
    for record in records { given[record.id, default: []].insert(record) }
  }

  /// Whether the service gave it, then or ever.
  func isOfService(_ record: Item) -> Bool {
    given[record.id]?.contains(record) == true || isTrue(record)
  }

  /// Whether the service can have said that.
  private func isTrue(_ record: Item) -> Bool {
    // Of several records with one id, a source gives the first; another one, where that is not there.
    let isOneOfMany = plugin.policy.repeatsRecords && !scenario.suspended.isEmpty
    return baseline.holds(record) || isOneOfMany && baseline.knows(record.id)
  }

  /// Expects a walk to have what was there before, where nothing newer could be had.
  mutating func expectStillThere(_ walk: CollectedPages<Item>) {
    guard scenario.prospect == .failing, strikes > 0, let before,
      walk.pages.first?.page.provenance.origin != .live
    else { return }
    let ids = Set(walk.records.map(\.id))
    for record in before.records.dropFirst() where !ids.contains(record.id) {
      note(.kept, "list", "'\(record.id)', which is stored", "it is not given")
    }
  }

  mutating func note(
    _ promise: ScenarioPromise, _ place: String, _ expected: String, _ found: String
  ) {
    let breach = ScenarioViolation(
      promise: promise, place: place, expected: expected, found: found.oneLine(atMost: 200))
    // More would only repeat what the first ones say.
    guard breaches.count(where: { $0.promise == promise }) < 5, !breaches.contains(breach) else {
      return
    }
    breaches.append(breach)
  }
}

/// What is found when a source has come through.
extension ScenarioRun {
  /// Looks through the store.
  mutating func inspectStore() async {
    guard !isStuck else { return }
    do throws(SourceError) {
      for fault in try await store.faults() { note(.store, "the file", "no fault", fault) }
      if try await !store.isIndexTrue() {
        note(.store, "the search index", "the texts of the records", "others")
      }
      let all = try await store.records(of: plugin.name, matching: [], after: 0, limit: 10_000)
      for stored in all.records {
        let record = try? JSONText(stored.json)?.read(Item.self)
        if let record, isOfService(record) { continue }
        let text = String(decoding: stored.json, as: UTF8.self)
        note(.store, "the records", "what the service gave", text)
      }
      for id in given.keys where try await store.record(id.description, of: plugin.name) == nil {
        note(.store, "the records", "'\(id)', which was given", "it is not stored")
      }
      guard let id = deleted?.description else { return }
      if try await !store.deleted(among: [id], of: plugin.name).contains(id) {
        note(.store, "what is deleted", "'\(id)'", "it is not deleted any more")
      }
    } catch {
      note(.store, "the file", "a store in order", "\(error.code): \(error)")
    }
  }

  /// Expects the service's own answers after the weather.
  mutating func expectRecovery() async {
    guard !isStuck else { return }
    scenarioEnvironment.front.responder.begin(.fair)
    scenarioEnvironment.age()
    let place = "list, afterwards"
    let stored = (try? await store.status(of: plugin.name).records) ?? 0
    let bound = PaginationBound(items: isLocalFirst ? stored + 15 : 30, pages: 100)
    guard let walk = await walk(upTo: bound, place) else { return }
    if let failure = walk.failure {
      return note(.recovers, place, "an answer", "\(failure.code): \(failure)")
    }
    let answer =
      isLocalFirst
      ? walk.pages.first { $0.page.provenance.origin != .stored } : walk.pages.first
    guard let provenance = answer?.page.provenance, provenance.origin == .live,
      provenance.reason == nil
    else {
      let reason = answer?.page.provenance.reason.map { " (\($0.code): \($0))" } ?? ""
      let origin = answer?.page.provenance.origin.rawValue ?? "nothing"
      return note(.recovers, place, "the service's answer", origin + reason)
    }
    for record in walk.records where !isOfService(record) {
      note(.recovers, place, "'\(record.id)' as in fair weather", "\(record)")
    }
    guard !isLocalFirst, !plugin.policy.repeatsRecords else { return }
    let expected = baseline.list.filter { $0.id != deleted }.prefix(30).map(\.id)
    if walk.records.map(\.id) != expected {
      note(.recovers, place, "\(expected)", "\(walk.records.map(\.id))")
    }
  }
}
