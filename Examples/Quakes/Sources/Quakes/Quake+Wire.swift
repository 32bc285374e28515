import AggregatorKit
import Foundation

extension Quake {
  /// A row as the service sends it, its time in any zone: `2026-03-14T06:12:09+02:00`.
  struct Wire: Decodable {
    let id: String
    let place: String?
    let occurredAt: String?
  }

  init(_ wire: Wire) {
    let date = wire.occurredAt.flatMap { try? Date($0, strategy: .iso8601) }
    self.init(id: wire.id, place: wire.place?.nonBlank, time: date?.formatted(.iso8601))
  }
}
