"""What runs give: jobs and attempts as columns, figures of them, and the tables that are kept."""
