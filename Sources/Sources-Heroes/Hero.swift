public import AggregatorKit

/// A comic-book character, hero or villain.
///
/// Lists and searches return the short form, without `powers`, `teams` and `biography`.
/// ``merged(over:)`` adds the known details.
public struct Hero: Record {
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
  /// A character as a list, a search or a lookup returns it.
  ///
  /// Only `id` and `name` are always present. Details of an unexpected type count as unknown, so
  /// that no row is lost.
  struct Wire: Decodable {
    let hero: Hero

    private enum CodingKeys: String, CodingKey {
      case id, name, aliases, powers, teams, deck, description, publisher, image
      case realName = "real_name"
      case firstIssue = "first_appeared_in_issue"
      case link = "site_detail_url"
    }

    /// A publisher, power or team.
    fileprivate struct Named: Decodable {
      @Lenient var name: String?
    }

    fileprivate struct Issue: Decodable {
      @Lenient var name: String?
      @Lenient var number: String?
      private enum CodingKeys: String, CodingKey { case name, number = "issue_number" }
    }

    fileprivate struct Image: Decodable {
      let medium: String?
      private enum CodingKeys: String, CodingKey { case medium = "medium_url" }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func detail<Value: Decodable>(_ key: CodingKeys, as type: Value.Type = Value.self) -> Value? {
        // Unreadable details count as unknown.
        (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
      }
      let name = try container.decode(String.self, forKey: .name).nonBlank
      guard let name else {
        throw DecodingError.dataCorruptedError(
          forKey: .name, in: container, debugDescription: "the name is empty")
      }
      var hero = Hero(id: try container.decode(Int.self, forKey: .id), name: name)
      hero.realName = container.lenient(.realName)
      hero.publisher = detail(.publisher, as: Named.self)?.name
      // `null` means none; a missing field means unknown.
      let hasNoAlias = (try? container.decodeNil(forKey: .aliases)) ?? false
      hero.aliases = hasNoAlias ? [] : detail(.aliases, as: String.self)?.nonEmptyLines
      hero.powers = detail(.powers, as: LossyArray<Named>.self)?.names
      hero.teams = detail(.teams, as: LossyArray<Named>.self)?.names
      hero.firstAppearance = detail(.firstIssue, as: Issue.self)?.text
      hero.summary = container.lenient(.deck)
      hero.biography = detail(.description, as: String.self)?.strippingHTML().nonBlank
      hero.image = detail(.image, as: Image.self)?.url
      hero.link = detail(.link, as: String.self).flatMap(\.webAddress)
      self.hero = hero
    }
  }
}

extension LossyArray<Hero.Wire.Named> {
  fileprivate var names: [String] { elements.compactMap(\.name) }
}

extension Hero.Wire.Issue {
  /// The issue as text: `Spider-Man! (issue 15)`.
  ///
  /// Issue numbers are text, such as ½ and 200014. Name or number may be missing.
  fileprivate var text: String? {
    switch (name, number) {
    case (let name?, let number?): "\(name) (issue \(number))"
    case (let name?, nil): name
    case (nil, let number?): "issue \(number)"
    case (nil, nil): nil
    }
  }
}

extension Hero.Wire.Image {
  /// `nil` for Comic Vine's blank placeholder image.
  fileprivate var url: String? {
    medium.flatMap { $0.hasSuffix("-blank.png") ? nil : $0.webAddress }
  }
}

extension String {
  /// The lines that are not blank.
  ///
  /// Comic Vine ends them with `\n` or `\r\n`.
  fileprivate var nonEmptyLines: [String] {
    split(whereSeparator: \.isNewline).compactMap { String($0).nonBlank }
  }
}
