"""Recipes: networks of Keras through tf2onnx, one a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
import tf2onnx
from keras import layers

#: A name, the layers or a function of the inputs, and the inputs: sizes and their types.
NETWORKS: list[tuple[Any, ...]] = [
    ("dense", [layers.Dense, 8], [(None, 16)]),
    ("mlp", lambda x: layers.Dense(4, "softmax")(layers.Dropout(0.5)(layers.Dense(8, "relu")(x))), [(None, 16)]),
    ("co"
        "nv", lambda x: layers.Dense(4)(layers.GlobalAveragePooling2D()(layers.Conv2D(8, 3, 2, "sa"
            "me", activation="relu")(x))), [(None, None, None, 3)]),
    ("conv-v"
        "al"
            "i"
                "d", lambda x: layers.Dense(4)(layers.Flatten()(layers.MaxPool2D()(layers.Conv2D(8, 3)(x)))), [(None, 16, 16, 3)]),
    ("conv-batc"
        "hno"
            "rm", lambda x: layers.ReLU(6.0)(layers.BatchNormalization()(layers.DepthwiseConv2D(3, 2, "sa"
                "me")(x))), [(None, None, None, 3)]),
    ("separable", lambda x: layers.SeparableConv2D(8, 5, 2, "same")(x), [(None, None, None, 3)]),
    ("dilated", lambda x: layers.Conv2D(8, 3, dilation_rate=2, padding="same")(x), [(None, None, None, 3)]),
    ("un"
        "e"
            "t", lambda x: layers.Concatenate()([x, layers.Conv2DTranspose(3, 2, 2)(layers.MaxPool2D()(x))]), [(None, None, None, 3)]),
    ("upsamp"
        "le"
            "d", lambda x: layers.Add()([x, layers.UpSampling2D(2)(layers.AveragePooling2D(2)(x))]), [(None, None, None, 3)]),
    ("conv"
        "1d", lambda x: layers.GlobalMaxPooling1D()(layers.Conv1D(8, 3, padding="caus"
            "al", dilation_rate=2)(x)), [(None, None, 4)]),
    ("conv3d", lambda x: layers.Conv3D(4, 3, 2, "same")(x), [(None, None, None, None, 2)]),
    ("lstm", lambda x: layers.LSTM(8)(x), [(None, None, 4)]),
    ("lstm-sequences", lambda x: layers.Dense(3)(layers.LSTM(8, return_sequences=True)(x)), [(None, None, 4)]),
    ("lstm-both", lambda x: layers.Bidirectional(layers.LSTM(8))(x), [(None, None, 4)]),
    ("gru", lambda x: layers.GRU(8, return_sequences=True)(x), [(None, None, 4)]),
    ("gru-before", lambda x: layers.GRU(8, reset_after=False)(x), [(None, None, 4)]),
    ("rnn", lambda x: layers.SimpleRNN(8)(x), [(None, None, 4)]),
    ("lstm-static", lambda x: layers.LSTM(8, return_sequences=True)(x), [(2, 6, 4)]),
    ("convlstm", lambda x: layers.ConvLSTM2D(4, 3, padding="same")(x), [(None, 4, 8, 8, 2)]),
    ("embed"
        "de"
            "d", lambda x: layers.Dense(4)(layers.GlobalAveragePooling1D()(layers.Embedding(20, 8)(x))), [(None, None)], "i"
                "n"
                "t"
            "32"),
    ("attention", lambda x: layers.MultiHeadAttention(2, 4)(x, x), [(None, None, 8)]),
    ("attention-causal", lambda x: layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True), [(None, None, 8)]),
    ("attention-cross", lambda x, y: layers.Attention()([x, y]), [(None, None, 8), (None, None, 8)]),
    ("transfo"
        "rm"
            "er", lambda x: layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(16, "ge"
                "lu")(layers.MultiHeadAttention(2, 4)(x, x)))), [(None, None, 8)]),
    ("resized", lambda x: layers.Resizing(24, 24)(x), [(None, None, None, 3)]),
    ("cropped", lambda x: layers.Cropping2D(2)(layers.ZeroPadding2D(1)(x)), [(None, None, None, 3)]),
    ("reshaped", lambda x: layers.Reshape((-1, 6))(x), [(None, None, 4)]),
    ("reshaped-fixed", lambda x: layers.Reshape((4, 8))(x), [(None, None, 4)]),
    ("permuted", lambda x: layers.Permute((2, 1))(x), [(None, None, 4)]),
    ("joined", lambda x, y: layers.Concatenate(1)([x, y]), [(None, None, 4), (None, None, 4)]),
    ("added", lambda x, y: layers.Add()([x, y]), [(None, None, 4), (None, None, 4)]),
    ("dot", lambda x, y: layers.Dot(axes=2)([x, y]), [(None, None, 4), (None, None, 4)]),
    ("repeated", lambda x: layers.RepeatVector(5)(x), [(None, 4)]),
    ("normalized", lambda x: layers.GroupNormalization(2)(layers.UnitNormalization()(x)), [(None, None, None, 4)]),
    ("squee"
        "zed", lambda x: x * layers.Dense(8, "sigm"
            "oid")(layers.GlobalAveragePooling2D(keepdims=True)(x)), [(None, None, None, 8)]),
    ("resid"
        "ual", lambda x: x + layers.Conv2D(8, 3, padding="same")(layers.Conv2D(8, 3, padding="same", activation="swi"
            "sh")(x)), [(None, None, None, 8)]),
    ("sequence-masked", lambda x: layers.LSTM(8)(layers.Masking(0.0)(x)), [(None, None, 4)]),
]  # fmt: skip

#: Functions of TensorFlow, with the shapes and types of their inputs.
FUNCTIONS: list[tuple[str, Callable[..., Any], list[Any]]] = [
    ("split", lambda x: tf.split(x, 2, 1), [((None, 8), "float32")]),
    ("strided", lambda x: x[:, ::2] + x[:, 1::2], [((None, None), "float32")]),
    ("gathe"
        "red", lambda x, i: tf.gather(x, i, axis=1, batch_dims=1), [((None, None, 4), "floa"
            "t32"), ((None, None), "int32")]),
    ("gathered-nd", lambda x, i: tf.gather_nd(x, i), [((4, 4, None), "float32"), ((None, 2), "int32")]),
    ("scatte"
        "red", lambda x, i: tf.tensor_scatter_nd_add(x, i, tf.ones(tf.shape(i)[:1])), [((8,), "floa"
            "t32"), ((None, 1), "int32")]),
    ("tiled", lambda x: tf.tile(x, [1, tf.shape(x)[0]]), [((None, None), "float32")]),
    ("patc"
        "hes", lambda x: tf.image.extract_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SA"
            "ME"), [((1, None, None, 3), "floa"
            "t32")]),
    ("blocks", lambda x: tf.nn.depth_to_space(tf.nn.space_to_depth(x, 2), 2), [((1, None, None, 3), "float32")]),
    ("batches", lambda x: tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]), [((1, None, None, 3), "float32")]),
    ("where", lambda x: tf.where(x > 0, x, tf.zeros_like(x)), [((None, None), "float32")]),
    ("while", lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, x])[1], [((None, 4), "floa"
        "t32")]),
    ("cond", lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x * 2.0), [((None, 4), "float32")]),
    ("topk", lambda x: tf.math.top_k(x, 5).values, [((None, None), "float32")]),
    ("nms", lambda b, s: tf.image.non_max_suppression(b, s, 3), [((None, 4), "float32"), ((None,), "float32")]),
    ("einsum", lambda a, b: tf.einsum("bij,"
        "bkj->bik", a, b), [((None, None, 4), "float32"), ((None, None, 4), "float32")]),
    ("band", lambda x: tf.linalg.band_part(x, -1, 0), [((None, None), "float32")]),
    ("segments", lambda x, i: tf.math.unsorted_segment_sum(x, i, 4), [((None, 3), "float32"), ((None,), "int32")]),
    ("one-hot", lambda x: tf.one_hot(x, 6), [((None, None), "int32")]),
    ("reversed", lambda x: tf.reverse(x, [1]) + tf.roll(x, 1, 1), [((None, None), "float32")]),
]  # fmt: skip


def recipes() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The names and the functions that make the files."""
    for name, network, shapes, *dtype in NETWORKS:
        for opset in (13, 18):
            title = f"tf-{name}.{opset}"
            yield title, partial(_network, title, network, shapes, *(dtype or ["float32"]), opset)
    for name, function, inputs in FUNCTIONS:
        title = f"tf-{name}.15"
        yield title, partial(_function, title, function, inputs, 15)


def _network(title: str, network: Any, shapes: Any, dtype: str, opset: int, folder: Path) -> None:
    inputs = [keras.Input(batch_shape=shape, dtype=dtype) for shape in shapes]
    outputs = network[0](*network[1:])(*inputs) if isinstance(network, list) else network(*inputs)
    model = keras.Model(inputs, outputs)
    _function(title, lambda *given: model(list(given)), [(shape, dtype) for shape in shapes], opset, folder)


def _function(title: str, function: Any, inputs: Any, opset: int, folder: Path) -> None:
    signature = [tf.TensorSpec(shape, dtype, name=f"x{at}") for at, (shape, dtype) in enumerate(inputs)]
    made = tf.function(function, input_signature=signature)
    tf2onnx.convert.from_function(made, signature, opset=opset, output_path=str(folder / f"{title}.onnx"))
    sizes = {
        f"x{at}": [2 if at == 0 else 8 if size is None else size for at, size in enumerate(shape)]
        for at, (shape, _) in enumerate(inputs)
    }
    (folder / f"{title}.json").write_text(json.dumps({"examples": sizes}))
