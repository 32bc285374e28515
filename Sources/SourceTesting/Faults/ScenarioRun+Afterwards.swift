import AggregatorKit
import Foundation

/// What is found when a source has come through.
extension ScenarioRun {
  /// Looks through the store.
  mutating func inspectStore() async {
    guard !isStuck else { return }
    do throws(SourceError) {
      for fault in try await store.faults() { note(.store, "the file", "no fault", fault) }
      if try await !store.isIndexSound() {
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
      isLocalFirst ? walk.pages.first { $0.provenance.origin != .cached } : walk.pages.first
    guard let provenance = answer?.provenance, provenance.origin == .live,
      provenance.reason == nil
    else {
      let reason = answer?.provenance.reason.map { " (\($0.code): \($0))" } ?? ""
      let origin = answer?.provenance.origin.rawValue ?? "nothing"
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
