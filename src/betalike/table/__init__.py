"""What the data is: schema, hierarchies, axes, labels, cells and plans."""
