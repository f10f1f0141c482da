"""What a page says: metadata, prices, images. Pure functions, without I/O and without Django."""
