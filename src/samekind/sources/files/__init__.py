"""Sources that read a user's own files: folders, images, texts, tables and arrays."""
