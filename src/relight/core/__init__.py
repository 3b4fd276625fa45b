"""Parts that the module and the data module are made of."""
