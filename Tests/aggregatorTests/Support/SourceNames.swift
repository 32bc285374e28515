import AggregatorKit

@testable import aggregator

/// The names of all sources of the program; ``FourServices`` has fake services for some of them.
let sourceNames = aggregator.plugins.map(\.name)

/// The settings that are the URLs of services.
let sourceURLSettings = aggregator.plugins.flatMap { plugin in
  plugin.settings.filter { $0.form == .url }.map(\.key)
}
