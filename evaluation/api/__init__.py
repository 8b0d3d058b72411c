"""The API of the model side and the numbers; annotate/api has what the two sides share."""
