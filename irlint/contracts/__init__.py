"""What a model demands of the sizes that it is fed: from what each operator needs to what holds for the whole."""
