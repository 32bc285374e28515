/// Views draw thumbnails.
@_exported public import AggregatorThumbnails
