"""Library calls that change the world outside of the process, and so must not run again in each worker."""

from __future__ import annotations

SIDE_EFFECTS = {
    **dict.fromkeys(("os.remove", "os.unlink", "os.rmdir", "shutil.rmtree", "os.removedirs"), "deletes"),
    **dict.fromkeys(
        (
            "urllib.request.urlretrieve",
            "torch.hub.download_url_to_file",
            "torchvision.datasets.utils.download_url",
            "torchvision.datasets.utils.download_and_extract_archive",
            "huggingface_hub.snapshot_download",
            "huggingface_hub.hf_hub_download",
            "gdown.download",
            "nltk.download",
            "wget.download",
            "kagglehub.dataset_download",
        ),
        "downloads",
    ),
    **dict.fromkeys(
        (
            "torch.utils.tensorboard.SummaryWriter",
            "torch.utils.tensorboard.writer.SummaryWriter",
            "tensorboardX.SummaryWriter",
        ),
        "starts a new event file",
    ),
    **dict.fromkeys(
        (
            "huggingface_hub.login",
            "wandb.login",
            "wandb.init",
            "mlflow.start_run",
            "comet_ml.login",
            "neptune.init_run",
            "clearml.Task.init",
        ),
        "logs in",
    ),
}
"""Calls by what they do. Source: the documentation of each library."""

EMPTIES_BY = {"logging.basicConfig": "filemode", "logging.FileHandler": "mode"}
"""Calls that open a log file, by the argument which says that they empty it: "w" is not the default."""
