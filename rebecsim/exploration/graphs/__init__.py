"""State spaces as graphs: for exports and pictures, and for cycles in which no time passes."""
