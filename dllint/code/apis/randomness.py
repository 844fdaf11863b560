"""Random numbers: what makes a generator, what draws from it, what seeds it.

Sources: numpy 2.4, Python 3.13 and torch 2.13; the seeders of libraries as their documentation has them.
"""

from __future__ import annotations

GENERATORS = frozenset(
    {
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "numpy.random.Generator",
        "random.Random",
        "torch.Generator",
    }
)
"""Calls that make a generator of random numbers with a state of its own."""

GENERATOR_WORDS = (b"default_rng", b"RandomState", b"Generator(", b"Random(", b"Random)", b"Generator)")
"""A program that holds none of these makes no generator."""

NUMPY_DRAWS = frozenset(
    {
        "beta",
        "binomial",
        "bytes",
        "chisquare",
        "choice",
        "dirichlet",
        "exponential",
        "gamma",
        "geometric",
        "gumbel",
        "laplace",
        "logistic",
        "lognormal",
        "multinomial",
        "multivariate_normal",
        "normal",
        "pareto",
        "permutation",
        "poisson",
        "rand",
        "randint",
        "randn",
        "random",
        "random_integers",
        "random_sample",
        "ranf",
        "rayleigh",
        "sample",
        "shuffle",
        "standard_normal",
        "standard_t",
        "triangular",
        "uniform",
        "vonmises",
        "weibull",
    }
)
"""Functions of numpy.random, and methods of its generators, that draw."""

DRAWS = NUMPY_DRAWS | {
    "betavariate",
    "choices",
    "expovariate",
    "gammavariate",
    "gauss",
    "getrandbits",
    "integers",
    "lognormvariate",
    "normalvariate",
    "permuted",
    "randbytes",
    "randrange",
    "standard_exponential",
    "standard_gamma",
    "vonmisesvariate",
}
"""Methods of a generator that draw from it."""

ORDERS = frozenset({"shuffle", "permutation", "permuted", "sample", "randperm"})
"""Draws that put data in order: workers that share out one list among them have to agree on it."""

GENERATOR_KEYWORDS = frozenset({"generator", "random_state", "rng"})
"""Keywords by which a library function is told what to draw from."""

RESEEDS = frozenset({"seed", "manual_seed", "setstate", "set_state", "__setstate__"})
"""Methods that give a generator another state."""

SEEDERS = frozenset(
    {
        "random.seed",
        "numpy.random.seed",
        "torch.manual_seed",
        "torch.random.manual_seed",
        "torch.cuda.manual_seed",
        "torch.cuda.manual_seed_all",
        "lightning.pytorch.seed_everything",
        "lightning.seed_everything",
        "lightning.fabric.seed_everything",
        "transformers.set_seed",
        "accelerate.utils.set_seed",
        "monai.utils.set_determinism",
    }
)
"""Calls that seed the global generators."""

GLOBAL_GENERATORS = frozenset({"random", "numpy", "torch"})
"""The modules that have a global generator."""

SEED_GLOBALS_ONLY = frozenset(
    {
        *SEEDERS,
        "lightning.fabric.utilities.seed.pl_worker_init_function",
        "lightning.pytorch.pl_worker_init_function",
        "pytorch_lightning.utilities.seed.pl_worker_init_function",
    }
)
"""What a loader can be given as worker_init_fn that reaches no generator of the project's own."""

MOVES_ON = frozenset({"bit_generator", "random_raw", "advance", "jumped", "jumpahead", "setstate", "set_state"})
"""Attributes by which a generator is taken to another state than the one that it was made in."""
