"""What reports show of dispatch clusters alone: hardware, utilisation, the published figures."""
