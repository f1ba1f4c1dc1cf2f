"""Recipes: networks of transformers, tiny and without weights, one a line: the configuration's type, the model, inputs,
forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .forms import all_forms
from .subjects import BATCH, NCHW, TEXT, Subject, image, ones, real, whole

#: What configurations are given, of these fields those that a configuration has.
SIZES: dict[str, Any] = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "dim": 32, "hidden_dim": 64, "num_hidden_"
        "layers": 2, "n_layer": 2, "n_layers": 2,
    "num_layers": 2, "num_decoder_layers": 2, "encoder_layers": 2, "decoder_layers": 2, "num_attentio"
        "n_heads": 4, "n_head": 4, "n_heads": 4,
    "num_heads": 4, "encoder_attenti"
        "on_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64,
    "encoder_ff"
        "n_dim": 64, "decoder_ffn_dim": 64, "d_ff": 64, "d_kv": 8, "head_dim": 8, "vocab_size": 99, "max_position_em"
        "beddings": 64,
    "n_positions": 64, "embedding_size": 32, "type_vocab"
        "_size": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "decoder_start_"
        "token_id": 1, "num_labels": 3, "projection_dim": 16, "image_size": 32, "patch_size": 8, "ffn_dim": 64,
    "word_embed_p"
        "roj_dim": 32, "rotary_dim": 4, "use_cache": True, "num_experts": 4, "num_local_experts": 4, "moe_intermedia"
        "te_size": 32,
}  # fmt: skip

T = {"attention_mask": (partial(ones, 2, 9), TEXT)}
IDS = {"input_ids": (partial(whole, 2, 9), TEXT)}
TYPES = {"token_type_ids": (partial(whole, 2, 9, below=2), TEXT)}
PIXELS = {"pixel_values": (partial(image, 2, 3, 32), NCHW)}
PIXELS64 = {"pixel_values": (partial(image, 2, 3, 64), NCHW)}
SOUND = {"input_values": (partial(real, 2, 800), {0: "batch", 1: "samples"})}
SPECTRUM = {"input_features": (partial(real, 2, 80, 100), {0: "batch", 2: "frames"})}
TARGET = {"decoder_input_ids": (partial(whole, 2, 5), {0: "batch", 1: "target"})}
PAIR = {**IDS, **T, **TARGET}

#: Type, class, inputs, forms, other fields of the configuration, and the output that is returned where it is not the
#: first.
MODELS: list[tuple[Any, ...]] = [
    ("bert", "BertModel", {**IDS, **T, **TYPES}, "ts14 ts17 dyn18 dyn20 ov ts17>q8 ts17>fp16 ts17>q4 ts17>all "
        "ts17>fused ts17>ov ov>int8 dyn18>ov"),
    ("bert", "BertForQuestionAnswering", {**IDS, **T}, "ts17u dyn18 ts17s ts17>qdq"),
    ("bert", "BertForTokenClassification", IDS, "ts17 dyn18"),
    ("roberta", "RobertaForSequenceClassification", {**IDS, **T}, "ts17 dyn18 ov ts17>q8"),
    ("xlm-roberta", "XLMRobertaModel", {**IDS, **T}, "dyn18 ts17"),
    ("distilbert", "DistilBertModel", {**IDS, **T}, "ts14 ts17 dyn18 ov dyn18>slim"),
    ("albert", "AlbertModel", {**IDS, **T}, "ts17 dyn18 ov"),
    ("electra", "ElectraModel", {**IDS, **T}, "ts17 dyn18"),
    ("mpnet", "MPNetModel", {**IDS, **T}, "ts17 dyn18 ov"),
    ("deberta", "DebertaModel", {**IDS, **T}, "ts17 dyn18", {"relative_att"
        "ention": True, "pos_att_type": ["c2p", "p2c"]}),
    ("deberta-v2", "DebertaV2Model", {**IDS, **T}, "ts17 dyn18 ov", {"relative_att"
        "ention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 16}),
    ("camembert", "CamembertForMaskedLM", {**IDS, **T}, "ts17"),
    ("squeezebert", "SqueezeBer"
        "tModel", {**IDS, **T}, "ts17 dyn18", {"q_groups": 2, "k_groups": 2, "v_groups": 2, "post_attention"
        "_groups": 1, "intermediate_groups": 2, "output_groups": 2}),
    ("mobilebert", "MobileBertModel", {**IDS, **T}, "ts17 dyn18", {"intra_bottlene"
        "ck_size": 16, "true_hidden_size": 16, "embedding_size": 16}),
    ("convbert", "ConvBertModel", {**IDS, **T}, "ts17 dyn18"),
    ("fnet", "FNetModel", IDS, "dyn18"),
    ("roformer", "RoFormerModel", {**IDS, **T}, "ts17 dyn18"),
    ("longformer", "LongformerModel", {"input_ids": (partial(whole, 2, 16), TEXT)}, "ts17 dyn18", {"attention_"
        "window": 8}),
    ("big_bird", "BigBirdModel", {**IDS, **T}, "dyn18 ts17", {"attention_type": "original_full"}),
    ("nystromformer", "Nystromforme"
        "rModel", {"input_ids": (partial(whole, 2, 16), TEXT)}, "dyn18 ts17", {"segment_means_"
        "seq_len": 16, "num_landmarks": 4}),
    ("funnel", "FunnelModel", {**IDS, **T}, "ts17 dyn18", {"block_sizes": [1, 1], "num_decoder_"
        "layers": 1, "d_head": 8, "d_inner": 64}),
    ("ibert", "IBertModel", {**IDS, **T}, "ts17"),
    ("lilt", "LiltModel", {**IDS, "bbox": (lambda: torch.zeros(2, 9, 4, dtype=torch.int64), TEXT)}, "dyn18 "
        "ts17", {"channel_"
        "shrin"
        "k_ratio": 2}),
    ("layoutlm", "LayoutLM"
        "Model", {**IDS, "bbox": (lambda: torch.zeros(2, 9, 4, dtype=torch.int64), TEXT)}, "ts17 dyn18"),
    ("modernbert", "ModernBertModel", {**IDS, **T}, "ts17 dyn18 ov", {"local_attention": 8}),
    ("esm", "EsmModel", {**IDS, **T}, "ts17 dyn18", {"position_embedding_type": "rotary", "token_dropout": False}),
    ("canine", "CanineModel", {"input_ids": (partial(whole, 2, 16), TEXT)}, "dyn18 ts17", {"local_transforme"
        "r_stride": 8, "num_hash_buckets": 32, "attend_from_chunk_width": 8, "attend_from_chun"
            "k_stride": 8, "attend_to_chunk_width": 8, "attend_to_chunk_stride": 8}),
    ("gpt2", "GPT2LMHeadModel", {**IDS, **T}, "ts17 dyn18 ov ts17>fp16"),
    ("llama", "LlamaModel", {**IDS, **T}, "ts17 dyn18 dyn23 ov dyn18>all"),
    ("bloom", "BloomModel", {**IDS, **T}, "ts17 dyn18"),
    ("mamba", "MambaModel", IDS, "ts17 dyn18"),
    ("t5", "T5EncoderModel", {**IDS, **T}, "ts17 dyn18 ov ts17>q8 ts17>ov", {"decoder_start_token_id": 0}),
    ("t5", "T5Model", PAIR, "ts17 dyn18 ov"),
    ("mt5", "MT5EncoderModel", {**IDS, **T}, "ts17"),
    ("bart", "BartModel", PAIR, "ts17 dyn18 ov"),
    ("marian", "MarianMTModel", PAIR, "ts17 dyn18"),
    ("m2m_100", "M2M100Model", PAIR, "dyn18 ts17"),
    ("pegasus", "PegasusModel", PAIR, "dyn18"),
    ("mbart", "MBartModel", PAIR, "ts17"),
    ("led", "LEDModel", {"input_ids": (partial(whole, 2, 16), TEXT), **TARGET}, "ts17", {"attention_window": 8}),
    ("clip_text_model", "CLIPTextModel", {**IDS, **T}, "ts17 dyn18 ov"),
    ("clip_vision_model", "CLIPVisionModel", PIXELS, "ts17 dyn18 dyn18b ov"),
    ("siglip_vision_model", "SiglipVisionModel", PIXELS, "ts17 dyn18"),
    ("vit", "ViTModel", PIXELS, "ts17 dyn18 dyn18b ov ts17>qdq"),
    ("deit", "DeiTModel", PIXELS, "ts17b dyn18b"),
    ("beit", "BeitModel", PIXELS, "ts17 dyn18b", {"use_relative_posi"
        "tion_bias": True, "out_indices": None, "out_features": None}),
    ("dinov2", "Dinov2Model", PIXELS, "ts17 dyn18 ov"),
    ("dinov2_with_registers", "Dinov2WithRegistersModel", PIXELS, "dyn18"),
    ("swin", "SwinModel", PIXELS64, "ts17 dyn18 "
        "dyn18b ov", {"image_"
            "size": 64, "patch_size": 4, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_"
            "size": 4}),
    ("swinv2", "Swinv2M"
        "odel", PIXELS64, "dyn18 "
            "ts17b", {"image_"
                "size": 64, "patch_size": 4, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_"
                "size": 4}),
    ("swin2sr", "Swin2SRForImageSuper"
        "Resolu"
            "tion", PIXELS64, "dyn18 "
                "ts17", {"image_size": 64, "patch_size": 1, "embed_dim": 16, "depths": [1], "num_heads": [2], "window_"
            "size": 4, "upscale": 2}),
    ("segformer", "SegformerForSemanticSegmentation", PIXELS64, "ts17 dyn18 dyn20 ov dyn18>all "
        "ts17>q8 dyn18>ov", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "num_attentio"
            "n_heads": [1, 2, 2, 2], "decoder_hidden_size": 16}),
    ("mobilevit", "MobileViTModel", PIXELS64, "ts17 dyn18 ov", {"hidden_sizes": [16, 16, 16], "neck_hidden"
        "_sizes": [8, 8, 8, 16, 16, 16, 32], "image_size": 64, "patch_size": 2}),
    ("mobilevitv2", "MobileViTV"
        "2Model", PIXELS64, "dyn18", {"image_size": 64, "patch_size": 2, "width_multiplier": 0.25}),
    ("mobilenet_v1", "MobileNetV1Model", PIXELS64, "ts17 dyn18 ov", {"depth_multiplier": 0.25}),
    ("mobilenet_v2", "MobileNetV2Model", PIXELS64, "ts17 dyn18", {"depth_multiplier": 0.25}),
    ("efficientnet", "EfficientNe"
        "tModel", PIXELS64, "dyn18 ts17", {"width_coefficient": 0.25, "depth_coefficient": 0.3, "hidden_dim": 320}),
    ("convnext", "ConvNextModel", PIXELS64, "dyn18 ts17", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}),
    ("convnextv2", "ConvNextV2Model", PIXELS64, "dyn18", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}),
    ("resnet", "ResNetModel", PIXELS64, "ts17 dyn18", {"embedding"
        "_size": 8, "hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}),
    ("regnet", "RegNetModel", PIXELS64, "dyn18", {"embedding"
        "_size": 8, "hidden_sizes": [16, 16, 16, 16], "depths": [1, 1, 1, 1], "groups_width": 8}),
    ("bit", "BitModel", PIXELS64, "dyn18 ts17", {"embedding"
        "_size": 32, "hidden_sizes": [32, 32, 32, 32], "depths": [1, 1, 1, 1], "num_groups": 8}),
    ("pvt", "PvtModel", PIXELS64, "dyn18b", {"image_size": 64, "hidden_s"
        "izes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "num_attentio"
        "n_heads": [1, 1, 1, 1], "patch_sizes": [4, 2, 2, 2]}),
    ("pvt_v2", "PvtV2Model", PIXELS64, "dyn18 ts17", {"image_size": 64, "hidden_s"
        "izes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "num_attentio"
        "n_heads": [1, 1, 1, 1]}),
    ("poolformer", "PoolFormerModel", PIXELS64, "dyn18", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1]}),
    ("cvt", "CvtModel", PIXELS64, "dyn18 ts17", {"embed_dim": [8, 16, 16], "depth": [1, 1, 1], "num_heads": [1, 1, 1]}),
    ("levit", "LevitModel", PIXELS64, "dyn18b", {"image_size": 64, "hidden_sizes": [16, 16, 16], "num_attentio"
        "n_heads": [1, 1, 1], "depths": [1, 1, 1], "key_dim": [8, 8, 8], "patch_size": 16}),
    ("focalnet", "FocalNet"
        "Model", PIXELS64, "dyn18", {"image_size": 64, "patch_size": 4, "embed_dim": 16, "depths": [1, 1]}),
    ("hiera", "HieraModel", {"pixel_va"
        "lues": (partial(image, 2, 3, 64), BATCH)}, "dyn18", {"image_"
            "size": [64, 64], "embed_dim": 16, "depths": [1, 1], "num_heads": [1, 2], "query_st"
            "ride": [2, 2], "num_query"
        "_pool": 1}),
    ("yolos", "YolosForObjectDetection", PIXELS, "ts17 dyn18b", {"image_size": [32, 32], "num_detection_tokens": 5}),
    ("detr", "DetrForObjectDetection", PIXELS64, "ts17 dyn18 ov", {"use_timm_backbone": True, "use_pretrained_"
        "backbone": False, "backbone": "test_resnet", "num_queries": 5, "use_cache": False, "backbone_k"
            "wargs": {"out_indices": [0, 1, 2, 3]}}),
    ("glpn", "GLPNForDepthEs"
        "timation", PIXELS64, "dyn18 ts17", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "num_attentio"
            "n_heads": [1, 2, 2, 2], "decoder_hidden_size": 8}),
    ("dpt", "DPTForDepthEst"
        "imation", PIXELS64, "dyn18b ts17b", {"image_size": 64, "patch_size": 16, "num_hidden_"
            "layers": 4, "backbone_out_"
            "indices": [0, 1, 2, 3], "neck_hidden_sizes": [8, 8, 16, 16], "fusion_hidden_size": 8}),
    ("depth_anything", "DepthAnythingForDepthEstimation", PIXELS64, "dyn18"),
    ("rt_detr", "RTDetrForObjectDetection", PIXELS64, "dyn18b"),
    ("superpoint", "SuperPointForKeypointDetection", {"pixel_values": (partial(image, 1, 3, 64), NCHW)}, "dyn18 ts17"),
    ("vitmatte", "VitMatteForImageMatting", {"pixel_values": (partial(image, 1, 4, 64), NCHW)}, "dyn18"),
    ("timesformer", "Timesforme"
        "rModel", {"pixel_va"
            "lues": (partial(real, 2, 4, 3, 32, 32), {0: "batch", 1: "frames"})}, "ts17 dyn18", {"num_frames": 4}),
    ("videomae", "VideoMAE"
        "Model", {"pixel_va"
            "lues": (partial(real, 2, 4, 3, 32, 32), BATCH)}, "ts17 dyn18", {"num_frames": 4, "tubelet_size": 2}),
    ("wav2vec2", "Wav2Vec2ForCTC", SOUND, "ts17 dyn18 ov "
        "ts17>q8 "
            "dyn18>ov", {"conv_dim": [16, 16, 16], "conv_stride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_e"
                "xtrac"
            "t_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedd"
            "ing_groups": 4}),
    ("hubert", "HubertM"
        "odel", SOUND, "dyn18 ts17", {"conv_dim": [16, 16, 16], "conv_st"
            "ride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_e"
        "xtrac"
        "t_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedd"
        "ing_groups": 4}),
    ("wavlm", "WavLMModel", SOUND, "dyn18 ts17", {"conv_dim": [16, 16, 16], "conv_st"
        "ride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_e"
        "xtrac"
        "t_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedd"
        "ing_groups": 4}),
    ("sew", "SEWModel", SOUND, "dyn18 ts17", {"conv_dim": [16, 16, 16], "conv_st"
        "ride": [5, 2, 2], "conv_kernel": [10, 3, 3], "num_feat_e"
        "xtrac"
        "t_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedd"
        "ing_groups": 4}),
    ("audio-spectrogram-t"
        "ransformer", "ASTModel", {"input_va"
            "lues": (partial(real, 2, 64, 32), {0: "batch", 1: "frames"})}, "dyn18b ts17", {"max_length": 64, "num_mel_"
                "bins": 32}),
    ("encodec", "EncodecM"
        "odel", {"input_va"
            "lues": (partial(real, 1, 1, 640), {0: "batch", 2: "samples"})}, "dyn18 ts17", {"num_fil"
                "ters": 4, "upsampling_"
        "ratios": [4, 2], "codebook_size": 16, "codebook_dim": 8, "hidden_size": 8, "num_lstm_layers": 1}),
    ("speech_to_text", "Speech2Tex"
        "tModel", {"input_fea"
            "tures": (partial(real, 2, 40, 80), {0: "batch", 1: "frames"}), **TARGET}, "dyn18 ts17", {"max_source_po"
        "sitions": 100, "max_target_positions": 50, "conv_channels": 32}),
    ("vits", "VitsModel", IDS, "dyn18"),
    ("patchtst", "PatchTSTModel", {"past_values": (partial(real, 2, 32, 3), {0: "batch"})}, "dyn18 ts17", {"context_l"
        "ength": 32, "num_input_ch"
        "annels": 3, "patch_length": 4, "patch_stride": 4}),
    ("patchtsmixer", "PatchTSMixe"
        "rModel", {"past_values": (partial(real, 2, 32, 3), {0: "batch"})}, "dyn18", {"context_l"
            "ength": 32, "num_input_ch"
        "annels": 3, "patch_length": 4, "patch_stride": 4}),
    ("clipseg_text_model", "CLIPSegTextModel", IDS, "ts17"),
    ("clip", "CLIPModel", {**IDS, **PIXELS, **T}, "dyn18 ts17"),
    ("vilt", "ViltModel", {**IDS, **T, **PIXELS}, "dyn18 ts17"),
    ("blip_vision_model", "BlipVisionModel", PIXELS, "dyn18"),
    ("owlvit_text_model", "OwlViTTextModel", {**IDS, **T}, "ts17"),
]  # fmt: skip

#: Type, class, the fields of layers and heads of the cache, and forms, for decoders with caches.
DECODERS: list[tuple[Any, ...]] = [
    ("gpt2", "GPT2LMHeadModel", 4, "ts17 ts17u dyn18 ov ts17>fp16 ts17>q8 ts17>ov dyn18>ov "
        "ov>stateful ts17>all ov>int4"),
    ("gpt_neo", "GPTNeoForCa"
        "usalLM", 4, "ts17 dyn18", {"attention_types": [[["global", "local"], 1]], "window_size": 8}),
    ("gpt_neox", "GPTNeoXForCausalLM", 4, "ts17 dyn18 ov"),
    ("gptj", "GPTJForCausalLM", 4, "ts17 dyn18"),
    ("opt", "OPTForCausalLM", 4, "ts17 dyn18 ov"),
    ("bloom", "BloomForCausalLM", 4, "ts17 dyn18"),
    ("llama", "LlamaForCausalLM", 2, "ts17 ts17u dyn18 dyn23 ov dyn18>fp16 dyn18>q4 ts17>all ov>int8 ov>int4 ov>ovfp16 "
        "dyn18>slim"),
    ("mistral", "MistralForCausalLM", 2, "ts17 dyn18 ov", {"sliding_window": 6}),
    ("mixtral", "MixtralForCausalLM", 2, "dyn18", {"num_experts_per_tok": 2}),
    ("qwen2", "Qwen2ForCausalLM", 2, "ts17 dyn18 ov dyn18>q4"),
    ("qwen3", "Qwen3ForCausalLM", 2, "ts17 dyn18 ov"),
    ("gemma", "GemmaForCausalLM", 2, "ts17 dyn18"),
    ("gemma2", "Gemma2ForCausalLM", 2, "ts17 dyn18", {"sliding_window": 6}),
    ("gemma3_text", "Gemma3ForCausalLM", 2, "dyn18 ts17", {"sliding_window": 6}),
    ("phi", "PhiForCausalLM", 4, "ts17 dyn18", {"num_key_value_heads": 4}),
    ("phi3", "Phi3ForCausalLM", 2, "ts17 dyn18 ov"),
    ("falcon", "FalconForCausalLM", 4, "ts17 dyn18", {"new_decoder_architecture": True, "num_kv_heads": 4}),
    ("stablelm", "StableLmForCausalLM", 2, "ts17 dyn18"),
    ("olmo", "OlmoForCausalLM", 2, "dyn18"),
    ("cohere", "CohereForCausalLM", 2, "dyn18"),
    ("granite", "GraniteForCausalLM", 2, "dyn18"),
    ("starcoder2", "Starcoder2ForCausalLM", 2, "dyn18 ts17"),
    ("smollm3", "SmolLM3ForCausalLM", 2, "dyn18"),
    ("codegen", "CodeGenForCausalLM", 4, "ts17 dyn18"),
    ("mpt", "MptForCausalLM", 4, "dyn18 ts17"),
    ("biogpt", "BioGptForCausalLM", 4, "ts17"),
    ("bert", "BertLMHeadModel", 4, "ts17 dyn18", {"is_decoder": True}),
    ("gpt_bigcode", "GPTBigCodeForCausalLM", 1, "dyn18 ts17"),
]  # fmt: skip

#: Type, class and forms of encoder and decoder pairs, whose parts are exported one by one.
PAIRS: list[tuple[Any, ...]] = [
    ("t5", "T5ForConditionalGeneration", IDS, "ts17 dyn18 ov", {"decoder_start_token_id": 0}),
    ("bart", "BartForConditionalGeneration", IDS, "ts17 dyn18 ov"),
    ("marian", "MarianMTModel", IDS, "ts17 dyn18"),
    ("whisper", "WhisperForConditionalGeneration", SPECTRUM, "ts17 dyn18 ov "
        "dyn18>fp16 dyn18>ov", {"num_mel_bins": 80, "max_source_positions": 50, "max_target_positions": 40}),
    ("mbart", "MBartForConditionalGeneration", IDS, "dyn18"),
    ("pegasus", "PegasusForConditionalGeneration", IDS, "ts17"),
    ("m2m_100", "M2M100ForConditionalGeneration", IDS, "dyn18"),
    ("blenderbot", "BlenderbotForConditionalGeneration", IDS, "ts17 dyn18"),
]  # fmt: skip


def recipes() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The names and the functions that make the files."""
    yield from all_forms("hf", [_model(*each) for each in MODELS])
    yield from all_forms("hf-cache", [_decoder(*each) for each in DECODERS])
    for each in PAIRS:
        yield from all_forms("hf-pair", [_encoder(*each), _first(*each), _next(*each)])


def _loaded(kind: str, name: str, fields: dict[str, Any]) -> Any:
    import transformers

    torch.manual_seed(0)
    known = transformers.CONFIG_MAPPING[kind]()
    names = known.attribute_map
    sizes = {field: size for field, size in SIZES.items() if hasattr(known, field) and names.get(field) not in fields}
    config = transformers.CONFIG_MAPPING[kind](**{**sizes, **fields})
    config._attn_implementation = "eager" if kind in ("gpt2", "bert", "t5", "deberta") else "sdpa"
    try:
        return getattr(transformers, name)._from_config(config).eval()
    except (ValueError, ImportError, AttributeError):
        config._attn_implementation = "eager"
        return getattr(transformers, name)(config).eval()


class _Plain(nn.Module):
    """A model whose inputs are positional and whose outputs are tensors."""

    def __init__(self, inner: nn.Module, names: list[str]) -> None:
        super().__init__()
        self.inner, self.names = inner, names

    def forward(self, *inputs: Any) -> Any:
        found = self.inner(**dict(zip(self.names, inputs)), return_dict=True)
        return tuple(each for each in found.to_tuple() if isinstance(each, torch.Tensor))[:3]


def _model(kind: str, name: str, inputs: dict[str, Any], forms: str, fields: Any = None) -> Subject:
    def make() -> Any:
        own = dict(fields or {})
        return _Plain(_loaded(kind, name, own), list(inputs)), {each: given[0]() for each, given in inputs.items()}

    return Subject(name, make, tuple(forms.split()), {each: given[1] for each, given in inputs.items()})


def _past(
    count: int, kinds: str = "kv", *, batch: int = 2, heads: int, width: int = 8, length: int = 4
) -> dict[str, Any]:
    return {
        f"past.{layer}.{kind}": torch.randn(batch, heads, length, width) for layer in range(count) for kind in kinds
    }


class _Cached(nn.Module):
    """Logits and the cache of a decoder that is given one."""

    def __init__(self, inner: nn.Module, layers: int) -> None:
        super().__init__()
        self.inner, self.layers = inner, layers

    def forward(self, input_ids: Any, attention_mask: Any, *past: Any) -> Any:
        from transformers import DynamicCache

        cache = DynamicCache([(past[2 * at], past[2 * at + 1]) for at in range(self.layers)])
        found = self.inner(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
        kept = [each for layer in found.past_key_values.layers for each in (layer.keys, layer.values)]
        return (found.logits, *kept)


def _decoder(kind: str, name: str, heads: int, forms: str, fields: Any = None) -> Subject:
    def make() -> Any:
        inner = _loaded(kind, name, dict(fields or {}))
        inputs = {"input_ids": whole(2, 3), "attention_mask": ones(2, 7)}
        return _Cached(inner, 2), {**inputs, **_past(2, heads=heads)}

    axes = {"input_ids": TEXT, "attention_mask": {0: "batch", 1: "total"}}
    past = {f"past.{layer}.{each}": {0: "batch", 2: "past"} for layer in range(2) for each in "kv"}
    return Subject(name, make, tuple(forms.split()), {**axes, **past})


class _Encoded(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *inputs: Any) -> Any:
        return self.inner(*inputs, return_dict=True).last_hidden_state


def _encoder(kind: str, name: str, inputs: dict[str, Any], forms: str, fields: Any = None) -> Subject:
    given = {**inputs, **(T if "input_ids" in inputs else {})}

    def make() -> Any:
        inner = _loaded(kind, name, dict(fields or {})).get_encoder()
        return _Encoded(inner), {each: own[0]() for each, own in given.items()}

    return Subject(f"{name}-encoder", make, tuple(forms.split()), {each: own[1] for each, own in given.items()})


class _First(nn.Module):
    """The decoder without a cache: logits and the caches that the next step takes."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, ids: Any, encoded: Any) -> Any:
        found = self.inner(decoder_input_ids=ids, encoder_outputs=(encoded,), use_cache=True, return_dict=True)
        cache = found.past_key_values
        own = [each for layer in cache.self_attention_cache.layers for each in (layer.keys, layer.values)]
        other = [each for layer in cache.cross_attention_cache.layers for each in (layer.keys, layer.values)]
        return (found.logits, *own, *other)


def _first(kind: str, name: str, inputs: dict[str, Any], forms: str, fields: Any = None) -> Subject:
    def make() -> Any:
        inner = _loaded(kind, name, dict(fields or {}))
        return _First(inner), {"ids": whole(2, 3), "encoded": real(2, 9, 32)}

    axes = {"ids": {0: "batch", 1: "target"}, "encoded": {0: "batch", 1: "source"}}
    return Subject(f"{name}-decoder", make, tuple(forms.split()), axes)


class _Next(nn.Module):
    """The decoder with caches of its own and of what was encoded."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, ids: Any, encoded: Any, *past: Any) -> Any:
        from transformers import DynamicCache, EncoderDecoderCache

        own = DynamicCache([(past[0], past[1]), (past[2], past[3])])
        other = DynamicCache([(past[4], past[5]), (past[6], past[7])])
        found = self.inner(
            decoder_input_ids=ids,
            encoder_outputs=(encoded,),
            past_key_values=EncoderDecoderCache(own, other),
            use_cache=True,
            return_dict=True,
        )
        kept = found.past_key_values.self_attention_cache.layers
        return (found.logits, *(each for layer in kept for each in (layer.keys, layer.values)))


def _next(kind: str, name: str, inputs: dict[str, Any], forms: str, fields: Any = None) -> Subject:
    def make() -> Any:
        inner = _loaded(kind, name, dict(fields or {}))
        past = _past(2, heads=4)
        other = {f"encoder.{each}": value for each, value in _past(2, heads=4, length=9).items()}
        return _Next(inner), {"ids": whole(2, 1), "encoded": real(2, 9, 32), **past, **other}

    axes: dict[str, Any] = {"ids": BATCH, "encoded": {0: "batch", 1: "source"}}
    for layer in range(2):
        for each in "kv":
            axes[f"past.{layer}.{each}"] = {0: "batch", 2: "past"}
            axes[f"encoder.past.{layer}.{each}"] = {0: "batch", 2: "source"}
    return Subject(f"{name}-next", make, tuple(forms.split()), axes)
