import AggregatorKit

extension Quake {
  /// A row as the service sends it, its time in any zone: `2026-03-14T06:12:09+02:00`.
  struct Wire: Decodable {
    let id: String
    @Lenient var place: String?
    @Lenient var occurredAt: Date?
  }

  init(_ wire: Wire) {
    self.init(id: wire.id, place: wire.place, time: wire.occurredAt?.iso8601)
  }
}

/// A page as the service sends it.
struct QuakeList: Decodable {
  let quakes: LossyArray<Quake.Wire>
  let next: String?
}
