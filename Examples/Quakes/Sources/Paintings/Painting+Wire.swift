import AggregatorKit

extension Painting {
  /// A row as the service sends it.
  struct Wire: Decodable {
    let objectID: Int
    let title: String
    /// One name, or several.
    @Lenient var artist: [String]?
    /// A number as text; empty if unknown.
    @Lenient var year: Int?
    @Lenient var picture: String?
  }

  init(_ wire: Wire) {
    self.init(
      id: wire.objectID, title: wire.title, artists: wire.artist, year: wire.year,
      picture: wire.picture)
  }
}

/// A page as the service sends it.
struct PaintingList: Decodable {
  let data: LossyArray<Painting.Wire>
  @Lenient var total: Int?
}
