"""Open handles: files, maps and connections that belong to the process that opened them."""
