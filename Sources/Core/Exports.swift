// Sources read JSON in every module that knows records.
@_exported public import AggregatorJSON
