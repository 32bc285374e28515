import Foundation

/// Loads the images of a source: from memory, from the disk, from the web.
///
/// - Whoever asks for an image that is being loaded waits for it too. A caller that is cancelled leaves
///   at once; the request ends when the last one has left.
/// - What is kept, in memory and on the disk, is bounded by bytes; what was used longest ago goes first.
/// - An image is what begins and looks like one, whatever its `Content-Type` and its name say.
/// - Failures are tried again, and deadlines kept, by the source's ``Policy``.
///
/// ```swift
/// let images = ImageLoader(of: plugin, in: environment, files: ImageFiles(in: "/tmp/images"))
/// if let address = try plugin.imageAddress(of: hero, .small, in: environment.settings) {
///   show(try await images.image(at: address).item.bytes)
/// }
/// ```
public struct ImageLoader: Sendable {
  private let memory: ImageMemory
  private let source: any DataSource<LoadedImage>
  private let readsMemory: Bool

  /// A loader.
  ///
  /// Make one and keep it: what is in flight and in memory is shared within it.
  ///
  /// - Parameters:
  ///   - plugin: The source whose images they are.
  ///   - environment: Everything that it may touch; its store is not.
  ///   - files: Where images are kept; `nil` for in memory only.
  ///   - memory: How many bytes of images are kept in memory; 64 MiB by default.
  ///   - largest: The most bytes that an image may have; 16 MiB by default.
  ///   - reading: Which tiers may answer: `offline` opens no socket, `refresh` asks for what is kept
  ///     too, and falls back to it.
  ///   - deadline: How long one image may take, with its retries; as long as a page of the source by
  ///     default.
  public init(
    of plugin: some Plugin, in environment: PluginEnvironment, files: ImageFiles?,
    memory: Int = 64 << 20, largest: Int = 16 << 20, reading: Reading = .normal,
    deadline: Duration? = nil
  ) {
    self.memory = ImageMemory(of: memory)
    readsMemory = !reading.refreshes
    var chain: any DataSource<LoadedImage>
    if reading.mayAskService {
      let clock = environment.clock
      chain = RemoteImages(
        transport: environment.transport, largest: largest, now: environment.now
      )
      .retry(plugin.policy.retry, clock: clock, random: environment.random)
      .timeout(deadline ?? plugin.policy.deadline, clock: clock)
    } else {
      chain = UnavailableSource(
        SourceError(.offline, "the image is not stored, and the network is not to be used"))
    }
    if let files {
      chain = chain.kept(
        in: files, of: plugin.name, atMost: largest, for: reading, now: environment.now)
    }
    source = chain.coalesced().observed(by: environment.observer, as: "\(plugin.name) images")
  }

  /// The image at an address.
  ///
  /// - Parameter address: Where it is; see ``Plugin/imageAddress(of:_:in:)``.
  /// - Returns: The image, who answered, and a warning if it could not be kept.
  /// - Throws: ``SourceError``: `malformed` for what is no image, `tooLarge`, `rejected` if there is none
  ///   at this address, `offline` if it is not kept and the network is not to be used, `cancelled`, and
  ///   what a ``Transport`` throws.
  public func image(at address: ImageAddress) async throws(SourceError) -> Found<LoadedImage> {
    if readsMemory, let kept = memory[address] {
      let provenance = Provenance(
        .stored, fetchedAt: kept.fetchedAt, endpoint: HTTPRequest(.get, address.url).endpoint)
      return Found(kept.image, provenance: provenance)
    }
    let found = try await source.item(address)
    memory.add(found.item, fetchedAt: found.provenance.fetchedAt)
    return found
  }
}

extension DataSource<LoadedImage> {
  /// Keeps images on the disk.
  fileprivate func kept(
    in files: ImageFiles, of collection: String, atMost largest: Int, for reading: Reading,
    now: @escaping @Sendable () -> Date
  ) -> any DataSource<LoadedImage> {
    KeptImages(
      base: self, files: files, collection: collection, reading: reading, largest: largest, now: now
    )
  }
}
