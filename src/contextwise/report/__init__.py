"""Results for people and for other programs: text tables, records, pictures, pages."""
