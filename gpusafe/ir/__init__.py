"""The intermediate representations: terms, kernels, host paths. No analysis lives here, only data."""
