"""Files of datasets that this host makes: converted from other formats, or as a stand-in."""
