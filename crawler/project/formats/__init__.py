"""How pages write times (Django's FORMAT_MODULE_PATH)."""
