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

extension Hero {
  /// The addresses of the picture in a size, best first.
  ///
  /// Comic Vine keeps each picture in nine sizes, whose addresses differ in one part of the path. Of
  /// those, `small_url`, `medium_url` and `super_url` are taken; ``image`` is the second. An address of
  /// another form is the only one that is known.
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
  /// A character as Comic Vine sends it, in a list, a search or alone.
  ///
  /// Only `id` and `name` are sure to be there: lists lack the detail, `field_list` removes the rest, and
  /// nearly everything can be null. What is of an unexpected type is an unknown detail, not a lost row.
  struct Wire: Decodable {
    let hero: Hero

    private enum CodingKeys: String, CodingKey {
      case id, name, aliases, powers, teams, deck, description, publisher, image
      case realName = "real_name"
      case firstIssue = "first_appeared_in_issue"
      case link = "site_detail_url"
    }

    /// A publisher, a power, a team.
    fileprivate struct Named: Decodable {
      let name: String?
    }

    fileprivate struct Issue: Decodable {
      let name: String?
      let number: String?
      private enum CodingKeys: String, CodingKey { case name, number = "issue_number" }
    }

    fileprivate struct Image: Decodable {
      let medium: String?
      private enum CodingKeys: String, CodingKey { case medium = "medium_url" }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      func detail<Value: Decodable>(_ key: CodingKeys, as type: Value.Type = Value.self) -> Value? {
        // A detail that cannot be read is a detail that is not known.
        (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
      }
      let name = try container.decode(String.self, forKey: .name).nonBlank
      guard let name else {
        throw DecodingError.dataCorruptedError(
          forKey: .name, in: container, debugDescription: "the name is empty")
      }
      var hero = Hero(id: try container.decode(Int.self, forKey: .id), name: name)
      hero.realName = detail(.realName, as: String.self)?.nonBlank
      hero.publisher = detail(.publisher, as: Named.self)?.name?.nonBlank
      // `null` says that there are none; a list without the field says nothing.
      let hasNoAlias = (try? container.decodeNil(forKey: .aliases)) ?? false
      hero.aliases = hasNoAlias ? [] : detail(.aliases, as: String.self)?.nonEmptyLines
      hero.powers = detail(.powers, as: LossyArray<Named>.self)?.names
      hero.teams = detail(.teams, as: LossyArray<Named>.self)?.names
      hero.firstAppearance = detail(.firstIssue, as: Issue.self)?.text
      hero.summary = detail(.deck, as: String.self)?.nonBlank
      hero.biography = detail(.description, as: String.self)?.strippingHTML().nonBlank
      hero.image = detail(.image, as: Image.self)?.picture
      hero.link = detail(.link, as: String.self).flatMap(\.webAddress)
      self.hero = hero
    }
  }
}

extension LossyArray<Hero.Wire.Named> {
  fileprivate var names: [String] { elements.compactMap { $0.name?.nonBlank } }
}

extension Hero.Wire.Issue {
  /// The issue in words: `Spider-Man! (issue 15)`.
  ///
  /// The number is text: there are issues ½ and 200014. Either may be missing.
  fileprivate var text: String? {
    switch (name?.nonBlank, number?.nonBlank) {
    case (let name?, let number?): "\(name) (issue \(number))"
    case (let name?, nil): name
    case (nil, let number?): "issue \(number)"
    case (nil, nil): nil
    }
  }
}

extension Hero.Wire.Image {
  /// `nil` for the blank picture that stands for none.
  fileprivate var picture: String? {
    medium.flatMap { $0.hasSuffix("-blank.png") ? nil : $0.webAddress }
  }
}

extension String {
  /// The lines that say something.
  ///
  /// Comic Vine ends them with `\n` or `\r\n`.
  fileprivate var nonEmptyLines: [String] {
    split(whereSeparator: \.isNewline).compactMap { String($0).nonBlank }
  }
}
