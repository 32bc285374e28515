import AggregatorKit

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
