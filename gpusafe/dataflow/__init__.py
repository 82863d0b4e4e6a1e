"""From syntax to host paths, launch graphs and accesses."""
