import AggregatorKit

/// A character of the fake Comic Vine.
public struct FakeCharacter: Sendable {
  public enum Picture: Sendable {
    /// `null`.
    case none
    /// The URL of the blank placeholder picture.
    case blank
    /// A picture at a host that does not exist, or at the service if it serves pictures.
    case drawn
    /// A picture on another host: `http://127.0.0.1:8080`.
    case at(String)
  }

  public var id: Int
  public var name: String
  /// With surrounding spaces, as in the service.
  public var realName: String?
  /// In lines that end with `\n` or `\r\n`.
  public var aliases: String?
  /// A short summary.
  public var deck: String?
  /// HTML.
  public var description: String?
  /// `Dec 4, 1920`.
  public var birth: String?
  /// 0, 1 or 2.
  public var gender = 1
  public var publisher: String?
  /// Name and number of the first issue; `nil` for `null`.
  public var firstIssue: (name: String?, number: String?)?
  public var picture = Picture.drawn
  public var powers: [String] = []
  public var teams: [String] = []
  public var issueCount = 1
  /// `date_last_updated`: Pacific time without a zone.
  public var updated = "2008-06-06 11:27:37"

  static let listFields = detailFields.filter { !detailOnly.contains($0) }

  static let detailFields = [
    "aliases", "api_detail_url", "birth", "character_enemies", "character_friends",
    "count_of_issue_appearances", "creators", "date_added", "date_last_updated", "deck",
    "description", "first_appeared_in_issue", "gender", "id", "image", "issue_credits",
    "issues_died_in", "movies", "name", "origin", "powers", "publisher", "real_name",
    "site_detail_url", "story_arc_credits", "team_enemies", "team_friends", "teams",
    "volume_credits",
  ]

  private static let detailOnly: Set = [
    "character_enemies", "character_friends", "creators", "issue_credits", "issues_died_in",
    "movies", "powers", "story_arc_credits", "team_enemies", "team_friends", "teams",
    "volume_credits",
  ]

  /// The requested fields; all if none of them is known.
  func json(_ fields: [String], _ wanted: String?, isFound: Bool = false) -> JSON {
    let wanted = Set((wanted ?? "").split(separator: ",").map(String.init))
    let known = fields.filter(wanted.contains)
    let members = (known.isEmpty ? fields : known).map { JSON.Member($0, self[$0]) }
    return .object(members + (isFound ? [.init("resource_type", "character")] : []))
  }

  /// The character, whose picture is at another host if it has one of its own.
  func drawn(at host: String) -> FakeCharacter {
    guard case .drawn = picture else { return self }
    var character = self
    character.picture = .at(host)
    return character
  }

  /// The number of terms that occur in the names.
  func relevance(of terms: [Substring]) -> Int {
    let text = [name, realName, aliases, deck].compactMap(\.self).joined(separator: "\n")
      .lowercased()
    return terms.count { text.contains($0) }
  }

  private subscript(field: String) -> JSON {
    switch field {
    case "id": .integer(id)
    case "name": .string(name)
    case "real_name": realName.json
    case "aliases": aliases.json
    case "deck": deck.json
    case "description": description.json
    case "birth": birth.json
    case "gender": .integer(gender)
    case "count_of_issue_appearances": .integer(issueCount)
    case "date_added": "2008-06-06 11:27:37"
    case "date_last_updated": .string(updated)
    case "api_detail_url": .string(Self.api("character/4005", id))
    case "site_detail_url": .string("https://comicvine.example/character/4005-\(id)/")
    case "publisher": publisher.map { Self.named($0, "publisher/4010", 31) } ?? .null
    case "origin": Self.named("Mutant", "origin/4030", 1)
    case "powers": .array(powers.enumerated().map { Self.named($1, "power/4035", $0) })
    case "teams": .array(teams.enumerated().map { Self.named($1, "team/4060", $0) })
    case "issue_credits": .array((0..<issueCount).map { Self.named(nil, "issue/4000", $0) })
    case "first_appeared_in_issue": issue
    case "image": image
    default: []
    }
  }

  private var issue: JSON {
    guard let firstIssue else { return .null }
    return [
      // The real service has no such path.
      "api_detail_url": .string(Self.api("first_appeared_in_issue/4000", id)), "id": .integer(id),
      "name": firstIssue.name.json, "issue_number": firstIssue.number.json,
    ]
  }

  private var image: JSON {
    var host = "https://comicvine.example"
    var file = "0/40/\(id)-portrait.jpg"
    switch picture {
    case .none: return .null
    case .blank: file = "11122/111222211/6373148-blank.png"
    case .drawn: break
    case .at(let place): host = place
    }
    let sizes = [
      ("icon_url", "square_avatar"), ("medium_url", "scale_medium"),
      ("screen_url", "screen_medium"), ("screen_large_url", "screen_kubrick"),
      ("small_url", "scale_small"), ("super_url", "scale_large"), ("thumb_url", "scale_avatar"),
      ("tiny_url", "square_mini"), ("original_url", "original"),
    ]
    let members = sizes.map { key, size in
      JSON.Member(key, .string("\(host)/a/uploads/\(size)/\(file)"))
    }
    return .object(members + [.init("image_tags", ",All Images,Portraits")])
  }

  private static func named(_ name: String?, _ path: String, _ id: Int) -> JSON {
    ["api_detail_url": .string(api(path, id)), "id": .integer(id), "name": name.json]
  }

  private static func api(_ path: String, _ id: Int) -> String {
    "https://comicvine.example/api/\(path)-\(id)/"
  }
}

extension FakeCharacter {
  public init(id: Int, name: String, picture: Picture) {
    self.init(id: id, name: name, gender: 0, picture: picture)
  }

  /// All details are known; it appeared in very many issues.
  public static let complete = FakeCharacter(
    id: 1253, name: "Doctor Meridian", realName: "Ilse Varga ",
    aliases: "Noon\r\nThe Line\n\nZénith",
    deck: "Draws lines that hold & bind.\nSome of them.",
    description: """
      <h2>Origin</h2><p>Ilse met <a href="/no/4005-9/" data-ref-id="4005-9">No &amp; Co</a>.</p>\
      <figure><img src="https://comicvine.example/x.jpg"><figcaption>Her</figcaption></figure>\
      <noscript><img src="x"></noscript><h2>Later</h2><p>She went on.</p>
      """,
    birth: "Dec 4, 1920", gender: 2, publisher: "Quarry Comics",
    firstIssue: ("Lines!", "15"), powers: ["Cartography", "Flight"], teams: ["The Parallels"],
    issueCount: 1773)

  /// No details are known.
  public static let unknown = FakeCharacter(id: 1254, name: "Nobody", gender: 0, picture: .none)

  /// All details are unusual.
  public static let odd = FakeCharacter(
    id: 1255, name: "Señor Niebla 🌫", realName: "   ", aliases: "\r\n", deck: "",
    description: "<p></p>",
    birth: "Jan 1, 1493", publisher: "Quarry Comics", firstIssue: (nil, "½"), picture: .blank)

  /// The number of its first issue is unknown.
  public static let numberless = FakeCharacter(
    id: 1256, name: "Late Arrival", aliases: "Tardy", firstIssue: ("Better Late", nil))

  /// 257 characters: those above, and others with names such as `Spider-Anvil` and `Jade Comet`.
  public static let cast = [complete, unknown, odd, numberless] + (0..<253).map(invented)

  private static let firstNames = [
    "Spider", "Amber", "Brass", "Cinder", "Dusk", "Ember", "Frost", "Granite", "Hollow", "Indigo",
    "Jade", "Kelp", "Lunar", "Mirror", "Night", "Opal",
  ]

  private static let lastNames = [
    "Anvil", "Badger", "Comet", "Dial", "Elm", "Ferry", "Gale", "Harbor", "Ivy", "Kite", "Loom",
    "Needle", "Orchid", "Piston", "Quill", "Thistle",
  ]

  private static func invented(_ index: Int) -> FakeCharacter {
    let (first, last) = (firstNames[index % 16], lastNames[index / 16])
    return FakeCharacter(
      id: 1260 + index + index / 10, name: first + (index % 16 == 0 ? "-" : " ") + last,
      realName: index % 3 == 0 ? nil : "Robin \(last)man",
      aliases: index % 2 == 0 ? nil : "The \(last)",
      deck: index % 5 == 0 ? nil : "Of the house of \(first).", gender: index % 3,
      publisher: ["Quarry Comics", "Lighthouse"][index % 2],
      firstIssue: ("The \(last) Affair", "\(index + 1)"), picture: index % 7 == 0 ? .blank : .drawn)
  }
}
