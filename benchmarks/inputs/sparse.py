"""Sparse rows as NumPy arrays, from which each framework makes its own sparse matrices."""


class Rows:
    """Rows of float32 features that are zero but for their entries, of which each row has the same number.

    `columns` (int32) and `values` (float32) are arrays (rows, entries), with the columns of a row in ascending order.
    """

    def __init__(self, columns, values, features):
        self.columns, self.values = columns, values
        self.shape = (len(columns), features)

    def __len__(self):
        return len(self.columns)

    def __getitem__(self, chosen):
        """Return the rows of an array of indices, or of a slice."""
        return Rows(self.columns[chosen], self.values[chosen], self.shape[1])

    def csr(self):
        """Return values, columns and the offsets of rows, as a matrix in compressed rows has them."""
        import numpy

        offsets = numpy.arange(0, self.columns.size + 1, self.columns.shape[1], dtype=numpy.int32)
        return self.values.ravel(), self.columns.ravel(), offsets

    def places(self):
        """Return the row and the column of every value, as an int64 array (values, 2)."""
        import numpy

        rows = numpy.repeat(numpy.arange(len(self), dtype=numpy.int64), self.columns.shape[1])
        return numpy.stack([rows, self.columns.ravel().astype(numpy.int64)], axis=1)

    def dense(self):
        """Return the rows with their zeros."""
        import numpy

        rows = numpy.zeros(self.shape, numpy.float32)
        rows[numpy.arange(len(self))[:, None], self.columns] = self.values
        return rows


def joined(several):
    """Return the rows of several batches as one."""
    import numpy

    columns, values = ([getattr(each, name) for each in several] for name in ("columns", "values"))
    return Rows(numpy.concatenate(columns), numpy.concatenate(values), several[0].shape[1])


def drawn(random, centres, labels, entries):
    """Draw a row for each label, with a number of entries around the values that `centres` has for its class.

    Sorted numbers, each moved on by how many are before it, are different columns without a search for free ones.
    """
    import numpy

    features, shape = centres.shape[1], (len(labels), entries)
    columns = numpy.sort(random.randint(0, features - entries + 1, shape), axis=1) + numpy.arange(entries)
    values = centres[labels[:, None], columns] + random.uniform(-1, 1, shape)
    return Rows(columns.astype(numpy.int32), values.astype(numpy.float32), features)


def zeros(shape, entries):
    """Return one row whose entries are zero."""
    import numpy

    columns = numpy.arange(entries, dtype=numpy.int32)[None]
    return Rows(columns, numpy.zeros((1, entries), numpy.float32), shape[0])
