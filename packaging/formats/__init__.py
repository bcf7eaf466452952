"""One module a package format; each has `make(release, folder)`, which returns the file it made."""
