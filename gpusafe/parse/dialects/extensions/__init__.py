"""API tables that come with gpusafe, one file a crate, in the format of docs/extending.md."""
