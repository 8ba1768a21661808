"""The sections `study` and `claims` of a matrix, with a published study and what it says of pairs of cells."""
