public import AggregatorCore
import AggregatorHTTP
public import AggregatorImages
public import AggregatorSettings

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
    var networkScope = NetworkScope.internet
    for setting in self.settings where setting.form == .url {
      if let address = Address(try settings.url(setting)) {
        networkScope = min(networkScope, address.networkScope)
      }
    }
    if let address = addresses.first(where: { $0.networkScope >= networkScope }) { return address }
    throw SourceError(
      .rejected,
      "the image is said to be at \(first.authority), which is \(first.networkScope.text), and the service is not"
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

extension ImageLoader {
  /// A loader of a source's images, retried and timed as its ``Policy`` says.
  ///
  /// ```swift
  /// let images = ImageLoader(of: plugin, in: environment, files: ImageFiles(in: "/tmp/images"))
  /// if let address = try plugin.imageAddress(of: hero, .small, in: environment.settings) {
  ///   show(try await images.image(at: address).item.bytes)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - plugin: The source whose images they are.
  ///   - environment: Everything that it may touch; its store is not.
  ///   - files: Where images are kept; `nil` for in memory only.
  ///   - memory: How many bytes of images are kept in memory; 64 MiB by default.
  ///   - largest: The most bytes that an image may have; 16 MiB by default.
  ///   - reading: Which tiers may answer.
  ///   - deadline: How long one image may take, with its retries; as long as a page of the source by
  ///     default.
  public init(
    of plugin: some Plugin, in environment: PluginEnvironment, files: ImageDiskCache?,
    memory: Int = 64 << 20, largest: Int = 16 << 20, reading: CachePolicy = .normal,
    deadline: Duration? = nil
  ) {
    self.init(
      of: plugin.name, over: environment.transport, retry: plugin.policy.retry,
      deadline: deadline ?? plugin.policy.deadline, files: files, memory: memory, largest: largest,
      reading: reading, clock: environment.clock, now: environment.now,
      random: environment.random, observer: environment.observer)
  }
}
