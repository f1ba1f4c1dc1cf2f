"""Recipes: networks of timm, torchvision and segmentation-models-pytorch, without weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .forms import all_forms
from .subjects import NCHW, Subject, image

TINY_SWIN = {"embed_dim": 16, "depths": (1, 1), "num_heads": (2, 4), "img_size": 64, "window_size": 4}
TINY_VIT = {"embed_dim": 32, "depth": 2, "num_heads": 4}

#: A name of timm, the side of the picture, forms, and arguments.
TIMM: list[tuple[Any, ...]] = [
    ("test_resnet", 64, "ts17 dyn18 dyn18b ov ts13>qdq ts13>qop ts17>fp16 dyn18>all ov>ptq ts17>ov"),
    ("test_efficientnet", 64, "ts17 dyn18 ov ts13>qdqp dyn18>fp16 dyn18>all ov>int8"),
    ("test_efficientnet_gn", 64, "ts17 dyn18 ov"),
    ("test_efficientnet_ln", 64, "dyn18"),
    ("test_convnext", 64, "ts17 dyn18 ov dyn18>q8 ts17>extended"),
    ("test_convnext3", 64, "dyn18"),
    ("test_byobnet", 64, "ts17 dyn18 ov"),
    ("test_coatnet", 160, "dyn18 dyn18b ts17b"),
    ("test_maxvit", 160, "ts17 dyn18 dyn18b ov"),
    ("test_mambaout", 64, "dyn18 ts17"),
    ("test_nfnet", 64, "dyn18 ts17 ov"),
    ("test_vit", 160, "ts17 dyn18 dyn18b ov dyn18b>q8 dyn18b>fp16 ts17b>all dyn18b>ov"),
    ("test_vit", 160, "dyn18 ts17 ov", {"dynamic_img_size": True}, "dynamic"),
    ("test_vit3", 160, "dyn18b ts17"),
    ("test_vit4", 160, "dyn18b ts17"),
    ("test_vit_relpos", 160, "dyn18b ts17"),
    ("resnet18d", 64, "dyn18", {"channels": (8, 16, 32, 32), "stem_width": 8}),
    ("mobilenetv3_small_050", 64, "ts13 ts17 dyn18 dyn21 ov ts13>qdq ts13>qop ts17>slim ov>ovfp16 ov>ptq"),
    ("tf_mobilenetv3_small_minimal_100", 64, "ts17 dyn18 ov dyn18>all"),
    ("tf_efficientnet_lite0", 64, "dyn18 dyn23 ov ts17"),
    ("tf_efficientnetv2_b0", 64, "dyn18"),
    ("mixnet_s", 64, "dyn18 ts17"),
    ("tf_mixnet_s", 64, "dyn18"),
    ("lcnet_050", 64, "dyn18 ts17>ov"),
    ("mobilevit_xxs", 64, "ts17 dyn18 ov dyn18>all"),
    ("mobilevitv2_050", 64, "ts17 dyn18 ov"),
    ("edgenext_xx_small", 64, "dyn18 ts17"),
    ("efficientvit_b0", 64, "dyn18 ts17"),
    ("efficientvit_m0", 224, "dyn18b dyn18"),
    ("ghostnet_050", 64, "dyn18 ov"),
    ("repvgg_a0", 64, "dyn18", {"num_classes": 10}),
    ("regnetx_002", 64, "dyn18 ts17"),
    ("mnasnet_small", 64, "ts17"),
    ("fbnetv3_b", 64, "dyn18"),
    ("hardcorenas_a", 64, "ts17"),
    ("levit_128s", 224, "dyn18b ts17b"),
    ("poolformer_s12", 64, "dyn18", {"embed_dims": (16, 16, 32, 32), "layers": (1, 1, 1, 1)}),
    ("pvt_v2_b0", 64, "dyn18 ts17 ov dyn18>ov"),
    ("swin_tiny_patch4_window7_224", 64, "dyn18 ts17 dyn18b ov", TINY_SWIN),
    ("swinv2_tiny_window8_256", 64, "dyn18 ts17 dyn18b", TINY_SWIN),
    (
        "swin_tiny_patch4_window7_224",
        64,
        "dyn18 ts17",
        {**TINY_SWIN, "strict_img_size": False, "dynamic_mask": True},
        "lenient",
    ),
    ("vit_tiny_patch16_224", 64, "dyn18b ts17 dyn18s", {**TINY_VIT, "img_size": 64}),
    (
        "vit_tiny_patch16_224",
        64,
        "dyn18 ts17",
        {**TINY_VIT, "img_size": 64, "dynamic_img_size": True, "dynamic_img_pad": True},
        "padded",
    ),
    ("deit_tiny_distilled_patch16_224", 64, "dyn18b", {**TINY_VIT, "img_size": 64}),
    ("beit_base_patch16_224", 64, "dyn18b ts17", {**TINY_VIT, "img_size": 64}),
    ("eva02_tiny_patch14_224", 56, "dyn18b ts17", {**TINY_VIT, "img_size": 56}),
    ("cait_xxs24_224", 64, "dyn18b", {**TINY_VIT, "img_size": 64}),
    ("xcit_nano_12_p16_224", 64, "dyn18 ts17", {"embed_dim": 32, "depth": 2, "num_heads": 4}),
    ("mixer_s32_224", 64, "dyn18 ts17", {"embed_dim": 32, "num_blocks": 2, "img_size": 64}),
    ("resmlp_12_224", 64, "dyn18b", {"embed_dim": 32, "num_blocks": 2, "img_size": 64}),
    ("gmlp_ti16_224", 64, "ts17", {"embed_dim": 32, "num_blocks": 2, "img_size": 64}),
    ("hrnet_w18_small", 64, "dyn18"),
    ("coat_tiny", 64, "dyn18b"),
    (
        "twins_svt_small",
        64,
        "dyn18 ts17",
        {"embed_dims": (16, 32, 32, 32), "num_heads": (2, 2, 2, 2), "depths": (2, 2, 2, 2)},
    ),
    ("crossvit_9_240", 240, "dyn18b"),
    ("tnt_s_legacy_patch16_224", 224, "dyn18b", {"embed_dim": 32, "depth": 2}),
    ("focalnet_tiny_srf", 64, "dyn18", {"embed_dim": 16, "depths": (1, 1)}),
    ("davit_tiny", 64, "dyn18 ts17", {"embed_dims": (16, 32), "depths": (1, 1), "num_heads": (2, 2)}),
    ("fastvit_t8", 64, "dyn18"),
    ("repvit_m0_9", 64, "dyn18"),
    ("starnet_s050", 64, "dyn18 ov"),
    ("hiera_tiny_224", 224, "dyn18b", {"embed_dim": 16, "stages": (1, 1, 1, 1), "num_heads": 1}),
    ("inception_next_atto", 64, "dyn18"),
    ("visformer_tiny", 224, "dyn18b"),
    ("dla46x_c", 64, "dyn18 ts17"),
    ("densenet121", 64, "ts17 dyn18", {"growth_rate": 4, "block_config": (2, 2, 2)}),
    (
        "sequencer2d_s",
        64,
        "ts17b",
        {"layers": (1, 1), "embed_dims": (32, 32), "hidden_sizes": (8, 8), "patch_sizes": (7, 1), "mlp_ratios": (2, 2)},
    ),
    ("volo_d1_224", 64, "dyn18b", {"layers": (1, 1), "embed_dims": (32, 32), "num_heads": (2, 2), "img_size": 64}),
    ("mvitv2_tiny", 64, "dyn18b", {"img_size": 64, "depths": (1, 1), "embed_dim": 16}),
    ("nextvit_small", 64, "dyn18", {"depths": (1, 1, 2, 1)}),
    ("ese_vovnet19b_slim", 64, "dyn18"),
    ("selecsls42", 64, "ts17"),
    ("cspresnet50", 64, "dyn18"),
    ("hgnetv2_b0", 64, "dyn18 ov"),
]

#: A function of torchvision, the side of the picture, forms, and arguments.
TORCHVISION: list[tuple[Any, ...]] = [
    ("squeezenet1_1", 64, "ts11 ts17 dyn18 ov ts13>qop ts17>all"),
    ("shufflenet_v2_x0_5", 64, "ts11 ts17 dyn18 ov ts13>qdq dyn18>slim"),
    ("mobilenet_v2", 64, "ts13 dyn18 ts13>qdq ts13>qop ov>ptq", {"width_mult": 0.25}),
    ("mobilenet_v3_small", 64, "ts17 dyn18 ov"),
    ("mnasnet0_5", 64, "ts17 dyn18"),
    ("efficientnet_b0", 64, "dyn18"),
    ("googlenet", 64, "ts17", {"aux_logits": False, "init_weights": False, "num_classes": 10}),
    ("regnet_y_400mf", 64, "dyn18"),
    ("segmentation.lraspp_mobilenet_v3_large", 64, "ts17 dyn18 ov dyn18>ov", {"weights_backbone": None}),
    ("segmentation.deeplabv3_mobilenet_v3_large", 64, "dyn18", {"weights_backbone": None}),
    ("optical_flow.raft_small", 128, "dyn18"),
]

#: An architecture and an encoder of segmentation-models-pytorch, and forms.
SEGMENTATION = [
    ("Unet", "mobilenet_v2", "ts17 dyn18 ov dyn18>all ts13>qdq ov>ptq"),
    ("Unet", "timm-mobilenetv3_small_minimal_100", "dyn18"),
    ("Unet", "mit_b0", "ts17 dyn18 ov"),
    ("UnetPlusPlus", "mobilenet_v2", "dyn18"),
    ("MAnet", "mobilenet_v2", "dyn18"),
    ("Linknet", "mobilenet_v2", "ts17 dyn18 ov"),
    ("FPN", "mobilenet_v2", "ts17 dyn18 ov dyn18>ov dyn18>fp16"),
    ("FPN", "efficientnet-b0", "dyn18 ts17"),
    ("PSPNet", "mobilenet_v2", "dyn18 ts17"),
    ("PAN", "mobilenet_v2", "dyn18 ts17"),
    ("DeepLabV3", "mobilenet_v2", "dyn18"),
    ("DeepLabV3Plus", "mobilenet_v2", "ts17 dyn18 ov ts17>ov"),
    ("DeepLabV3Plus", "tu-mobilevitv2_050", "dyn18"),
    ("UPerNet", "mobilenet_v2", "dyn18 ts17"),
    ("Segformer", "mit_b0", "ts17 dyn18 ov dyn18>ov"),
    ("DPT", "tu-test_vit", "dyn18b ts17b"),
    ("Unet", "tu-test_efficientnet", "dyn18 ts17"),
    ("Unet", "tu-tf_mobilenetv3_small_minimal_100", "dyn18 dyn18s"),
]


def recipes() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The names and the functions that make the files."""
    yield from all_forms("timm", [_subject(_timm, *each) for each in TIMM])
    yield from all_forms("vision", [_subject(_torchvision, *each) for each in TORCHVISION])
    yield from all_forms("seg", [_segmentation(*each) for each in SEGMENTATION])
    yield from all_forms(
        "timm-features", [_features(name) for name in ("test_resnet", "test_efficientnet", "pvt_v2_b0")]
    )


def _subject(make: Any, name: str, side: int, forms: str, options: Any = None, suffix: str = "") -> Subject:
    title = name.rpartition(".")[2] + (f"-{suffix}" if suffix else "")
    return Subject(title, partial(make, name, side, options or {}), tuple(forms.split()), {"images": NCHW})


def _timm(name: str, side: int, options: dict[str, Any]) -> Any:
    import timm

    torch.manual_seed(0)
    module = timm.create_model(name, pretrained=False, exportable=True, **{"num_classes": 10, **options})
    return module.eval(), {"images": image(2, 3, side)}


def _features(name: str) -> Subject:
    def make() -> Any:
        import timm

        return timm.create_model(name, pretrained=False, features_only=True).eval(), {"images": image()}

    return Subject(name, make, ("ts17", "dyn18"), {"images": NCHW})


class _Chosen(nn.Module):
    """The tensor of a dictionary."""

    def __init__(self, inner: nn.Module, key: str) -> None:
        super().__init__()
        self.inner, self.key = inner, key

    def forward(self, images: Any) -> Any:
        return self.inner(images)[self.key]


class _Flow(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, images: Any) -> Any:
        return self.inner(images, images.flip(3), num_flow_updates=2)[-1]


def _torchvision(name: str, side: int, options: dict[str, Any]) -> Any:
    import torchvision

    torch.manual_seed(0)
    *folders, function = name.split(".")
    place = torchvision.models
    for folder in folders:
        place = getattr(place, folder)
    module = getattr(place, function)(weights=None, **options)
    if "segmentation" in folders:
        module = _Chosen(module, "out")
    if "optical_flow" in folders:
        module = _Flow(module)
    return module.eval(), {"images": image(2, 3, side)}


def _segmentation(architecture: str, encoder: str, forms: str) -> Subject:
    def make() -> Any:
        import segmentation_models_pytorch as smp

        torch.manual_seed(0)
        small = {"decoder_channels": (32, 16, 16, 8, 8)} if architecture.startswith(("Unet", "MAnet")) else {}
        if encoder == "mit_b0" and architecture == "Unet":
            small = {}
        module = getattr(smp, architecture)(encoder_name=encoder, encoder_weights=None, classes=2, **small)
        return module.eval(), {"images": image(2, 3, 160 if architecture == "DPT" else 64)}

    return Subject(f"{architecture}-{encoder}", make, tuple(forms.split()), {"images": NCHW})
