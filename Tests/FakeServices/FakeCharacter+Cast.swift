extension FakeCharacter {
  /// A character of which only this is known.
  ///
  /// - Parameters:
  ///   - id: Its number.
  ///   - name: Its name.
  ///   - picture: Its picture.
  public init(id: Int, name: String, picture: Picture) {
    self.init(id: id, name: name, gender: 0, picture: picture)
  }

  /// Everything about it is known, and it was in more issues than anybody wants to be told.
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

  /// Nothing about it is known.
  public static let unknown = FakeCharacter(id: 1254, name: "Nobody", gender: 0, picture: .none)

  /// Everything about it is odd.
  public static let odd = FakeCharacter(
    id: 1255, name: "Señor Niebla 🌫", realName: "   ", aliases: "\r\n", deck: "",
    description: "<p></p>",
    birth: "Jan 1, 1493", publisher: "Quarry Comics", firstIssue: (nil, "½"), picture: .blank)

  /// The number of its first issue is not known.
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
