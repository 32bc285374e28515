import AggregatorKit
import AggregatorPlugins

/// The names of all sources of the program; ``FourServices`` has fake services for some of them.
let sourceNames = AggregatorPlugins.plugins.map(\.name)

/// The settings that are the URLs of services.
let sourceURLSettings = AggregatorPlugins.plugins.flatMap { plugin in
  plugin.settings.filter { $0.form == .url }.map(\.key)
}
