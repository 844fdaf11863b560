"""One module for each rule, named by its code and name. `dllint.rule.registry` finds them."""
