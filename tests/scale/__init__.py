"""Several servers of one database behind Envoy: kill them under load, and look at what is stored."""
