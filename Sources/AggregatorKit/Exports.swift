/// The one import of whoever writes a source, or an app: everything public below the kit.
@_exported public import AggregatorCore
@_exported public import AggregatorHTTP
@_exported public import AggregatorImages
@_exported public import AggregatorSQLite
@_exported public import AggregatorSettings
@_exported public import AggregatorStore
