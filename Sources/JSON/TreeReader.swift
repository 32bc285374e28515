/// Reads the parts of a JSON text, with members in the order of the text or in canonical form.
///
/// Most objects of a list, and those at one place inside them, have the same names in the same order: they are read and sorted
/// once for all of them.
struct TreeReader {
  /// The names of the members of the objects at one place of a list.
  private struct Place {
    struct Name {
      let text: String
      /// Where the text has it.
      let part: JSONText.Part
      /// Its place in alphabetical order.
      var rank: UInt64
      /// The place of its values, if they are lists or objects.
      var inner: Int?
    }

    var names: [Name] = []
  }

  /// Objects with more different names are maps, whose names are not worth remembering.
  private static let maxNames = 100

  private let text: JSONText
  private let isCanonical: Bool
  private var index: Int
  private var places: [Place] = []
  /// The members of the objects that are being read: rank, index of the value, and position among the names, packed.
  private var members: [UInt64] = []
  /// False after a number that is not finite, which is null in canonical form.
  private(set) var isFinite = true

  init(_ text: JSONText, at index: Int = 0, isCanonical: Bool) {
    self.text = text
    self.index = index
    self.isCanonical = isCanonical
  }

  /// Reads the part at the index, and moves the index past the part and its contents.
  mutating func value(at place: Int? = nil) -> JSON {
    let part = text.parts[index]
    index += 1
    switch part.kind {
    case .null: return .null
    case .bool: return .bool(text.bytes[Int(part.start)] == UInt8(ascii: "t"))
    case .text, .escapedText: return .string(text.string(part))
    case .number: return number(part)
    case .array:
      // Nothing is remembered for a single object.
      let place = place ?? (part.end > 1 ? newPlace() : nil)
      var elements: [JSON] = []
      elements.reserveCapacity(Int(part.end))
      while index < part.next { elements.append(value(at: place)) }
      return .array(elements)
    case .object: return .object(place.flatMap { object(part, at: $0) } ?? object(part))
    }
  }

  private mutating func object(_ part: JSONText.Part) -> [JSON.Member] {
    var members: [JSON.Member] = []
    members.reserveCapacity(Int(part.end))
    while index < part.next {
      let name = text.string(text.parts[index])
      index += 1
      members.append(JSON.Member(name, value()))
    }
    return isCanonical ? members.canonical : members
  }

  private mutating func newPlace() -> Int {
    places.append(Place())
    return places.count - 1
  }

  /// Reads an object at a place whose names are known; `nil` if there are too many.
  private mutating func object(_ part: JSONText.Part, at place: Int) -> [JSON.Member]? {
    let (first, start) = (members.count, index)
    var position = 0
    while index < part.next {
      guard let found = self.position(of: text.parts[index], near: position, at: place) else {
        members.removeLast(members.count - first)
        index = start
        return nil
      }
      members.append(UInt64(index + 1) << 8 | UInt64(found))
      position = found + 1
      index = Int(text.parts[index + 1].next)
    }
    let end = members.count
    if isCanonical {
      for member in first..<end {
        members[member] |= places[place].names[Int(members[member] & 0xFF)].rank << 48
      }
      members.withUnsafeMutableBufferPointer { members in
        var object = UnsafeMutableBufferPointer(rebasing: members[first...])
        object.sort()
      }
    }
    var object: [JSON.Member] = []
    object.reserveCapacity(end - first)
    var last: Int?
    for member in first..<end {
      let position = Int(members[member] & 0xFF)
      // Of several members with one name the first counts.
      if isCanonical, position == last { continue }
      last = position
      index = Int(members[member] >> 8 & 0xFF_FFFF_FFFF)
      let name = places[place].names[position].text
      object.append(JSON.Member(name, value(at: inner(position, of: place))))
    }
    members.removeLast(end - first)
    index = Int(part.next)
    return object
  }

  /// The place of the value that is read next; `nil` if it is neither a list nor an object.
  private mutating func inner(_ position: Int, of place: Int) -> Int? {
    guard [.array, .object].contains(text.parts[index].kind) else { return nil }
    if let inner = places[place].names[position].inner { return inner }
    let inner = newPlace()
    places[place].names[position].inner = inner
    return inner
  }

  /// The position of a name among those of a place; `nil` if there are too many.
  private mutating func position(
    of name: JSONText.Part, near guess: Int, at place: Int
  ) -> Int? {
    let count = places[place].names.count
    if guess < count, text.isSame(name, places[place].names[guess].part) { return guess }
    for position in 0..<count where text.isSame(name, places[place].names[position].part) {
      return position
    }
    // Escapes, and other compositions of letters, are other ways to write a name that is known.
    let text = self.text.string(name)
    guard count < Self.maxNames, name.kind == .text,
      !places[place].names.contains(where: { $0.text == text })
    else { return nil }
    var rank: UInt64 = 0
    for position in 0..<count {
      if places[place].names[position].text < text {
        rank += 1
      } else {
        places[place].names[position].rank += 1
      }
    }
    places[place].names.append(Place.Name(text: text, part: name, rank: rank))
    return count
  }

  private mutating func number(_ part: JSONText.Part) -> JSON {
    if let integer = text.shortInteger(part) { return .integer(integer) }
    let digits = text.string(part)
    if let integer = Int(digits) { return .integer(integer) }
    let number = Double(digits) ?? .nan
    isFinite = isFinite && number.isFinite
    return isCanonical ? JSON.canonical(number) : .number(number)
  }
}

extension JSONText {
  /// True for the same bytes.
  fileprivate func isSame(_ part: Part, _ other: Part) -> Bool {
    guard part.end - part.start == other.end - other.start else { return false }
    let offset = Int(other.start) - Int(part.start)
    for index in Int(part.start)..<Int(part.end) where bytes[index] != bytes[index + offset] {
      return false
    }
    return true
  }

  /// A whole number of up to 18 digits; `nil` for any other.
  fileprivate func shortInteger(_ part: Part) -> Int? {
    var start = Int(part.start)
    let end = Int(part.end)
    let isNegative = bytes[start] == UInt8(ascii: "-")
    if isNegative { start += 1 }
    guard end - start <= 18 else { return nil }
    var value = 0
    for index in start..<end {
      guard 0x30...0x39 ~= bytes[index] else { return nil }
      value = value &* 10 &+ Int(bytes[index] & 0xF)
    }
    return isNegative ? -value : value
  }
}
