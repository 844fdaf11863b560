"""Calls that write a file, and which of their arguments is its path.

Sources: the signatures of the libraries; the manuals of ffmpeg, SoX and ImageMagick for where a command line names
its output.
"""

from __future__ import annotations

OPENS_TO_WRITE = frozenset(
    {
        "builtins.open",
        "codecs.open",
        "gzip.open",
        "bz2.open",
        "lzma.open",
        "zipfile.ZipFile",
        "tarfile.open",
        "h5py.File",
        "wave.open",
    }
)
"""Calls that take a path and then a mode."""

WRITES = {
    **dict.fromkeys(
        (
            "numpy.save",
            "numpy.savez",
            "numpy.savez_compressed",
            "numpy.savetxt",
            "cv2.imwrite",
            "imageio.imwrite",
            "imageio.imsave",
            "imageio.v2.imwrite",
            "imageio.v3.imwrite",
            "skimage.io.imsave",
            "tifffile.imwrite",
            "tifffile.imsave",
            "soundfile.write",
            "torchaudio.save",
            "scipy.io.wavfile.write",
            "scipy.io.savemat",
            "matplotlib.pyplot.savefig",
            "matplotlib.pyplot.imsave",
            "torchvision.io.write_video",
            "librosa.output.write_wav",
        ),
        0,
    ),
    **dict.fromkeys(
        (
            "torch.save",
            "torchvision.utils.save_image",
            "torchvision.io.write_png",
            "torchvision.io.write_jpeg",
            "nibabel.save",
            "SimpleITK.WriteImage",
            "joblib.dump",
            "shutil.copy",
            "shutil.copy2",
            "shutil.copyfile",
            "shutil.move",
            "urllib.request.urlretrieve",
        ),
        1,
    ),
}
"""Library functions that write a file -> the position of its path."""

PATH_ARGUMENTS = frozenset(
    {"file", "fname", "f", "filename", "fp", "path", "uri", "dst", "filepath", "fileName", "out"}
)
"""Names by which such functions take the path."""

WRITING_METHODS = frozenset(
    {
        "save",
        "savefig",
        "export",
        "to_csv",
        "to_parquet",
        "to_pickle",
        "to_json",
        "tofile",
        "write_videofile",
        "write_audiofile",
        "write_image",
    }
)
"""Methods of library objects that write the file at their first argument."""

WRITES_ITSELF = frozenset({"write_text", "write_bytes"})
"""Methods of a path that write its file."""

RUNS_COMMANDS = frozenset(
    {
        "subprocess.run",
        "subprocess.call",
        "subprocess.check_call",
        "subprocess.check_output",
        "subprocess.Popen",
        "os.system",
        "os.popen",
    }
)

OUTPUT_IS_LAST = frozenset({"ffmpeg", "avconv", "sox", "convert", "magick", "cp", "mv", "lame", "flac"})
"""Programs whose output file comes last on their command line; after it SoX takes effects, which are no paths."""

OUTPUT_OPTIONS = {"wget": ("-O", "--output-document"), "curl": ("-o", "--output")}
"""Programs that name their output file by an option."""

MOVES_INTO_PLACE = frozenset({"replace", "rename", "move"})
"""Last names of the calls that put a finished file in its place."""
