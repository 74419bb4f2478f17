"""The error of a GPU."""


class DeviceError(RuntimeError):
    """There is no GPU, its memory is full, or it has failed; what to do is said."""
