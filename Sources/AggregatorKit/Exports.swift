/// The only import that sources and apps need: re-exports every public module below the kit.
@_exported public import AggregatorAuthorization
@_exported public import AggregatorCore
@_exported public import AggregatorFormats
@_exported public import AggregatorFoundation
@_exported public import AggregatorHTTP
@_exported public import AggregatorImages
@_exported public import AggregatorJSON
@_exported public import AggregatorSQLite
@_exported public import AggregatorSettings
@_exported public import AggregatorStore
@_exported public import AggregatorSync
@_exported public import AggregatorText

#if canImport(Darwin)
  @_exported public import AggregatorURLSession
#endif
