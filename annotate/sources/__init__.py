"""Where items come from: an uploaded file -> detected format -> a stream of records -> item drafts. Pure, no Django."""
