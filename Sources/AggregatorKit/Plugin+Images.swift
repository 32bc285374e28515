public import AggregatorCore
import AggregatorHTTP
public import AggregatorImages
public import AggregatorSettings

extension Plugin {
  /// The URL of a record's image; `nil` if it has none.
  ///
  /// It is the first valid one of the ``Layout``. URLs on this machine or in a private network are
  /// accepted only if the service is there itself.
  ///
  /// - Throws: ``SourceError``: `rejected` if no URL is accepted, `invalidSettings`.
  public func imageAddress(
    of record: Item, _ size: ImageSize, in settings: Settings
  ) throws(SourceError) -> ImageAddress? {
    let addresses = (layout.images?(record, size) ?? []).compactMap { ImageAddress($0) }
    guard let first = addresses.first else { return nil }
    var networkScope = NetworkScope.internet
    var services = serviceURLs
    for setting in self.settings where setting.form == .url {
      services.append(try settings.url(setting))
    }
    for address in services.compactMap({ Address($0) }) {
      networkScope = min(networkScope, address.networkScope)
    }
    if let address = addresses.first(where: { $0.networkScope >= networkScope }) { return address }
    throw SourceError(
      .rejected,
      "the image URL points at \(first.authority), which is \(first.networkScope.text), unlike the service"
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
  /// Creates a loader of a source's images, with the retries and the deadline of its ``Policy``.
  ///
  /// ```swift
  /// let images = ImageLoader(of: plugin, in: environment, files: ImageFiles(in: "/tmp/images"))
  /// if let address = try plugin.imageAddress(of: hero, .small, in: environment.settings) {
  ///   show(try await images.image(at: address).item.bytes)
  /// }
  /// ```
  ///
  /// The store is not used. Without `files` images are cached in memory only, up to `memory` bytes:
  /// 64 MiB by default. An image has at most `maxBytes` bytes, 16 MiB by default. The default deadline
  /// of one image, with its retries, is the policy's.
  public init(
    of plugin: some Plugin, in environment: PluginEnvironment, files: ImageDiskCache?,
    memory: Int = 64 << 20, maxBytes: Int = 16 << 20, reading: CachePolicy = .normal,
    deadline: Duration? = nil
  ) {
    self.init(
      of: plugin.name, over: environment.transport, retry: plugin.policy.retry,
      deadline: deadline ?? plugin.policy.deadline, files: files, memory: memory,
      maxBytes: maxBytes,
      reading: reading, clock: environment.clock, now: environment.now,
      random: environment.random, observer: environment.observer)
  }
}
