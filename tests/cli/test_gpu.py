"""`engine=gpu` on the command line: errors in one line, and the rules so far kept."""

import pytest

from labelrules import load_model
from labelrules.data import DeviceError
from labelrules.kernels import device
from labelrules.scale.gpu import codes as gpu_codes
from shell import called
from twins.gpu_kernels import NumpyKernels

LEARN = ["learn", "clinic", "--set", "bins=9", "--set", "engine=gpu"]


def test_without_a_gpu_there_is_an_error_of_one_line(monkeypatch) -> None:
    monkeypatch.setattr(device, "why_no_gpu", lambda: "CUDA finds no GPU: check with nvidia-smi")
    done = called(*LEARN)
    assert done.code == 1
    assert done.err == (
        "labelrules: engine='gpu' needs a GPU, but CUDA finds no GPU: check with nvidia-smi; or "
        "set engine='cpu'\n"
    )


@pytest.mark.parametrize("n_counts", [0, 40])
def test_rules_so_far_are_saved_if_the_gpu_fails(n_counts, monkeypatch, tmp_path) -> None:
    class FailingKernels(NumpyKernels):
        n_left = n_counts

        def count_codes(self, *given):
            FailingKernels.n_left -= 1
            if FailingKernels.n_left < 0:
                raise DeviceError("the GPU or its driver failed")
            super().count_codes(*given)

    monkeypatch.setattr(gpu_codes, "GpuKernels", FailingKernels)
    monkeypatch.setattr(gpu_codes, "free_bytes", lambda: 1 << 30)
    monkeypatch.setattr(device, "why_no_gpu", lambda: None)
    done = called(*LEARN, "-o", str(tmp_path / "model.json"))
    assert "the GPU or its driver failed" in done.err
    assert done.code != 0
    assert (tmp_path / "model.json").exists() == (n_counts > 0)
    if n_counts:
        assert "rules learned so far are kept" in done.err
        assert load_model(tmp_path / "model.json").n_learned_ > 0
