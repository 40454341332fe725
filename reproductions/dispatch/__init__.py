"""Figures of dispatch policies, published and measured again, beside those of this package."""
