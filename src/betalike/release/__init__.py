"""A plan in, a verified release out: certificate, folder, publish, verify."""
