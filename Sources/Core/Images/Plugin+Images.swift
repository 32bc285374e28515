extension Plugin {
  /// Where a record's image is.
  ///
  /// Of the addresses that the ``Layout`` names the first is taken that is one. It may be on this
  /// machine, or in a private network, only if the service is there itself.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - size: How large the image is wanted.
  ///   - settings: What has been set: where the service is.
  /// - Returns: `nil` if the record has no image.
  /// - Throws: ``SourceError``: `rejected` if all addresses are where they must not be, `badSettings`.
  public func imageAddress(
    of record: Item, _ size: ImageSize, in settings: Settings
  ) throws(SourceError) -> ImageAddress? {
    let addresses = (layout.images?(record, size) ?? []).compactMap { ImageAddress($0) }
    guard let first = addresses.first else { return nil }
    var reach = Reach.world
    for setting in self.settings where setting.form == .url {
      if let address = Address(try settings.url(setting)) { reach = min(reach, address.reach) }
    }
    if let address = addresses.first(where: { $0.reach >= reach }) { return address }
    throw SourceError(
      .rejected,
      "the image is said to be at \(first.place), which is \(first.reach.inWords), and the service is not"
    )
  }
}

extension Reach {
  fileprivate var inWords: String {
    switch self {
    case .machine: "this machine"
    case .network: "in a private network"
    case .world: "in the world"
    }
  }
}
