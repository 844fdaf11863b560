"""OpenCV functions that run in its thread pool (`cv::parallel_for_` in the sources of OpenCV 4), and what tames it."""

from __future__ import annotations

THREADED_CV2 = frozenset(
    f"cv2.{name}"
    for name in (
        "resize",
        "warpAffine",
        "warpPerspective",
        "remap",
        "cvtColor",
        "GaussianBlur",
        "blur",
        "boxFilter",
        "medianBlur",
        "bilateralFilter",
        "filter2D",
        "Canny",
        "Sobel",
        "Laplacian",
        "erode",
        "dilate",
        "morphologyEx",
        "undistort",
        "pyrDown",
        "pyrUp",
        "threshold",
        "adaptiveThreshold",
        "equalizeHist",
        "fastNlMeansDenoising",
        "fastNlMeansDenoisingColored",
        "calcOpticalFlowFarneback",
        "calcOpticalFlowPyrLK",
        "matchTemplate",
        "LUT",
        "rotate",
    )
)

SETS_CV2_THREADS = ("setNumThreads", "opencv_num_threads", "set_multi_processing", "setup_multi_processes")
"""Words by which a project sets the number of OpenCV's threads: its own call, or the settings of OpenMMLab."""
