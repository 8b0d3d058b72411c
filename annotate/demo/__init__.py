"""The demo's own records: invented tables, everyday questions. Imported by the same code as anybody's files."""
