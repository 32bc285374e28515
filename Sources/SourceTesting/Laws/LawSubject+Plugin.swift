public import AggregatorKit
public import AggregatorLaws

extension LawSubject {
  /// The bare remote of a plugin; counts its requests.
  ///
  /// If the environment has a page size, laws about paging read the whole list in such pages.
  public init(
    remoteOf plugin: some Plugin<Item>, in environment: PluginEnvironment
  ) throws(SourceError) {
    let requestCounter = RequestCounter()
    let environment = requestCounter.observed(environment)
    self.init(
      "\(plugin.name).remote", source: try plugin.wholeRemote(in: environment), from: plugin)
    pageSize = environment.pageSize
    search = plugin.policy.localSearchBound == nil ? .service : .none
    isEndless = plugin.policy.isEndless
    repeatsRecords = plugin.policy.repeatsRecords
    isRemote = true
    secrets = plugin.secrets(in: environment.settings)
    recreate = { () throws(SourceError) in try plugin.wholeRemote(in: environment) }
    self.requestCounter = requestCounter
  }

  /// The bundled data of a plugin, which must contain its example.
  public init(bundledOf plugin: some Plugin<Item>) {
    self.init("\(plugin.name).bundled", source: plugin.bundled, from: plugin)
    search = .local
    known = Item.ID(plugin.example.id)
  }

  /// The whole chain of a plugin; counts its requests.
  public init(
    chainOf plugin: some Plugin<Item>, in environment: PluginEnvironment,
    cachePolicy: CachePolicy = .normal
  ) throws(SourceError) {
    let requestCounter = RequestCounter()
    let environment = requestCounter.observed(environment)
    let make = { @Sendable () throws(SourceError) -> any DataSource<Item> in
      // A law judges answers, not the time that they take.
      try plugin.source(in: environment, deadline: .seconds(600)).cachePolicy(cachePolicy)
    }
    self.init(plugin.name, source: try make(), from: plugin)
    pageSize = nil
    search = plugin.policy.localSearchBound == nil ? .service : .local
    // With a store in front of the service each record comes once, and the list need not grow.
    let isStored = plugin.policy.readOrder == .localFirst && environment.store != nil
    isEndless =
      plugin.policy.isEndless && cachePolicy.mayAskService
      && !(isStored && cachePolicy.growth != .atEnd)
    repeatsRecords = plugin.policy.repeatsRecords && !isStored
    secrets = plugin.secrets(in: environment.settings)
    recreate = make
    self.requestCounter = requestCounter
  }

  private init(_ name: String, source: any DataSource<Item>, from plugin: some Plugin<Item>) {
    self.init(
      name, source: source, fields: plugin.fields, query: try? SearchQuery(plugin.example.query))
    sample = plugin.bundled
    let largest = plugin.policy.largestPage
    sizes = sizes.filter { $0 < largest } + [largest]
  }
}

extension PluginEnvironment {
  /// The same environment with small pages of the service, so that few records have many pages, unless it has a page
  /// size, or makes or replays a recording, which has its own pages.
  func withSmallPages(of plugin: some Plugin, size: Int = 5) -> PluginEnvironment {
    guard pageSize == nil, !(transport is ReplayingTransport), !(transport is OnceTransport) else {
      return self
    }
    var environment = self
    environment.pageSize = size
    var sizes: [String: String] = [:]
    for case .setting(let setting)? in [plugin.policy.upstreamPageSize, plugin.policy.syncPageSize]
    {
      if case .count(let range) = setting.form, range.contains(size) {
        sizes[setting.key] = "\(size)"
      }
    }
    environment.settings = settings.replaced(sizes)
    return environment
  }
}
