import AggregatorKit
import AggregatorSourceTesting
import Testing

@Suite
struct CursorSealTests {
  private struct Place: Codable, Hashable {
    var page: Int
    var token: String?
    var seen: [String] = []
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")

  private let seal = CursorSeal("notes", for: nil)

  private func query(_ text: String) throws -> SearchQuery { try SearchQuery(text) }

  /// The failure of opening a token as `type`.
  private func failure<Position: Decodable>(
    of token: String, as type: Position.Type = Int.self, with seal: CursorSeal? = nil
  ) -> SourceError.Code? {
    guard let cursor = PageCursor(token) else { return .invalidCursor }
    do throws(SourceError) {
      _ = try (seal ?? self.seal).open(cursor, as: type)
      return nil
    } catch { return error.code }
  }

  @Test(arguments: [0, 1, -1, 42, .max, .min])
  func `opens the numbers that it closed`(number: Int) throws {
    let token = try seal.close(number)
    #expect(try seal.open(token, as: Int.self) == number)
  }

  @Test(arguments: [
    "", "a", "next=ü&/+?", "\0\u{1F}\"\\", "日本🇦🇽", String(repeating: "x", count: 300),
  ])
  func `opens the texts that it closed`(text: String) throws {
    let token = try seal.close(text)
    #expect(try seal.open(token, as: String.self) == text)
  }

  @Test(arguments: [
    Place(page: 1), Place(page: -7, token: "a/b"),
    Place(page: 0, token: nil, seen: ["x", "", "é"]),
  ])
  private func `opens the structures that it closed`(place: Place) throws {
    let token = try seal.close(place)
    #expect(try seal.open(token, as: Place.self) == place)
  }

  @Test func `opens nil as the start`() throws {
    #expect(try seal.open(nil, as: Int.self) == nil)
  }

  @Test func `makes the same token every time`() throws {
    let token = try CursorSeal("notes", for: try query("spider")).close(120).description
    #expect(token == "cMTIw.hx9nd5svn")
  }

  @Test func `makes tokens that can be pasted unquoted`() throws {
    for length in 0..<300 {
      let text = String(repeating: "ÿ?>", count: length / 3) + String(length)
      guard let cursor = try? seal.close(text) else { continue }
      #expect(cursor.description.utf8.count <= PageCursor.maximumLength)
      #expect(cursor.description.first?.isLetter == true)
      #expect(cursor.description.allSatisfy(Self.alphabet.contains))
    }
  }

  @Test func `rejects a position that makes a token too long`() throws {
    let longest = (1...512).last { (try? seal.close(String(repeating: "x", count: $0))) != nil }
    let most = try #require(longest)
    let token = try seal.close(String(repeating: "x", count: most))
    #expect(token.description.count > 508)
    let error = #expect(throws: SourceError.self) {
      try seal.close(String(repeating: "x", count: most + 1))
    }
    #expect(error?.code == .malformed)
  }

  @Test func `rejects a position that JSON cannot represent`() {
    let error = #expect(throws: SourceError.self) { try seal.close(Double.nan) }
    #expect(error?.code == .malformed)
  }

  @Test func `rejects the cursors of other sources and queries`() throws {
    let seals = [
      seal, CursorSeal("note", for: nil), CursorSeal("notes.bundled", for: nil),
      CursorSeal("notes", for: try query("a")), CursorSeal("notes", for: try query("b")),
      CursorSeal("notes", for: try query("a b")), CursorSeal("notes", for: try query("ab")),
      CursorSeal("notes", for: try query("A")), CursorSeal("", for: try query("notes")),
    ]
    for (mine, closing) in seals.enumerated() {
      let token = try closing.close(7).description
      for (other, opening) in seals.enumerated() {
        #expect(failure(of: token, with: opening) == (mine == other ? nil : .invalidCursor))
      }
    }
  }

  @Test func `distinguishes a foreign cursor from a damaged one`() throws {
    let token = try CursorSeal("notes", for: try query("a")).close(7)
    let foreign = #expect(throws: SourceError.self) { try seal.open(token, as: Int.self) }
    #expect(foreign?.message == "the cursor belongs to a different source or query")
    let longer = PageCursor("\(token)x")
    let damaged = #expect(throws: SourceError.self) { try seal.open(longer, as: Int.self) }
    #expect(damaged?.message.hasSuffix(": damaged or outdated") == true)
  }

  @Test func `detects every change of one character`() throws {
    let token = Array(try seal.close(Place(page: 120, token: "abc")).description)
    #expect(failure(of: String(token), as: Place.self) == nil)
    for place in token.indices {
      for letter in Self.alphabet where letter != token[place] {
        var damaged = token
        damaged[place] = letter
        #expect(failure(of: String(damaged), as: Place.self) == .invalidCursor)
      }
    }
  }

  @Test func `detects missing, doubled and swapped characters`() throws {
    let token = Array(try seal.close(Place(page: 120, token: "abc")).description)
    for place in token.indices {
      var missing = token
      missing.remove(at: place)
      #expect(failure(of: String(missing), as: Place.self) == .invalidCursor)
      var doubled = token
      doubled.insert(token[place], at: place)
      #expect(failure(of: String(doubled), as: Place.self) == .invalidCursor)
      #expect(failure(of: String(token[..<place]), as: Place.self) == .invalidCursor)
      guard place > 0, token[place] != token[place - 1] else { continue }
      var swapped = token
      swapped.swapAt(place, place - 1)
      #expect(failure(of: String(swapped), as: Place.self) == .invalidCursor)
    }
  }

  @Test func `rejects invalid text`() {
    var random = SeededGenerator(7)
    for _ in 0..<5000 {
      let count = Int.random(in: 0...60, using: &random)
      let tail = (0..<count).compactMap { _ in Self.alphabet.randomElement(using: &random) }
      #expect(failure(of: "c" + String(tail)) == .invalidCursor)
    }
  }

  @Test func `rejects a position of another type`() throws {
    let text = try seal.close("text").description
    let number = try seal.close(7).description
    let fraction = try seal.close(1.5).description
    #expect(failure(of: text) == .invalidCursor)
    #expect(failure(of: number, as: Place.self) == .invalidCursor)
    #expect(failure(of: fraction) == .invalidCursor)
  }
}
