"""What a report is made of: figures, tables, charts, a manifest, and one writer per format."""
