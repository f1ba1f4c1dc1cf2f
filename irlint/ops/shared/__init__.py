"""The functions that the rules of operators share, by purpose: ``expect_*`` and ``check_*`` raise a fault, ``stated_*``
read a tensor of sizes, and the others compute. Sizes may be symbols or None, and ranks may be unknown.

Ranks, shapes and types of inputs:
``expectations.expect_rank``: an input has one of the allowed ranks.
``expectations.warn_of_rank``: ONNX Runtime accepts the rank.
``expectations.expect_one``: an input has one element.
``expectations.check``: an input has the axes of an expectation.
``operands.expect_axes``: an input has the axes that are named.
``operands.expect_spatial_rank``: input 0 has spatial axes, and not too many.
``operands.expect_shape``: an input has one shape.
``element_types.expect_type``: an input is of one of the allowed element types.
``element_types.common_type``: the element type that several inputs have.
``type_variables.type_key``: a type as the schemas spell it.
``type_variables.types_text``: two types as a message compares them.

Axes and attributes:
``axes.axis_of``: an axis counted from 0.
``axes.axes_of``: several axes counted from 0.
``attributes.expect_attribute``: a number lies within a range.
``attributes.expect_range``: no entry of a list is below a number.
``attributes.expect_parallel``: lists have the same length.
``attributes.entry_count``: how many entries a list or a tensor has.
``attributes.the_one_of``: the only attribute of several that is present.
``attributes.numbered_type``: the element type of a number in TensorProto.DataType.

Broadcasting and sizes:
``broadcast.broadcast``: NumPy's rule, ONNX's multidirectional broadcasting.
``broadcast.stretched``: ONNX's unidirectional broadcasting.
``broadcast.merged``: the shape of inputs that must have equal shapes, OpenVINO's ``none``.
``broadcast.stretches``: whether a size is equal to another or 1.
``auto_broadcast.broadcast_by``: the rule that OpenVINO's ``auto_broadcast`` names.
``sizes.dim_of``: the size of an axis of a shape.
``sizes.size``: the size of an axis of a tensor of one rank.
``sizes.narrower``: the most informative of several equal sizes.
``sizes.exact_quotient``: the quotient of a size and a divisor of it.

Values that give shapes:
``shape_inputs.length``: how many entries a list has.
``shape_inputs.entries``: the numbers of a list, None for unknown numbers.
``shape_inputs.known_integers``: the numbers of a list, if all are known.
``shape_inputs.number``: the only number of a tensor.
``shape_inputs.stated_size``: a number as a size.
``shape_inputs.stated_shape``: a list as a shape, in ONNX.
``shape_inputs.openvino_shape``: a list as a shape, in OpenVINO.
``index_ranges.out_of_range``: the fault of an index outside an axis.
``contents.fits``: whether the values of a tensor of this shape are stored.
``contents.strides``: the elements between neighbors on each axis.
``contents.positions``: every index of a shape.
``contents.extent``: the least and the largest known number of a tensor.
``contents.rounded``: a number rounded to an element type.
``contents.are_finite``: whether all numbers are known, and none is infinite or NaN.
``contents.rearranged``: the elements of a tensor with another shape.
``contents.static``: a static shape as plain integers.

Windows and filters:
``windows.onnx_window``: the window of ONNX's attributes.
``windows.per_axis``: an attribute with one or two entries for each spatial axis.
``windows.channel_axis``: the axis of the channels of a layout.
``windows.arranged``: a shape from batch, channels and spatial sizes.
``filters.convolved``: the shape of an ONNX convolution.
``filters.expect_channels``: input 0 has the channels of the weights.
``filters.expect_bias``: a bias has one entry for each channel.

Bodies:
``body_arity.check_arity``: a body has the expected number of inputs and outputs.
``bodies.check_input_types``: the inputs of a body have the types of the received values.
``bodies.check_input_shapes``: the inputs of a body can have the shapes of the received values.
``bodies.stacked``: the results of all iterations on a new axis.
``bodies.truth``: the value of a condition.
``port_maps.ordered``: the first entry of each external port.
``carrying.joined``: the type of a value that has one of two types.

Layers that OpenVINO reads but does not compile (IRL525):
``compiling.first_of``: the first fault that several checks find.
``compiling.not_compiled``: the fault itself.
``compiling.constants_at``: the compiler requires constants as inputs.
``compiling.readable_constants``: OpenVINO can read the values of constant inputs.
``compiling.types_at``: the compiler supports the element types of inputs.
``compiling.output_type_at``: the compiler supports the element type that an attribute names.
``compiling.known_shape``: a shape, if every size is known.
``compiling.without_strings``: no input holds strings.
``compiling.without_negatives``: no number of a window is negative.
"""
