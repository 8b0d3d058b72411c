"""How the platform is put together and run: settings, addresses, the broker, the launcher's commands."""
