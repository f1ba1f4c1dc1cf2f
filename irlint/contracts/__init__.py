"""The contract of a model: from the requirements of each operator to the conditions on the sizes of the inputs."""
