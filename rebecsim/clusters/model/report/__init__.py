"""What reports of the kind `model` show beyond what all kinds have."""
