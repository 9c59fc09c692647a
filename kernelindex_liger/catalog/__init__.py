"""What is known: curated facts as TOML, and the models that load and check them."""
