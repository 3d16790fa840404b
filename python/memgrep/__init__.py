"""Memory search for AI agents."""
