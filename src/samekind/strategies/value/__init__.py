"""Value mining (IDC): hard, representative and diverse items."""
