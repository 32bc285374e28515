public import AggregatorCore
import AggregatorHTTP
public import AggregatorImages
public import AggregatorSettings

extension Plugin {
  /// The images of this source's records, with the retries and the deadline of its ``Policy``.
  ///
  /// The store is not used. Without `files` images are cached in memory only, up to `memory` bytes:
  /// 64 MiB by default. An image has at most `maxBytes` bytes, 16 MiB by default. The default deadline
  /// of one image, with its retries, is the policy's. Invalid settings are errors of the calls.
  public func images(
    in environment: PluginEnvironment, files: ImageDiskCache?, memory: Int = 64 << 20,
    maxBytes: Int = 16 << 20, deadline: Duration? = nil
  ) -> RecordImages<Item> {
    let loader = ImageLoader(
      of: name, over: environment.transport, retry: policy.retry,
      deadline: deadline ?? policy.deadline, files: files, memory: memory, maxBytes: maxBytes,
      clock: environment.clock, now: environment.now, random: environment.random,
      observer: environment.observer)
    let networkScope = networkScope(in: environment.settings)
    return RecordImages(of: name, loader) { record, size throws(SourceError) in
      try imageAddress(of: record, size, within: networkScope)
    }
  }

  /// The URL of a record's image; `nil` if it has none.
  ///
  /// It is the first valid one of the ``RecordLayout``. URLs on this machine or in a private network are
  /// accepted only if the service is there itself.
  ///
  /// - Throws: ``SourceError``: `rejected` if no URL is accepted, `invalidSettings`.
  public func imageAddress(
    of record: Item, _ size: ImageSize, in settings: SourceSettings
  ) throws(SourceError) -> ImageAddress? {
    try imageAddress(of: record, size, within: networkScope(in: settings))
  }

  /// The URL of one of a record's images, by its number among those of the ``RecordLayout``, from 1 on; `nil` if it has none
  /// of that number.
  package func imageAddress(
    of record: Item, _ size: ImageSize, number: Int, in settings: SourceSettings
  ) throws(SourceError) -> ImageAddress? {
    let images = layout.images?(record, size) ?? []
    guard images.indices.contains(number - 1), let address = ImageAddress(images[number - 1])
    else { return nil }
    guard address.networkScope >= (try networkScope(in: settings).get()) else {
      throw SourceError.rejected(address)
    }
    return address
  }

  private func imageAddress(
    of record: Item, _ size: ImageSize, within networkScope: Result<NetworkScope, SourceError>
  ) throws(SourceError) -> ImageAddress? {
    let addresses = (layout.images?(record, size) ?? []).compactMap { ImageAddress($0) }
    guard let first = addresses.first else { return nil }
    let networkScope = try networkScope.get()
    if let address = addresses.first(where: { $0.networkScope >= networkScope }) { return address }
    throw .rejected(first)
  }

  /// The most private network that the service is in.
  private func networkScope(in settings: SourceSettings) -> Result<NetworkScope, SourceError> {
    Result { () throws(SourceError) in
      let services = serviceURLs + (try urls(in: settings))
      return services.compactMap { Address($0)?.networkScope }.min() ?? .internet
    }
  }
}

extension SourceError {
  fileprivate static func rejected(_ address: ImageAddress) -> SourceError {
    SourceError(
      .rejected,
      "the image URL points at \(address.authority), which is \(address.networkScope.text), unlike the service"
    )
  }
}

extension NetworkScope {
  fileprivate var text: String {
    switch self {
    case .loopback: "this machine"
    case .privateNetwork: "in a private network"
    case .internet: "on the internet"
    }
  }
}
