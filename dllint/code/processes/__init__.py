"""Processes: how workers are started, what reaches them by pickling, threads and locks around a fork."""
