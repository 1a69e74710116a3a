"""A runner of the product's own, which speaks to it over HTTP as anybody's would."""
