"""Numbers that no number of workers is: infinite, none at all, thousands of digits long."""
from torch.utils.data import DataLoader

one = DataLoader([1], num_workers=1e999, prefetch_factor=1e999, batch_size=1e999, timeout=1e999)
two = DataLoader([1], num_workers=4, prefetch_factor=1e999 - 1e999, batch_size=1e999 * 0)
three = DataLoader(range(10**9999), num_workers=-1e999, prefetch_factor=-1e999, batch_size=1 // 1e999)
four = DataLoader([0] * 10**9999, num_workers=10**9999, prefetch_factor=10**9999 % 7, batch_size=1e999j)
for batch in DataLoader(range(int(1e999)), num_workers=round(1e999), prefetch_factor=min(1e999, 4)):
    print(batch)
