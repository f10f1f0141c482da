"""Which URL is next: the contract and its backends. No Django: SQL goes through a cursor that is handed in."""
