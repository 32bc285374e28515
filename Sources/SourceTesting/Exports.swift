/// Tests of a source import one module.
@_exported public import AggregatorTestSupport
