"""What routes share beyond rendering."""
