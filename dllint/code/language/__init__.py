"""What Python text means, whatever it is about: scopes, bindings, values, calls, classes."""
