public import AggregatorKit

/// A comic-book character, hero or villain.
///
/// Lists and searches give the short form, in which `powers`, `teams` and `biography` are `nil`: not
/// known. ``merged(over:)`` completes it from the long form.
public struct Hero: Record {
  /// Comic Vine's number: 1443 for the character that it calls `4005-1443`.
  public let id: Int

  /// The name the character is known by.
  public var name: String

  /// The name behind the mask.
  public var realName: String?

  /// Who publishes it: `Marvel`.
  public var publisher: String?

  /// Other names; `nil` if not known.
  public var aliases: [String]?

  /// What the character can do; `nil` if not known, empty if nothing special.
  public var powers: [String]?

  /// Which teams the character belongs to; `nil` if not known.
  public var teams: [String]?

  /// The issue in which it appeared first: `Amazing Fantasy #15 (1962)` in the bundle; the service
  /// gives the story's title instead of the series, as in `Spider-Man! (issue 15)`.
  public var firstAppearance: String?

  /// Who it is, in a line or two.
  public var summary: String?

  /// Its life, as plain text in paragraphs.
  public var biography: String?

  /// The address of a picture.
  public var image: String?

  /// The address of its page for people.
  public var link: String?

  /// A hero of which only this is known.
  ///
  /// - Parameters:
  ///   - id: Comic Vine's number.
  ///   - name: The name the character is known by.
  public init(id: Int, name: String) {
    self.id = id
    self.name = name
  }

  /// This hero, with the detail that only `known` has.
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
