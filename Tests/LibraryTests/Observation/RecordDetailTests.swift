import AggregatorKit
import AggregatorObservation
import AggregatorSourceTesting
import Testing

@MainActor @Suite(.timeLimit(.minutes(10)))
struct RecordDetailTests {
  /// Notes whose cached title is "old", and "new" behind the gate of the service.
  private struct SlowService: DataSource {
    let gate = Gate()
    let fault = Fault()

    func page(_ request: PageRequest) async throws(SourceError) -> Page<Note> {
      throw SourceError(.unsupported, "no list")
    }

    func item(
      _ id: Int, cachePolicy: CachePolicy
    ) async throws(SourceError) -> LookupResult<Note> {
      guard cachePolicy.mayAskService else {
        let cached = Provenance(.cached).because(SourceError(.offline, "offline mode"))
        return LookupResult(Note(id, "old"), provenance: cached)
      }
      try await gate.pass()
      try fault.strike()
      return LookupResult(Note(id, "new"), provenance: Provenance(.live))
    }
  }

  private let service = SlowService()
  private let detail: RecordDetail<Note>

  init() { detail = RecordDetail(Note(1, "short"), of: service) }

  @Test func `shows what it has, then the cached details, then those of the service`() async {
    #expect(detail.record.title == "short" && detail.provenance == nil)
    async let loading: Void = detail.load()
    await service.gate.holds(1)
    #expect(detail.record.title == "old" && detail.isLoading)
    #expect(detail.provenance?.origin == .cached && detail.provenance?.reason == nil)
    service.gate.open()
    await loading
    #expect(detail.record.title == "new" && !detail.isLoading && detail.error == nil)
    #expect(detail.provenance?.origin == .live)
  }

  @Test func `a failure loses nothing, and a further load forgets it`() async {
    service.gate.open()
    service.fault.set(.unreachable)
    await detail.load()
    #expect(detail.record.title == "old" && detail.error?.code == .unreachable)
    service.fault.set(nil)
    await detail.refresh()
    #expect(detail.record.title == "new" && detail.error == nil)
  }

  @Test func `loads once more when a source below it is replaced`() async {
    service.gate.open()
    service.fault.set(.unreachable)
    let source = ReplaceableSource(service)
    let detail = RecordDetail(Note(1, "short"), of: source.coalesced())
    await detail.load()
    #expect(detail.record.title == "old" && detail.error?.code == .unreachable)
    let other = SlowService()
    other.gate.open()
    source.replace(with: other)
    await until { detail.record.title == "new" && detail.error == nil }
  }

  @Test func `goes offline and online again`() async {
    service.gate.open()
    service.fault.set(.unreachable)
    detail.cachePolicy = .offline
    await detail.refresh()
    #expect(detail.record.title == "old" && detail.error == nil)
    detail.cachePolicy = .normal
    await detail.load()
    #expect(detail.error?.code == .unreachable)
  }

  @Test func `a view that goes away is no failure`() async {
    let view = Task { await detail.load() }
    await service.gate.holds(1)
    view.cancel()
    await view.value
    #expect(detail.error == nil && !detail.isLoading && detail.record.title == "old")
  }

  @Test func `a load that was overtaken changes nothing`() async {
    let first = Task { await detail.load() }
    await service.gate.holds(1)
    service.fault.set(.unreachable)
    detail.cachePolicy = .offline
    let second = Task { await detail.load() }
    await second.value
    #expect(!detail.isLoading)
    service.gate.open()
    await first.value
    #expect(detail.error == nil && detail.record.title == "old")
  }
}
