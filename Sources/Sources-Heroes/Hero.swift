public import AggregatorKit

/// A comic-book character, hero or villain.
///
/// Lists and searches return the short form, without `powers`, `teams` and `biography`.
/// ``merged(over:)`` adds the known details.
public struct Hero: SourceRecord {
  /// Comic Vine's number: 1443 for `4005-1443`.
  public let id: Int

  public var name: String

  public var realName: String?

  /// Such as `Marvel`.
  public var publisher: String?

  /// `nil` if unknown.
  public var aliases: [String]?

  /// `nil` if unknown, empty if there are none.
  public var powers: [String]?

  /// `nil` if unknown, empty if there are none.
  public var teams: [String]?

  /// The first issue: `Amazing Fantasy #15 (1962)` in bundled data; the service returns the title
  /// of the story, as in `Spider-Man! (issue 15)`.
  public var firstAppearance: String?

  /// One or two lines.
  public var summary: String?

  /// Plain text in paragraphs.
  public var biography: String?

  /// The URL of an image.
  public var image: String?

  /// The URL of the character's web page.
  public var link: String?

  public init(id: Int, name: String) {
    self.id = id
    self.name = name
  }

  public func merged(over known: Hero) -> Hero {
    var hero = self
    hero.realName = realName ?? known.realName
    hero.publisher = publisher ?? known.publisher
    hero.aliases = aliases ?? known.aliases
    hero.powers = powers ?? known.powers
    hero.teams = teams ?? known.teams
    hero.firstAppearance = firstAppearance ?? known.firstAppearance
    hero.summary = summary ?? known.summary
    hero.biography = biography ?? known.biography
    hero.image = image ?? known.image
    hero.link = link ?? known.link
    return hero
  }
}

extension Hero {
  /// The URL for a size, then the medium URL (``image``) as fallback.
  ///
  /// The URLs of Comic Vine's sizes differ in the component `scale_small`, `scale_medium` or
  /// `scale_large`; any other URL has one size only.
  func images(_ size: ImageSize) -> [String] {
    guard let image else { return [] }
    let part =
      switch size {
      case .small: "scale_small"
      case .medium: "scale_medium"
      case .large: "scale_large"
      }
    return [image.replacing("/scale_medium/", with: "/\(part)/", maxReplacements: 1), image]
  }
}

extension Hero {
  // With their names: taking them from key paths, as `Field(\.name)` does, is a fifth of what a command does.
  static let fields: [Field<Hero>] = [
    Field("id", "ID", \.id, about: "Comic Vine ID."),
    Field("name", "Name", \.name, about: "Name of the character.", isSearchable: true),
    Field("realName", "Real name", \.realName, about: "Real name.", isSearchable: true),
    Field("publisher", "Publisher", \.publisher, about: "Publisher."),
    Field("powers", "Powers", \.powers, about: "Powers of the character.", isShown: false)
      .onlyInDetails(),
    Field("teams", "Teams", \.teams, about: "Teams of the character.", isShown: false)
      .onlyInDetails(),
    Field(
      "aliases", "Aliases", \.aliases, about: "Other names.", isShown: false, isSearchable: true),
    Field(
      "firstAppearance", "First appearance", \.firstAppearance,
      about: "Issue of the first appearance.", isShown: false),
    Field("summary", "Summary", \.summary, about: "Short summary.", isShown: false),
    Field("biography", "Biography", \.biography, about: "Biography as plain text.", isShown: false)
      .onlyInDetails(),
    Field("image", "Image", \.image, about: "URL of an image.", isShown: false),
    Field("link", "Link", \.link, about: "URL of the web page.", isShown: false),
  ]
}
