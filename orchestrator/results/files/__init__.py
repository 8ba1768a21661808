"""Files and folders of runs, written and walked without harm."""
