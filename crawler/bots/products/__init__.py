"""Products for people and programs: lists, price history, changes, import and export."""
