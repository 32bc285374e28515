import AggregatorKit

/// A record that is not written down whole.
struct LeakyNote: Record {
  let id: Int
  var title: String

  private enum CodingKeys: CodingKey { case id }

  init(id: Int, title: String) {
    self.id = id
    self.title = title
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(id: try container.decode(Int.self, forKey: .id), title: "")
  }
}

/// A record that is written otherwise the second time: it counts its readings.
struct CountingNote: Record {
  let id: Int
  private var readings = 0

  init(_ id: Int) { self.id = id }

  private enum CodingKeys: CodingKey { case id, readings }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    readings = try container.decode(Int.self, forKey: .readings) + 1
  }

  static func == (left: CountingNote, right: CountingNote) -> Bool { left.id == right.id }

  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A record that cannot be read back.
struct SilentNote: Record {
  let id: Int

  init(_ id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "never"))
  }
}

/// A record that lists give without its text, and how it merges.
struct Sketch: Record {
  enum Merging: String, Codable, Sendable { case right, forgets, grows, renames }

  let id: Int
  var text: String?
  var merging = Merging.right

  func merged(over known: Sketch) -> Sketch {
    switch merging {
    case .right: Sketch(id: id, text: text ?? known.text, merging: merging)
    case .forgets: self
    case .grows: Sketch(id: id, text: (known.text ?? "") + "!", merging: merging)
    case .renames: Sketch(id: id + 1, text: text ?? known.text, merging: merging)
    }
  }

  static let fields: [Field<Sketch>] = [Field("text", "Text", \.text, about: "The words.")]
}
