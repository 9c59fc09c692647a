"""What is emitted: the v1alpha1 document kinds, their canonical form, digests and slugs."""
